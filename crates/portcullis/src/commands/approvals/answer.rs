//! `portcullis approvals allow` and `deny`: a person answers a question.
//!
//! INVARIANT: nothing is answered without a terminal on standard input, whatever the flags say, and not before the call was
//! shown.

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_store::{AnswerScope, ApprovalState};

use super::desk::{Answer, Desk, late};
use super::outcome_text;
use super::show::{page, unread};
use super::wire::{self, Approval};
use crate::commands::grant::{choose_rule, require_person};
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_gate::session_settings::compile;
use portcullis_output::terminal::{BOLD, Painted, confirm, print, print_error, printable};

/// Let a call run that waits, or calls of its kind
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis approvals allow 5e1f
  portcullis approvals allow 5e1f --session
  portcullis approvals allow 5e1f --always --rule 'Bash(npm run build *)'

Without a term this very call runs, once. With one, a rule for such calls holds as well.
You see it first; without --rule it is one of those that are suggested. Deny rules beat it.
Only a person can answer: it works in a terminal alone. The first answer counts.

Exit codes: 0 done, 64 no daemon, no such question, answered already, no terminal, or a no,
70 internal failure")]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Deny a call that waits, and tell the agent why
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis approvals deny 5e1f
  portcullis approvals deny 5e1f --message 'push to a branch instead'
  portcullis approvals deny 5e1f --always --rule 'Bash(git push *)'

Without a term this very call is denied. With one, a rule that denies such calls holds as well.
Only a person can answer: it works in a terminal alone. The first answer counts.

Exit codes: 0 done, 64 no daemon, no such question, answered already, no terminal, or a no,
70 internal failure")]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Which question is meant, and what is said to it.
#[derive(Debug, Args)]
struct AnswerArgs {
    /// The id of the question, or how it begins
    id: String,
    /// Calls of the kind as well, until the session ends
    #[arg(long, group = "term")]
    session: bool,
    /// Calls of the kind as well, from now on: writes the rule into the user settings
    #[arg(long, group = "term")]
    always: bool,
    /// The rule for calls of the kind, instead of a suggested one
    #[arg(long, value_name = "RULE", requires = "term")]
    rule: Option<String>,
    /// What the agent is told
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Do not ask whether it is meant
    #[arg(long)]
    yes: bool,
}

/// Runs `approvals allow`.
pub(super) fn allow(arguments: &AllowArgs, is_json: bool) -> Result<ExitCode, Failure> {
    run(Behavior::Allow, &arguments.answer, is_json)
}

/// Runs `approvals deny`.
pub(super) fn deny(arguments: &DenyArgs, is_json: bool) -> Result<ExitCode, Failure> {
    run(Behavior::Deny, &arguments.answer, is_json)
}

fn run(behavior: Behavior, arguments: &AnswerArgs, is_json: bool) -> Result<ExitCode, Failure> {
    require_person()?;
    let desk = Desk::open(Role::Person)?;
    let approval = wire::approval(&desk.find(&arguments.id)?).ok_or_else(unread)?;
    if approval.state != ApprovalState::Open {
        return Err(late(&approval));
    }
    print_error(&format!("{}\n", page(&approval, now_ms())));
    let (scope, rule) = (arguments.scope(), arguments.rule(behavior, &approval)?);
    let message = arguments.message.clone();
    let answer = match behavior {
        Behavior::Allow => Answer { message, ..Answer::allow(scope, rule) },
        Behavior::Ask | Behavior::Deny => Answer { scope, rule, ..Answer::deny(message) },
    };
    if !arguments.yes && !confirm(&question(behavior, answer.scope))? {
        return Err(Failure::usage("nothing was changed"));
    }
    let answered = desk.answer(&approval.id, &answer)?;
    print(&if is_json {
        printable(&format!("{answered:#}\n"))
    } else {
        let approval = wire::approval(&answered).ok_or_else(unread)?;
        format!("{}  {}\n", visible(&approval.id), outcome_text(&approval))
    })?;
    Ok(ExitCode::Success)
}

impl AnswerArgs {
    fn scope(&self) -> AnswerScope {
        match (self.session, self.always) {
            (true, _) => AnswerScope::Session,
            (_, true) => AnswerScope::Always,
            _ => AnswerScope::Once,
        }
    }

    /// Returns the rule: the one that was named, or a suggested one as a person chooses. It is shown.
    fn rule(&self, behavior: Behavior, approval: &Approval) -> Result<Option<String>, Failure> {
        if self.scope() == AnswerScope::Once {
            return Ok(None);
        }
        let fitting = approval.question.suggestions.iter().filter(|one| one.behavior == behavior.as_str());
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
