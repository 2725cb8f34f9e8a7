//! The trail: one chain over all daemons, in months, with whatever texts agents come up with.

use std::collections::BTreeSet;
use std::thread;

use portcullis_postgres::PostgresStore;
use portcullis_store::audit::Record;
use portcullis_store::audit::index::{Filter, Found};
use portcullis_store::{StoreBackend as _, StoreError};
use pretty_assertions::assert_eq;

use crate::sample::{START, connect, database, entries, entry, fleet, run_sql};

const DAY: u64 = 86_400_000;

fn partitions(fleet: &PostgresStore) -> Vec<String> {
    fleet.status().unwrap().partitions.into_iter().map(|part| part.name).collect()
}

fn numbers(records: &[Record]) -> Vec<u64> {
    records.iter().map(|record| record.number).collect()
}

fn breaks(fleet: &PostgresStore) -> Vec<String> {
    fleet.verify_trail(&[], None).unwrap().breaks.into_iter().map(|found| found.what).collect()
}

#[test]
fn daemons_that_append_at_once_make_one_chain() {
    let (_, url) = database();
    let fleets = [connect(&url), connect(&url), connect(&url)];
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let append = |fleet| {
            scope.spawn(move || {
                let batches = (1..=20).map(|count| PostgresStore::append(fleet, &entries(0..count)).unwrap());
                batches.flatten().collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = fleets.iter().chain(&fleets).map(append).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 6 * 210);
    let [fleet, ..] = &fleets;
    let verification = fleet.verify_trail(&[], None).unwrap();
    assert_eq!((verification.records, &verification.breaks[..]), (1_260, &[][..]));
    assert_eq!(verification.head, fleet.trail_head().unwrap());
    // A batch stays together, and is read on from any place.
    let mut read = Vec::new();
    let mut position = portcullis_store::audit::Position::default();
    loop {
        let update = fleet.trail_after(position, 100).unwrap();
        if update.records.is_empty() {
            break;
        }
        position = update.position;
        read.extend(numbers(&update.records));
    }
    assert_eq!(read, (1..=1_260).collect::<Vec<_>>());
    assert_eq!(position, fleet.trail_end().unwrap());
}

#[test]
fn a_batch_larger_than_a_statement_is_one_batch() {
    let fleet = fleet();
    let ids = fleet.append(&entries(0..2_500)).unwrap();
    assert_eq!(ids.len(), 2_500);
    assert_eq!(breaks(&fleet), Vec::<String>::new());
    assert_eq!(fleet.append(&[]).unwrap(), Vec::<String>::new());
    let Found::One(record) = fleet.get(&ids[1_700].to_lowercase()).unwrap() else { panic!() };
    assert_eq!(record.number, 1_701);
}

#[test]
fn any_text_is_kept_and_found() {
    let fleet = fleet();
    let lossy = String::from_utf8_lossy(b"\xff\xfe bytes").into_owned();
    let texts =
        ["nul \0 byte", "\u{fffe}\u{10ffff}", "' OR 1=1; --", "100%_sure \\", "\u{1b}[2J", &lossy, "Ärger"];
    for (number, text) in (0..).zip(texts) {
        let mut made = entry(number);
        for field in [
            &mut made.host,
            &mut made.event,
            &mut made.session,
            &mut made.cwd,
            &mut made.mode,
            &mut made.tool,
            &mut made.summary,
            &mut made.step,
            &mut made.kind,
            &mut made.reason,
        ] {
            text.clone_into(field);
        }
        made.code = Some(text.to_owned());
        made.rule.as_mut().unwrap().text = text.to_owned();
        made.suggestions[0].rule = text.to_owned();
        let id = fleet.append(&[made.clone()]).unwrap().remove(0);
        let Found::One(record) = fleet.get(&id).unwrap() else { panic!("{text:?}") };
        assert_eq!(record.entry, made, "{text:?}");
        let some = || Some(text.to_owned());
        let filters = [
            Filter { host: some(), ..Filter::default() },
            Filter { session: some(), tool: some(), code: some(), ..Filter::default() },
            Filter { rule: some(), kind: some(), step: some(), mode: some(), ..Filter::default() },
            Filter { text: some(), ..Filter::default() },
        ];
        for filter in filters {
            assert_eq!(numbers(&fleet.find(&filter, 10).unwrap()), [number + 1], "{filter:?}");
        }
    }
    for nothing in ["\0", "%", "' OR 1", "\u{10ffff}"] {
        assert_eq!(fleet.get(nothing).unwrap(), Found::Nothing);
    }
    assert_eq!(breaks(&fleet), Vec::<String>::new());
    assert_eq!(fleet.totals(&Filter::default(), 20).unwrap().asked.len(), texts.len());
}

#[test]
fn what_was_changed_cut_or_added_is_found() {
    let told = |statement: &str| {
        let (name, url) = database();
        let fleet = connect(&url);
        fleet.append(&entries(0..10)).unwrap();
        run_sql(&name, &format!("SET search_path TO portcullis; {statement}"));
        breaks(&fleet)
    };
    let follows =
        "record 6 does not follow from what stands before it, which was changed or is not all there";
    let changed =
        "UPDATE audit SET line = convert_to(replace(convert_from(line, 'UTF8'), 'step-4', 'step-5'), 'UTF8')
        WHERE number = 5";
    assert!(told(changed).contains(&follows.to_owned()));
    assert_eq!(told("DELETE FROM audit WHERE number = 5"), ["record 5 is missing before it"]);
    let cut = "the last records are missing: there were 10, and now 8 is the last";
    assert_eq!(told("DELETE FROM audit WHERE number > 8"), [cut]);
    let hidden = "record 3 is found by something that its line does not say";
    for column in [
        "decision = 'allow'",
        "session = 'other'",
        "at_ms = at_ms + 1",
        "id = 'X'",
        "tool = ''",
        "code = NULL",
    ] {
        assert_eq!(told(&format!("UPDATE audit SET {column} WHERE number = 3")), [hidden], "{column}");
    }
    assert!(!told("UPDATE audit SET line = 'no record' WHERE number = 3").is_empty());
    assert_eq!(told("SELECT 1"), Vec::<String>::new());
}

#[test]
fn a_lost_end_of_the_chain_is_an_error_and_no_new_chain() {
    let (name, url) = database();
    let fleet = connect(&url);
    fleet.append(&entries(0..2)).unwrap();
    run_sql(&name, "DELETE FROM portcullis.audit_head");
    let error = fleet.append(&entries(2..3)).unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
}

#[test]
fn months_are_made_ahead_and_removed_as_a_whole() {
    let (name, url) = database();
    let fleet = connect(&url);
    let mut made = Vec::new();
    // From the middle of January 2027 to the end of March, a decision a day.
    for day in 0..75 {
        let mut one = entry(day);
        one.at_ms = START + day * DAY;
        made.push(one);
    }
    for batch in made.chunks(10) {
        fleet.append(batch).unwrap();
    }
    assert_eq!(
        partitions(&fleet),
        ["audit_2027_01", "audit_2027_02", "audit_2027_03", "audit_2027_04", "audit_other"]
    );
    assert_eq!(run_sql(&name, "SELECT count(*) FROM portcullis.audit_other"), "0");
    assert_eq!(run_sql(&name, "SELECT count(*) FROM portcullis.audit_2027_01"), "17");
    let last = START + 74 * DAY;
    // January goes as a whole, of February the first days.
    let trial = fleet.prune_trail(50 * DAY, last, true).unwrap();
    assert_eq!((trial.files, trial.records), (1, 24));
    assert_eq!(fleet.count(&Filter::default()).unwrap(), 75);
    assert_eq!(fleet.prune_trail(50 * DAY, last, false).unwrap(), trial);
    assert_eq!(partitions(&fleet).first().unwrap(), "audit_2027_02");
    let verification = fleet.verify_trail(&[], None).unwrap();
    assert_eq!((verification.records, verification.removed, verification.is_whole()), (51, 24, true));
    assert_eq!(fleet.prune_trail(50 * DAY, last, false).unwrap().records, 0);
    // A clock that is far ahead removes nothing that came shortly before the trail went quiet.
    assert_eq!(fleet.prune_trail(50 * DAY, last + 1_000 * DAY, false).unwrap().records, 1);
    // Old decisions that come late are kept, and go where there is room.
    let id = fleet.append(&[entry(0)]).unwrap().remove(0);
    assert!(matches!(fleet.get(&id).unwrap(), Found::One(_)));
    assert_eq!(breaks(&fleet), Vec::<String>::new());
    // The last record says how far the clock is believed, and it is old.
    assert_eq!(fleet.prune_trail(0, last + 10 * DAY, false).unwrap().records, 0);
    fleet.append(&made[74..]).unwrap();
    assert_eq!(fleet.prune_trail(0, last + 10 * DAY, false).unwrap().records, 52);
    fleet.append(&entries(80..82)).unwrap();
    assert_eq!(breaks(&fleet), Vec::<String>::new());
}

#[test]
fn what_has_no_month_is_kept_too() {
    let (name, url) = database();
    let fleet = connect(&url);
    let mut odd = entries(0..3);
    odd[0].at_ms = 0;
    odd[1].at_ms = u64::MAX;
    fleet.append(&odd).unwrap();
    assert_eq!(run_sql(&name, "SELECT count(*) FROM portcullis.audit_other"), "2");
    assert_eq!(numbers(&fleet.find(&Filter::default(), 10).unwrap()), [2, 3, 1]);
    assert_eq!(breaks(&fleet), Vec::<String>::new());
    // An account that may make no tables still records.
    run_sql(
        &name,
        &format!(
            "CREATE ROLE clerk_{name} LOGIN PASSWORD 'p'; GRANT USAGE ON SCHEMA portcullis TO clerk_{name};
             GRANT ALL ON ALL TABLES IN SCHEMA portcullis TO clerk_{name}"
        ),
    );
    let port = portcullis_testkit::PostgresServer::shared().port();
    let clerk = connect(&format!("postgres://clerk_{name}:p@127.0.0.1:{port}/{name}"));
    let mut later = entry(0);
    later.at_ms = START + 400 * DAY;
    clerk.append(&[later]).unwrap();
    assert_eq!(run_sql(&name, "SELECT count(*) FROM portcullis.audit_other"), "3");
    assert_eq!(breaks(&fleet), Vec::<String>::new());
}
