//! `portcullis questions`: questions that wait for a person.
//!
//! The daemon keeps the queue, and this command only asks it. The list and the pages are free to read; an answer, in the full
//! screen or by `portcullis allow --id` and `deny --id`, wants a person in a terminal, as everything does that lifts a denial.

pub(crate) mod answer;
mod held_run;
mod list;
mod queue_client;
#[cfg(feature = "tui")]
mod screen;
mod show;
mod watch;
mod wire;
#[cfg(feature = "tui")]
use std::io::{IsTerminal as _, stdin, stdout};

use clap::{Args, Subcommand};
use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_store::{ApprovalState, ExplanationEntry};

#[cfg(feature = "tui")]
use self::queue_client::QueueClient;
use self::queue_client::scope_name;
use self::wire::QueuedQuestion;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
#[cfg(feature = "tui")]
use portcullis_gate::daemon_client::Role;
use portcullis_output::human::age;

/// Read and answer questions that wait for a person, in a full screen or one by one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis questions
  portcullis questions list --json
  portcullis questions show 5e1f
  portcullis questions watch
  portcullis allow --id 5e1f --session
  portcullis deny --id 5e1f --message 'not on a Friday'

In a terminal this opens a full screen in which you read and answer; elsewhere it lists what waits.
A call waits here if it needs a person's answer and the agent cannot ask for one; a daemon must run
for that: `portcullis serve`. What a fenced command changed waits here if it was held: `allow --id`
keeps all of it, `deny --id` drops it. An id may be shortened to how it begins.
Only a person can answer: it works in a terminal alone.

Exit codes: 0 done, 64 no daemon, no such question, answered already, no terminal, or a no,
70 internal failure")]
pub(crate) struct QuestionsArgs {
    #[command(subcommand)]
    command: Option<QuestionsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum QuestionsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Watch(watch::WatchArgs),
    /// The old name of `portcullis allow --id`
    #[command(hide = true, after_help = "Examples:\n  portcullis allow --id 5e1f")]
    Allow(answer::QueuedAnswerArgs),
    /// The old name of `portcullis deny --id`
    #[command(hide = true, after_help = "Examples:\n  portcullis deny --id 5e1f")]
    Deny(answer::QueuedAnswerArgs),
}

/// Runs the command.
pub(crate) fn run(arguments: &QuestionsArgs) -> Result<ExitCode, Failure> {
    let is_json = arguments.json;
    match &arguments.command {
        None if !is_json && stdin().is_terminal() && stdout().is_terminal() => open_screen(),
        None => list::run(&list::ListArgs::default(), is_json),
        Some(QuestionsCommand::List(arguments)) => list::run(arguments, is_json),
        Some(QuestionsCommand::Show(arguments)) => show::run(arguments, is_json),
        Some(QuestionsCommand::Allow(arguments)) => answer::run(Behavior::Allow, arguments, is_json),
        Some(QuestionsCommand::Deny(arguments)) => answer::run(Behavior::Deny, arguments, is_json),
        Some(QuestionsCommand::Watch(arguments)) => watch::run(arguments, is_json),
    }
}

#[cfg(feature = "tui")]
fn open_screen() -> Result<ExitCode, Failure> {
    // Held changes need no daemon.
    match QueueClient::open(Role::Person) {
        Err(_) if !held_run::held_runs()?.list()?.is_empty() => list::run(&list::ListArgs::default(), false),
        _ => screen::run(),
    }
}

#[cfg(not(feature = "tui"))]
fn open_screen() -> Result<ExitCode, Failure> {
    list::run(&list::ListArgs::default(), false)
}

/// Says what became of a question, and who said so.
fn outcome_text(queued: &QueuedQuestion) -> String {
    let word = queued.state.as_str();
    let Some(answer) = &queued.answer else {
        return match queued.state {
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
fn left_text(queued: &QueuedQuestion, now_ms: u64) -> String {
    if queued.state != ApprovalState::Open {
        return outcome_text(queued);
    }
    if queued.is_held_run {
        return "it waits until it is answered".to_owned();
    }
    match queued.expires_at_ms.saturating_sub(now_ms) {
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
