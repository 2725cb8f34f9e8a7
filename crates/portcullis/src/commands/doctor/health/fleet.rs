//! Checks of what a fleet shares: the daemon of this machine, the store, the policy.

use portcullis_settings::PolicyFiles;
use portcullis_store::Store;

use super::Checks;
use portcullis_daemon::policy::{of_store, trusted_keys};
use portcullis_gate::SessionSettings;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Places;
use portcullis_gate::daemon_client::Running;
use portcullis_gate::stores;

/// A policy that was signed longer ago than this is told by days.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Checks the daemon, and the store and the policy if settings speak of them.
pub(super) fn check_fleet(checks: &mut Checks, session: &SessionSettings) {
    let Some(state) = session.locations.state.clone() else { return };
    let is_shared = session.loaded.store.is_shared();
    check_daemon(checks, &Places::new(&state), is_shared);
    match stores::open(&session.loaded, state) {
        Ok(store) => {
            if is_shared {
                check_store(checks, &store);
            }
            check_policy(checks, session, Some(&store));
        }
        Err(failure) => {
            checks.problem("store", failure.message, failure.hint.unwrap_or_default());
            check_policy(checks, session, None);
        }
    }
}

fn check_daemon(checks: &mut Checks, places: &Places, is_shared: bool) {
    match Running::find(places) {
        Some(running) => {
            let place = running.url.unwrap_or_else(|| running.socket.display().to_string());
            if std::os::unix::net::UnixStream::connect(&running.socket).is_ok() {
                checks.fine("daemon", format!("process {} listens at {place}", running.pid));
            } else {
                let message = format!("process {} does not answer at its socket", running.pid);
                checks.problem("daemon", message, "stop it and start `portcullis serve` again");
            }
        }
        None if is_shared => checks.problem(
            "daemon",
            "none runs, and `store.url` is set: every call of an agent is blocked",
            "start `portcullis serve`",
        ),
        None => checks.fine("daemon", "none runs: what only a person can allow is denied where nobody is"),
    }
}

fn check_store(checks: &mut Checks, store: &Store) {
    let place = store.backend().place();
    match store.backend().trail_head() {
        Ok(head) => {
            let number = head.map_or(0, |head| head.number);
            checks.fine("store", format!("{place} answers; its last record is number {number}"));
        }
        Err(error) => checks.problem("store", error.to_string(), error.hint().unwrap_or_default()),
    }
}

/// Compares the policy in force with the one that is published.
fn check_policy(checks: &mut Checks, session: &SessionSettings, store: Option<&Store>) {
    let keys = match trusted_keys(&session.loaded) {
        Ok(keys) if keys.is_empty() => return,
        Ok(keys) => keys,
        Err(why) => return checks.problem("policy", why, "see `portcullis settings show`"),
    };
    let in_force = PolicyFiles::of(&session.locations).map(|files| files.read(&keys));
    let stamp = match in_force {
        Some(Ok(Some(policy))) => policy,
        Some(Err(refusal)) => {
            return checks.problem("policy", refusal.to_string(), "run `portcullis policy pull`");
        }
        Some(Ok(None)) | None => {
            let message = "`store.policyKeys` is set, and no policy is in force: nothing outside managed settings allows";
            return checks.problem(
                "policy",
                message,
                "run `portcullis policy pull`, or start `portcullis serve`",
            );
        }
    };
    let days = now_ms().saturating_sub(stamp.signed_at_ms) / DAY_MS;
    let age = if days == 0 { "today".to_owned() } else { format!("{days} days ago") };
    let told = format!("version {} is in force, signed by `{}` {age}", stamp.version, stamp.key);
    match store.map(|store| store.backend().latest_policy()) {
        Some(Ok(Some(latest))) if latest.version > stamp.version => {
            let published = of_store(latest);
            match published.verify(&keys) {
                Ok(()) => {
                    let message = format!("{told}; version {} is published", published.version);
                    checks.warning(
                        "policy",
                        message,
                        "start `portcullis serve`, or run `portcullis policy pull`",
                    );
                }
                Err(refusal) => checks.problem(
                    "policy",
                    format!("{told}; {refusal}"),
                    "find out who published it: see `portcullis policy verify`",
                ),
            }
        }
        Some(Ok(Some(latest))) if latest.version < stamp.version => {
            let message = format!("{told}; the store has version {} only", latest.version);
            checks.problem("policy", message, "find out who set the store back; what is in force stays");
        }
        _ => checks.fine("policy", told),
    }
}
