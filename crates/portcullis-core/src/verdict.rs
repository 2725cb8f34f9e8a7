//! The answer with its reasons: what was decided, where, why, and what would change it.

use portcullis_analysis::effect::Certainty;
use portcullis_analysis::findings::Severity;
use portcullis_shell::Span;

use crate::context::{Person, RecalledCommand};
use crate::decision::Decision;
use crate::denials::{DenialLimit, LimitAction};
use crate::fence::FenceRequest;
use crate::message::{mode_message, remembered_message, requested_message, rule_message, unsettled_message};
use crate::mode::Mode;
use crate::origin::Origin;
use crate::rule::{Behavior, Rule};
use crate::step::StepId;
use crate::trace::{TraceLine, TraceOutcome};

/// What the pipeline answers.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What may become of the call.
    pub decision: Decision,
    /// The step that decided it.
    pub step: StepId,
    /// The mode it was given in: the one in force, where settings took away the session's own.
    pub mode: Mode,
    /// What decided it, for people, hosts and the record.
    pub reason: Reason,
    /// What every step said, in order.
    pub trace: Vec<TraceLine>,
    /// Rules that would have settled it another way, at most five.
    pub suggestions: Vec<Suggestion>,
    /// The deciding words, as spans of the shell command; empty for other tools.
    pub highlights: Vec<Span>,
    /// What the analysis found, the worst first, whatever was decided.
    pub findings: Vec<FindingReport>,
    /// Whether the run should end: nobody is there to ask, and it would only be denied again.
    pub ends_run: bool,
}

/// A finding of the static analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingReport {
    /// The stable code that documentation and settings name: `PC007`.
    pub code: &'static str,
    /// What it is about, a few words.
    pub title: &'static str,
    /// The key of its category.
    pub category: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is done to.
    pub subject: String,
    /// One sentence for a person.
    pub sentence: String,
    /// What would be fine in its place, one sentence without its period.
    pub instead: &'static str,
    /// What a person must have named for it to clear; `None` if nothing clears it.
    pub must_name: Option<&'static str>,
    /// Whether the user's own words seem to ask for it.
    pub is_requested: bool,
    /// The deciding words of the shell command; empty where they stand elsewhere, as in a script.
    pub span: Span,
    /// The place in the list of the call's effects of the one it is about; `None` if that is not one of the call's own.
    pub effect: Option<usize>,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A rule matched.
    Rule {
        /// The rule that decided, with where it stands.
        rule: RuleReference,
        /// What it matched: a part of the command, a path, a host. Empty for a tool-wide rule.
        matched: String,
        /// How sure the match is.
        certainty: Certainty,
    },
    /// Every part is covered by allow rules or known to be harmless; the first rule is named.
    Covered {
        /// The rules that covered a part, without repetition.
        rules: Vec<RuleReference>,
    },
    /// The built-in read-only set covers the whole call.
    ReadOnly,
    /// The host runs it in a sandbox that needs no approval.
    Sandbox,
    /// The mode decided.
    Mode(Mode),
    /// A path or removal that no mode lifts.
    Safety {
        /// Which of the checks no mode lifts.
        check: SafetyCheck,
        /// The path or command it is about.
        subject: String,
    },
    /// Only a person can answer this tool.
    Interaction,
    /// A path lies outside the working directories.
    OutsideWorkspace {
        /// The path as the call writes it.
        path: String,
    },
    /// The command could not be read, or part of it is only known when it runs.
    Opaque {
        /// What is not known, as one clause.
        detail: String,
    },
    /// The static analysis found something a careful colleague would stop.
    Finding {
        /// The code of the worst finding that nobody asked for.
        code: &'static str,
        /// The key of its category.
        category: &'static str,
        /// What it is done to, in one sentence.
        sentence: String,
        /// What a person must name for it to clear; `None` if nothing clears it.
        must_name: Option<&'static str>,
    },
    /// The user seems to have asked for what was found; a judge or a person must say.
    Requested {
        /// The code of the worst finding.
        code: &'static str,
        /// The key of its category.
        category: &'static str,
        /// What it is done to, in one sentence.
        sentence: String,
        /// What the user said.
        said: String,
    },
    /// Settings say something in words that a judge must weigh.
    Prose {
        /// The code of the worst finding, if the words may lift one.
        code: Option<&'static str>,
        /// What must be weighed, as one clause.
        detail: String,
    },
    /// Every effect is known and harmless.
    Harmless {
        /// The allowances that cover the effects.
        allowances: Vec<&'static str>,
    },
    /// All that is not known is local, and a fence holds the call to that.
    Contained {
        /// What the call runs in.
        fence: FenceRequest,
    },
    /// Parts that nothing settles.
    Unsettled {
        /// The parts, as they are written.
        parts: Vec<String>,
        /// What the call does that is not known to be harmless, as one clause; empty before that was looked at, and where
        /// all of it is harmless.
        doubt: String,
    },
    /// A classifier answered.
    Classifier {
        /// Which stage: `fast`, `thinking`, `embedded`.
        stage: String,
        /// The rule the call breaks, if it named one.
        category: Option<String>,
        /// What the model gave as its reason; empty for an allow.
        sentence: String,
    },
    /// A hook answered.
    Hook {
        /// The name that settings gave the hook.
        name: String,
        /// What the hook gave as its reason; may be empty.
        sentence: String,
    },
    /// A person answered.
    Person,
    /// A person who was asked in the queue said no.
    Refused {
        /// Who: the name of a token or of an account.
        by: String,
        /// What the agent is told; may be empty.
        message: String,
    },
    /// It does what the user said not to do in this session.
    Boundary {
        /// What the user said.
        sentence: String,
        /// What the call does, as a clause.
        action: String,
    },
    /// A person allowed this very call once, after it had been denied.
    Approval {
        /// The id of the denial.
        id: String,
    },
    /// A person allowed commands of the same shape in this repository before.
    Remembered {
        /// The commands that nothing else covers.
        commands: Vec<RecalledCommand>,
    },
    /// Whoever should have judged could not; never an allow.
    Unavailable {
        /// Why, in one clause.
        detail: String,
    },
    /// Nobody is there to ask.
    Headless {
        /// Why it needs somebody, in one clause.
        cause: String,
    },
    /// A limit was reached.
    Limit {
        /// Which limit, in one clause.
        detail: String,
    },
    /// Something failed; never an allow.
    Error {
        /// What failed, in one clause.
        detail: String,
    },
}

