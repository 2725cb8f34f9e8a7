//! `portcullis approvals`: questions that wait for a person, and answering them.
//!
//! The daemon keeps the queue, and this command only asks it. The list and the pages are free to read; an answer wants a
//! person in a terminal, as everything does that lifts a denial.

mod answer;
mod desk;
mod list;
#[cfg(feature = "tui")]
mod screen;
mod show;
mod watch;
mod wire;
#[cfg(feature = "tui")]
mod words;

use std::io::{IsTerminal as _, stdin, stdout};

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_store::{ApprovalState, ExplanationEntry};

use self::desk::scope_name;
use self::wire::Approval;
use super::retry::age;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Answer questions that wait for a person, in a full screen or one by one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis approvals
  portcullis approvals list --json
  portcullis approvals show 5e1f
  portcullis approvals allow 5e1f --session
  portcullis approvals deny 5e1f --message 'not on a Friday'
  portcullis approvals watch

In a terminal this opens a full screen in which you read and answer; elsewhere it lists what waits.
A call waits here if it needs a person's answer and the agent cannot ask for one; a daemon must run for that:
`portcullis serve`. An id may be shortened to how it begins.
Only a person can answer: it works in a terminal alone.

Exit codes: 0 done, 64 no daemon, no such question, answered already, no terminal, or a no,
70 internal failure")]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    command: Option<ApprovalsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Allow(answer::AllowArgs),
    Deny(answer::DenyArgs),
    Watch(watch::WatchArgs),
}

/// Runs the command.
pub(crate) fn run(arguments: &ApprovalsArgs) -> Result<ExitCode, Failure> {
    let is_json = arguments.json;
    match &arguments.command {
        None if !is_json && stdin().is_terminal() && stdout().is_terminal() => open_screen(),
        None => list::run(&list::ListArgs::default(), is_json),
        Some(ApprovalsCommand::List(arguments)) => list::run(arguments, is_json),
        Some(ApprovalsCommand::Show(arguments)) => show::run(arguments, is_json),
        Some(ApprovalsCommand::Allow(arguments)) => answer::allow(arguments, is_json),
        Some(ApprovalsCommand::Deny(arguments)) => answer::deny(arguments, is_json),
        Some(ApprovalsCommand::Watch(arguments)) => watch::run(arguments, is_json),
    }
}

#[cfg(feature = "tui")]
fn open_screen() -> Result<ExitCode, Failure> {
    screen::run()
}

#[cfg(not(feature = "tui"))]
fn open_screen() -> Result<ExitCode, Failure> {
    list::run(&list::ListArgs::default(), false)
}

/// Says what became of a question, and who said so.
fn outcome_text(approval: &Approval) -> String {
    let word = approval.state.as_str();
    let Some(answer) = &approval.answer else {
        return match approval.state {
            ApprovalState::Open => "it waits".to_owned(),
            ApprovalState::Expired => "nobody answered in time".to_owned(),
            ApprovalState::Allowed | ApprovalState::Denied => word.to_owned(),
        };
    };
    let rule = answer.rule.as_ref().map(|rule| format!(" by `{}`", visible(rule))).unwrap_or_default();
    let message = answer.message.as_ref().map(|text| format!(": {}", visible(text))).unwrap_or_default();
    let (by, via) = (visible(&answer.by), visible(&answer.via));
    format!("{word} by {by} ({via}), {}{rule}{message}", scope_name(answer.scope))
}

/// Says how long a question can still be answered.
fn left_text(approval: &Approval, now_ms: u64) -> String {
    if approval.state != ApprovalState::Open {
        return outcome_text(approval);
    }
    match approval.expires_at_ms.saturating_sub(now_ms) {
        0 => "its time is over".to_owned(),
        left => age(left),
    }
}

/// Returns the level of the risk, `-` where it is not known.
fn level_word(explained: Option<&ExplanationEntry>) -> &'static str {
    match explained.map(|explained| explained.level.as_str()) {
        Some("HIGH") => "HIGH",
        Some("MEDIUM") => "MEDIUM",
        Some("LOW") => "LOW",
        _ => "-",
    }
}
