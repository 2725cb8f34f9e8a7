//! The prepared answer, and the two ways a process may end: delivering its own answer, or blocking.
//!
//! INVARIANT: [`ANSWERED`] is set immediately before the first byte of any answer is written, so two answers can
//! never follow one another on standard output.

use std::panic::PanicHookInfo;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::BlockingAnswer;
use crate::descriptor::{STDERR, STDOUT, close, is_null_device, write_all};

/// Blocks even if the answer was never prepared.
const LAST_RESORT: BlockingAnswer =
    BlockingAnswer { stdout: b"", stderr: b"portcullis: failed\n", exit_code: 2 };

static PREPARED: AtomicPtr<BlockingAnswer> = AtomicPtr::new(ptr::null_mut());
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Keeps the answer for every later failure.
pub(crate) fn prepare(answer: &'static BlockingAnswer) {
    PREPARED.store(ptr::from_ref(answer).cast_mut(), Ordering::SeqCst);
}

fn prepared() -> BlockingAnswer {
    let answer = PREPARED.load(Ordering::SeqCst);
    // SAFETY: the pointer is null or came from a `&'static BlockingAnswer` in `prepare`.
    unsafe { answer.as_ref() }.copied().unwrap_or(LAST_RESORT)
}

/// Writes the prepared answer, unless an answer is already on its way, and ends the process.
///
/// Safe to call from a signal handler.
pub(crate) fn block() -> ! {
    let answer = prepared();
    if !ANSWERED.swap(true, Ordering::SeqCst) {
        // Whether it arrives or not, the exit code says the same.
        let _ = write_all(STDOUT, answer.stdout);
    }
    let _ = write_all(STDERR, answer.stderr);
    leave(answer.exit_code)
}

/// Delivers the process's own answer and ends it.
pub(crate) fn deliver(stdout: &[u8], stderr: &[u8], exit_code: i32) -> ! {
    ANSWERED.store(true, Ordering::SeqCst);
    // A lost explanation on standard error does not change the answer.
    let _ = write_all(STDERR, stderr);
    let delivered = stdout.is_empty() || is_delivered(stdout);
    leave(if delivered { exit_code } else { prepared().exit_code })
}

fn is_delivered(stdout: &[u8]) -> bool {
    !is_null_device(STDOUT) && write_all(STDOUT, stdout).is_ok() && close(STDOUT).is_ok()
}

/// Says on standard error where a panic came from; the host's user finds it in the host's log.
pub(crate) fn explain(panic: &PanicHookInfo<'_>) {
    let _ = write_all(STDERR, format!("portcullis: {panic}\n").as_bytes());
}

/// Makes a plain `exit` block as well, whoever calls it.
pub(crate) fn cover_exit() -> Result<(), ()> {
    // SAFETY: `on_exit` is a function for the whole life of the program and takes no arguments.
    let status = unsafe { libc::atexit(on_exit) };
    if status == 0 { Ok(()) } else { Err(()) }
}

extern "C" fn on_exit() {
    block();
}

pub(crate) extern "C" fn on_signal(_signal: libc::c_int) {
    block();
}

fn leave(exit_code: i32) -> ! {
    // SAFETY: `_exit` ends the process at once and is async-signal-safe.
    unsafe { libc::_exit(exit_code) }
}
