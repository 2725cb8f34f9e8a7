//! Signals that ask a process to end, passed on to the child it stands in front of.

use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;

use crate::signal;

/// Signals by which a client asks a server to end.
const PASSED_ON: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// The child's process id; 0 if there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Signals could not be passed on to the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotRelayed;

/// Passes `SIGHUP`, `SIGINT` and `SIGTERM` on to a child from now on, instead of ending by them.
///
/// Whoever calls it waits for the child and says so with [`relay_ended`] at once: from the end of that wait on, the id may
/// be another process's.
pub fn relay_signals(child: u32) -> Result<(), NotRelayed> {
    let child = i32::try_from(child).ok().filter(|child| *child > 0).ok_or(NotRelayed)?;
    CHILD.store(child, Ordering::SeqCst);
    for signal in PASSED_ON {
        signal::set_restarting_action(signal, pass_on).map_err(|_| NotRelayed)?;
    }
    Ok(())
}

/// Passes nothing on any more: the child is gone.
pub fn relay_ended() {
    CHILD.store(0, Ordering::SeqCst);
}

extern "C" fn pass_on(signal: c_int) {
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: `kill` is async-signal-safe and touches no memory of ours.
        unsafe { libc::kill(child, signal) };
    }
}
