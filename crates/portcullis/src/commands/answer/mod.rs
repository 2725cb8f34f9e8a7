//! The answer a person gives to a call that needs one: once, for a while, or always.
//!
//! A question that still waits is answered where it waits, in the daemon's queue. A call that was denied because nobody could
//! be asked is answered for its next try. An answer that lasts is a rule: a grant for a while, or a line of the settings.

pub(crate) mod denied;
pub(crate) mod person;
mod rule;

use clap::Args;
use portcullis_core::Source;
use portcullis_core::rule::Behavior;
use portcullis_store::StoreError;

use self::denied::USUAL_WAIT_MINUTES;
use self::person::{require_person_to, require_yes};
use self::rule::RuleAnswer;
use super::questions::answer::{QueuedAnswerArgs, run as answer_queued};
use crate::exit_code::ExitCode;
use crate::value_parser::source_parser;
use portcullis_gate::Failure;

/// Which call or rule is meant, and for how long.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(crate) struct AnswerArgs {
    /// A rule, instead of the one that fits the call
    rule: Option<String>,
    /// The call that was denied last
    #[arg(long, conflicts_with = "id")]
    last: bool,
    /// The denied call with this id, or the question that waits whose id begins so
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Calls of the kind, until the session ends
    #[arg(long, conflicts_with_all = ["plan", "always"])]
    session: bool,
    /// Calls of the kind, for so many minutes
    #[arg(long, value_name = "N", conflicts_with = "always", value_parser = clap::value_parser!(u64).range(1..=1440))]
    minutes: Option<u64>,
    /// Calls of the kind, until the session begins another plan or ends
    #[arg(long, conflicts_with = "always")]
    plan: bool,
    /// Calls of the kind, from now on: writes the rule into a settings file
    #[arg(long)]
    always: bool,
    /// Whose settings the rule is written into
    #[arg(long, value_name = "SOURCE", requires = "always", default_value = "user", value_parser = source_parser())]
    source: Source,
    /// What the agent is told whose question waits
    #[arg(long, value_name = "TEXT", requires = "id")]
    message: Option<String>,
    /// Do not ask whether it is meant
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// For how long, as the flags say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AllowTerm {
    /// Only this very call, once.
    pub(crate) once: bool,
    /// How often.
    pub(crate) uses: Option<u32>,
}

/// Runs `allow` or `deny`.
pub(crate) fn run(behavior: Behavior, arguments: &AnswerArgs, term: AllowTerm) -> Result<ExitCode, Failure> {
    if let Some(id) = arguments.id.as_deref().filter(|id| begins_question_id(id)) {
        return answer_queued(behavior, &arguments.to_queued(id, term)?, arguments.json);
    }
    let store = denied::open_store()?;
    let is_named = arguments.last || arguments.id.is_some();
    if !is_named && arguments.rule.is_none() {
        let recent = denied::recent(&store, denied::USUAL_LIMIT)?;
        return denied::list_calls(&recent, arguments.json, "nothing was denied lately\n");
    }
    require_person_to(behavior)?;
    if arguments.message.is_some() {
        return Err(Failure::usage("no agent waits for this answer, so nobody would read the message")
            .with_hint("leave --message out"));
    }
    let known = match &arguments.id {
        Some(id) => Some(denied::find(&store, id)?),
        None if arguments.last => Some(denied::find_last(&store)?),
        None => None,
    };
    let has_term = arguments.session || arguments.plan || arguments.minutes.is_some() || term.uses.is_some();
    match known {
        Some(known)
            if behavior == Behavior::Allow && arguments.rule.is_none() && !has_term && !arguments.always =>
        {
            if !known.1.retryable {
                return Err(denied::refused(&StoreError::NotRetryable { id: known.1.id.clone() }));
            }
            denied::show_call(&known.0, &known.1);
            require_yes(arguments.yes, "allow this very call once?")?;
            denied::allow_once(&store, &known, USUAL_WAIT_MINUTES, arguments.json)
        }
        _ if term.once => Err(Failure::usage("a rule cannot be allowed for one very call")
            .with_hint("use --uses 1, or name the call with --last or --id and no rule")),
        None if arguments.session || arguments.plan => {
            Err(Failure::usage("a rule alone does not say which session is meant")
                .with_hint("name one of its calls with --last or --id, or use --minutes or --uses"))
        }
        None if !has_term && !arguments.always => {
            Err(Failure::usage("the command line does not say how long the rule is to hold")
                .with_hint("use --minutes, --uses or --always"))
        }
        known => RuleAnswer { store: &store, behavior, arguments, term, known }.run(),
    }
}

/// Says whether a text is the beginning of the id of a question that waits; the id of a denied call has a hyphen.
fn begins_question_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl AnswerArgs {
    /// Returns the answer to a question that waits, which holds once, for the session or always.
    fn to_queued(&self, id: &str, term: AllowTerm) -> Result<QueuedAnswerArgs, Failure> {
        let is_other = self.minutes.is_some() || self.plan || term.uses.is_some();
        if is_other || self.source != Source::User {
            return Err(Failure::usage("a question that waits is answered once, for its session or always")
                .with_hint("use --session, --always without --source, or neither"));
        }
        if self.rule.is_some() && !self.session && !self.always {
            return Err(Failure::usage("the command line does not say how long the rule is to hold")
                .with_hint("use --session or --always"));
        }
        Ok(QueuedAnswerArgs {
            id: id.to_owned(),
            session: self.session,
            always: self.always,
            rule: self.rule.clone(),
            message: self.message.clone(),
            yes: self.yes,
        })
    }
}
