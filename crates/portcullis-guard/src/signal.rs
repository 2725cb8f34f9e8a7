//! Signals: a stack for the handler, the handler itself, the deadline's timer and a limit on memory.

use std::cell::UnsafeCell;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr;
use std::time::Duration;

use libc::c_int;

/// Signals whose default action ends a process, and which can be caught.
const FATAL: [c_int; 17] = [
    libc::SIGABRT,
    libc::SIGALRM,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGHUP,
    libc::SIGILL,
    libc::SIGINT,
    libc::SIGPROF,
    libc::SIGQUIT,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTERM,
    libc::SIGTRAP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGVTALRM,
    libc::SIGXCPU,
];

/// Signals that would end or stop the process for no reason of its own: a failed write reports itself as an error,
/// and a stopped hook would run into the host's timeout, which does not block.
const IGNORED: [c_int; 5] = [libc::SIGPIPE, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU, libc::SIGXFSZ];

/// Signals that end nothing unless somebody asks for it.
const HARMLESS: [c_int; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];

/// Enough for a handler that only writes.
const HANDLER_STACK: usize = 64 * 1024;

/// Memory of the program itself: no page of it is touched before the handler runs.
#[repr(align(16))]
struct HandlerStack(UnsafeCell<[u8; HANDLER_STACK]>);

// SAFETY: nothing of the program reads or writes it; the kernel hands it to a handler.
unsafe impl Sync for HandlerStack {}

/// Memory past which an allocation fails and aborts, which is caught, instead of waking the kernel's killer, which
/// cannot be.
const MEMORY: libc::rlim_t = 4 << 30;

/// A system call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotInstalled;

pub(crate) type SignalHandler = extern "C" fn(c_int);

/// Sends every fatal signal and the passing of `deadline` to `handler`.
pub(crate) fn install(handler: SignalHandler, deadline: Duration) -> Result<(), NotInstalled> {
    limit_memory();
    install_handler_stack()?;
    for signal in FATAL {
        set_action(signal, handler as libc::sighandler_t)?;
    }
    for signal in IGNORED {
        set_action(signal, libc::SIG_IGN)?;
    }
    hold_back_the_rest()?;
    start_timer(deadline)
}

/// Gives the handler a stack of its own, so that it also runs when the stack has overflowed.
fn install_handler_stack() -> Result<(), NotInstalled> {
    static MEMORY: HandlerStack = HandlerStack(UnsafeCell::new([0; HANDLER_STACK]));
    let stack = libc::stack_t { ss_sp: MEMORY.0.get().cast(), ss_flags: 0, ss_size: HANDLER_STACK };
    // SAFETY: `stack` describes memory that is never freed or used for anything else.
    check(unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) })
}

/// Sends a signal to a handler after which system calls go on that were interrupted.
pub(crate) fn set_restarting_action(signal: c_int, handler: SignalHandler) -> Result<(), NotInstalled> {
    set_action_with(signal, handler as libc::sighandler_t, libc::SA_RESTART)
}

fn set_action(signal: c_int, action: libc::sighandler_t) -> Result<(), NotInstalled> {
    set_action_with(signal, action, libc::SA_ONSTACK)
}

fn set_action_with(signal: c_int, action: libc::sighandler_t, flags: c_int) -> Result<(), NotInstalled> {
    // SAFETY: `sigaction` is made of integers, for which all zeroes is a value.
    let mut request: libc::sigaction = unsafe { std::mem::zeroed() };
    request.sa_sigaction = action;
    request.sa_flags = flags;
    // SAFETY: the mask is live and writable.
    check(unsafe { libc::sigfillset(&raw mut request.sa_mask) })?;
    // SAFETY: `request` is complete, and the handler only does what is async-signal-safe.
    check(unsafe { libc::sigaction(signal, &raw const request, ptr::null_mut()) })
}

/// Lets through what has an action here, whatever mask the host handed down, and keeps every other signal waiting: the
/// real-time ones and those without a portable name would end the process. One call, where catching each took forty.
fn hold_back_the_rest() -> Result<(), NotInstalled> {
    // SAFETY: `sigset_t` is made of integers, for which all zeroes is a value.
    let mut rest: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is live and writable.
    check(unsafe { libc::sigfillset(&raw mut rest) })?;
    for signal in FATAL.into_iter().chain(IGNORED).chain(HARMLESS) {
        // SAFETY: the set is live and writable.
        check(unsafe { libc::sigdelset(&raw mut rest, signal) })?;
    }
    // SAFETY: the set is complete, and the old one is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const rest, ptr::null_mut()) })
}

/// Starts the timer of the deadline, in the place of one that runs.
pub(crate) fn start_timer(deadline: Duration) -> Result<(), NotInstalled> {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut first = never;
    first.tv_sec = deadline.as_secs().try_into().map_err(|_| NotInstalled)?;
    first.tv_usec = i32::try_from(deadline.subsec_micros()).map_err(|_| NotInstalled)?.into();
    if first.tv_sec == 0 && first.tv_usec == 0 {
        // All zeroes would switch the timer off.
        first.tv_usec = 1;
    }
    let timer = libc::itimerval { it_interval: never, it_value: first };
    // SAFETY: `timer` is complete, and the old one is not asked for.
    check(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) })
}

/// Lowers the memory limit; a limit that is already lower, or cannot be set, is left as it is.
fn limit_memory() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is live and writable.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if known && limit.rlim_cur > MEMORY {
        limit.rlim_cur = MEMORY;
        // SAFETY: `limit` is complete.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    }
}

/// Undoes, in a child before its program begins, what would be handed down to it: the limit on memory and the signals
/// that are ignored.
pub(crate) fn undo_in(command: &mut Command) {
    let undo = || {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is live and writable.
        if unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0 {
            limit.rlim_cur = limit.rlim_max;
            // SAFETY: `limit` is complete.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
        }
        for signal in IGNORED {
            // SAFETY: the default action of a signal of this number may be set.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: `sigset_t` is made of integers, for which all zeroes is a value: no signal.
        let none: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is complete, and the old one is not asked for.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) };
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made that are async-signal-safe, and nothing is allocated.
    unsafe { command.pre_exec(undo) };
}

fn check(status: c_int) -> Result<(), NotInstalled> {
    if status == 0 { Ok(()) } else { Err(NotInstalled) }
}
