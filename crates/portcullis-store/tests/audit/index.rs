//! The index: found again, added up, made anew.

use std::fs;

use portcullis_store::Store;
use portcullis_store::audit::index::{Counted, Filter, Found, Totals};
use portcullis_store::audit::{Audit, Record};
use pretty_assertions::assert_eq;

use crate::sample::{START, Trail, entry, shown};

/// Opens the trail as another process would, with no index open yet, and has the index made.
fn open(trail: &Trail) -> Audit {
    let audit = Store::new(trail.directory.path().to_path_buf()).audit();
    audit.count(&Filter::default()).unwrap();
    audit
}

fn numbers(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.number).collect()
}

/// Makes a trail in which every fourth call differs in all that can be asked for.
fn varied() -> Trail {
    let trail = Trail::new();
    for number in 0..20 {
        let mut made = entry(number);
        if number % 4 == 0 {
            let other = |text: &mut String| *text = format!("other {text}");
            made.decision = "deny".to_owned();
            made.said = "deny".to_owned();
            for text in [&mut made.host, &mut made.tool, &mut made.session, &mut made.mode, &mut made.step] {
                other(text);
            }
            other(&mut made.kind);
            made.reason = "100%_sure \\ it is not".to_owned();
            made.rule.as_mut().unwrap().text = "Bash(rm:*)".to_owned();
            made.code = Some("PC001".to_owned());
        }
        trail.audit.append(&made).unwrap();
    }
    trail
}

#[test]
fn the_newest_come_first_and_no_more_than_wanted() {
    let trail = Trail::of(10);
    let index = open(&trail);
    assert_eq!(numbers(&index.find(&Filter::default(), 3).unwrap()), [10, 9, 8]);
    assert_eq!(index.count(&Filter::default()).unwrap(), 10);
    assert_eq!(index.find(&Filter::default(), 1).unwrap().pop().unwrap().entry, entry(9));
}

#[test]
fn every_filter_finds_what_has_it_and_nothing_else() {
    let some = |text: &str| Some(text.to_owned());
    let filters = [
        Filter { decision: some("deny"), ..Filter::default() },
        Filter { said: some("deny"), ..Filter::default() },
        Filter { host: some("other claude"), ..Filter::default() },
        Filter { tool: some("other Bash"), ..Filter::default() },
        Filter { session: some("other"), ..Filter::default() },
        Filter { other_than: some("a-session"), ..Filter::default() },
        Filter { mode: some("other auto"), ..Filter::default() },
        Filter { step: some("other A10"), ..Filter::default() },
        Filter { kind: some("other default"), ..Filter::default() },
        Filter { rule: some("Bash(rm:*)"), ..Filter::default() },
        Filter { code: some("PC001"), ..Filter::default() },
        Filter { text: some("100%_SURE \\"), ..Filter::default() },
    ];
    let trail = varied();
    let index = open(&trail);
    let all = index.find(&Filter::default(), 100).unwrap();
    for filter in filters {
        let found = index.find(&filter, 100).unwrap();
        assert_eq!(numbers(&found), [17, 13, 9, 5, 1], "{filter:?}");
        assert_eq!(index.count(&filter).unwrap(), 5);
        // What is looked for while following is the same.
        let followed: Vec<Record> = all.iter().filter(|record| filter.has(record)).cloned().collect();
        assert_eq!(followed, found, "{filter:?}");
    }
    let hostile = Filter { tool: some("' OR 1 --"), text: some("%"), ..Filter::default() };
    assert_eq!(index.count(&hostile).unwrap(), 0);
    let time = Filter { since_ms: Some(START + 3_000), until_ms: Some(START + 6_000), ..Filter::default() };
    assert_eq!(numbers(&index.find(&time, 100).unwrap()), [6, 5, 4]);
}

#[test]
fn a_record_is_found_by_its_id_or_a_beginning_that_is_its_own() {
    let trail = Trail::new();
    let ids = trail.add(0..30);
    let index = open(&trail);
    for (number, id) in (1..).zip(&ids) {
        let Found::One(record) = index.get(&id.to_lowercase()).unwrap() else { panic!("{id}") };
        assert_eq!((record.number, &record.id), (number, id));
        let Found::One(record) = index.get(id.get(..14).unwrap()).unwrap() else { panic!("{id}") };
        assert_eq!(&record.id, id);
    }
    let Found::Several(several) = index.get(ids.first().unwrap().get(..5).unwrap()).unwrap() else {
        panic!()
    };
    assert_eq!(several, ids[..5]);
    for nothing in ["Z", "01 OR 1", "%", "\u{10ffff}"] {
        assert_eq!(index.get(nothing).unwrap(), Found::Nothing);
    }
}

#[test]
fn what_comes_later_is_taken_in_once() {
    let trail = Trail::of(5);
    assert_eq!(open(&trail).count(&Filter::default()).unwrap(), 5);
    trail.add(5..8);
    let before = open(&trail);
    trail.seal(1);
    trail.add(8..12);
    // What was taken in before a file was put aside is still found in it.
    assert_eq!(numbers(&before.find(&Filter::default(), 6).unwrap()), [12, 11, 10, 9, 8, 7]);
    assert_eq!(open(&trail).count(&Filter::default()).unwrap(), 12);
    assert_eq!(open(&trail).count(&Filter::default()).unwrap(), 12);
}

