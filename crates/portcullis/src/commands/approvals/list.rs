//! `portcullis approvals list`: what waits, or what became of it.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::ApprovalState;

use super::desk::Desk;
use super::wire::{self, Approval};
use super::{left_text, level_word, outcome_text};
use crate::commands::retry::age;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::human::shorten;
use portcullis_output::terminal::{BOLD, DIM, Painted, print, printable};

/// The longest summary and reason in a list, in characters.
const LONGEST: usize = 120;

/// How many approvals are listed where nobody says.
const USUAL: u64 = 50;

/// List what waits for a person, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis approvals list
  portcullis approvals list --state denied --limit 10
  portcullis approvals list --json

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
    let listed = Desk::open(Role::Read)?.list(&arguments.state, arguments.limit)?;
    let approvals = wire::approvals(&listed);
    print(&if is_json {
        printable(&format!("{listed:#}\n"))
    } else if approvals.is_empty() {
        let open = arguments.state == ApprovalState::Open.as_str();
        if open { "no question waits\n".to_owned() } else { format!("nothing was {}\n", arguments.state) }
    } else {
        let now = now_ms();
        approvals.iter().map(|approval| lines(approval, now)).collect()
    })?;
    Ok(ExitCode::Success)
}

/// Writes an approval for a list: its id and age; below it what is asked and why.
fn lines(approval: &Approval, now: u64) -> String {
    let mut out = String::new();
    let question = &approval.question;
    let left = match approval.state {
        ApprovalState::Open => format!("{} left", left_text(approval, now)),
        _ => outcome_text(approval),
    };
    let age = age(now.saturating_sub(approval.created_at_ms));
    let about = format!("{age} ago, {left}, {}, risk {}", visible(&question.host), risk(approval));
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}  {}", Painted(BOLD, visible(&approval.id)), Painted(DIM, about));
    let _ = writeln!(out, "  {}", visible(&shorten(&question.summary, LONGEST)));
    let _ = writeln!(out, "  {}", Painted(DIM, visible(&shorten(&question.reason, LONGEST))));
    out
}

fn risk(approval: &Approval) -> &'static str {
    match level_word(approval.explanation.as_ref()) {
        "-" => "not known",
        level => level,
    }
}
