//! The records of model calls: appended whole, rotated, read past whatever is torn.
#![cfg(test)]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use portcullis_store::{ModelCallOutcome, ModelCallRecord, Store, StoreError};
use pretty_assertions::assert_eq;

const MOST_BYTES: usize = 16 * 1024 * 1024;

fn record(at_ms: u64) -> ModelCallRecord {
    ModelCallRecord {
        at_ms,
        session: "s".to_owned(),
        provider: "anthropic".to_owned(),
        model: "a-model".to_owned(),
        stage: "fast".to_owned(),
        outcome: ModelCallOutcome::Allow,
        input: 900,
        cache_read: 8_000,
        cache_write: 0,
        output: 4,
        cost_usd: Some(0.001_25),
        latency_ms: 640,
        attempts: 1,
    }
}

fn times(store: &Store) -> Vec<u64> {
    store.read_calls().unwrap().map(|record| record.at_ms).collect()
}

fn append(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn what_is_appended_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("state"));
    let outcomes = [
        ModelCallOutcome::Allow,
        ModelCallOutcome::Block,
        ModelCallOutcome::Unparseable,
        ModelCallOutcome::Fault("timeout".to_owned()),
        ModelCallOutcome::Fault("allow".to_owned()),
        ModelCallOutcome::Fault(String::new()),
    ];
    let records: Vec<ModelCallRecord> = (0_u64..)
        .zip(outcomes)
        .map(|(at_ms, outcome)| ModelCallRecord {
            outcome,
            model: "a\nmodel\"\u{1b}".to_owned(),
            cost_usd: None,
            ..record(at_ms)
        })
        .chain([record(9)])
        .collect();
    for record in &records {
        store.append_call(record).unwrap();
    }
    let mut calls = store.read_calls().unwrap();
    assert_eq!(calls.by_ref().collect::<Vec<_>>(), records);
    assert_eq!(calls.skipped(), 0);
    let text = fs::read_to_string(store.root().join("calls.jsonl")).unwrap();
    assert_eq!(text.lines().count(), records.len(), "one line a record");
}

#[test]
fn a_price_that_is_no_number_is_no_price() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    for cost in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        store.append_call(&ModelCallRecord { cost_usd: Some(cost), ..record(1) }).unwrap();
    }
    let costs: Vec<Option<f64>> = store.read_calls().unwrap().map(|record| record.cost_usd).collect();
    assert_eq!(costs, [None, None, None]);
}

#[test]
fn long_names_are_cut_so_that_every_line_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let long = "\u{1}".repeat(1_000_000);
    let hostile = ModelCallRecord {
        session: long.clone(),
        provider: long.clone(),
        model: "é".repeat(1_000),
        stage: long.clone(),
        outcome: ModelCallOutcome::Fault(long),
        ..record(7)
    };
    store.append_call(&hostile).unwrap();
    assert!(fs::metadata(directory.path().join("calls.jsonl")).unwrap().len() < 16 * 1024);
    assert_eq!(times(&store), [7]);
}

#[test]
fn torn_and_foreign_lines_are_passed_over_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let file = directory.path().join("calls.jsonl");
    store.append_call(&record(1)).unwrap();
    append(&file, b"nonsense\n\n{}\n\xff\xfe\n");
    store.append_call(&record(2)).unwrap();
    append(&file, &vec![b'x'; 3_000_000]);
    append(&file, b"\n");
    // Torn by a full disk: the next record does not stick to it.
    append(&file, b"{\"at_ms\":3,\"sess");
    store.append_call(&record(4)).unwrap();
    append(&file, b"{\"at_ms\":5");
    let mut calls = store.read_calls().unwrap();
    assert_eq!(calls.by_ref().map(|record| record.at_ms).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(calls.skipped(), 6);
}

#[test]
fn a_full_file_is_put_aside_and_the_one_before_it_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let (file, aside) = (directory.path().join("calls.jsonl"), directory.path().join("calls.1.jsonl"));
    let filler = format!("{}\n", "x".repeat(1_023));
    let almost_full = filler.repeat(MOST_BYTES / 1_024 - 1);
    for round in 1..=3 {
        store.append_call(&record(round * 10)).unwrap();
        append(&file, almost_full.as_bytes());
        store.append_call(&record(round * 10 + 1)).unwrap();
        append(&file, filler.as_bytes());
        assert!(!fs::read_to_string(&file).unwrap().contains(&format!("\"at_ms\":{},", round * 10 + 2)));
        store.append_call(&record(round * 10 + 2)).unwrap();
        let first = fs::read_to_string(&aside).unwrap();
        assert!(first.contains(&format!("\"at_ms\":{},", round * 10)), "{round}");
        let total = fs::metadata(&file).unwrap().len() + fs::metadata(&aside).unwrap().len();
        assert!(total < 17 * 1024 * 1024, "{round}: {total}");
    }
    assert_eq!(times(&store), [22, 30, 31, 32]);
}

#[test]
fn records_that_are_appended_at_once_while_the_file_is_put_aside_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    let filler = format!("{}\n", "x".repeat(1_023));
    fs::write(directory.path().join("calls.jsonl"), filler.repeat(MOST_BYTES / 1_024 - 10)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..100 {
                    store.append_call(&record(thread * 100 + number)).unwrap();
                }
            });
        }
    });
    assert!(directory.path().join("calls.1.jsonl").exists());
    let mut kept = times(&store);
    kept.sort_unstable();
    assert_eq!(kept, (0..800).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_put_aside_while_it_is_opened_is_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    store.append_call(&record(1)).unwrap();
    // Under both names at once, as a reader finds it that opens one before the rename and the other after it.
    fs::hard_link(directory.path().join("calls.jsonl"), directory.path().join("calls.1.jsonl")).unwrap();
    assert_eq!(times(&store), [1]);
}

#[test]
fn a_file_that_cannot_be_put_aside_is_an_error_and_does_not_grow() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().to_path_buf());
    fs::create_dir_all(directory.path().join("calls.1.jsonl/inside")).unwrap();
    let file = directory.path().join("calls.jsonl");
    fs::write(&file, "x\n".repeat(MOST_BYTES / 2)).unwrap();
    let error = store.append_call(&record(1)).unwrap_err();
    assert!(matches!(error, StoreError::Io { action: "rotate", .. }), "{error:?}");
    assert_eq!(fs::metadata(&file).unwrap().len(), u64::try_from(MOST_BYTES).unwrap());
}
