//! A11: the mode turns a question into an answer, or says who must give it.

use crate::context::Person;
use crate::coverage::Grounds;
use crate::decision::Decision;
use crate::mode::Mode;
use crate::pipeline::outcome::Need;
use crate::pipeline::run::{Lift, Raised, Run, StepResult};
use crate::pipeline::step::StepId;
use crate::request::Subject;
use crate::scope::is_in_workspace;
use crate::tool::{ToolKind, find_tool};
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut Run<'_>) -> StepResult {
    let raised = run.raised.take().unwrap_or_else(|| Raised {
        step: StepId::A10,
        reason: Reason::Unsettled { parts: Vec::new() },
        spans: Vec::new(),
        lift: Lift::Nobody,
    });
    if let Some(reason) = answer(run, &raised) {
        return settle(Decision::Allow, reason, &raised);
    }
    match run.request.context().mode {
        Mode::DontAsk => settle(Decision::Deny, Reason::Mode(Mode::DontAsk), &raised),
        Mode::Auto => auto(run, raised),
        // What is found no model lifts while planning; a person may.
        Mode::Plan
            if raised.lift == Lift::Classifier
                && run.policy.judges_while_planning()
                && run.judgement().block().is_none() =>
        {
            StepResult::Needs { need: Need::Classifier, raised }
        }
        Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::BypassPermissions => person(run, raised),
    }
}

/// Returns the answer that a person gave to this very question beforehand. What only a person can answer while the tool
/// runs, and what nothing clears, it does not settle.
fn answer(run: &Run<'_>, raised: &Raised) -> Option<Reason> {
    let approval = run.request.context().session.approval.as_ref()?;
    let is_answer = approval.answers_questions
        && raised.reason != Reason::Interaction
        && !run.judgement().is_beyond_consent();
    is_answer.then(|| Reason::Approval { id: approval.id.clone() })
}

fn settle(decision: Decision, reason: Reason, raised: &Raised) -> StepResult {
    StepResult::Settle { decision, reason, spans: raised.spans.clone() }
}

/// What is found is blocked; then the fast paths of auto mode, in order (spec D2), the static proof (D3), and at last the
/// classifier.
fn auto(run: &mut Run<'_>, raised: Raised) -> StepResult {
    let (call, session) = (run.request.call(), &run.request.context().session);
    let is_person_only =
        raised.lift == Lift::Nobody || (call.kind() == ToolKind::PowerShell && !run.policy.power_shell_auto);
    let approval = session.approval.clone();
    // With nobody's words there is nothing a review could go by, and no model answers in a person's place.
    let is_reviewed = run.policy.reviews_findings && !session.turns.is_empty() && !is_person_only;
    let block = run.judgement().block();
    let may_clear = (approval.is_some() || is_reviewed) && !run.judgement().is_beyond_consent();
    if let Some((reason, span)) = block.clone()
        && !may_clear
    {
        return StepResult::Settle { decision: Decision::Deny, reason, spans: vec![span] };
    }
    let is_boundary = matches!(raised.reason, Reason::Boundary { .. });
    if is_boundary && approval.is_none() {
        return settle(Decision::Deny, raised.reason.clone(), &raised);
    }
    if is_person_only && !is_boundary {
        return person(run, raised);
    }
    if let Some(approval) = approval {
        return settle(Decision::Allow, Reason::Approval { id: approval.id }, &raised);
    }
    if let Some((reason, span)) = block {
        let raised = Raised { step: StepId::A11, reason, spans: vec![span], lift: Lift::Classifier };
        return StepResult::Needs { need: Need::Classifier, raised };
    }
    let is_harmless = find_tool(call.tool()).is_some_and(|tool| tool.is_harmless);
    if would_accept_edit(run, &raised) || is_harmless {
        return settle(Decision::Allow, Reason::Mode(Mode::Auto), &raised);
    }
    if let Some(reason) = run.judgement().proof() {
        return settle(Decision::Allow, reason, &raised);
    }
    StepResult::Needs { need: Need::Classifier, raised }
}

/// Says whether accept-edits mode would let the call run.
fn would_accept_edit(run: &mut Run<'_>, raised: &Raised) -> bool {
    let request = run.request;
    match &request.subject {
        // What was raised is either a part nothing covers, which the edits may, or something they cannot lift.
        Subject::Shell(_) if raised.lift == Lift::ToolRule => {
            run.coverage(Grounds::RulesAndEdits).is_complete()
        }
        Subject::Files(files) => files.iter().all(|path_use| is_in_workspace(run, path_use)),
        Subject::Shell(_)
        | Subject::PowerShell(_)
        | Subject::Fetch { .. }
        | Subject::Other
        | Subject::Malformed(_) => false,
    }
}

fn person(run: &Run<'_>, raised: Raised) -> StepResult {
    match run.request.context().person {
        Person::Present => StepResult::Needs { need: Need::Person, raised },
        Person::Absent if run.policy.has_permission_hooks => StepResult::Needs { need: Need::Hooks, raised },
        Person::Absent => {
            let cause = raised.reason.message();
            settle(Decision::Deny, Reason::Headless { cause }, &raised)
        }
    }
}
