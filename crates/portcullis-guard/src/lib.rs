//! The fail-shut guard: whatever goes wrong in a hook process, the host still gets an answer that blocks.
//!
//! Hosts treat a crashed, killed or silent hook as "no objection" and run the call. So the hook arms a [`Guard`]
//! before anything else and ends through [`Guard::answer`]. Every other way out writes the prepared
//! [`BlockingAnswer`] and exits with its code: a panic, an abort, a stack overflow, a failed allocation, a fatal
//! signal, the deadline, a forgotten answer, a plain `exit`. What no process can catch (`SIGKILL`, a missing binary)
//! is not promised.
//!
//! ```text
//! arm ──► work ──► answer ──► exit code of the answer
//!           └─ anything else ──► prepared bytes, blocking exit code
//! ```
//!
//! This is the only crate of the workspace with `unsafe` code. Everything that runs in a signal handler is
//! async-signal-safe, on whichever thread: atomics, `write`, `poll`, `_exit`.

#[cfg(not(unix))]
compile_error!("the guard is written for unix");

mod block;
mod descriptor;
mod open_file;
mod relay;
mod signal;
mod start;

use std::process::Command;
use std::time::Duration;

pub use open_file::{memory_file, raise_open_files};
pub use relay::{NotRelayed, relay_ended, relay_signals};
pub use start::{prefault, prepare_start};

/// The answer that blocks, prepared before anything can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockingAnswer {
    /// What is written to standard output: the host's own way of saying no.
    pub stdout: &'static [u8],
    /// What is written to standard error, for hosts that show it as the reason.
    pub stderr: &'static [u8],
    /// The exit code that blocks in this host; never 0.
    pub exit_code: i32,
}

/// An armed guard. There is no way to disarm it but to answer.
#[derive(Debug)]
#[must_use = "a guard that is dropped answers at once, and blocks"]
pub struct Guard(());

impl Guard {
    /// Arms the guard: from here on the process ends in [`Guard::answer`] or in `answer`.
    ///
    /// If the guard cannot be armed, the process ends in `answer` at once.
    pub fn arm(answer: &'static BlockingAnswer, deadline: Duration) -> Self {
        block::prepare(answer);
        std::panic::set_hook(Box::new(|panic| {
            block::explain(panic);
            block::block()
        }));
        if signal::install(block::on_signal, deadline).is_err() || block::cover_exit().is_err() {
            block::block();
        }
        Self(())
    }

    /// Changes the prepared answer, when it is known better what would block.
    pub fn prepare(&self, answer: &'static BlockingAnswer) {
        block::prepare(answer);
    }

    /// Sets the deadline anew, counted from now, for work that is known to take longer. If it cannot be set, the old one
    /// stands.
    pub fn extend(&self, deadline: Duration) {
        let _ = signal::start_timer(deadline);
    }

    /// Writes the whole answer and ends the process with `exit_code`.
    ///
    /// If the answer cannot be delivered (a closed pipe, a full disk, the null device), the process ends with the
    /// blocking exit code instead, which is then all the host can see.
    pub fn answer(self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> ! {
        block::deliver(stdout, stderr, exit_code)
    }
}

/// Makes a command start its program as if no guard were armed: with the memory it may have and the signals it expects.
/// A guarded process that starts others must not hand its limits down to them.
pub fn unguarded(command: &mut Command) -> &mut Command {
    signal::undo_in(command);
    command
}

impl Drop for Guard {
    fn drop(&mut self) {
        block::block();
    }
}