#[test]
fn a_line_that_is_not_ended_is_taken_in_when_it_is() {
    let trail = Trail::of(3);
    let whole = trail.current();
    trail.set_current(whole.trim_end());
    assert_eq!(open(&trail).count(&Filter::default()).unwrap(), 2);
    trail.add(3..4);
    assert_eq!(open(&trail).count(&Filter::default()).unwrap(), 4);
}

#[test]
fn an_index_that_is_broken_or_of_another_version_is_made_anew() {
    let trail = Trail::of(20);
    drop(open(&trail));
    let path = trail.file("index.db");
    let whole = fs::read(&path).unwrap();
    let torn = whole[..whole.len() / 2].to_vec();
    let mut middle = whole.clone();
    middle.iter_mut().skip(4_096).for_each(|byte| *byte = 0xa5);
    for broken in [b"no database at all, but long enough to be looked at as one".to_vec(), torn, middle] {
        fs::write(&path, broken).unwrap();
        let index = open(&trail);
        assert_eq!(index.count(&Filter::default()).unwrap(), 20);
        assert_eq!(index.find(&Filter::default(), 100).unwrap().len(), 20);
    }
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let index = open(&trail);
    assert_eq!(index.count(&Filter::default()).unwrap(), 20);
    assert_eq!(index.seen_heads().unwrap().len(), 1, "the ends that were seen are kept");
}

#[test]
fn the_index_remembers_ends_and_gives_a_cut_trail_away() {
    let trail = Trail::of(6);
    drop(open(&trail));
    trail.add(6..9);
    drop(open(&trail));
    let lines = trail.lines();
    trail.set_current(&format!("{}\n", lines[..7].join("\n")));
    let index = open(&trail);
    assert_eq!(index.count(&Filter::default()).unwrap(), 7, "the index follows the files");
    let found = trail.audit.verify(&index.seen_heads().unwrap(), None).unwrap();
    assert_eq!(
        found.breaks.iter().map(shown).collect::<Vec<_>>(),
        ["current.jsonl:0: the last records are missing: there were 9, and now 7 is the last"]
    );
    trail.add(20..30);
    let index = open(&trail);
    assert_eq!(index.count(&Filter::default()).unwrap(), 17);
    let found = trail.audit.verify(&index.seen_heads().unwrap(), None).unwrap();
    assert!(!found.is_whole(), "it is not forgotten");
}

#[test]
fn what_retention_removes_leaves_the_index_too() {
    let trail = Trail::of(10);
    trail.seal(1);
    trail.add(10..15);
    drop(open(&trail));
    trail.audit.prune(1_000_000, entry(12).at_ms + 1_000_000, false).unwrap();
    let index = open(&trail);
    assert_eq!(index.count(&Filter::default()).unwrap(), 5);
    assert!(trail.audit.verify(&index.seen_heads().unwrap(), None).unwrap().is_whole());
}

#[test]
fn totals_count_a_call_once() {
    let trail = Trail::new();
    for number in 0..4 {
        let mut first = entry(number);
        first.models.clear();
        trail.audit.append(&first).unwrap();
        first.event = "PermissionRequest".to_owned();
        trail.audit.append(&first).unwrap();
        // Another session, which was not asked before.
        first.session = "other".to_owned();
        if number == 0 {
            trail.audit.append(&first).unwrap();
        }
    }
    let totals = open(&trail).totals(&Filter::default(), 5).unwrap();
    assert_eq!((totals.calls, totals.repeats), (5, 4));
    assert_eq!(totals.decisions, [Counted { name: "ask".to_owned(), count: 5 }]);
}

#[test]
fn totals_add_up() {
    let trail = Trail::new();
    for number in 0..100 {
        let mut made = entry(number);
        made.micros = number + 1;
        if number < 60 {
            made.models.clear();
            (made.decision, made.said, made.kind) = ("allow".into(), "allow".into(), "rule".into());
        }
        if number < 20 {
            made.kind = "readOnly".to_owned();
        }
        if (60..70).contains(&number) {
            made.decision = "deny".to_owned();
            made.code = None;
        }
        trail.audit.append(&made).unwrap();
    }
    let index = open(&trail);
    let totals = index.totals(&Filter::default(), 5).unwrap();
    assert_eq!((totals.calls, totals.prompts_avoided), (100, 40));
    let counts: Vec<(&str, u64)> =
        totals.decisions.iter().map(|counted| (counted.name.as_str(), counted.count)).collect();
    assert_eq!(counts, [("allow", 60), ("ask", 30), ("deny", 10)]);
    let alone = totals.latency_alone;
    assert_eq!((alone.count, alone.p50, alone.p90, alone.p99, alone.max), (60, 30, 54, 60, 60));
    assert_eq!((totals.latency_with_model.count, totals.latency_with_model.max), (40, 100));
    assert_eq!((totals.cost.tool_calls, totals.cost.requests, totals.cost.tokens_cached), (40, 40, 36_000));
    assert!((totals.cost.usd - 0.04).abs() < 1e-9);
    let asked = totals.asked.first().unwrap();
    assert_eq!((totals.asked.len(), asked.count, asked.rule.as_deref()), (1, 30, Some("Bash(make:*)")));
    let denied = totals.denied.first().unwrap();
    assert_eq!((denied.count, denied.code.as_str()), (10, "Bash(make:*)"));
    assert_eq!(totals.days.len(), 1);
    let none = Filter { since_ms: Some(u64::MAX), ..Filter::default() };
    assert_eq!(index.totals(&none, 5).unwrap(), Totals::default());
}
