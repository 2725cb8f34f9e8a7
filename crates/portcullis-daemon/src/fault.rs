//! Faults that tests cause in the daemon, by the variable `PORTCULLIS_FAULT`. Release builds have none of this.

use std::path::PathBuf;
use std::time::Duration;

/// Ends the daemon after an answer was written down and before it is applied, if the variable says so.
pub(crate) fn inject_before_applying() {
    if std::env::var("PORTCULLIS_FAULT").as_deref() == Ok("before-applying") {
        std::process::abort();
    }
}

/// Returns how little the daemon waits for slow clients, if the variable says so: `patience=MILLISECONDS`.
pub(crate) fn patience() -> Option<Duration> {
    let fault = std::env::var("PORTCULLIS_FAULT").ok()?;
    fault.strip_prefix("patience=")?.parse().ok().map(Duration::from_millis)
}

/// Returns the program that shows notifications, if the variable names one: `notifier=PATH`.
pub(crate) fn notifier() -> Option<PathBuf> {
    let fault = std::env::var("PORTCULLIS_FAULT").ok()?;
    fault.strip_prefix("notifier=").map(PathBuf::from)
}

/// Fails while a request is handled, if the variable says so.
pub(crate) fn fail_in_request() {
    if std::env::var("PORTCULLIS_FAULT").as_deref() == Ok("request") {
        fail();
    }
}

#[expect(clippy::panic, reason = "the fault under test")]
fn fail() {
    panic!("the fault under test");
}
