//! The end of a fenced command: its own exit code, and the lines that say what the fence did.

use std::ffi::OsString;

use portcullis_core::visible;
use portcullis_fence::{
    AttemptResult, FenceError, FenceOutcome, FencePolicy, FencedCommand, HostAttempt, NetworkAccess,
};
use portcullis_output::human::counted;
use portcullis_output::terminal::print_error;

use super::named_places::named_outside;
use crate::exit_code::ExitCode;

/// Says in one line that nothing was run, and why.
pub(super) fn nothing_was_run(reason: &str, hint: Option<&str>) -> ExitCode {
    let hint = hint.map(|hint| format!(" ({})", visible(hint))).unwrap_or_default();
    print_error(&format!("portcullis: nothing was run: {}{hint}\n", visible(reason)));
    ExitCode::NotRun
}

/// Says why the fence did not go up, or why the program does not start.
pub(super) fn did_not_start(error: &FenceError) -> ExitCode {
    let code = nothing_was_run(&error.to_string(), error.hint());
    match error.exit_code() {
        125 => code,
        other => end_with(other),
    }
}

/// What whoever reads of a refusal can do.
pub(super) struct FenceAdvice {
    /// After something was refused.
    pub(super) refused: &'static str,
    /// After the command failed, which the fence may have to do with or not.
    pub(super) stopped: &'static str,
}

/// Names what the fence refused, which the command itself tells only as a riddle.
pub(super) fn say_what_was_refused(outcome: &FenceOutcome, command: &FencedCommand, advice: &FenceAdvice) {
    let FencedCommand { policy, words, .. } = command;
    if let Some(text) = refused_hosts(&outcome.hosts, &policy.network, advice) {
        print_error(&text);
    }
    if outcome.refused_connections > 0 {
        let tries = counted(outcome.refused_connections, "connection");
        print_error(&format!(
            "portcullis: the fence refused {tries} to addresses outside: only listed hosts can be reached, by their names. {}\n",
            advice.refused
        ));
    }
    if let Some(first) = outcome.made_protected.first() {
        let count = counted(outcome.made_protected.len(), "file or folder");
        print_error(&format!(
            "portcullis: {count} that run later or steer tools were made meanwhile, first `{}`. Look at it before anything uses it.\n",
            visible(&first.to_string_lossy())
        ));
    }
    if outcome.exit.shell_code() != 0 {
        let named = refused_names(words, policy).map(|named| format!(" {named}")).unwrap_or_default();
        print_error(&format!(
            "portcullis: this ran inside a fence: it can write `{}` and `/tmp`; the rest of the machine is \
             read-only, secrets are hidden, and services such as Docker are out of reach.{named} {}\n",
            visible(&policy.workspace.to_string_lossy()),
            advice.stopped
        ));
    }
}

/// Returns the sentence about places outside that a command names. The kernel tells nobody which path it refused, but what
/// stands in the command can be looked at.
fn refused_names(words: &[OsString], policy: &FencePolicy) -> Option<String> {
    let (hidden, sealed) = named_outside(words, policy);
    let parts = [(hidden, "hidden inside"), (sealed, "read-only inside")];
    let clauses: Vec<String> = parts
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, how)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{} is {how}", list_of(&names))
        })
        .collect();
    (!clauses.is_empty()).then(|| format!("Of what it names, {}.", clauses.join(" and ")))
}

/// Says whether the fence kept the command from reaching something outside.
pub(super) fn was_refused(outcome: &FenceOutcome) -> bool {
    let is_refused =
        |host: &HostAttempt| matches!(host.result, AttemptResult::NotListed | AttemptResult::PrivateAddress);
    outcome.refused_connections > 0 || outcome.hosts.iter().any(is_refused)
}

/// How many refused hosts are named.
const MOST_NAMES: usize = 5;

/// Returns the line about hosts that were refused.
fn refused_hosts(hosts: &[HostAttempt], network: &NetworkAccess, advice: &FenceAdvice) -> Option<String> {
    let named = |result: AttemptResult| -> Vec<&str> {
        hosts.iter().filter(|host| host.result == result).map(|host| host.host.as_str()).collect()
    };
    let unlisted = named(AttemptResult::NotListed);
    if !unlisted.is_empty() {
        let reach = match network {
            NetworkAccess::None => "this command runs without a network",
            NetworkAccess::Hosts(_) => "it is not on the list of this run",
        };
        return Some(format!(
            "portcullis: the fence refused to reach {}: {reach}. {}\n",
            list_of(&unlisted),
            advice.refused
        ));
    }
    let private = named(AttemptResult::PrivateAddress);
    (!private.is_empty()).then(|| {
        format!(
            "portcullis: the fence refused to reach {}: the name leads to a private address. \
             A person can list that address too with `--allow-host`.\n",
            list_of(&private)
        )
    })
}

fn list_of(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("`{}`", visible(name))).collect();
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Ends the process with the exit code of the command.
#[expect(clippy::exit, reason = "the code is the command's own, and any number can be one")]
pub(super) fn end_with(code: u8) -> ! {
    std::process::exit(i32::from(code))
}
