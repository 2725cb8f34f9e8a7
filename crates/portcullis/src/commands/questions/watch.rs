//! `portcullis questions watch`: a line for every question that is asked, answered or over.

use std::time::Duration;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::ApprovalState;
use serde_json::Value;

use super::queue_client::QueueClient;
use super::wire::{self, QueuedQuestion};
use super::{level_word, outcome_text};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::calendar;
use portcullis_output::shorten::shorten;
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
  portcullis questions watch
  portcullis questions watch --json

What waits already is told first. If the daemon goes away, it is looked for until it is back.
With --json every line is an object.

Exit codes: 64 no daemon, 70 internal failure")]
pub(crate) struct WatchArgs {}

/// Runs the command.
pub(super) fn run(_: &WatchArgs, is_json: bool) -> Result<ExitCode, Failure> {
    let mut watch = QuestionWatch { is_json, last: 0 };
    let mut queue = QueueClient::open(Role::Read)?;
    loop {
        // Whoever cannot be told is a failure; a daemon that went away is not.
        if let WatchEnd::Output(failure) = watch.follow(&queue) {
            return Err(failure);
        }
        print_notes(["the daemon went away: looking for it"]);
        queue = loop {
            std::thread::sleep(PAUSE);
            if let Ok(queue) = QueueClient::open(Role::Read) {
                break queue;
            }
        };
    }
}

/// Why following ended.
enum WatchEnd {
    Daemon,
    Output(Failure),
}

/// What was told already.
struct QuestionWatch {
    is_json: bool,
    /// The number of the last change that was told.
    last: u64,
}

impl QuestionWatch {
    /// Tells what waits and what changes, until the daemon or the output ends.
    fn follow(&mut self, queue: &QueueClient) -> WatchEnd {
        // Listening begins first: what happens between both is told twice rather than never, and the number of a change
        // says that it was told.
        let (Ok(events), Ok(open)) = (queue.events(), queue.list("open", MOST)) else {
            return WatchEnd::Daemon;
        };
        let waiting = open.get("approvals").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut known: Vec<(QueuedQuestion, Value)> =
            waiting.into_iter().filter_map(|value| Some((wire::parse_question(&value)?, value))).collect();
        known.sort_by_key(|(queued, _)| queued.sequence);
        for (queued, value) in &known {
            if let Err(failure) = self.tell(queued, value) {
                return WatchEnd::Output(failure);
            }
        }
        for event in events {
            let Ok(event) = event else { return WatchEnd::Daemon };
            let value = serde_json::from_str::<Value>(&event.data).unwrap_or_default();
            let Some(queued) = wire::parse_question(&value).filter(|_| event.name == "approval") else {
                continue;
            };
            if let Err(failure) = self.tell(&queued, &value) {
                return WatchEnd::Output(failure);
            }
        }
        WatchEnd::Daemon
    }

    fn tell(&mut self, queued: &QueuedQuestion, value: &Value) -> Result<(), Failure> {
        if queued.sequence <= self.last {
            return Ok(());
        }
        self.last = queued.sequence;
        print(&if self.is_json { printable(&format!("{value}\n")) } else { line(queued) })
    }
}

fn line(queued: &QueuedQuestion) -> String {
    let question = &queued.question;
    let (at_ms, what) = match (&queued.answer, queued.state) {
        (_, ApprovalState::Open) => {
            let level = level_word(queued.explanation.as_ref());
            (queued.created_at_ms, format!("asked, {}, risk {level}", visible(&question.host)))
        }
        (Some(answer), _) => (answer.at_ms, outcome_text(queued)),
        (None, _) => (now_ms(), outcome_text(queued)),
    };
    let summary = shorten(&question.summary, LONGEST);
    let when = Painted(DIM, calendar::time(at_ms));
    format!("{when}  {}  {what}  {}\n", visible(&queued.id), visible(&summary))
}
