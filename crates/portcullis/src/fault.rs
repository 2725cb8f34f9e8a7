//! Faults that tests cause in the middle of a hook or of the daemon, by the variable `PORTCULLIS_FAULT`. Release builds have none of this.

use std::hint::black_box;
use std::time::Duration;

use portcullis_guard::Guard;

/// Fails in the way the variable names, if it names one.
pub(crate) fn inject(guard: &Guard) {
    match std::env::var("PORTCULLIS_FAULT").as_deref() {
        Ok("panic") => fail(),
        Ok("abort") => std::process::abort(),
        Ok("overflow") => _ = black_box(overflow(0)),
        Ok("memory") => exhaust(),
        Ok("hang") => {
            guard.extend(Duration::from_millis(50));
            std::thread::park();
        }
        Ok(_) | Err(_) => {}
    }
}

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

#[expect(unconditional_recursion, reason = "the fault under test")]
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    overflow(depth + 1) + frame.iter().sum::<u64>()
}

fn exhaust() {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1_u8; 1 << 40]));
    }
}
