//! Calls that were denied because nobody could be asked, or by the judge of auto mode: listed, found, and let run once.

use std::fmt::Write as _;

use portcullis_core::visible;
use portcullis_store::{DeniedCall, RecentDenials, Store, StoreError};
use serde_json::{Value, json};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags};
use portcullis_gate::stores;
use portcullis_output::human::{age, counted};
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_error, print_notes, printable};

/// How many denied calls are listed unless the flags say otherwise.
pub(crate) const USUAL_LIMIT: usize = 20;

/// How long the answer to a call waits for it to come again unless the flags say otherwise, in minutes.
pub(crate) const USUAL_WAIT_MINUTES: u64 = 60;

/// The longest call that is kept whole, in bytes.
const LONGEST_WHOLE: usize = 2_000;

/// A denied call, after the name of its session.
pub(super) type KnownCall = (String, DeniedCall);

/// Returns the store, which must have a place.
pub(crate) fn open_store() -> Result<Store, Failure> {
    stores::open_for(&SessionSettings::open(&SettingsFlags::default())?)
}

/// Returns what was denied lately, the newest first.
pub(crate) fn recent(store: &Store, limit: usize) -> Result<RecentDenials, Failure> {
    store.recently_denied(limit, now_ms()).map_err(|error| Failure::internal(error.to_string()))
}

/// Returns the call with an id.
pub(crate) fn find(store: &Store, id: &str) -> Result<KnownCall, Failure> {
    let found = store.find_denied(id).map_err(|error| refused(&error))?;
    found.ok_or_else(|| refused(&StoreError::UnknownDenial { id: id.to_owned() }))
}

/// Returns the call that was denied last.
pub(super) fn find_last(store: &Store) -> Result<KnownCall, Failure> {
    recent(store, 1)?.calls.into_iter().next().ok_or_else(|| {
        Failure::usage("nothing was denied lately").with_hint("name a rule, or see `portcullis log`")
    })
}

/// Prints calls that were denied, or a sentence if there are none.
pub(crate) fn list_calls(recent: &RecentDenials, is_json: bool, none: &str) -> Result<ExitCode, Failure> {
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

/// Shows all that is kept of a call, so that a mistake is seen.
pub(super) fn show_call(session: &str, call: &DeniedCall) {
    let mut text = call_text(call, now_ms());
    let place = format!("in {}, session {}", visible(&call.cwd), visible(session));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {}", Painted(DIM, place));
    print_error(&text);
}

/// Lets one very call run once, within so many minutes. Whoever calls this has seen a person.
pub(crate) fn allow_once(
    store: &Store,
    (session, call): &KnownCall,
    minutes: u64,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let approved = store.session(session).approve(&call.id, now_ms(), minutes.saturating_mul(60_000));
    let call = approved.map_err(|error| refused(&error))?;
    print(&if is_json {
        printable(&format!("{:#}\n", json!({"approved": call_json(session, &call), "minutes": minutes})))
    } else {
        approved_text(session, &call, minutes)
    })?;
    Ok(ExitCode::Success)
}

/// Makes the failure of an answer: the user's where another id would do, else ours.
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

/// Shows all that is kept of a call that may run once, so that a mistake is seen.
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

fn call_text(call: &DeniedCall, now: u64) -> String {
    let mut out = String::new();
    let lifts = if call.retryable { "" } else { ", nothing lifts it" };
    let age = Painted(DIM, format!("{} ago{lifts}", age(now.saturating_sub(call.at_ms))));
    let _ = writeln!(out, "{}  {age}", Painted(BOLD, visible(&call.id)));
    let _ = writeln!(out, "  {}", visible(&call.summary));
    let _ = writeln!(out, "  {}", Painted(DIM, visible(&call.reason)));
    out
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
