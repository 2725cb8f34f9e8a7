//! `portcullis retry`: what auto mode denied lately, and letting one of those calls run after all.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use clap::Args;
use portcullis_core::visible;
use portcullis_store::{DenialKind, DeniedCall, RecentDenials, Store, StoreError};
use serde_json::{Value, json};

use super::grant::open_store;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::human::counted;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_notes, printable};

/// How long an approval waits for its call unless the flags say otherwise, in minutes.
const USUAL_WAIT_MINUTES: u64 = 60;

/// The longest call that is kept whole, in bytes.
const LONGEST_WHOLE: usize = 2_000;

/// How many denied calls are listed unless the flags say otherwise.
const USUAL_LIMIT: usize = 20;

/// List what auto mode denied lately, or let one of those calls run once
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis retry
  portcullis retry 3f9a1c-2
  portcullis retry --json --limit 5

With an id, the very same call (tool, input and directory, in the same session) is allowed once.
Deny and ask rules, safety checks and findings that nothing clears still hold.
Only a person can do that: it works in a terminal alone, the list works anywhere.
Tell the agent to try again afterwards.

Exit codes: 0 done, 64 no such denial, one that nothing lifts, or no terminal, 70 internal failure")]
pub(crate) struct RetryArgs {
    /// The id of the denial
    id: Option<String>,
    /// How many minutes the call may take to come again
    #[arg(long, value_name = "N", default_value_t = USUAL_WAIT_MINUTES, value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: u64,
    /// How many denied calls to list
    #[arg(long, value_name = "N", default_value_t = USUAL_LIMIT, conflicts_with = "id")]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &RetryArgs) -> Result<ExitCode, Failure> {
    let store = open_store()?;
    match &arguments.id {
        Some(id) => approve(&store, id, arguments),
        None => list(&store, arguments),
    }
}

fn list(store: &Store, arguments: &RetryArgs) -> Result<ExitCode, Failure> {
    let mut recent =
        store.recently_denied(arguments.limit).map_err(|error| Failure::internal(error.to_string()))?;
    // What a person could not be asked about is a matter of `portcullis allow`.
    recent.calls.retain(|(_, call)| call.kind != DenialKind::Asked);
    list_calls(&recent, arguments.json, "auto mode denied nothing lately\n")
}

/// Prints calls that were denied, or a sentence if there are none.
pub(super) fn list_calls(recent: &RecentDenials, is_json: bool, none: &str) -> Result<ExitCode, Failure> {
    let text = if is_json {
        let calls: Vec<Value> = recent.calls.iter().map(|(session, call)| call_json(session, call)).collect();
        printable(&format!("{:#}\n", json!({"denied": calls})))
    } else if recent.calls.is_empty() {
        none.to_owned()
    } else {
        let now = now_ms();
        recent.calls.iter().map(|(_, call)| call_text(call, now)).collect()
    };
    print(&text)?;
    print_notes(recent.problems.iter().map(StoreError::to_string));
    Ok(ExitCode::Success)
}

fn approve(store: &Store, id: &str, arguments: &RetryArgs) -> Result<ExitCode, Failure> {
    // What an agent runs has no terminal unless it makes one, and no agent may lift what it was denied.
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("a denied call can only be allowed by a person in a terminal")
            .with_hint("run it yourself in a terminal, without a pipe into it"));
    }
    let found = store.find_denied(id).map_err(|error| refused(&error))?;
    let Some((session, _)) = found else {
        return Err(refused(&StoreError::UnknownDenial { id: id.to_owned() }));
    };
    approve_call(store, &session, id, arguments.minutes, arguments.json)
}

/// Lets one very call run once, within so many minutes. Whoever calls this has seen a person.
pub(super) fn approve_call(
    store: &Store,
    session: &str,
    id: &str,
    minutes: u64,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let approved = store.session(session).approve(id, now_ms(), minutes.saturating_mul(60_000));
    let call = approved.map_err(|error| refused(&error))?;
    print(&if is_json {
        printable(&format!("{:#}\n", json!({"approved": call_json(session, &call), "minutes": minutes})))
    } else {
        approved_text(session, &call, minutes)
    })?;
    Ok(ExitCode::Success)
}

/// Makes the failure of an approval: the user's where another id would do, else ours.
pub(super) fn refused(error: &StoreError) -> Failure {
    let failure = match error {
        StoreError::UnknownDenial { .. }
        | StoreError::AmbiguousDenial { .. }
        | StoreError::NotRetryable { .. }
        | StoreError::TooManyGrants { .. } => Failure::usage(error.to_string()),
        _ => Failure::internal(error.to_string()),
    };
    match (error, error.hint()) {
        (StoreError::UnknownDenial { .. }, _) => {
            failure.with_hint("`portcullis allow` lists what was denied lately")
        }
        (_, Some(hint)) => failure.with_hint(hint),
        (_, None) => failure,
    }
}

/// Shows all that is kept of an approved call, so that a mistake is seen.
fn approved_text(session: &str, call: &DeniedCall, minutes: u64) -> String {
    let mut out = format!("allowed once, for the next {}:\n", counted(minutes, "minute"));
    // Writing to a String cannot fail.
    let _ = writeln!(out, "  {}", visible(&call.summary));
    if call.summary.len() > LONGEST_WHOLE && call.summary.ends_with('…') {
        let _ = writeln!(out, "  {}", Painted(DIM, "the call is longer, and the rest of it was not kept"));
    }
    let place = format!("in {}, session {}", visible(&call.cwd), visible(session));
    let _ = writeln!(out, "  {}", Painted(DIM, place));
    out.push_str("tell the agent to try again\n");
    out
}

pub(super) fn call_text(call: &DeniedCall, now: u64) -> String {
    let mut out = String::new();
    let lifts = if call.retryable { "" } else { ", nothing lifts it" };
    let age = Painted(DIM, format!("{} ago{lifts}", age(now.saturating_sub(call.at_ms))));
    let _ = writeln!(out, "{}  {age}", Painted(BOLD, visible(&call.id)));
    let _ = writeln!(out, "  {}", visible(&call.summary));
    let _ = writeln!(out, "  {}", Painted(DIM, visible(&call.reason)));
    out
}

pub(super) fn age(millis: u64) -> String {
    match millis / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn call_json(session: &str, call: &DeniedCall) -> Value {
    json!({
        "id": call.id,
        "session": session,
        "atMs": call.at_ms,
        "tool": call.tool,
        "cwd": call.cwd,
        "summary": call.summary,
        "reason": call.reason,
        "code": call.code,
        "retryable": call.retryable,
    })
}
