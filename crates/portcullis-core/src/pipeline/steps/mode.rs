//! A11: the mode turns a question into an answer, or says who must give it.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::place::{any_runs_later, runs_later};

use super::containment::{contain, contain_project_code};
use crate::case::CallSubject;
use crate::context::Person;
use crate::coverage::{CoverGrounds, grounds_in};
use crate::decision::Decision;
use crate::explainer::explain_doubt;
use crate::mode::Mode;
use crate::pipeline::outcome::Need;
use crate::pipeline::run::{Lift, PipelineRun, RaisedQuestion, StepResult};
use crate::scope::is_in_workspace;
use crate::step::StepId;
use crate::tool::{ToolKind, find_tool};
use crate::verdict::{Reason, RuleReference};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    let raised = run.raised.take().unwrap_or_else(|| RaisedQuestion {
        step: StepId::A10,
        reason: Reason::Unsettled { parts: Vec::new(), doubt: String::new() },
        spans: Vec::new(),
        lift: Lift::Nobody,
    });
    if let Some(reason) = answer(run, &raised) {
        return settle(Decision::Allow, reason, &raised);
    }
    if run.view.mode == Mode::Auto
        && let Some(reason) = proof_beside_rules(run, &raised)
    {
        return contain_project_code(run, &raised)
            .unwrap_or_else(|| settle(Decision::Allow, reason, &raised));
    }
    let raised = with_doubt(run, raised);
    match run.view.mode {
        Mode::DontAsk => contain(run, &raised)
            .unwrap_or_else(|| settle(Decision::Deny, Reason::Mode(Mode::DontAsk), &raised)),
        Mode::Auto => auto(run, raised),
        // What is found no model lifts while planning; a person may.
        Mode::Plan
            if raised.lift == Lift::Classifier
                && run.view.policy.judges_while_planning()
                && run.view.judgement().block().is_none()
                && run.view.judgement().request().is_none() =>
        {
            StepResult::Needs { need: Need::Classifier, raised }
        }
        Mode::Default | Mode::Plan | Mode::AcceptEdits | Mode::BypassPermissions => {
            contain(run, &raised).unwrap_or_else(|| person(run, raised))
        }
    }
}

/// Returns the answer that a person gave to this very question beforehand. What only a person can answer while the tool
/// runs, and what nothing clears, it does not settle.
fn answer(run: &PipelineRun<'_>, raised: &RaisedQuestion) -> Option<Reason> {
    let approval = run.view.case.context().session.approval.as_ref()?;
    let is_answer = approval.answers_questions
        && raised.reason != Reason::Interaction
        && !run.view.judgement().is_beyond_consent();
    is_answer.then(|| Reason::Approval { id: approval.id.clone() })
}

fn settle(decision: Decision, reason: Reason, raised: &RaisedQuestion) -> StepResult {
    StepResult::Settle { decision, reason, spans: raised.spans.clone() }
}