/// The checks that no mode lifts, because what they stop decides what runs later or cannot be undone (spec A7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SafetyCheck {
    /// A write to a path that steers tools: `.git`, shell start-up files, agent settings.
    ProtectedPath,
    /// A removal of a directory whose loss cannot be made good.
    CriticalRemoval,
    /// A path that leaves the working directories through a symbolic link.
    SymbolicLink,
}

/// A rule named in a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleReference {
    /// Its text as written.
    pub text: String,
    /// The list it stands in.
    pub behavior: Behavior,
    /// The settings that hold it, so that a person can find and change it.
    pub origin: Origin,
}

impl From<&Rule> for RuleReference {
    fn from(rule: &Rule) -> Self {
        Self { text: rule.source_text.clone(), behavior: rule.behavior, origin: rule.origin.clone() }
    }
}

/// A rule that would settle such calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What the rule would do.
    pub behavior: Behavior,
    /// The rule as it would be written into a settings file.
    pub rule: String,
}

impl Verdict {
    /// Says whether auto mode's own judgement denied the call, which counts towards the limits (spec D12). A judge that
    /// failed has not judged.
    pub fn is_judged_denial(&self) -> bool {
        self.decision == Decision::Deny
            && self.step == StepId::A11
            && matches!(
                self.reason,
                Reason::Finding { .. } | Reason::Classifier { .. } | Reason::Boundary { .. }
            )
    }

    /// Says whether a person may lift the denial for once: it was auto mode's own, and nothing in it is beyond consent.
    pub fn is_retryable(&self) -> bool {
        self.is_judged_denial() && self.is_within_consent()
    }

    /// Says whether it is a question that a person may answer before it is asked again: one for a person, or a denial
    /// only because nobody could be asked. What nothing clears, no answer lifts.
    pub fn is_answerable(&self) -> bool {
        let is_unasked = self.step == StepId::A11
            && matches!(
                self.reason,
                Reason::Headless { .. } | Reason::Mode(Mode::DontAsk) | Reason::Unavailable { .. }
            );
        let is_question = match self.decision {
            Decision::Allow | Decision::Contained => false,
            Decision::Ask => !matches!(self.reason, Reason::Interaction | Reason::Error { .. }),
            Decision::Deny => is_unasked,
        };
        is_question && self.is_within_consent()
    }

