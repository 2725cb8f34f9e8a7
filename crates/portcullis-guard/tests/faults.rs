//! Every way a guarded process can end, seen from outside: exit code, standard output, standard error.
#![cfg(test)]

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Output, Stdio};

use pretty_assertions::assert_eq;

const DENY: &str = "{\"answer\":\"deny\"}\n";

fn fault(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis-guard-fault"));
    command.arg(name).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check_blocked(name: &str, output: &Output) {
    assert_eq!(output.status.signal(), None, "{name}: ended by a signal");
    assert_eq!(output.status.code(), Some(2), "{name}: exit code");
    assert_eq!(text(&output.stdout), DENY, "{name}: standard output");
    assert!(text(&output.stderr).ends_with("blocked by the guard\n"), "{name}: {}", text(&output.stderr));
}

#[test]
fn every_fault_ends_in_the_blocking_answer() {
    let faults = ["panic", "caught-panic", "abort", "overflow", "busy", "memory", "exit", "forgotten-answer"];
    for name in faults {
        check_blocked(name, &fault(name).output().unwrap());
    }
}

#[test]
fn every_fatal_signal_ends_in_the_blocking_answer() {
    let signals = [
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
        // Not fatal to the guard, but the program forgets its answer afterwards.
        libc::SIGPIPE,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGXFSZ,
    ];
    for signal in signals {
        let name = signal.to_string();
        check_blocked(&name, &fault(&name).output().unwrap());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_signal_without_a_portable_name_ends_in_the_blocking_answer() {
    let real_time = [libc::SIGRTMIN(), libc::SIGRTMIN() + 7, libc::SIGRTMAX()];
    for signal in [libc::SIGPOLL, libc::SIGPWR, libc::SIGSTKFLT].into_iter().chain(real_time) {
        let name = signal.to_string();
        check_blocked(&name, &fault(&name).output().unwrap());
    }
}

#[test]
fn a_wait_for_input_that_never_comes_ends_at_the_deadline() {
    let child = fault("hang").stdin(Stdio::piped()).spawn().unwrap();
    check_blocked("hang", &wait(child));
}

/// Waits without closing the child's standard input, as a host that hangs would.
fn wait(mut child: Child) -> Output {
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    output
}

#[test]
fn a_termination_from_outside_blocks() {
    let mut child = fault("stdin").stdin(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    wait_until_armed(&child);
    // SAFETY: the child is alive, because its standard input is still open.
    unsafe { libc::kill(child.id().try_into().unwrap(), libc::SIGTERM) };
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    check_blocked("SIGTERM", &output);
}

/// Waits until the child catches SIGTERM, as its entry in `/proc` tells.
fn wait_until_armed(child: &Child) {
    let path = format!("/proc/{}/status", child.id());
    for _ in 0..10_000 {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        let mask = u64::from_str_radix(caught, 16).unwrap_or(0);
        if mask & (1 << (libc::SIGTERM - 1)) != 0 {
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn an_answer_that_arrives_keeps_its_own_exit_code() {
    let output = fault("none").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "{\"answer\":\"allow\"}\n");
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn an_empty_answer_needs_nobody_to_read_it() {
    for device in ["/dev/full", "/dev/null"] {
        let sink = OpenOptions::new().write(true).open(device).unwrap();
        assert_eq!(fault("silent").stdout(sink).status().unwrap().code(), Some(0), "{device}");
    }
}

#[test]
fn an_answer_larger_than_a_pipe_arrives_whole() {
    let output = fault("large").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout.len(), 4 << 20);
}

#[test]
fn an_answer_that_nobody_can_read_blocks_by_exit_code() {
    let mut child = fault("large").spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    for device in ["/dev/full", "/dev/null"] {
        let sink = OpenOptions::new().write(true).open(device).unwrap();
        assert_eq!(fault("none").stdout(sink).status().unwrap().code(), Some(2), "{device}");
    }
    let read_only = OpenOptions::new().read(true).open("/dev/null").unwrap();
    assert_eq!(fault("none").stdout(read_only).status().unwrap().code(), Some(2));
    assert_eq!(closed_at_start().code(), Some(2));
}

fn closed_at_start() -> std::process::ExitStatus {
    let script = format!("exec '{}' none >&-", env!("CARGO_BIN_EXE_portcullis-guard-fault"));
    Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).status().unwrap()
}

#[test]
fn an_inherited_signal_mask_does_not_keep_the_deadline_away() {
    let mut command = fault("busy");
    // SAFETY: `block_all_signals` makes two async-signal-safe calls and allocates nothing.
    unsafe { command.pre_exec(block_all_signals) };
    let output = command.output().unwrap();
    check_blocked("busy, signals masked", &output);
}

fn block_all_signals() -> std::io::Result<()> {
    // SAFETY: `sigset_t` is made of integers, for which all zeroes is a value.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is live and writable.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: the set is complete, and the old one is not asked for.
    let status = unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut()) };
    if status == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn a_panic_says_on_standard_error_where_it_came_from() {
    let mut child = fault("panic").spawn().unwrap();
    let mut explanation = String::new();
    child.stderr.take().unwrap().read_to_string(&mut explanation).unwrap();
    child.wait().unwrap();
    assert!(explanation.contains("tests/bin/fault.rs"), "{explanation}");
    assert!(explanation.contains("the fault under test"), "{explanation}");
}
