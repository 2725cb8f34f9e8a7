//! What fenced commands changed and nobody has answered, as questions of the terminal.
//!
//! They lie on this machine, so no daemon is asked about them.

use std::fmt::Write as _;
use std::path::PathBuf;

use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_gate::clock::now_ms;
use portcullis_gate::containment::{HeldRun, HeldRuns};
use portcullis_gate::daemon_client::Role;
use portcullis_gate::session_settings::locations;
use portcullis_gate::text_difference::{DifferenceLimit, DifferenceLine};
use portcullis_gate::{Failure, is_id};
use portcullis_output::difference::painted_difference;
use portcullis_output::held_run::held_run_json;
use portcullis_output::human::{age, counted};
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, DIM, ERROR, Painted, print, print_error, printable};
use portcullis_store::ApprovalState;
use portcullis_store::audit::Entry;
use serde_json::{Value, json};

use super::answer::QueuedAnswerArgs;
use super::queue_client::QueueClient;
use super::wire::QueuedQuestion;
use crate::commands::answer::person::require_yes;
use crate::exit_code::ExitCode;

/// How much of a difference is shown in a terminal.
const SHOWN: DifferenceLimit = DifferenceLimit { lines: 400, columns: 400 };

/// How many changes are listed.
const MOST_CHANGES: usize = 100;

/// The longest command and reason in a list, in characters.
const LONGEST: usize = 120;

/// What a person says to the changes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunAnswer {
    /// They land: those at or below these paths, or all if there are none.
    Keep(Vec<PathBuf>),
    /// They are thrown away.
    Drop,
}

/// Returns the runs of this user.
pub(super) fn held_runs() -> Result<HeldRuns, Failure> {
    let state = locations(None)?.state.ok_or_else(|| {
        Failure::usage("there is no home directory, so no run is kept").with_hint("set HOME")
    })?;
    Ok(HeldRuns::below(&state))
}

/// Finds a run by the beginning of its id. What also begins the id of a question is none of both.
pub(super) fn find(start: &str) -> Result<Option<HeldRun>, Failure> {
    if is_id(start) {
        return Ok(None);
    }
    let found = held_runs()?.find(start)?;
    let is_doubtful =
        found.is_some() && QueueClient::open(Role::Read).and_then(|queue| queue.find(start)).is_ok();
    if is_doubtful {
        let begin = visible(start);
        return Err(Failure::usage(format!("a question and a run have ids that begin with `{begin}`"))
            .with_hint("give more of it"));
    }
    Ok(found)
}

/// Answers a run, and says what came of it.
pub(super) fn answer(id: &str, answer: &RunAnswer) -> Result<String, Failure> {
    let runs = held_runs()?;
    match answer {
        RunAnswer::Keep(paths) => Ok(match runs.keep(id, paths)? {
            0 => "kept".to_owned(),
            left => format!("kept; {} still held", counted(left, "change")),
        }),
        RunAnswer::Drop => runs.discard(id).map(|()| "dropped".to_owned()),
    }
}

/// Runs `allow --id` or `deny --id` for a run. Whether a person is there was seen to.
pub(super) fn run(
    behavior: Behavior,
    arguments: &QueuedAnswerArgs,
    run: &HeldRun,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    let is_other = arguments.session || arguments.always || arguments.message.is_some();
    if is_other {
        return Err(Failure::usage("changes of a run are kept or dropped, once")
            .with_hint("leave the other options out; `portcullis runs commit` keeps a part"));
    }
    print_error(&format!("{}\n", page(run)?));
    let (question, said) = match behavior {
        Behavior::Allow => ("keep these changes?", RunAnswer::Keep(Vec::new())),
        Behavior::Ask | Behavior::Deny => ("throw these changes away?", RunAnswer::Drop),
    };
    require_yes(arguments.yes, question)?;
    let said = answer(&run.id, &said)?;
    print(&if is_json {
        printable(&format!("{:#}\n", json!({"id": run.id, "outcome": said})))
    } else {
        format!("{}  {said}\n", visible(&run.id))
    })?;
    Ok(ExitCode::Success)
}

/// Writes a run for a list: its id and age; below it the command, and why its changes wait.
pub(super) fn lines(run: &HeldRun, now: u64) -> String {
    let ago = age(now.saturating_sub(run.started_at_ms));
    let host = if run.host.is_empty() { "you" } else { &run.host };
    let about = format!("{ago} ago, {}, {}", counted(run.changes.len(), "held change"), visible(host));
    format!(
        "{}  {}\n  {}\n  {}\n",
        Painted(BOLD, visible(&run.id)),
        Painted(DIM, about),
        visible(&shorten(&run.command, LONGEST)),
        Painted(DIM, visible(&shorten(&run.reason, LONGEST)))
    )
}

/// Writes everything there is to know of a run.
pub(super) fn page(run: &HeldRun) -> Result<String, Failure> {
    let mut out = lines(run, now_ms());
    // Writing to a String cannot fail.
    let _ = writeln!(out, "  {}\n", Painted(DIM, visible(&run.workspace)));
    for change in run.changes.iter().take(MOST_CHANGES) {
        let _ = write!(out, "  {:<8} {}", change.kind, visible(&change.path));
        for warning in &change.warnings {
            let _ = write!(out, "  {}", Painted(ERROR, warning));
        }
        out.push('\n');
    }
    if let Some(more @ 1..) = run.changes.len().checked_sub(MOST_CHANGES) {
        let _ = writeln!(out, "  and {more} more");
    }
    out.push('\n');
    out.push_str(&painted_difference(&difference(run)?));
    Ok(out)
}

fn difference(run: &HeldRun) -> Result<Vec<DifferenceLine>, Failure> {
    held_runs()?.difference(&run.id, SHOWN)
}

/// Returns a run for programs, with its difference.
pub(super) fn whole_value(run: &HeldRun) -> Result<Value, Failure> {
    let lines: Vec<String> = difference(run)?.into_iter().map(|line| line.text).collect();
    let mut value = held_run_json(run);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("difference".to_owned(), json!(lines));
    }
    Ok(value)
}

/// Makes the question of a run for the full screen: what is asked is what it changed, line by line.
pub(super) fn question(run: &HeldRun) -> Result<QueuedQuestion, Failure> {
    let text: Vec<String> = difference(run)?.into_iter().map(|line| line.text).collect();
    let entry = Entry {
        at_ms: run.started_at_ms,
        host: run.host.clone(),
        session: run.session.clone(),
        cwd: run.workspace.clone(),
        tool: format!("Keep {}?", counted(run.changes.len(), "change")),
        summary: run.command.clone(),
        input: json!({"command": run.command, "difference": text.join("\n")}).to_string(),
        reason: format!("nothing has landed: {}", run.reason),
        kind: "held".to_owned(),
        ..Entry::default()
    };
    Ok(QueuedQuestion {
        id: run.id.clone(),
        sequence: 0,
        created_at_ms: run.started_at_ms,
        expires_at_ms: u64::MAX,
        session: run.session.clone(),
        question: entry,
        explanation: None,
        state: ApprovalState::Open,
        answer: None,
        is_held_run: true,
    })
}
