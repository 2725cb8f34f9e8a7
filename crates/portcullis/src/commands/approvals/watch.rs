//! `portcullis approvals watch`: a line for every question that is asked, answered or over.

use std::time::Duration;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::ApprovalState;
use serde_json::Value;

use super::desk::Desk;
use super::wire::{self, Approval};
use super::{level_word, outcome_text};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::calendar;
use portcullis_output::human::shorten;
use portcullis_output::terminal::{DIM, Painted, print, print_notes, printable};

/// The longest summary in a line, in characters.
const LONGEST: usize = 120;

/// How many open questions are told at the beginning.
const MOST: u64 = 1_000;

/// How long to wait before a daemon that went away is looked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// Print a line for every question that is asked, answered or over, until interrupted
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis approvals watch
  portcullis approvals watch --json

What waits already is told first. If the daemon goes away, it is looked for until it is back.
With --json every line is an object.

Exit codes: 64 no daemon, 70 internal failure")]
pub(crate) struct WatchArgs {}

/// Runs the command.
pub(super) fn run(_: &WatchArgs, is_json: bool) -> Result<ExitCode, Failure> {
    let mut watching = Watching { is_json, last: 0 };
    let mut desk = Desk::open(Role::Read)?;
    loop {
        // Whoever cannot be told is a failure; a daemon that went away is not.
        if let Lost::Output(failure) = watching.follow(&desk) {
            return Err(failure);
        }
        print_notes(["the daemon went away: looking for it"]);
        desk = loop {
            std::thread::sleep(PAUSE);
            if let Ok(desk) = Desk::open(Role::Read) {
                break desk;
            }
        };
    }
}

/// Why following ended.
enum Lost {
    Daemon,
    Output(Failure),
}

/// What was told already.
struct Watching {
    is_json: bool,
    /// The number of the last change that was told.
    last: u64,
}

impl Watching {
    /// Tells what waits and what changes, until the daemon or the output ends.
    fn follow(&mut self, desk: &Desk) -> Lost {
        // Listening begins first: what happens between both is told twice rather than never, and the number of a change
        // says that it was told.
        let (Ok(events), Ok(open)) = (desk.events(), desk.list("open", MOST)) else {
            return Lost::Daemon;
        };
        let waiting = open.get("approvals").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut known: Vec<(Approval, Value)> =
            waiting.into_iter().filter_map(|value| Some((wire::approval(&value)?, value))).collect();
        known.sort_by_key(|(approval, _)| approval.sequence);
        for (approval, value) in &known {
            if let Err(failure) = self.tell(approval, value) {
                return Lost::Output(failure);
            }
        }
        for event in events {
            let Ok(event) = event else { return Lost::Daemon };
            let value = serde_json::from_str::<Value>(&event.data).unwrap_or_default();
            let Some(approval) = wire::approval(&value).filter(|_| event.name == "approval") else {
                continue;
            };
            if let Err(failure) = self.tell(&approval, &value) {
                return Lost::Output(failure);
            }
        }
        Lost::Daemon
    }

    fn tell(&mut self, approval: &Approval, value: &Value) -> Result<(), Failure> {
        if approval.sequence <= self.last {
            return Ok(());
        }
        self.last = approval.sequence;
        print(&if self.is_json { printable(&format!("{value}\n")) } else { line(approval) })
    }
}

fn line(approval: &Approval) -> String {
    let question = &approval.question;
    let (at_ms, what) = match (&approval.answer, approval.state) {
        (_, ApprovalState::Open) => {
            let level = level_word(approval.explanation.as_ref());
            (approval.created_at_ms, format!("asked, {}, risk {level}", visible(&question.host)))
        }
        (Some(answer), _) => (answer.at_ms, outcome_text(approval)),
        (None, _) => (now_ms(), outcome_text(approval)),
    };
    let summary = shorten(&question.summary, LONGEST);
    let when = Painted(DIM, calendar::time(at_ms));
    format!("{when}  {}  {what}  {}\n", visible(&approval.id), visible(&summary))
}