/// What is found is blocked; then the fast paths of auto mode, in order (spec D2), the static proof (D3), and at last the
/// classifier.
fn auto(run: &mut PipelineRun<'_>, raised: RaisedQuestion) -> StepResult {
    let (call, session) = (run.view.case.call(), &run.view.case.context().session);
    let is_unjudged = call.kind() == ToolKind::PowerShell && !run.view.policy.power_shell_auto;
    let is_person_only = raised.lift == Lift::Nobody || is_unjudged;
    let approval = session.approval.clone();
    // With nobody's words there is nothing a review could go by, and no model answers in a person's place.
    let is_reviewed = run.view.policy.reviews_findings && !session.turns.is_empty() && !is_person_only;
    let block = run.view.judgement().refusal();
    let is_liftable = !run.view.policy.prose.permissions.is_empty() && !is_person_only;
    let may_clear =
        (approval.is_some() || is_reviewed || is_liftable) && !run.view.judgement().is_beyond_consent();
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
        return unjudged_proof(run, &raised).unwrap_or_else(|| person(run, raised));
    }
    if let Some(approval) = approval {
        return settle(Decision::Allow, Reason::Approval { id: approval.id }, &raised);
    }
    if let Some((reason, span)) = run.view.judgement().personal().filter(|_| block.is_none()) {
        let raised = RaisedQuestion { step: StepId::A11, reason, spans: vec![span], lift: Lift::Nobody };
        return person(run, raised);
    }
    if let Some((found, span)) = block {
        let reason = weighed(&found, &run.view.policy.prose.permissions).unwrap_or(found);
        let raised = RaisedQuestion { step: StepId::A11, reason, spans: vec![span], lift: Lift::Classifier };
        return StepResult::Needs { need: Need::Classifier, raised };
    }
    if let Some((reason, span)) = run.view.judgement().request() {
        let raised = RaisedQuestion { step: StepId::A11, reason, spans: vec![span], lift: Lift::Classifier };
        return StepResult::Needs { need: Need::Classifier, raised };
    }
    let is_harmless = find_tool(call.tool()).is_some_and(|tool| tool.is_harmless);
    // A tool that only looks is harmless as long as it looks at nothing secret.
    let is_harmless = is_harmless && !run.view.judgement().shows_secrets();
    if matches!(raised.reason, Reason::Prose { .. }) {
        return StepResult::Needs { need: Need::Classifier, raised };
    }
    if let Some(reason) = judged_by_settings(run).filter(|_| !is_harmless) {
        let raised = RaisedQuestion { reason, ..raised };
        return StepResult::Needs { need: Need::Classifier, raised };
    }
    if would_accept_edit(run, &raised) || is_harmless {
        return settle(Decision::Allow, Reason::Mode(Mode::Auto), &raised);
    }
    if let Some(reason) = run.view.judgement().proof() {
        return contain_project_code(run, &raised)
            .unwrap_or_else(|| settle(Decision::Allow, reason, &raised));
    }
    if let Some(contained) = contain(run, &raised) {
        return contained;
    }
    StepResult::Needs { need: Need::Classifier, raised }
}

/// Lets a command line run whose commands are each covered by a rule or known to be harmless. What is found, and what
/// settings want judged, no rule for a part lifts.
fn proof_beside_rules(run: &mut PipelineRun<'_>, raised: &RaisedQuestion) -> Option<Reason> {
    let is_shell = matches!(run.view.case.subject, CallSubject::Shell(_));
    let is_uncovered = raised.step == StepId::A10 && matches!(raised.reason, Reason::Unsettled { .. });
    if !is_shell || !is_uncovered || judged_by_settings(run).is_some() {
        return None;
    }
    let coverage = run.coverage(grounds_in(Mode::Auto));
    let (open, inside) = run.view.judgement().open_alone()?;
    let is_proven = inside.is_empty() && open.iter().all(|effect| coverage.permits(effect));
    let rules: Vec<RuleReference> = coverage.rules.iter().map(|rule| RuleReference::from(*rule)).collect();
    (is_proven && !open.is_empty()).then_some(Reason::Covered { rules })
}

/// Says in the reason of a question what the call does that is not known to be harmless. In auto mode only that needs a
/// rule, and a place outside the project is no question by itself.
fn with_doubt(run: &mut PipelineRun<'_>, raised: RaisedQuestion) -> RaisedQuestion {
    let mode = run.view.mode;
    let parts = match &raised.reason {
        Reason::Unsettled { parts, .. } => parts.clone(),
        Reason::OutsideWorkspace { .. } if mode == Mode::Auto => Vec::new(),
        _ => return raised,
    };
    let mut coverage = run.coverage(grounds_in(mode));
    let (open, inside) = run.view.judgement().doubts();
    let doubts: Vec<&Effect> = open.iter().filter(|effect| !coverage.permits(effect)).collect();
    let doubt = explain_doubt(run.view.case, &doubts, inside);
    let is_place = matches!(raised.reason, Reason::OutsideWorkspace { .. });
    if is_place && doubt.is_empty() {
        return raised;
    }
    if mode != Mode::Auto || !is_place && raised.step != StepId::A10 || !inside.is_empty() {
        return RaisedQuestion { reason: Reason::Unsettled { parts, doubt }, ..raised };
    }
    coverage.narrow(&doubts);
    let (parts, spans) = match coverage.gaps.as_slice() {
        [] => (parts, raised.spans),
        _ => (coverage.parts(), coverage.spans()),
    };
    run.keep_coverage(coverage);
    RaisedQuestion { reason: Reason::Unsettled { parts, doubt }, spans, ..raised }
}

