//! A server that is killed while daemons append: what was acknowledged is there, and work goes on.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_store::audit::index::Filter;
use portcullis_store::{StoreBackend as _, StoreError};
use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;

use crate::sample::{connect, entries};

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let mut server = PostgresServer::start();
    let fleets = [connect(&server.database("fleet")), connect(&server.url("fleet"))];
    let acknowledged = Mutex::new(BTreeSet::new());
    let is_over = AtomicBool::new(false);
    let has = |count: usize| acknowledged.lock().unwrap().len() >= count;
    let wait = |count: usize| {
        let started = Instant::now();
        while !has(count) {
            assert!(started.elapsed() < Duration::from_mins(2), "work does not go on");
            thread::sleep(Duration::from_millis(5));
        }
    };
    thread::scope(|scope| {
        for fleet in &fleets {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        match fleet.append(&entries(0..7)) {
                            Ok(ids) => acknowledged.lock().unwrap().extend(ids),
                            Err(StoreError::Unreachable { .. } | StoreError::Busy { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
        }
        for round in 1..=3 {
            let before = acknowledged.lock().unwrap().len();
            wait(before + 70 * round);
            server.kill();
            server.restart();
        }
        let before = acknowledged.lock().unwrap().len();
        wait(before + 70);
        is_over.store(true, Ordering::Relaxed);
    });
    let [fleet, _] = &fleets;
    let verification = fleet.verify_trail(&[], None).unwrap();
    assert_eq!(verification.breaks, []);
    let kept: BTreeSet<String> =
        fleet.find(&Filter::default(), 1_000_000).unwrap().into_iter().map(|record| record.id).collect();
    assert_eq!(u64::try_from(kept.len()).unwrap(), verification.records);
    let acknowledged = acknowledged.into_inner().unwrap();
    assert_eq!(acknowledged.difference(&kept).collect::<Vec<_>>(), Vec::<&String>::new());
    // A batch is kept as a whole or not at all.
    assert_eq!(verification.records % 7, 0);
}

#[test]
fn a_daemon_goes_on_when_the_server_is_back() {
    let mut server = PostgresServer::start();
    let fleet = connect(&server.database("fleet"));
    fleet.append(&entries(0..3)).unwrap();
    server.kill();
    let error = fleet.append(&entries(3..4)).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(fleet.count(&Filter::default()).is_err());
    server.restart();
    // The very first try works: that the old connections are dead is noticed before anything is done.
    fleet.append(&entries(4..6)).unwrap();
    assert_eq!(fleet.count(&Filter::default()).unwrap(), 5);
}
