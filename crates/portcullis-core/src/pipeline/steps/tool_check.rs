//! A4: the tool's own check. What it raises may still be lifted, as far as [`Lift`] says.

use portcullis_analysis::Access;
use portcullis_analysis::effect::{Act, Certainty};

use super::tool_ask::runs_sandboxed;
use crate::case::{CallSubject, Shell};
use crate::coverage::{CoverGrounds, GapKind, grounds_in};
use crate::decision::Decision;
use crate::mode::Mode;
use crate::path_use::PathUse;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::rule_match::RuleMatch;
use crate::scope::{is_allowed_by_rule, is_below_a_root, is_in_workspace, may_read};
use crate::tool::ToolKind;
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    if let Some(result) = possible_rule(run) {
        return result;
    }
    let case = run.view.case;
    match &case.subject {
        CallSubject::Malformed(detail) => StepResult::Settle {
            decision: Decision::Deny,
            reason: Reason::Error { detail: detail.clone() },
            spans: Vec::new(),
        },
        CallSubject::Shell(shell) => check_shell(run, shell),
        CallSubject::PowerShell(_) => {
            plan_floor(run).unwrap_or_else(|| raise(power_shell_doubt(run), Lift::ToolRule))
        }
        CallSubject::Files => check_files(run),
        CallSubject::Fetch { host: None } => {
            raise(Reason::Opaque { detail: "the URL's host is not understood".to_owned() }, Lift::Bypass)
        }
        CallSubject::Fetch { host: Some(_) } => StepResult::pass(),
        CallSubject::Other if may_change_something(run) => plan_floor(run).unwrap_or_else(StepResult::pass),
        CallSubject::Other => StepResult::pass(),
    }
}

/// Says what is left open of a PowerShell command line.
fn power_shell_doubt(run: &PipelineRun<'_>) -> Reason {
    let is_known = run.view.case.effects().iter().all(|effect| effect.act != Act::Unknown);
    if is_known {
        return Reason::Unsettled { parts: Vec::new(), doubt: String::new() };
    }
    Reason::Opaque { detail: "part of this PowerShell is not understood".to_owned() }
}

/// Tools that planning needs although nothing is known of what they do.
const PLANNING_TOOLS: &[&str] = &["WebSearch", "Skill", "ListAgents"];

/// Says whether a tool that is not looked into may change something, for all anybody knows.
fn may_change_something(run: &PipelineRun<'_>) -> bool {
    let call = run.view.case.call();
    matches!(call.kind(), ToolKind::Mcp | ToolKind::Other)
        && !run.view.case.context().hints.read_only
        && !PLANNING_TOOLS.contains(&call.tool())
}

fn raise(reason: Reason, lift: Lift) -> StepResult {
    StepResult::Raise { reason, spans: Vec::new(), lift }
}

/// A deny or ask rule that may match cannot be ruled out by anybody but a person.
fn possible_rule(run: &PipelineRun<'_>) -> Option<StepResult> {
    let is_possible = |found: &&RuleMatch<'_>| found.certainty == Certainty::Possible;
    let found = run.denied().filter(is_possible).or_else(|| run.asked().filter(is_possible))?;
    Some(StepResult::Raise { reason: found.reason(), spans: found.spans.clone(), lift: Lift::Nobody })
}

fn check_shell(run: &mut PipelineRun<'_>, shell: &Shell) -> StepResult {
    if let Some(result) = blocked_read(run) {
        return result;
    }
    if let Some((span, why)) = shell.first_opacity() {
        let lift = if run.view.mode == Mode::Plan { Lift::Classifier } else { Lift::Bypass };
        return StepResult::Raise {
            reason: Reason::Opaque { detail: why.to_owned() },
            spans: vec![span],
            lift,
        };
    }
    if runs_sandboxed(run) {
        return StepResult::Pass("it runs sandboxed".to_owned());
    }
    let mode = run.view.mode;
    if mode == Mode::Plan && run.coverage(CoverGrounds::Proof).gaps.iter().any(|gap| !gap.is_read()) {
        return plan_floor(run).unwrap_or_else(StepResult::pass);
    }
    let coverage = run.coverage(grounds_in(mode));
    for gap in &coverage.gaps {
        if let GapKind::Path { access, path } = &gap.kind {
            let path = path.clone().unwrap_or_else(|| gap.text.clone());
            let reason = match access {
                Access::Read => Reason::OutsideWorkspace { path },
                Access::Write | Access::Remove if !is_below_a_root(&run.view, &path) => {
                    Reason::OutsideWorkspace { path }
                }
                // A file in the workspace: nothing is wrong with it, somebody just has to say so.
                Access::Write | Access::Remove => continue,
            };
            return StepResult::Raise { reason, spans: vec![gap.span], lift: Lift::ToolRule };
        }
    }
    StepResult::pass()
}

/// While reads outside are blocked, a command that may make one needs a person in every mode.
fn blocked_read(run: &PipelineRun<'_>) -> Option<StepResult> {
    if !run.view.policy.block_reads_outside {
        return None;
    }
    let is_blocked =
        |path_use: &PathUse<'_>| path_use.access == Access::Read && !may_read(&run.view, path_use);
    run.view.sources().find_map(|source| {
        let path_use = source.path_uses().find(is_blocked)?;
        let (path, span) = source.named(&path_use);
        let reason = Reason::OutsideWorkspace { path };
        Some(StepResult::Raise { reason, spans: vec![span], lift: Lift::Nobody })
    })
}

fn check_files(run: &PipelineRun<'_>) -> StepResult {
    for path_use in run.view.own_source().path_uses() {
        let path_use = &path_use;
        let reason = || Reason::OutsideWorkspace { path: path_use.shown().to_owned() };
        match path_use.access {
            Access::Read if may_read(&run.view, path_use) => {}
            Access::Read if run.view.policy.block_reads_outside => {
                return StepResult::Settle { decision: Decision::Deny, reason: reason(), spans: Vec::new() };
            }
            Access::Read => return raise(reason(), Lift::ToolRule),
            Access::Write | Access::Remove => {
                if run.view.mode == Mode::Plan {
                    return plan_floor(run).unwrap_or_else(StepResult::pass);
                }
                if !is_in_workspace(&run.view, path_use) && !is_allowed_by_rule(&run.view, path_use) {
                    return raise(reason(), Lift::ToolRule);
                }
            }
        }
    }
    StepResult::pass()
}

/// In plan mode what changes anything waits until the plan is approved; of shell commands a classifier may judge.
fn plan_floor(run: &PipelineRun<'_>) -> Option<StepResult> {
    if run.view.mode != Mode::Plan {
        return None;
    }
    let is_judged = run.view.policy.judges_while_planning()
        && matches!(run.view.case.call().kind(), ToolKind::Shell | ToolKind::PowerShell);
    let lift = if is_judged { Lift::Classifier } else { Lift::Nobody };
    Some(raise(Reason::Mode(Mode::Plan), lift))
}
