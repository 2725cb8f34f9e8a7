//! `portcullis questions list`: what waits, or what became of it.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::ApprovalState;
use serde_json::Value;

use super::queue_client::QueueClient;
use super::wire::{self, QueuedQuestion};
use super::{left_text, level_word, outcome_text};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::human::age;
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, print_notes, printable};

/// The longest summary and reason in a list, in characters.
const LONGEST: usize = 120;

/// How many questions are listed where nobody says.
const USUAL: u64 = 50;

/// List what waits for a person, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis questions list
  portcullis questions list --state denied --limit 10
  portcullis questions list --json

Exit codes: 0 done, 64 no daemon, 70 internal failure")]
pub(crate) struct ListArgs {
    /// What became of them
    #[arg(long, default_value = "open", value_parser = ["open", "allowed", "denied", "expired"])]
    state: String,
    /// How many to list: of open ones the oldest, of others the newest
    #[arg(long, value_name = "N", default_value_t = USUAL)]
    limit: u64,
}

impl Default for ListArgs {
    fn default() -> Self {
        Self { state: "open".to_owned(), limit: USUAL }
    }
}

/// Runs the command.
pub(super) fn run(arguments: &ListArgs, is_json: bool) -> Result<ExitCode, Failure> {
    let listed = QueueClient::open(Role::Read)?.list(&arguments.state, arguments.limit)?;
    let questions = wire::parse_questions(&listed);
    print(&if is_json {
        printable(&format!("{listed:#}\n"))
    } else if questions.is_empty() {
        let open = arguments.state == ApprovalState::Open.as_str();
        if open { "no question waits\n".to_owned() } else { format!("nothing was {}\n", arguments.state) }
    } else {
        let now = now_ms();
        questions.iter().map(|queued| lines(queued, now)).collect()
    })?;
    if !is_json && listed.get("hasMore").and_then(Value::as_bool) == Some(true) {
        print_notes([format!("only {} are listed; --limit lists more", questions.len())]);
    }
    Ok(ExitCode::Success)
}

/// Writes a question for a list: its id and age; below it what is asked and why.
fn lines(queued: &QueuedQuestion, now: u64) -> String {
    let mut out = String::new();
    let question = &queued.question;
    let left = match queued.state {
        ApprovalState::Open => format!("{} left", left_text(queued, now)),
        _ => outcome_text(queued),
    };
    let age = age(now.saturating_sub(queued.created_at_ms));
    let about = format!("{age} ago, {left}, {}, risk {}", visible(&question.host), risk(queued));
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}  {}", Painted(BOLD, visible(&queued.id)), Painted(DIM, about));
    let _ = writeln!(out, "  {}", visible(&shorten(&question.summary, LONGEST)));
    let _ = writeln!(out, "  {}", Painted(DIM, visible(&shorten(&question.reason, LONGEST))));
    out
}

fn risk(queued: &QueuedQuestion) -> &'static str {
    match level_word(queued.explanation.as_ref()) {
        "-" => "not known",
        level => level,
    }
}
