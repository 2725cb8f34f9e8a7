//! What every host's file provides, and what passes between it and the binary.
//!
//! ```text
//! Told ── read ──► Event::Call ──► (decide) ──► Verdict ── Answer::of(mask) ──► Answer ── write ──► HostReply
//!              └─► Event::Fact  ──► (remember) ──► nothing to say
//! ```

use std::fmt;

use portcullis_core::rule::Behavior;
use portcullis_core::{Decision, Mode, Person, Reason, ToolCall, ToolInput, Verdict, is_hidden};

use crate::capability::HostDecision;
pub use crate::capability::{BlockingReply, HookMoment};
use crate::host::Host;
use crate::observed::ObservedMode;
use crate::reason;
use crate::registration::Registration;
use crate::reply::{HostError, HostReply};
pub use crate::rewriting::RewritableInput;
use crate::scripted_run::ScriptedRun;
use crate::shell_word::joined;

/// One host: how to read what it says, how to answer, how it is told to call us.
#[derive(Debug)]
pub struct HostAdapter {
    /// Which host.
    pub host: Host,
    /// Its name for people.
    pub title: &'static str,
    /// The moment at which it asks about every call.
    pub usual: &'static HookMoment,
    /// The other moments at which it asks.
    pub others: &'static [&'static HookMoment],
    /// What its program was seen to do with answers.
    pub observed: &'static [ObservedMode],
    /// How its program is proven to ask us, if it can be started with a scripted model.
    pub scripted_run: Option<&'static ScriptedRun>,
    /// The form of its session file, if we can read it.
    pub session_format: Option<SessionFormat>,
    /// Whether it puts the calls of its subagents to us under the session of the user, as it was seen to do.
    pub shares_session: bool,
    /// Reads what it handed over.
    pub read: fn(&HostInput<'_>) -> Result<HostEvent, HostError>,
    /// Writes an answer to a call.
    pub write: fn(&'static HookMoment, &HostAnswer) -> HostReply,
    /// Shows its user a sentence at the beginning of a session, if it was seen to do so.
    pub welcome: Option<fn(&str) -> HostReply>,
    /// How it is registered.
    pub registration: Registration,
}

/// What a host handed over: its input, and where it started us.
#[derive(Clone, Copy)]
pub struct HostInput<'a> {
    /// Standard input.
    pub input: &'a [u8],
    /// The directory of this process.
    pub directory: &'a str,
    /// Looks up a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for HostInput<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold keys.
        formatter.debug_struct("HostInput").field("input", &self.input).finish_non_exhaustive()
    }
}

/// What a host wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostEvent {
    /// May this call run?
    Call(Box<HookCall>),
    /// Something happened in the session that later calls may depend on; nothing is to be answered.
    Fact(SessionFact),
    /// Something that needs no answer and is not kept.
    Other,
}

/// A call and what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// When it is asked.
    pub moment: &'static HookMoment,
    /// The call; several only where one call of the host amounts to several of ours, and then each must be allowed. Never
    /// empty.
    pub calls: Vec<ToolCall>,
    /// The session's permission mode; `None` if the host has none or its word for it says nothing, so that settings decide.
    pub mode: Option<Mode>,
    /// Whether somebody can be asked; `None` if the host does not say.
    pub person: Option<Person>,
    /// The session it is made in.
    pub session: HookSession,
    /// The id of the call, if it has one.
    pub call_id: Option<String>,
    /// The input as the host gave it, if an answer can give the host another command to run instead.
    pub rewritable: Option<RewritableInput>,
}

/// The session a call or a fact belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookSession {
    /// What it is known by; may be empty.
    pub id: String,
    /// The absolute directory the call runs in.
    pub cwd: String,
    /// The directory the session was started in, if the host says so and it may be another one.
    pub project: Option<String>,
    /// The file it is written to, if it was named.
    pub transcript: Option<String>,
    /// The subagent that acts, if one does.
    pub agent: Option<String>,
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFact {
    /// The session.
    pub session: HookSession,
    /// The mode it was in, if the host said.
    pub mode: Option<Mode>,
    /// What happened.
    pub kind: SessionFactKind,
}

/// What may happen in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFactKind {
    /// The user said something.
    Prompt {
        /// The words.
        text: String,
    },
    /// A call ran.
    Done {
        /// The calls it amounted to.
        calls: Vec<ToolCall>,
        /// Its id.
        call_id: Option<String>,
    },
    /// The host's own judge denied a call.
    Denied {
        /// The calls it amounted to.
        calls: Vec<ToolCall>,
        /// Why.
        reason: String,
    },
    /// The session began or went on: `startup`, `resume`, `clear`, `compact`.
    Started {
        /// How.
        source: String,
    },
    /// The session ended.
    Ended,
    /// A subagent ended.
    SubagentEnded,
}

/// The forms of session files we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFormat {
    /// Claude Code's.
    Claude,
    /// Codex's.
    Codex,
    /// Gemini CLI's.
    Gemini,
}

