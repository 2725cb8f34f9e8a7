//! `portcullis questions show`: everything there is to know of a question.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::{Decision, visible};
use portcullis_store::ApprovalState;

use super::queue_client::QueueClient;
use super::wire::{self, QueuedQuestion};
use super::{held_run, left_text, outcome_text};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_output::calendar;
use portcullis_output::human::write_block;
use portcullis_output::record::write_details;
use portcullis_output::terminal::{DIM, Painted, print, printable, style_of};

/// Show everything there is to know of a question: the call, why it is asked, what it would do, rules for it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis questions show 5e1f
  portcullis questions show 5e1f --json

Exit codes: 0 done, 64 no daemon, no such question or several, 70 internal failure")]
pub(crate) struct ShowArgs {
    /// The id of the question, or how it begins
    id: String,
}

/// Runs the command.
pub(super) fn run(arguments: &ShowArgs, is_json: bool) -> Result<ExitCode, Failure> {
    if let Some(run) = held_run::find(&arguments.id)? {
        print(&if is_json {
            printable(&format!("{:#}\n", held_run::whole_value(&run)?))
        } else {
            held_run::page(&run)?
        })?;
        return Ok(ExitCode::Success);
    }
    let value = QueueClient::open(Role::Read)?.find(&arguments.id)?;
    print(&if is_json {
        printable(&format!("{value:#}\n"))
    } else {
        page(&wire::parse_question(&value).ok_or_else(unread)?, now_ms())
    })?;
    Ok(ExitCode::Success)
}

/// Makes the failure of a daemon that says what this command does not understand.
pub(super) fn unread() -> Failure {
    Failure::internal("the daemon's answer could not be understood")
        .with_hint("start `portcullis serve` again, so that both have the same version")
}

/// Writes everything there is to know of a question.
pub(super) fn page(queued: &QueuedQuestion, now: u64) -> String {
    let mut out = String::new();
    let question = &queued.question;
    let style = match queued.state {
        ApprovalState::Open => style_of(Decision::Ask),
        ApprovalState::Allowed => style_of(Decision::Allow),
        ApprovalState::Denied | ApprovalState::Expired => style_of(Decision::Deny),
    };
    let state = Painted(style, queued.state.as_str());
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{state}  {}", visible(&question.reason));
    // Nobody answers by the beginning of a call where more of it is known.
    let call = if question.summary.ends_with('…') { &question.input } else { &question.summary };
    let _ = writeln!(out, "\n  {} {}\n", Painted(DIM, "│"), visible(call));
    let mut first =
        vec![("id", queued.id.clone()), ("asked", format!("{} UTC", calendar::time(queued.created_at_ms)))];
    first.push(match queued.state {
        ApprovalState::Open => ("left", left_text(queued, now)),
        _ => ("answer", outcome_text(queued)),
    });
    write_details(&mut out, question, &first);
    if let Some(explained) = &queued.explanation {
        let risk = format!("{}: {}", explained.level, explained.risk);
        let parts = [
            ("what it does", &explained.explanation),
            ("why it matters", &explained.reasoning),
            ("risk", &risk),
        ];
        for (title, text) in parts {
            write_block(&mut out, title, &[visible(text).into_owned()]);
        }
    }
    out
}
