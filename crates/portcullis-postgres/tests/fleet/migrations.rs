//! The tables: made once, whoever starts first, and left alone where they are not ours.

use std::thread;

use portcullis_postgres::{PostgresStore, SchemaState};
use portcullis_store::{StoreBackend as _, StoreError};
use pretty_assertions::assert_eq;

use crate::sample::{connect, database, entries, options, run_sql};

fn refusal(url: &str) -> String {
    match PostgresStore::connect(url, options()) {
        Err(StoreError::Refused { detail, .. }) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fresh_database_gets_its_tables_once() {
    let (name, url) = database();
    let fleet = PostgresStore::open(&url, options()).unwrap();
    assert_eq!(fleet.schema().unwrap(), SchemaState { applied: 0, known: 1 });
    assert!(fleet.check().unwrap_err().to_string().contains("portcullis store migrate"));
    assert_eq!(fleet.migrate().unwrap(), ["0001_tables"]);
    assert_eq!(fleet.migrate().unwrap(), Vec::<&str>::new());
    fleet.check().unwrap();
    let status = fleet.status().unwrap();
    assert!(status.schema.is_current());
    assert_eq!(status.partitions.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["audit_other"]);
    assert!(status.place.ends_with(&format!("/{name}")), "{}", status.place);
    assert!(!status.server.is_empty());
}

#[test]
fn many_daemons_that_start_at_once_do_not_collide() {
    let (name, url) = database();
    let taken: Vec<usize> = thread::scope(|scope| {
        let start = || {
            let fleet = PostgresStore::open(&url, options()).unwrap();
            let taken = fleet.migrate().unwrap().len();
            fleet.append(&entries(0..3)).unwrap();
            taken
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(taken.iter().sum::<usize>(), 1);
    assert_eq!(run_sql(&name, "SELECT count(*) FROM portcullis.migrations"), "1");
    let whole = connect(&url).verify_trail(&[], None).unwrap();
    assert_eq!((whole.records, whole.is_whole()), (18, true));
}

#[test]
fn a_database_that_is_newer_than_the_program_is_refused() {
    let (name, url) = database();
    drop(connect(&url));
    run_sql(&name, "INSERT INTO portcullis.migrations VALUES (2, '0002_later', 'abc')");
    let refusal = refusal(&url);
    assert!(refusal.contains("a newer version of portcullis made it"), "{refusal}");
    let fleet = PostgresStore::open(&url, options()).unwrap();
    assert!(matches!(fleet.check(), Err(StoreError::Refused { .. })));
    assert!(matches!(fleet.status(), Err(StoreError::Refused { .. })));
}

#[test]
fn a_step_that_was_changed_is_refused() {
    let (name, url) = database();
    drop(connect(&url));
    run_sql(&name, "UPDATE portcullis.migrations SET checksum = repeat('0', 64)");
    let refusal = refusal(&url);
    assert!(refusal.contains("is not the one that this program knows"), "{refusal}");
}

#[test]
fn a_database_in_another_encoding_is_refused() {
    run_sql(
        "postgres",
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    let url = portcullis_testkit::PostgresServer::shared().url("latin");
    assert_eq!(refusal(&url), "its encoding is LATIN1, and must be UTF8");
}
