//! A4: the tool's own check. What it raises may still be lifted, as far as [`Lift`] says.

use portcullis_analysis::Access;
use portcullis_analysis::effect::Act;

use super::tool_ask::runs_sandboxed;
use crate::coverage::{GapKind, Grounds};
use crate::decision::Decision;
use crate::mode::Mode;
use crate::path_use::{InvocationPaths, PathUse};
use crate::pipeline::run::{Lift, Run, StepResult};
use crate::request::{Shell, Subject};
use crate::rule_match::RuleMatch;
use crate::scope::{is_allowed_by_rule, is_below_a_root, is_in_workspace, may_read};
use crate::tool::ToolKind;
use crate::verdict::{Certainty, Reason};

pub(in crate::pipeline) fn run(run: &mut Run<'_>) -> StepResult {
    if let Some(result) = possible_rule(run) {
        return result;
    }
    let request = run.request;
    match &request.subject {
        Subject::Malformed(detail) => StepResult::Settle {
            decision: Decision::Deny,
            reason: Reason::Error { detail: detail.clone() },
            spans: Vec::new(),
        },
        Subject::Shell(shell) => check_shell(run, shell),
        Subject::PowerShell(_) => {
            plan_floor(run).unwrap_or_else(|| raise(power_shell_doubt(run), Lift::ToolRule))
        }
        Subject::Files(files) => check_files(run, files),
        Subject::Fetch { host: None } => {
            raise(Reason::Opaque { detail: "the URL's host is not understood".to_owned() }, Lift::Bypass)
        }
        Subject::Fetch { host: Some(_) } => StepResult::pass(),
        Subject::Other if may_change_something(run) => plan_floor(run).unwrap_or_else(StepResult::pass),
        Subject::Other => StepResult::pass(),
    }
}

/// Says what is left open of a PowerShell command line.
fn power_shell_doubt(run: &Run<'_>) -> Reason {
    let is_known = run.request.effects().iter().all(|effect| effect.act != Act::Unknown);
    if is_known {
        return Reason::Unsettled { parts: Vec::new() };
    }
    Reason::Opaque { detail: "part of this PowerShell is not understood".to_owned() }
}

/// Tools that planning needs although nothing is known of what they do.
const PLANNING_TOOLS: &[&str] = &["WebSearch", "Skill", "ListAgents"];

/// Says whether a tool that is not looked into may change something, for all anybody knows.
fn may_change_something(run: &Run<'_>) -> bool {
    let call = run.request.call();
    matches!(call.kind(), ToolKind::Mcp | ToolKind::Other)
        && !run.request.context().hints.read_only
        && !PLANNING_TOOLS.contains(&call.tool())
}

fn raise(reason: Reason, lift: Lift) -> StepResult {
    StepResult::Raise { reason, spans: Vec::new(), lift }
}

/// A deny or ask rule that may match cannot be ruled out by anybody but a person.
fn possible_rule(run: &Run<'_>) -> Option<StepResult> {
    let is_possible = |found: &&RuleMatch<'_>| found.certainty == Certainty::Possible;
    let found = run.denied().filter(is_possible).or_else(|| run.asked().filter(is_possible))?;
    Some(StepResult::Raise { reason: found.reason(), spans: found.spans.clone(), lift: Lift::Nobody })
}

fn check_shell(run: &mut Run<'_>, shell: &Shell) -> StepResult {
    if let Some(result) = blocked_read(run, shell) {
        return result;
    }
    if let Some((span, why)) = shell.first_opacity() {
        let lift = if run.request.context().mode == Mode::Plan { Lift::Classifier } else { Lift::Bypass };
        return StepResult::Raise {
            reason: Reason::Opaque { detail: why.to_owned() },
            spans: vec![span],
            lift,
        };
    }
    if runs_sandboxed(run) {
        return StepResult::Pass("it runs sandboxed".to_owned());
    }
    let mode = run.request.context().mode;
    if mode == Mode::Plan && run.coverage(Grounds::Proof).gaps.iter().any(|gap| !gap.is_read()) {
        return plan_floor(run).unwrap_or_else(StepResult::pass);
    }
    let coverage = run.coverage(grounds_in(mode));
    for gap in &coverage.gaps {
        if let GapKind::Path { access, path } = &gap.kind {
            let path = path.clone().unwrap_or_else(|| gap.text.clone());
            let reason = match access {
                Access::Read => Reason::OutsideWorkspace { path },
                Access::Write | Access::Remove if !is_below_a_root(run, &path) => {
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
fn blocked_read(run: &Run<'_>, shell: &Shell) -> Option<StepResult> {
    if !run.policy.block_reads_outside {
        return None;
    }
    let path_use = shell
        .paths
        .iter()
        .flat_map(InvocationPaths::certain)
        .find(|path_use| path_use.access == Access::Read && !may_read(run, path_use))?;
    let reason = Reason::OutsideWorkspace { path: path_use.shown.clone() };
    Some(StepResult::Raise { reason, spans: vec![path_use.span], lift: Lift::Nobody })
}

fn check_files(run: &Run<'_>, files: &[PathUse]) -> StepResult {
    let context = run.request.context();
    for path_use in files {
        let reason = || Reason::OutsideWorkspace { path: path_use.shown.clone() };
        match path_use.access {
            Access::Read if may_read(run, path_use) => {}
            Access::Read if run.policy.block_reads_outside => {
                return StepResult::Settle { decision: Decision::Deny, reason: reason(), spans: Vec::new() };
            }
            Access::Read => return raise(reason(), Lift::ToolRule),
            Access::Write | Access::Remove => {
                if context.mode == Mode::Plan {
                    return plan_floor(run).unwrap_or_else(StepResult::pass);
                }
                if !is_in_workspace(run, path_use) && !is_allowed_by_rule(run, path_use) {
                    return raise(reason(), Lift::ToolRule);
                }
            }
        }
    }
    StepResult::pass()
}

/// In plan mode what changes anything waits until the plan is approved; of shell commands a classifier may judge.
fn plan_floor(run: &Run<'_>) -> Option<StepResult> {
    let context = run.request.context();
    if context.mode != Mode::Plan {
        return None;
    }
    let is_judged = run.policy.judges_while_planning()
        && matches!(run.request.call().kind(), ToolKind::Shell | ToolKind::PowerShell);
    let lift = if is_judged { Lift::Classifier } else { Lift::Nobody };
    Some(raise(Reason::Mode(Mode::Plan), lift))
}

/// Returns what may cover a part of a command in a mode.
pub(super) fn grounds_in(mode: Mode) -> Grounds {
    match mode {
        Mode::AcceptEdits => Grounds::RulesAndEdits,
        Mode::Default | Mode::Plan | Mode::Auto | Mode::DontAsk | Mode::BypassPermissions => Grounds::Rules,
    }
}