/// Lets a PowerShell command run that no model may judge if a proof covers all that it does and nothing wants it judged:
/// its setting says who answers a question, and here there is none.
fn unjudged_proof(run: &PipelineRun<'_>, raised: &RaisedQuestion) -> Option<StepResult> {
    let judgement = run.view.judgement();
    let is_open = raised.lift == Lift::Nobody
        || matches!(raised.reason, Reason::Prose { .. } | Reason::Boundary { .. })
        || judgement.refusal().is_some()
        || judgement.request().is_some()
        || judged_by_settings(run).is_some();
    if is_open || run.view.case.call().kind() != ToolKind::PowerShell {
        return None;
    }
    let reason = judgement.proof()?;
    Some(contain_project_code(run, raised).unwrap_or_else(|| settle(Decision::Allow, reason, raised)))
}

/// Returns why settings want a call judged that a proof would let run: it changes something, and they say in words of their
/// own what is not to be done, or have every shell command judged (spec D11).
fn judged_by_settings(run: &PipelineRun<'_>) -> Option<Reason> {
    let (policy, case) = (run.view.policy, run.view.case);
    let is_shell = matches!(case.call().kind(), ToolKind::Shell | ToolKind::PowerShell);
    let detail = match policy.prose.prohibitions.first() {
        Some(sentence) => format!("settings say “{}”, and only a judge can tell", beginning(sentence)),
        None if policy.classify_all_shell && is_shell => {
            "settings have every shell command judged that changes something".to_owned()
        }
        None => return None,
    };
    let changes = case.effects().iter().any(|effect| !effect.act.is_observing() && effect.act != Act::Fetch);
    changes.then_some(Reason::Prose { code: None, detail })
}

/// Returns what is to be weighed against a finding: what settings say may pass. Without it the finding stands.
fn weighed(found: &Reason, permissions: &[String]) -> Option<Reason> {
    let (Reason::Finding { code, sentence, .. }, Some(said)) = (found, permissions.first()) else {
        return None;
    };
    let detail = format!("{code}: {sentence}; settings say “{}”", beginning(said));
    Some(Reason::Prose { code: Some(code), detail })
}

/// Returns so much of a sentence as is quoted.
fn beginning(sentence: &str) -> &str {
    sentence.get(..sentence.floor_char_boundary(LONGEST_QUOTED)).unwrap_or(sentence)
}

/// So much of a sentence of settings is quoted in a reason, in bytes.
const LONGEST_QUOTED: usize = 200;

/// Says whether accept-edits mode would let the call run.
fn would_accept_edit(run: &mut PipelineRun<'_>, raised: &RaisedQuestion) -> bool {
    let case = run.view.case;
    // What runs later, elsewhere or unasked is more than an edit, whoever makes it.
    let is_later = |path: &String| runs_later(path).or_else(|| any_runs_later(path)).is_some();
    let runs_later = case.written_paths().iter().any(is_later);
    let judgement = run.view.judgement();
    if runs_later || judgement.loses_work() || judgement.shows_secrets() {
        return false;
    }
    match &case.subject {
        // What was raised is either a part nothing covers, which the edits may, or something they cannot lift.
        CallSubject::Shell(_) if raised.lift == Lift::ToolRule => {
            run.coverage(CoverGrounds::RulesAndEdits).is_complete()
        }
        CallSubject::Files => {
            run.view.own_source().path_uses().all(|path_use| is_in_workspace(&run.view, &path_use))
        }
        CallSubject::Shell(_)
        | CallSubject::PowerShell(_)
        | CallSubject::Fetch { .. }
        | CallSubject::Other
        | CallSubject::Malformed(_) => false,
    }
}

fn person(run: &PipelineRun<'_>, raised: RaisedQuestion) -> StepResult {
    match run.view.case.context().person {
        Person::Present => StepResult::Needs { need: Need::Person, raised },
        Person::Absent if run.view.policy.has_permission_hooks => {
            StepResult::Needs { need: Need::Hooks, raised }
        }
        Person::Absent => {
            let cause = raised.reason.message();
            settle(Decision::Deny, Reason::Headless { cause }, &raised)
        }
    }
}
