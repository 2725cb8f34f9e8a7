//! Arms the guard and then fails in the way its first argument names; `tests/faults.rs` looks at what comes out.

use std::hint::black_box;
use std::io::Read;
use std::time::Duration;

use portcullis_guard::{BlockingAnswer, Guard};

static DENY: BlockingAnswer =
    BlockingAnswer { stdout: b"{\"answer\":\"deny\"}\n", stderr: b"blocked by the guard\n", exit_code: 2 };

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let deadline =
        if fault == "hang" || fault == "busy" { Duration::from_millis(100) } else { Duration::from_secs(20) };
    let guard = Guard::arm(&DENY, deadline);
    match fault.as_str() {
        "none" => guard.answer(b"{\"answer\":\"allow\"}\n", b"", 0),
        "silent" => guard.answer(b"", b"", 0),
        "large" => guard.answer(&vec![b'x'; 4 << 20], b"", 0),
        "panic" => fail(),
        "caught-panic" => drop(std::panic::catch_unwind(fail)),
        "abort" => std::process::abort(),
        "overflow" => _ = black_box(overflow(0)),
        "hang" | "stdin" => _ = std::io::stdin().read_to_end(&mut Vec::new()),
        "busy" => spin(),
        "memory" => exhaust(),
        "exit" => leave(),
        signal => raise(signal),
    }
}

#[expect(clippy::panic, reason = "the fault under test")]
fn fail() {
    panic!("the fault under test");
}

#[expect(clippy::exit, reason = "the fault under test")]
fn leave() {
    std::process::exit(0);
}

#[expect(unconditional_recursion, reason = "the fault under test")]
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    overflow(depth + 1) + frame.iter().sum::<u64>()
}

fn spin() {
    let mut count = 0_u64;
    loop {
        count = black_box(count.wrapping_add(1));
    }
}

fn exhaust() {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1_u8; 1 << 40]));
    }
}

fn raise(signal: &str) {
    let Ok(signal) = signal.parse() else { return };
    // SAFETY: raising a signal in this single-threaded process touches no memory.
    unsafe { libc::raise(signal) };
}
