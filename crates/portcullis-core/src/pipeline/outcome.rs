//! What the pipeline returns: a verdict, or whom to ask and how to go on (sans-I/O).

use crate::context::Person;
use crate::decision::Decision;
use crate::step::StepId;
use crate::trace::{TraceLine, TraceOutcome};
use crate::verdict::{Reason, Verdict};

/// The session was aborted: there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session was aborted")]
pub struct Aborted;

/// What [`crate::Case::decide`] returns.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The call is decided.
    Settled(Verdict),
    /// Somebody must be asked.
    Needs(Pending),
}

impl Outcome {
    /// Returns the verdict as it stands: settled, or the question that somebody must answer.
    pub fn verdict(&self) -> &Verdict {
        match self {
            Self::Settled(verdict) => verdict,
            Self::Needs(pending) => pending.question(),
        }
    }

    /// Returns the verdict, taking it that nobody answers.
    pub fn into_verdict(self) -> Verdict {
        match self {
            Self::Settled(verdict) => verdict,
            Self::Needs(pending) => pending.unanswered(),
        }
    }
}

/// Who must be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The auto-mode classifier.
    Classifier,
    /// The `PermissionRequest` hooks.
    Hooks,
    /// Whoever sits at the host.
    Person,
}

/// What somebody answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingAnswer {
    /// The call may run.
    Allow {
        /// Who says so: a classifier stage or a hook's name.
        by: String,
    },
    /// The call may not run.
    Deny {
        /// Who says so: a classifier stage, a hook's name.
        by: String,
        /// The rule the call breaks, if a classifier named one.
        category: Option<String>,
        /// Why, in one sentence.
        sentence: String,
    },
    /// Whoever was asked could not judge: it failed, or what it said was no verdict (spec D13).
    Unavailable {
        /// What went wrong, in one clause.
        detail: String,
        /// What becomes of the call.
        on_failure: FailureAction,
    },
    /// The session is too long for whoever was asked, and it will not get shorter.
    TooLong {
        /// What is too long, in one clause.
        detail: String,
    },
    /// No answer: none configured, or it did not say.
    None,
}

/// What becomes of a call whose judge failed: spec D13.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailureAction {
    /// It is denied.
    #[default]
    Deny,
    /// A person is asked; without one it is denied.
    Ask,
}

/// A question that waits for an answer.
///
/// ```
/// use portcullis_core::{PendingAnswer, Case, Context, Decision, Mode, Need, Outcome, Policy, ToolCall};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = Policy::default();
/// let mut case = Case::new(ToolCall::bash("make install"), Context::new(Mode::Default, "/code/app"));
/// case.assume_empty_disk(&policy);
/// let Outcome::Needs(pending) = case.decide(&policy)? else {
///     return Err("no rule covers it".into());
/// };
/// assert_eq!(pending.need(), Need::Person);
/// let answer = PendingAnswer::Allow { by: "person".to_owned() };
/// assert_eq!(pending.clone().resume(answer).into_verdict().decision, Decision::Allow);
/// assert_eq!(pending.unanswered().decision, Decision::Ask);
/// # Ok(())
/// # }
/// ```
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    need: Need,
    verdict: Verdict,
    person: Person,
    has_hooks: bool,
}

impl Pending {
    pub(super) fn new(need: Need, verdict: Verdict, person: Person, has_hooks: bool) -> Self {
        Self { need, verdict, person, has_hooks }
    }

    /// Returns who must be asked.
    pub fn need(&self) -> Need {
        self.need
    }

    /// Returns the question: an ask with its reason, trace and suggestions.
    pub fn question(&self) -> &Verdict {
        &self.verdict
    }

