//! `portcullis allow --id` and `deny --id`: a person answers a question that waits.
//!
//! INVARIANT: nothing is answered without a terminal on standard input, whatever the flags say, and not before the call was
//! shown.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_store::{AnswerScope, ApprovalState};

use super::queue_client::{QuestionAnswer, QueueClient, late};
use super::show::{page, unread};
use super::wire::{self, QueuedQuestion};
use super::{held_run, outcome_text};
use crate::commands::answer::person::{choose_rule, require_person_to, require_yes};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_gate::session_settings::compile;
use portcullis_output::terminal::{BOLD, Painted, print, print_error, printable};

/// Which question is meant, and what is said to it.
#[derive(Debug, Args)]
pub(crate) struct QueuedAnswerArgs {
    /// The id of the question, or how it begins
    pub(crate) id: String,
    /// Calls of the kind as well, until the session ends
    #[arg(long, group = "term")]
    pub(crate) session: bool,
    /// Calls of the kind as well, from now on: writes the rule into the user settings
    #[arg(long, group = "term")]
    pub(crate) always: bool,
    /// The rule for calls of the kind, instead of a suggested one
    #[arg(long, value_name = "RULE", requires = "term")]
    pub(crate) rule: Option<String>,
    /// What the agent is told
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Do not ask whether it is meant
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Runs `allow` or `deny` for a question that waits.
pub(crate) fn run(
    behavior: Behavior,
    arguments: &QueuedAnswerArgs,
    is_json: bool,
) -> Result<ExitCode, Failure> {
    require_person_to(behavior)?;
    if let Some(run) = held_run::find(&arguments.id)? {
        return held_run::run(behavior, arguments, &run, is_json);
    }
    let queue = QueueClient::open(Role::Person)?;
    let queued = wire::parse_question(&queue.find(&arguments.id)?).ok_or_else(unread)?;
    if queued.state != ApprovalState::Open {
        return Err(late(&queued));
    }
    print_error(&format!("{}\n", page(&queued, now_ms())));
    let (scope, rule) = (arguments.scope(), arguments.rule(behavior, &queued)?);
    let message = arguments.message.clone();
    let answer = match behavior {
        Behavior::Allow => QuestionAnswer { message, ..QuestionAnswer::allow(scope, rule) },
        Behavior::Ask | Behavior::Deny => QuestionAnswer { scope, rule, ..QuestionAnswer::deny(message) },
    };
    require_yes(arguments.yes, &question(behavior, answer.scope))?;
    let answered = queue.answer(&queued.id, &answer)?;
    print(&if is_json {
        printable(&format!("{answered:#}\n"))
    } else {
        let queued = wire::parse_question(&answered).ok_or_else(unread)?;
        format!("{}  {}\n", visible(&queued.id), outcome_text(&queued))
    })?;
    Ok(ExitCode::Success)
}

impl QueuedAnswerArgs {
    fn scope(&self) -> AnswerScope {
        match (self.session, self.always) {
            (true, _) => AnswerScope::Session,
            (_, true) => AnswerScope::Always,
            _ => AnswerScope::Once,
        }
    }

    /// Returns the rule: the one that was named, or a suggested one as a person chooses. It is shown.
    fn rule(&self, behavior: Behavior, queued: &QueuedQuestion) -> Result<Option<String>, Failure> {
        if self.scope() == AnswerScope::Once {
            return Ok(None);
        }
        let fitting = queued.question.suggestions.iter().filter(|one| one.behavior == behavior.as_str());
        let rules: Vec<&str> = fitting.map(|one| one.rule.as_str()).collect();
        let rule = match (&self.rule, rules.as_slice()) {
            (Some(rule), _) => rule.clone(),
            (None, []) => {
                return Err(Failure::usage("no rule would cover such calls in general")
                    .with_hint("name the rule yourself with --rule, or answer for this very call"));
            }
            (None, several) => choose_rule(several, self.yes)?,
        };
        compile(&rule, behavior)?;
        print_error(&format!("{behavior} {}\n", Painted(BOLD, visible(&rule))));
        Ok(Some(rule))
    }
}

fn question(behavior: Behavior, scope: AnswerScope) -> String {
    match scope {
        AnswerScope::Once => format!("{behavior} this very call?"),
        AnswerScope::Session => format!("{behavior} it, and calls of the kind in this session?"),
        AnswerScope::Always => format!("{behavior} it, and calls of the kind from now on?"),
    }
}
