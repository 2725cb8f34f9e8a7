//! What the daemon does besides answering, a line each. A task ends with its daemon.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::{Daemon, Shared, hub, policy};
use portcullis_gate::SessionSettings;
use portcullis_gate::clock::now_ms;
use portcullis_gate::judge::LONGEST_KEPT_MS;
use portcullis_output::terminal::print_notes;

/// How often old records and sessions are removed.
const RETENTION: Duration = Duration::from_hours(1);
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Starts every task.
pub(super) fn start(daemon: &Shared) -> Vec<JoinHandle<()>> {
    daemon.queue.start();
    vec![
        tokio::spawn(hub::follow_trail(Arc::downgrade(daemon))),
        tokio::spawn(keep_retention(Arc::downgrade(daemon))),
        tokio::spawn(policy::watch(Arc::downgrade(daemon))),
    ]
}

/// Removes what is older than the settings say, now and once an hour.
async fn keep_retention(daemon: Weak<Daemon>) {
    loop {
        let Some(daemon) = daemon.upgrade() else { return };
        let removing = tokio::task::spawn_blocking(move || remove_old(&daemon));
        // What could not be removed is tried again in an hour.
        if let Ok(problems) = removing.await {
            print_notes(problems);
        }
        tokio::time::sleep(RETENTION).await;
    }
}

fn remove_old(daemon: &Daemon) -> Vec<String> {
    let now = now_ms();
    let mut problems = Vec::new();
    let mut note = |outcome: Result<(), String>| problems.extend(outcome.err());
    match SessionSettings::open(&daemon.arguments) {
        Ok(session) => {
            let days = u64::from(session.loaded.audit.retention_days);
            if days > 0 {
                let pruned = daemon.store.backend().prune_trail(days.saturating_mul(DAY_MS), now, false);
                note(pruned.map(|_| ()).map_err(|error| error.to_string()));
                let before = now.saturating_sub(days.saturating_mul(DAY_MS));
                let approvals = daemon.store.backend().prune_approvals(before);
                note(approvals.map(|_| ()).map_err(|error| error.to_string()));
            }
        }
        Err(failure) => note(Err(failure.message)),
    }
    let forgotten = daemon.store.forget_old_sessions(now, LONGEST_KEPT_MS);
    note(forgotten.map(|_| ()).map_err(|error| error.to_string()));
    problems
}
