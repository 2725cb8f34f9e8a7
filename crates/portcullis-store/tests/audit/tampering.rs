//! Every way to change a trail that the chain gives away, and those that only an end seen before gives away.

use std::fs;

use portcullis_store::audit::Head;
use pretty_assertions::assert_eq;

use crate::sample::{Trail, entry};

/// Changes the lines of a trail of six records and returns the first break.
fn first_break(change: impl FnOnce(&mut Vec<String>)) -> Option<String> {
    let trail = Trail::of(6);
    let mut lines = trail.lines();
    change(&mut lines);
    trail.set_current(&format!("{}\n", lines.join("\n")));
    trail.breaks().into_iter().next()
}

#[test]
fn a_changed_line_is_found() {
    let found = first_break(|lines| {
        let line = &mut lines[2];
        *line = line.replace("\"ask\"", "\"allow\"");
    });
    let expected = "current.jsonl:4: record 4 does not follow from what stands before it, which was changed or is not all there";
    assert_eq!(found.as_deref(), Some(expected));
}

#[test]
fn a_removed_line_is_found() {
    let found = first_break(|lines| drop(lines.remove(2)));
    assert_eq!(found.as_deref(), Some("current.jsonl:3: record 3 is missing before it"));
    let found = first_break(|lines| drop(lines.drain(0..2)));
    assert_eq!(found.as_deref(), Some("current.jsonl:1: records 1 to 2 are missing before it"));
}

#[test]
fn lines_that_changed_places_are_found() {
    let found = first_break(|lines| lines.swap(2, 3));
    assert_eq!(found.as_deref(), Some("current.jsonl:3: record 3 is missing before it"));
}

#[test]
fn an_added_line_is_found() {
    let copied = first_break(|lines| lines.insert(2, lines[1].clone()));
    assert_eq!(copied.as_deref(), Some("current.jsonl:3: record 2 stands where 3 belongs"));
    let strange = "current.jsonl:3: it is no record, and no record says that it was torn";
    for added in ["", "x", "{\"n\":3", "{}"] {
        let found = first_break(|lines| lines.insert(2, added.to_owned()));
        assert_eq!(found.as_deref(), Some(strange), "{added:?}");
    }
}

#[test]
fn a_line_that_is_made_to_look_torn_is_found() {
    let found = first_break(|lines| {
        let line = &mut lines[2];
        line.truncate(line.len() / 2);
    });
    let expected = "current.jsonl:3: it is no record, and no record says that it was torn";
    assert_eq!(found.as_deref(), Some(expected));
}

#[test]
fn a_torn_line_that_was_changed_or_removed_is_found() {
    let torn = || {
        let trail = Trail::of(2);
        trail.set_current(&format!("{}{{\"n\":3,\"id", trail.current()));
        trail.add(2..4);
        assert_eq!(trail.breaks(), [] as [&str; 0]);
        trail
    };
    let trail = torn();
    trail.set_current(&trail.current().replace("{\"n\":3,\"id\n", ""));
    assert_eq!(trail.breaks(), ["current.jsonl:3: the torn line that it was written after is missing"]);
    let trail = torn();
    trail.set_current(&trail.current().replace("{\"n\":3,\"id\n", "{\"n\":3,\"if\n"));
    assert_eq!(trail.breaks(), ["current.jsonl:3: it is no record, and no record says that it was torn"]);
}

#[test]
fn a_missing_file_is_found() {
    let made = || {
        let trail = Trail::of(3);
        trail.seal(1);
        trail.add(3..5);
        trail.seal(2);
        trail.add(5..7);
        trail
    };
    for (number, expected) in [
        (1, "000002.jsonl:1: records 1 to 3 are missing before it"),
        (2, "current.jsonl:1: records 4 to 5 are missing before it"),
    ] {
        let trail = made();
        fs::remove_file(trail.file(&format!("{number:06}.jsonl"))).unwrap();
        assert_eq!(trail.breaks(), [expected]);
    }
    let trail = made();
    fs::write(trail.file("000001.jsonl"), "").unwrap();
    assert_eq!(trail.breaks(), ["000002.jsonl:1: records 1 to 3 are missing before it"]);
}

#[test]
fn a_rest_at_the_end_of_a_full_file_is_found() {
    let trail = Trail::of(2);
    trail.seal(1);
    trail.add(2..3);
    let first = trail.file("000001.jsonl");
    fs::write(&first, format!("{}x\n", fs::read_to_string(&first).unwrap())).unwrap();
    assert_eq!(trail.breaks(), ["000001.jsonl:3: it is no record, and no record says that it was torn"]);
}

#[test]
fn a_trail_that_was_cut_or_made_anew_is_found_by_an_end_that_was_seen() {
    let trail = Trail::of(6);
    let seen = [trail.audit.head().unwrap().unwrap()];
    let check = |trail: &Trail| {
        let found = trail.audit.verify(&seen, None).unwrap();
        (found.is_whole(), found.breaks.first().map(|found| found.what.clone()))
    };
    trail.add(6..8);
    assert_eq!(check(&trail), (true, None));

    let whole = trail.lines();
    trail.set_current(&format!("{}\n", whole[..4].join("\n")));
    assert_eq!(trail.breaks(), [] as [&str; 0], "the chain alone does not show it");
    let cut = "the last records are missing: there were 6, and now 4 is the last";
    assert_eq!(check(&trail), (false, Some(cut.to_owned())));

    trail.add(20..30);
    let other = "record 6 is not the one that was seen before";
    assert_eq!(check(&trail), (false, Some(other.to_owned())));

    fs::remove_dir_all(trail.file("")).unwrap();
    let gone = "the last records are missing: there were 6, and now 0 is the last";
    assert_eq!(check(&trail), (false, Some(gone.to_owned())));
    trail.add(0..6);
    assert_eq!(check(&trail), (true, None), "the same decisions in the same process make the same trail");
}

#[test]
fn a_number_that_cannot_go_on_is_no_panic() {
    let trail = Trail::of(1);
    trail.set_current(&trail.current().replace("{\"n\":1,", &format!("{{\"n\":{},", u64::MAX)));
    trail.add(1..3);
    assert!(!trail.audit.verify(&[Head { number: 1, hash: String::new() }], None).unwrap().is_whole());
    assert_eq!(entry(1).host, "claude");
}