    /// Takes back an allow that may depend on something that is missing: a person must say, else it is denied.
    pub fn doubted(mut self, detail: &str, person: Person) -> Self {
        if self.decision > Decision::Contained {
            return self;
        }
        let decision = if person == Person::Present { Decision::Ask } else { Decision::Deny };
        let reason = Reason::Error { detail: detail.to_owned() };
        let outcome = TraceOutcome::Settle(decision);
        self.trace.push(TraceLine { step: StepId::A11, outcome, detail: reason.message() });
        Self { decision, step: StepId::A11, reason, ..self }
    }

    /// Settles a question by what a person said who was asked in the queue: no. It can be lifted by nothing but another
    /// question. What is no question stays as it is.
    pub fn refused(mut self, by: &str, message: &str) -> Self {
        if !self.is_answerable() {
            return self;
        }
        let reason = Reason::Refused { by: by.to_owned(), message: message.to_owned() };
        let outcome = TraceOutcome::Settle(Decision::Deny);
        self.trace.push(TraceLine { step: StepId::A11, outcome, detail: reason.message() });
        Self { decision: Decision::Deny, step: StepId::A11, reason, ..self }
    }

    /// Settles a question that nobody answered in time: it is denied, and a person may still answer it before it is asked
    /// again. What is no question stays as it is.
    pub fn unanswered(mut self, detail: &str) -> Self {
        if !self.is_answerable() {
            return self;
        }
        let cause = match &self.reason {
            Reason::Headless { cause } => cause.clone(),
            other => other.message(),
        };
        let outcome = TraceOutcome::Settle(Decision::Deny);
        self.trace.push(TraceLine { step: StepId::A11, outcome, detail: detail.to_owned() });
        let reason = Reason::Headless { cause: format!("{cause}; {detail}") };
        Self { decision: Decision::Deny, step: StepId::A11, reason, ..self }
    }

    fn is_within_consent(&self) -> bool {
        self.findings.iter().all(|found| found.is_requested || found.must_name.is_some())
    }

    /// Turns a denial that reached a limit: to a person if one is there, else the run may end (spec D12). What nothing
    /// clears stays denied.
    pub fn at_limit(mut self, limit: DenialLimit, person: Person, on_limit: LimitAction) -> Self {
        let cause = self.reason.message();
        let is_over = person == Person::Absent && on_limit == LimitAction::Abort;
        let detail = match person {
            Person::Present if !self.is_retryable() => return self,
            Person::Present => format!("{}; the last: {cause}", limit.message()),
            Person::Absent => format!("too many classifier denials; the last: {cause}"),
        };
        let decision = if person == Person::Present { Decision::Ask } else { Decision::Deny };
        let outcome = TraceOutcome::Settle(decision);
        self.trace.push(TraceLine { step: StepId::A11, outcome, detail: detail.clone() });
        Self { decision, step: StepId::A11, reason: Reason::Limit { detail }, ends_run: is_over, ..self }
    }
}