/// What a host is told, before it is put in the host's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAnswer {
    /// What is said.
    pub said: HostDecision,
    /// Why, for the agent or the person, by the host's choice.
    pub reason: String,
    /// What the user should know and the agent need not.
    pub notice: Option<String>,
    /// Whether the run should end.
    pub ends_run: bool,
    /// The input that the host is to run instead; only for a call that is contained.
    pub changed_input: Option<ToolInput>,
}

/// Follows a question that the host cannot put to its user.
const CANNOT_ASK: &str = "This needs the user's yes, which a hook of this agent cannot ask for: the call was NOT run. Do \
                          not try another way; go on with something else, or stop and tell the user, who can run \
                          `portcullis allow --last` in a terminal of their own";

/// Follows a question that nobody was there for.
const NOBODY_THERE: &str = "This needs the user, who is not connected: the call was NOT run. Do not try another way; go on \
                            with something else, or stop and tell the user, who can run `portcullis allow --last` in a \
                            terminal of their own";

/// Follows a refusal because the model's word does not do, which waiting does not change.
const UNTESTED: &str = "Nothing judged this call, which was NOT run. Trying it again does not help; go on with something \
                        else, or tell the user, who can run `portcullis auto-mode test`, or `portcullis allow --last` for \
                        this call, in a terminal of their own";

/// Follows a refusal that nobody's judgement is behind: the model could not be asked.
const UNJUDGED: &str = "Nothing judged this call, which was NOT run. Trying it again later may help; or tell the user, who \
                        can run `portcullis allow --last` in a terminal of their own";

/// The longest rule that a question is followed by, in bytes.
const LONGEST_RULE: usize = 200;

/// Writes the command that ends questions like this one, if a rule does that a person can read at a glance. Nobody is told
/// how to stop being asked about what was found.
fn ending_command(verdict: &Verdict) -> Option<String> {
    if !verdict.findings.is_empty() {
        return None;
    }
    let is_plain =
        |rule: &str| rule.len() <= LONGEST_RULE && !rule.contains(['`', '\n']) && !rule.contains(is_hidden);
    let allows = verdict.suggestions.iter().filter(|suggestion| suggestion.behavior == Behavior::Allow);
    let rule = allows.map(|suggestion| suggestion.rule.as_str()).find(|rule| is_plain(rule))?;
    Some(joined(["portcullis", "rules", "add", "allow", rule]))
}

impl HostAnswer {
    /// Words what is said of a verdict. The advice is for the agent.
    pub fn of(verdict: &Verdict, said: HostDecision, advice: Option<&str>, notice: Option<&str>) -> Self {
        let mut reason = reason::reason(verdict);
        // A question that nobody could be asked is a denial that a person may lift, whoever made it one.
        let is_unasked = match verdict.decision {
            Decision::Allow => false,
            Decision::Contained | Decision::Ask => said == HostDecision::Deny,
            Decision::Deny => {
                let is_open = matches!(verdict.reason, Reason::Headless { .. } | Reason::Unavailable { .. });
                is_open && verdict.is_answerable()
            }
        };
        // A session that is too long for the judge stays so.
        let is_unjudged = matches!(verdict.reason, Reason::Unavailable { .. }) && !verdict.ends_run;
        let question = match verdict.reason {
            _ if is_unjudged && verdict.wants_self_test() => UNTESTED,
            _ if is_unjudged => UNJUDGED,
            Reason::Headless { .. } => NOBODY_THERE,
            _ => CANNOT_ASK,
        };
        if let Some(instead) = reason::fine_instead(verdict).filter(|_| said == HostDecision::Deny) {
            reason.push_str(". Fine instead: ");
            reason.push_str(instead);
        }
        for sentence in advice.into_iter().chain(is_unasked.then_some(question)) {
            reason.push_str(". ");
            reason.push_str(sentence);
        }
        if let Some(command) = ending_command(verdict).filter(|_| said == HostDecision::Ask) {
            reason.push_str(". To stop being asked: `");
            reason.push_str(&command);
            reason.push('`');
        }
        let ends_run = verdict.ends_run;
        Self { said, reason, notice: notice.map(reason::notice), ends_run, changed_input: None }
    }

    /// Blocks a call that could not be decided, and says why.
    pub fn failure(message: &str) -> Self {
        let reason = reason::failure(message);
        Self { said: HostDecision::Deny, reason, notice: None, ends_run: false, changed_input: None }
    }
}

impl HostAdapter {
    /// Returns all moments at which the host asks, the usual one first.
    pub fn moments(&self) -> impl Iterator<Item = &'static HookMoment> {
        std::iter::once(self.usual).chain(self.others.iter().copied())
    }

    /// Blocks a call that could not be decided: the answer on standard output, the reason also on standard error, and the
    /// exit code that blocks.
    pub fn fail(&self, moment: &'static HookMoment, message: &str) -> HostReply {
        let answer = HostAnswer::failure(message);
        let stderr = format!("{}\n", answer.reason);
        let reply = (self.write)(moment, &answer);
        HostReply { stderr, exit_code: moment.blocking.exit_code, ..reply }
    }
}
