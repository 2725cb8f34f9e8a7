//! Appending: numbers, hashes, torn ends, full files, full disks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use portcullis_store::audit::{Head, Position};
use pretty_assertions::assert_eq;

use crate::sample::{START, Trail, entry};

#[test]
fn every_decision_is_kept_as_it_was_and_the_chain_holds() {
    let trail = Trail::new();
    let ids = trail.add(0..50);
    let read = trail.audit.read_after(Position::default(), 1_000).unwrap();
    assert_eq!(read.records.iter().map(|record| record.id.clone()).collect::<Vec<_>>(), ids);
    for (number, record) in (0..).zip(&read.records) {
        assert_eq!((record.number, &record.entry), (number + 1, &entry(number)));
    }
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted, ids);
    assert!(ids.iter().all(|id| id.len() == 26));
    let found = trail.audit.verify(&[], None).unwrap();
    assert!(found.is_whole());
    assert_eq!((found.records, found.torn.len(), found.removed), (50, 0, 0));
    assert_eq!(found.head, trail.audit.head().unwrap());
    let last = read.records.last().unwrap();
    assert_eq!(found.head, Some(Head { number: 50, hash: last.hash.clone() }));
}

#[test]
fn nothing_recorded_is_a_whole_trail_and_makes_nothing() {
    let trail = Trail::new();
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
    assert_eq!(trail.audit.head().unwrap(), None);
    assert_eq!(trail.audit.end().unwrap(), Position::default());
    assert!(!trail.file("").exists());
}

#[test]
fn files_are_private() {
    let trail = Trail::of(1);
    let mode = |name: &str| fs::metadata(trail.file(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("current.jsonl"), mode("lock")), (0o700, 0o600, 0o600));
}

#[test]
fn a_line_that_was_torn_anywhere_is_told_and_is_no_tampering() {
    let trail = Trail::of(3);
    let whole = trail.current();
    let start = whole.trim_end().rfind('\n').unwrap() + 1;
    for end in start + 1..whole.len() - 1 {
        trail.set_current(whole.get(..end).unwrap());
        let before = trail.audit.verify(&[], None).unwrap();
        assert_eq!((before.is_whole(), before.records, before.torn.len()), (true, 2, 1), "{end}");
        trail.add(10..12);
        let after = trail.audit.verify(&[], None).unwrap();
        assert_eq!((after.is_whole(), after.records, after.torn.len()), (true, 4, 1), "{end}");
        assert_eq!(after.torn.first().unwrap().line, 3);
        assert_eq!(after.head.unwrap().number, 4);
    }
}

#[test]
fn a_line_that_only_lacks_its_end_is_a_record() {
    let trail = Trail::of(3);
    trail.set_current(trail.current().trim_end());
    assert_eq!(trail.audit.verify(&[], None).unwrap().records, 3);
    trail.add(3..4);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.is_whole(), found.records, found.torn.len()), (true, 4, 0));
    assert_eq!(trail.lines().len(), 4);
}

#[test]
fn writers_that_are_killed_one_after_the_other_leave_a_whole_chain() {
    // The first was killed before its end, and the second ended the line and was killed itself.
    let rests = ["{", "{\"n\":", "{\"n\":3,\"id\":\"", "{\"n\":3,\"id\":\"01"];
    for first in rests {
        for second in
            rests.map(|rest| format!("\n{rest}")).into_iter().chain(["\n".to_owned(), String::new()])
        {
            let trail = Trail::of(2);
            trail.set_current(&format!("{}{first}{second}", trail.current()));
            let before = trail.audit.verify(&[], None).unwrap();
            assert!(before.is_whole() && !before.torn.is_empty(), "{first:?} {second:?}");
            trail.add(2..4);
            let found = trail.audit.verify(&[], None).unwrap();
            assert_eq!((found.is_whole(), found.records), (true, 4), "{first:?} {second:?}");
            assert_eq!(found.torn, before.torn, "{first:?} {second:?}");
        }
    }
}

#[test]
fn a_torn_line_at_the_very_beginning_is_told() {
    let trail = Trail::of(1);
    trail.set_current("{\"n\":1,\"id\":");
    trail.add(0..2);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.is_whole(), found.records, found.torn.len()), (true, 2, 1));
}

#[test]
fn a_long_rest_does_not_hide_the_last_record() {
    let trail = Trail::of(2);
    trail.set_current(&format!("{}{}", trail.current(), "x".repeat(300_000)));
    trail.add(2..3);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.break_count, found.records, found.torn.len()), (1, 3, 0));
}

#[test]
fn the_chain_goes_on_in_the_next_file() {
    let trail = Trail::of(3);
    trail.seal(1);
    trail.add(3..5);
    trail.seal(2);
    trail.add(5..6);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.breaks, found.records), (vec![], 6));
    trail.seal(3);
    assert_eq!(trail.audit.head().unwrap().unwrap().number, 6);
}