    /// Goes on with an answer. Without one the question passes to whoever is next, and at last to nobody: deny.
    pub fn resume(self, answer: PendingAnswer) -> Outcome {
        let need = self.need;
        let is_unanswered = matches!(
            answer,
            PendingAnswer::None | PendingAnswer::Unavailable { .. } | PendingAnswer::TooLong { .. }
        );
        if need == Need::Classifier && is_unanswered && self.is_finding() {
            // What was found stands until somebody says that the user asked for it.
            let reason = self.verdict.reason.clone();
            return Outcome::Settled(self.settle(Decision::Deny, reason));
        }
        match answer {
            PendingAnswer::Allow { by } => {
                Outcome::Settled(self.settle(Decision::Allow, reason_of(need, by, None, String::new())))
            }
            PendingAnswer::Deny { by, category, sentence } => {
                Outcome::Settled(self.settle(Decision::Deny, reason_of(need, by, category, sentence)))
            }
            PendingAnswer::Unavailable { detail, on_failure } => {
                self.fail(on_failure, Reason::Unavailable { detail })
            }
            PendingAnswer::TooLong { detail } => {
                let is_over = self.person == Person::Absent && !self.has_hooks;
                let outcome = self.fail(FailureAction::Ask, Reason::Unavailable { detail });
                match outcome {
                    Outcome::Settled(verdict) => Outcome::Settled(Verdict { ends_run: is_over, ..verdict }),
                    needs @ Outcome::Needs(_) => needs,
                }
            }
            PendingAnswer::None => self.pass_on(),
        }
    }

    fn is_finding(&self) -> bool {
        matches!(self.verdict.reason, Reason::Finding { .. })
    }

    /// Goes on without a judge: denies, or puts the question to a person with the failure as its reason.
    fn fail(mut self, on_failure: FailureAction, reason: Reason) -> Outcome {
        let is_denied =
            on_failure == FailureAction::Deny || (self.person == Person::Absent && !self.has_hooks);
        if is_denied {
            return Outcome::Settled(self.settle(Decision::Deny, reason));
        }
        let outcome = TraceOutcome::Raise(Decision::Ask);
        self.verdict.trace.push(TraceLine { step: StepId::A11, outcome, detail: reason.message() });
        self.verdict.step = StepId::A11;
        self.verdict.reason = reason;
        self.pass_on()
    }

    /// Gives the verdict when nobody answers: ask if a person is there, else deny.
    pub fn unanswered(self) -> Verdict {
        match self.resume(PendingAnswer::None) {
            Outcome::Settled(verdict) => verdict,
            Outcome::Needs(next) => next.unanswered(),
        }
    }

    fn pass_on(mut self) -> Outcome {
        match (self.need, self.person) {
            (Need::Classifier, Person::Present) => {
                self.verdict.step = StepId::A11;
                self.need = Need::Person;
                Outcome::Needs(self)
            }
            (Need::Classifier, Person::Absent) if self.has_hooks => {
                self.need = Need::Hooks;
                Outcome::Needs(self)
            }
            (Need::Classifier | Need::Hooks | Need::Person, Person::Absent) => {
                let cause = self.verdict.reason.message();
                Outcome::Settled(self.settle(Decision::Deny, Reason::Headless { cause }))
            }
            (Need::Hooks | Need::Person, Person::Present) => {
                let detail = "it needs a person's answer".to_owned();
                let outcome = TraceOutcome::Settle(Decision::Ask);
                self.verdict.trace.push(TraceLine { step: StepId::A11, outcome, detail });
                Outcome::Settled(self.verdict)
            }
        }
    }

    fn settle(self, decision: Decision, reason: Reason) -> Verdict {
        let mut verdict = self.verdict;
        let outcome = TraceOutcome::Settle(decision);
        verdict.trace.push(TraceLine { step: StepId::A11, outcome, detail: reason.message() });
        let suggestions = if decision == Decision::Allow { Vec::new() } else { verdict.suggestions };
        Verdict { decision, step: StepId::A11, reason, suggestions, ..verdict }
    }
}

fn reason_of(need: Need, by: String, category: Option<String>, sentence: String) -> Reason {
    match need {
        Need::Classifier => Reason::Classifier { stage: by, category, sentence },
        Need::Hooks => Reason::Hook { name: by, sentence },
        Need::Person => Reason::Person,
    }
}
