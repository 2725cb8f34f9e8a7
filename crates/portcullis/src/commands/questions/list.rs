//! `portcullis questions list`: what waits, or what became of it.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::ApprovalState;
use serde_json::{Value, json};

use super::queue_client::QueueClient;
use super::wire::{self, QueuedQuestion};
use super::{held_run, left_text, level_word, outcome_text};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::held_run::held_run_json;
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
    let is_open = arguments.state == ApprovalState::Open.as_str();
    let runs = if is_open { held_run::held_runs()?.list()? } else { Vec::new() };
    let mut listed = listed(arguments, !runs.is_empty())?;
    let questions = wire::parse_questions(&listed);
    print(&if is_json {
        if let Some(fields) = listed.as_object_mut().filter(|_| is_open) {
            fields.insert("heldRuns".to_owned(), runs.iter().map(held_run_json).collect());
        }
        printable(&format!("{listed:#}\n"))
    } else if questions.is_empty() && runs.is_empty() {
        if is_open { "no question waits\n".to_owned() } else { format!("nothing was {}\n", arguments.state) }
    } else {
        let now = now_ms();
        let questions = questions.iter().map(|queued| lines(queued, now));
        questions.chain(runs.iter().map(|run| held_run::lines(run, now))).collect()
    })?;
    if !is_json && listed.get("hasMore").and_then(Value::as_bool) == Some(true) {
        print_notes([format!("only {} are listed; --limit lists more", questions.len())]);
    }
    Ok(ExitCode::Success)
}

/// Asks the daemon what it has. Where there is none, held changes are all there is.
fn listed(arguments: &ListArgs, has_runs: bool) -> Result<Value, Failure> {
    match QueueClient::open(Role::Read) {
        Ok(queue) => queue.list(&arguments.state, arguments.limit),
        Err(_) if has_runs => {
            print_notes(["no daemon runs, so only held changes are listed"]);
            Ok(json!({"approvals": [], "hasMore": false}))
        }
        Err(failure) => Err(failure),
    }
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