#[test]
fn a_full_file_is_put_aside() {
    let trail = Trail::of(3);
    // A line that is far too long for one of ours makes the file large; the next writer says that it is none.
    trail.set_current(&format!("{}{}\n", trail.current(), "x".repeat(32 << 20)));
    trail.add(3..4);
    assert!(!trail.file("000001.jsonl").exists(), "a file that ends torn is not put aside");
    trail.add(4..6);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.break_count, found.records), (1, 6), "the long line is forged, and the chain goes on");
    assert_eq!(trail.lines().len(), 2);
    assert!(trail.file("000001.jsonl").exists());
}

#[test]
fn the_expected_hash_must_be_in_the_chain() {
    let trail = Trail::of(5);
    let hash = trail.audit.head().unwrap().unwrap().hash;
    trail.add(5..9);
    assert!(trail.audit.verify(&[], Some(&hash)).unwrap().is_whole());
    assert!(trail.audit.verify(&[], Some(&hash.to_uppercase())).unwrap().is_whole());
    let found = trail.audit.verify(&[], Some(&"0".repeat(64))).unwrap();
    assert!(!found.is_whole() && found.breaks.is_empty());
}

#[test]
fn old_files_are_removed_and_the_chain_begins_after_them() {
    let trail = Trail::of(10);
    trail.seal(1);
    trail.add(10..20);
    trail.seal(2);
    trail.add(20..25);
    let head = trail.audit.head().unwrap();
    let hash_of = |line: usize| {
        let read = trail.audit.read_after(Position::default(), 100).unwrap();
        read.records[line].hash.clone()
    };
    let (tenth, eleventh) = (hash_of(9), hash_of(10));
    // The last record of the first file is older, the last of the second is not.
    let now = entry(15).at_ms + 1_000_000;
    let trial = trail.audit.prune(1_000_000, now, true).unwrap();
    assert!(trail.file("000001.jsonl").exists());
    assert_eq!((trial.files, trial.records), (1, 10));
    assert_eq!(trail.audit.prune(1_000_000, now, false).unwrap(), trial);
    assert!(!trail.file("000001.jsonl").exists() && trail.file("000002.jsonl").exists());
    let found = trail.audit.verify(&[], Some(&tenth)).unwrap();
    assert_eq!((found.is_whole(), found.records, found.removed), (true, 15, 10));
    assert!(trail.audit.verify(&[], Some(&eleventh)).unwrap().is_whole());
    assert_eq!(trail.audit.head().unwrap(), head);

    // All of it goes, and the numbers go on.
    trail.audit.prune(1, now * 2, false).unwrap();
    assert_eq!(trail.audit.verify(&[], None).unwrap().records, 0);
    trail.add(25..26);
    let found = trail.audit.verify(&[], None).unwrap();
    assert_eq!((found.is_whole(), found.removed), (true, 25));
    assert_eq!(found.head.unwrap().number, 26);
    trail.seal(4);
    trail.add(26..27);
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
}

#[test]
fn a_clock_that_is_far_ahead_removes_nothing_that_the_trail_itself_does_not_call_old() {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    let trail = Trail::new();
    // Files of a week each, ten of them, then silence.
    for week in 0..10 {
        for day in 0..7 {
            let mut dated = entry(week * 7 + day);
            dated.at_ms = START + (week * 7 + day) * DAY;
            trail.audit.append(&dated).unwrap();
        }
        trail.seal(u32::try_from(week).unwrap() + 1);
    }
    let newest = START + 69 * DAY;
    let in_ten_years = newest + 3_650 * DAY;
    let pruned = trail.audit.prune(30 * DAY, in_ten_years, false).unwrap();
    // A day after the newest record, five files of seven days end more than thirty days ago.
    assert_eq!((pruned.files, pruned.records), (5, 35));
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
    assert_eq!(trail.audit.prune(30 * DAY, in_ten_years, false).unwrap().files, 0);
    // A clock that is behind removes nothing either.
    assert_eq!(trail.audit.prune(30 * DAY, START, false).unwrap().files, 0);
}

#[test]
fn a_removal_that_was_cut_short_is_finished_later() {
    let trail = Trail::of(3);
    trail.seal(1);
    trail.add(3..6);
    let first = fs::read(trail.file("000001.jsonl")).unwrap();
    let now = entry(4).at_ms + 1_000_000;
    trail.audit.prune(1_000_000, now, false).unwrap();
    fs::write(trail.file("000001.jsonl"), first).unwrap();
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
    trail.audit.prune(1, now * 2, false).unwrap();
    assert!(!trail.file("000001.jsonl").exists());
}
