//! One run through the steps: what they see and what they may answer.

use std::cell::OnceCell;

use portcullis_shell::Span;

use super::outcome::{Aborted, Need, Outcome, Pending};
use super::steps;
use crate::case::CaseView;
use crate::coverage::{CoverGrounds, Coverage, cover};
use crate::decision::Decision;
use crate::rule::Behavior;
use crate::rule_match::{RuleMatch, find_restraint};
use crate::step::StepId;
use crate::suggestion;
use crate::trace::{TraceLine, TraceOutcome};
use crate::verdict::{Reason, Verdict};

/// What a step sees, and the question raised so far.
#[derive(Debug)]
pub(super) struct PipelineRun<'a> {
    pub(super) view: CaseView<'a>,
    /// The first question a step raised that a later step may still lift.
    pub(super) raised: Option<RaisedQuestion>,
    /// What covers a shell command, worked out once.
    coverage: Option<Coverage<'a>>,
    /// The surest deny and ask rules the content meets, worked out once.
    denied: OnceCell<Option<RuleMatch<'a>>>,
    asked: OnceCell<Option<RuleMatch<'a>>>,
}

/// A question for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RaisedQuestion {
    pub(super) step: StepId,
    pub(super) reason: Reason,
    pub(super) spans: Vec<Span>,
    pub(super) lift: Lift,
}

/// Who may answer a question instead of a person; what fewer may answer is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lift {
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
    Needs { need: Need, raised: RaisedQuestion },
    /// The session is over.
    Abort,
}

impl StepResult {
    pub(super) fn pass() -> Self {
        Self::Pass(String::new())
    }
}

/// The function of every step, in order.
type StepFunction = for<'r, 'a> fn(&'r mut PipelineRun<'a>) -> StepResult;
const FUNCTIONS: &[(StepId, StepFunction)] = &[
    (StepId::A0, steps::aborted::run),
    (StepId::A1, steps::tool_deny::run),
    (StepId::A2, steps::content_deny::run),
    (StepId::A3, steps::tool_ask::run),
    (StepId::A4, steps::tool_check::run),
    (StepId::A5, steps::interaction::run),
    (StepId::A6, steps::content_ask::run),
    (StepId::A7, steps::safety::run),
    (StepId::A8, steps::bypass::run),
    (StepId::A9, steps::allow::run),
    (StepId::A10, steps::unsettled::run),
    (StepId::A11, steps::mode::run),
];

impl<'a> PipelineRun<'a> {
    pub(super) fn new(view: CaseView<'a>) -> Self {
        Self { view, raised: None, coverage: None, denied: OnceCell::new(), asked: OnceCell::new() }
    }

    /// Returns the surest deny rule the content meets.
    pub(super) fn denied(&self) -> Option<&RuleMatch<'a>> {
        self.denied.get_or_init(|| find_restraint(&self.view, Behavior::Deny)).as_ref()
    }

    /// Returns the surest ask rule the content meets.
    pub(super) fn asked(&self) -> Option<&RuleMatch<'a>> {
        self.asked.get_or_init(|| find_restraint(&self.view, Behavior::Ask)).as_ref()
    }

    /// Returns what covers the shell command; empty for other tools.
    pub(super) fn coverage(&mut self, grounds: CoverGrounds) -> Coverage<'a> {
        let Some(shell) = self.view.case.subject.shell() else {
            return Coverage::default();
        };
        if grounds != CoverGrounds::Rules {
            return cover(&self.view, shell, grounds);
        }
        if let Some(known) = &self.coverage {
            return known.clone();
        }
        let coverage = cover(&self.view, shell, grounds);
        self.coverage = Some(coverage.clone());
        coverage
    }

    /// Has suggestions go by what is left of the coverage.
    pub(super) fn keep_coverage(&mut self, coverage: Coverage<'a>) {
        self.coverage = Some(coverage);
    }

    pub(super) fn decide(mut self) -> Result<Outcome, Aborted> {
        let mut trace = Vec::with_capacity(FUNCTIONS.len());
        let mut asked = false;
        for &(id, function) in FUNCTIONS {
            if asked && id != StepId::A11 {
                trace.push(TraceLine { step: id, outcome: TraceOutcome::Skip, detail: String::new() });
                continue;
            }
            match function(&mut self) {
                StepResult::Abort => return Err(Aborted),
                StepResult::Pass(detail) => {
                    trace.push(TraceLine { step: id, outcome: TraceOutcome::Pass, detail });
                }
                StepResult::Raise { reason, spans, lift } => {
                    let outcome = TraceOutcome::Raise(Decision::Ask);
                    trace.push(TraceLine { step: id, outcome, detail: reason.message() });
                    self.raise(RaisedQuestion { step: id, reason, spans, lift });
                }
                StepResult::Ask { reason, spans, lift } => {
                    let outcome = TraceOutcome::Raise(Decision::Ask);
                    trace.push(TraceLine { step: id, outcome, detail: reason.message() });
                    self.raised = Some(RaisedQuestion { step: id, reason, spans, lift });
                    asked = true;
                }
                StepResult::Settle { decision, reason, spans } => {
                    let outcome = TraceOutcome::Settle(decision);
                    trace.push(TraceLine { step: id, outcome, detail: reason.message() });
                    return Ok(Outcome::Settled(self.verdict(decision, id, reason, spans, trace)));
                }
                StepResult::Needs { need, raised } => {
                    let verdict =
                        self.verdict(Decision::Ask, raised.step, raised.reason, raised.spans, trace);
                    let person = self.view.case.context().person;
                    let hooks = self.view.policy.has_permission_hooks;
                    return Ok(Outcome::Needs(Pending::new(need, verdict, person, hooks)));
                }
            }
        }
        // The last step never passes; should it ever, nobody has said yes.
        let reason = Reason::Error { detail: "the pipeline ended without an answer".to_owned() };
        Ok(Outcome::Settled(self.verdict(Decision::Deny, StepId::A11, reason, Vec::new(), trace)))
    }

    /// Keeps the question that is hardest to lift, the first of equals.
    fn raise(&mut self, raised: RaisedQuestion) {
        let is_harder = |known: &RaisedQuestion| raised.lift < known.lift;
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
        let is_settleable = decision != Decision::Allow && suggestion::is_settleable(&reason);
        let suggestions = if is_settleable {
            let coverage = self.coverage(CoverGrounds::Rules);
            suggestion::suggest(self.view.case, &coverage)
        } else {
            Vec::new()
        };
        let (findings, mode) = (self.view.judgement().reports(), self.view.mode);
        Verdict { decision, step, mode, reason, trace, suggestions, highlights, findings, ends_run: false }
    }
}