impl Reason {
    /// Returns the word that names the kind of reason on every wire.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Rule { .. } => "rule",
            Self::Covered { .. } => "covered",
            Self::ReadOnly => "readOnly",
            Self::Sandbox => "sandbox",
            Self::Mode(_) => "mode",
            Self::Safety { .. } => "safetyCheck",
            Self::Interaction => "interaction",
            Self::OutsideWorkspace { .. } => "workingDirectory",
            Self::Opaque { .. } => "opaque",
            Self::Finding { .. } => "finding",
            Self::Requested { .. } => "requested",
            Self::Prose { .. } => "prose",
            Self::Harmless { .. } => "harmless",
            Self::Contained { .. } => "contained",
            Self::Unsettled { .. } => "unsettled",
            Self::Classifier { .. } => "classifier",
            Self::Hook { .. } => "hook",
            Self::Person | Self::Refused { .. } => "person",
            Self::Boundary { .. } => "boundary",
            Self::Approval { .. } => "approval",
            Self::Remembered { .. } => "remembered",
            Self::Unavailable { .. } => "unavailable",
            Self::Headless { .. } => "headless",
            Self::Limit { .. } => "limit",
            Self::Error { .. } => "error",
        }
    }

    /// Returns the rule that decided, if one did.
    pub fn rule(&self) -> Option<&RuleReference> {
        match self {
            Self::Rule { rule, .. } => Some(rule),
            Self::Covered { rules } => rules.first(),
            Self::ReadOnly
            | Self::Sandbox
            | Self::Mode(_)
            | Self::Safety { .. }
            | Self::Interaction
            | Self::OutsideWorkspace { .. }
            | Self::Opaque { .. }
            | Self::Finding { .. }
            | Self::Requested { .. }
            | Self::Prose { .. }
            | Self::Harmless { .. }
            | Self::Contained { .. }
            | Self::Unsettled { .. }
            | Self::Classifier { .. }
            | Self::Hook { .. }
            | Self::Person
            | Self::Refused { .. }
            | Self::Boundary { .. }
            | Self::Approval { .. }
            | Self::Remembered { .. }
            | Self::Unavailable { .. }
            | Self::Headless { .. }
            | Self::Limit { .. }
            | Self::Error { .. } => None,
        }
    }

    /// Returns one clause for people: lower case, no final period.
    pub fn message(&self) -> String {
        match self {
            Self::Rule { rule, matched, certainty } => {
                rule_message((&rule.text, rule.behavior), matched, *certainty)
            }
            Self::Covered { rules } => {
                let texts: Vec<String> = rules.iter().map(|rule| format!("`{}`", rule.text)).collect();
                format!("every part is covered by {} or known to be harmless", texts.join(", "))
            }
            Self::ReadOnly => "it changes nothing and reads only what it may".to_owned(),
            Self::Sandbox => "it runs in the sandbox".to_owned(),
            Self::Mode(mode) => mode_message(*mode),
            Self::Safety { check, subject } => match check {
                SafetyCheck::ProtectedPath => {
                    format!("`{subject}` is a protected path: it steers what runs later")
                }
                SafetyCheck::CriticalRemoval => format!("it deletes `{subject}`, which cannot be undone"),
                SafetyCheck::SymbolicLink => {
                    format!("`{subject}` leaves the working directories through a symbolic link")
                }
            },
            Self::Interaction => "only a person can answer this tool".to_owned(),
            Self::OutsideWorkspace { path } => {
                format!("`{path}` is not known to lie in the working directories")
            }
            Self::Opaque { detail } | Self::Prose { detail, .. } => detail.clone(),
            Self::Finding { code, sentence, .. } => format!("{code}: {sentence}"),
            Self::Requested { code, sentence, said, .. } => requested_message(code, sentence, said),
            Self::Harmless { allowances } if allowances.is_empty() => {
                "it does nothing that needs a permission".to_owned()
            }
            Self::Harmless { allowances } => {
                format!("every effect is known and harmless ({})", allowances.join(", "))
            }
            Self::Contained { fence } => format!("{}: {}", fence.cause.clause(), fence.clause()),
            Self::Unsettled { parts, doubt } => unsettled_message(doubt, parts),
            Self::Classifier { stage, category: None, sentence } if sentence.is_empty() => {
                format!("the {stage} classifier sees no reason to block it")
            }
            Self::Classifier { stage, category: None, sentence } => {
                format!("the {stage} classifier: {sentence}")
            }
            Self::Classifier { stage, category: Some(category), sentence } => {
                format!("the {stage} classifier: [{category}] {sentence}")
            }
            Self::Hook { name, sentence } if sentence.is_empty() => format!("the hook `{name}` decided so"),
            Self::Hook { name, sentence } => format!("the hook `{name}`: {sentence}"),
            Self::Person => "a person answered".to_owned(),
            Self::Refused { by, message } if message.is_empty() => format!("a person said no ({by})"),
            Self::Refused { by, message } => format!("a person said no ({by}): {message}"),
            Self::Boundary { sentence, action } => format!("it {action}, and the user said: `{sentence}`"),
            Self::Approval { id } => format!("a person allowed this very call once ({id})"),
            Self::Remembered { commands } => remembered_message(commands),
            Self::Headless { cause } => {
                format!("nobody is connected to answer, so this was refused: {cause}")
            }
            Self::Unavailable { detail } | Self::Limit { detail } | Self::Error { detail } => detail.clone(),
        }
    }
}
