//! One run through the steps: what they see and what they may answer.

use std::cell::OnceCell;

use portcullis_shell::Span;

use super::outcome::{Aborted, Need, Outcome, Pending};
use super::step::{STEPS, StepId};
use crate::coverage::{Coverage, Grounds, cover};
use crate::decision::Decision;
use crate::fact::Facts;
use crate::judgement::Judgement;
use crate::policy::Policy;
use crate::request::{Request, Subject};
use crate::rule::Behavior;
use crate::rule_match::{RuleMatch, find_restraint};
use crate::suggestion;
use crate::verdict::{Reason, TraceLine, TraceOutcome, Verdict};

/// What a step sees, and the question raised so far.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) request: &'a Request,
    pub(crate) facts: &'a Facts,
    /// The first question a step raised that a later step may still lift.
    pub(super) raised: Option<Raised>,
    /// What covers a shell command, worked out once.
    coverage: Option<Coverage<'a>>,
    /// The surest deny and ask rules the content meets, worked out once.
    denied: OnceCell<Option<RuleMatch<'a>>>,
    asked: OnceCell<Option<RuleMatch<'a>>>,
    /// What the analysis makes of the call, worked out once.
    judgement: OnceCell<Judgement>,
}

/// A question for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raised {
    pub(crate) step: StepId,
    pub(crate) reason: Reason,
    pub(crate) spans: Vec<Span>,
    pub(crate) lift: Lift,
}

/// Who may answer a question instead of a person; what fewer may answer is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lift {
    /// Nobody.
    Nobody,
    /// A classifier.
    Classifier,
    /// A classifier or bypass mode.
    Bypass,
    /// A classifier, bypass mode or a tool-wide allow rule.
    ToolRule,
}

/// What a step answers.
#[derive(Debug)]
pub(super) enum StepResult {
    /// Nothing to say.
    Pass(String),
    /// A question that a later step may lift.
    Raise { reason: Reason, spans: Vec<Span>, lift: Lift },
    /// A question that goes straight to the mode.
    Ask { reason: Reason, spans: Vec<Span>, lift: Lift },
    /// The answer.
    Settle { decision: Decision, reason: Reason, spans: Vec<Span> },
    /// Somebody must be asked.
    Needs { need: Need, raised: Raised },
    /// The session is over.
    Abort,
}

impl StepResult {
    pub(super) fn pass() -> Self {
        Self::Pass(String::new())
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(policy: &'a Policy, request: &'a Request, facts: &'a Facts) -> Self {
        Self {
            policy,
            request,
            facts,
            raised: None,
            coverage: None,
            denied: OnceCell::new(),
            asked: OnceCell::new(),
            judgement: OnceCell::new(),
        }
    }

    /// Returns what the analysis makes of the call.
    pub(crate) fn judgement(&self) -> &Judgement {
        self.judgement.get_or_init(|| Judgement::of(self.request, self.facts))
    }

    /// Returns the surest deny rule the content meets.
    pub(super) fn denied(&self) -> Option<&RuleMatch<'a>> {
        self.denied.get_or_init(|| find_restraint(self, Behavior::Deny)).as_ref()
    }

    /// Returns the surest ask rule the content meets.
    pub(super) fn asked(&self) -> Option<&RuleMatch<'a>> {
        self.asked.get_or_init(|| find_restraint(self, Behavior::Ask)).as_ref()
    }

    /// Returns what covers the shell command; empty for other tools.
    pub(crate) fn coverage(&mut self, grounds: Grounds) -> Coverage<'a> {
        let Subject::Shell(shell) = &self.request.subject else {
            return Coverage::default();
        };
        if grounds != Grounds::Rules {
            return cover(self, shell, grounds);
        }
        if let Some(known) = &self.coverage {
            return known.clone();
        }
        let coverage = cover(self, shell, grounds);
        self.coverage = Some(coverage.clone());
        coverage
    }

    pub(super) fn decide(mut self) -> Result<Outcome, Aborted> {
        let mut trace = Vec::with_capacity(STEPS.len());
        let mut asked = false;
        for step in STEPS {
            if asked && step.id != StepId::A11 {
                trace.push(TraceLine { step: step.id, outcome: TraceOutcome::Skip, detail: String::new() });
                continue;
            }
            match (step.run)(&mut self) {
                StepResult::Abort => return Err(Aborted),
                StepResult::Pass(detail) => {
                    trace.push(TraceLine { step: step.id, outcome: TraceOutcome::Pass, detail });
                }
                StepResult::Raise { reason, spans, lift } => {
                    let outcome = TraceOutcome::Raise(Decision::Ask);
                    trace.push(TraceLine { step: step.id, outcome, detail: reason.message() });
                    self.raise(Raised { step: step.id, reason, spans, lift });
                }
                StepResult::Ask { reason, spans, lift } => {
                    let outcome = TraceOutcome::Raise(Decision::Ask);
                    trace.push(TraceLine { step: step.id, outcome, detail: reason.message() });
                    self.raised = Some(Raised { step: step.id, reason, spans, lift });
                    asked = true;
                }
                StepResult::Settle { decision, reason, spans } => {
                    let outcome = TraceOutcome::Settle(decision);
                    trace.push(TraceLine { step: step.id, outcome, detail: reason.message() });
                    return Ok(Outcome::Settled(self.verdict(decision, step.id, reason, spans, trace)));
                }
                StepResult::Needs { need, raised } => {
                    let verdict =
                        self.verdict(Decision::Ask, raised.step, raised.reason, raised.spans, trace);
                    let person = self.request.context().person;
                    let hooks = self.policy.has_permission_hooks;
                    return Ok(Outcome::Needs(Pending::new(need, verdict, person, hooks)));
                }
            }
        }
        // The last step never passes; should it ever, nobody has said yes.
        let reason = Reason::Error { detail: "the pipeline ended without an answer".to_owned() };
        Ok(Outcome::Settled(self.verdict(Decision::Deny, StepId::A11, reason, Vec::new(), trace)))
    }

    /// Keeps the question that is hardest to lift, the first of equals.
    fn raise(&mut self, raised: Raised) {
        let is_harder = |known: &Raised| raised.lift < known.lift;
        if self.raised.as_ref().is_none_or(is_harder) {
            self.raised = Some(raised);
        }
    }

    fn verdict(
        &mut self,
        decision: Decision,
        step: StepId,
        reason: Reason,
        highlights: Vec<Span>,
        trace: Vec<TraceLine>,
    ) -> Verdict {
        let suggestions =
            if decision == Decision::Allow { Vec::new() } else { suggestion::suggest(self, &reason) };
        let findings = self.judgement().reports();
        let mode = self.request.context().mode;
        Verdict { decision, step, mode, reason, trace, suggestions, highlights, findings, ends_run: false }
    }
}
