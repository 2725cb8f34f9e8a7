//! Faults that tests cause in the middle of a hook, by the variable `PORTCULLIS_FAULT`. Release builds have none of this.

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
