//! A9: an allow rule for the whole tool, allow rules covering every part, a proof that nothing is changed, or a person's
//! earlier yes to commands of the same shape.

use portcullis_analysis::effect::Act;

use super::tool_ask::runs_sandboxed;
use super::tool_deny::{find_tool_rule, reason_of_tool_rule};
use crate::case::CallSubject;
use crate::coverage::grounds_in;
use crate::decision::Decision;
use crate::mode::Mode;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::remembered::recalled;
use crate::rule::{Behavior, Matcher, Rule};
use crate::rule_match::{name_matches, names_command, shell_pattern};
use crate::scope::{find_path_permit, is_in_workspace};
use crate::tool::{ToolKind, find_tool};
use crate::verdict::{Reason, RuleReference};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    let lift = run.raised.as_ref().map(|raised| raised.lift);
    if lift.is_some_and(|lift| lift < Lift::ToolRule) {
        return StepResult::Pass("no rule lifts what was raised before".to_owned());
    }
    if let Some(rule) = tool_rule(run) {
        return allow(reason_of_tool_rule(rule));
    }
    if lift.is_some() && !matches!(run.view.case.subject, CallSubject::PowerShell(_)) {
        return StepResult::pass();
    }
    by_content(run).map_or_else(StepResult::pass, allow)
}

fn allow(reason: Reason) -> StepResult {
    StepResult::Settle { decision: Decision::Allow, reason, spans: Vec::new() }
}

/// Finds an allow rule for the whole tool that the mode leaves in force.
fn tool_rule<'a>(run: &PipelineRun<'a>) -> Option<&'a Rule> {
    find_tool_rule(run, Behavior::Allow).filter(|rule| !run.view.policy.suspends(rule, run.view.mode))
}

fn by_content(run: &mut PipelineRun<'_>) -> Option<Reason> {
    let case = run.view.case;
    match &case.subject {
        CallSubject::Shell(_) => by_coverage(run),
        CallSubject::PowerShell(command) => by_exact_text(run, command),
        CallSubject::Files => by_paths(run),
        CallSubject::Fetch { host } => {
            let host = host.as_deref()?;
            let mut rules = run.view.policy.rules.domains(Behavior::Allow);
            let rule = rules
                .find(|rule| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host)))?;
            Some(covered(rule))
        }
        CallSubject::Other => {
            let mut rules = run.view.policy.rules.names(Behavior::Allow, case.call().tool());
            let mode = run.view.mode;
            let rule =
                rules.find(|rule| name_matches(rule, &run.view) && !run.view.policy.suspends(rule, mode));
            rule.map(covered).or_else(|| is_bookkeeping(run).then_some(Reason::ReadOnly))
        }
        CallSubject::Malformed(_) => None,
    }
}

fn covered(rule: &Rule) -> Reason {
    Reason::Covered { rules: vec![RuleReference::from(rule)] }
}

fn by_coverage(run: &mut PipelineRun<'_>) -> Option<Reason> {
    let connects =
        run.view.case.effects().iter().any(|effect| effect.is_redirection && effect.act == Act::Connect);
    if runs_sandboxed(run) && has_safe_assignments(run) && !connects {
        return Some(Reason::Sandbox);
    }
    let mode = run.view.mode;
    let coverage = run.coverage(grounds_in(mode));
    if !coverage.is_complete() {
        return recalled(&run.view, &coverage).map(|commands| Reason::Remembered { commands });
    }
    // A look that is found to be more than that, such as a search for secrets, proves nothing.
    if coverage.rules.is_empty() && run.view.judgement().block().is_some() {
        return None;
    }
    Some(if !coverage.rules.is_empty() {
        Reason::Covered { rules: coverage.rules.iter().map(|rule| RuleReference::from(*rule)).collect() }
    } else if coverage.by_edits {
        Reason::Mode(mode)
    } else {
        Reason::ReadOnly
    })
}

/// A sandboxed command is still asked about if it sets variables that steer programs.
fn has_safe_assignments(run: &PipelineRun<'_>) -> bool {
    let CallSubject::Shell(shell) = &run.view.case.subject else {
        return false;
    };
    shell.survey.invocations.iter().all(|invocation| {
        invocation
            .assignments
            .iter()
            .all(|variable| portcullis_analysis::environment::is_harmless_assignment(&variable.name))
    })
}

/// Only a rule for the very text counts, and only if the text is one plain command, whatever name it is called by.
fn by_exact_text(run: &PipelineRun<'_>, command: &str) -> Option<Reason> {
    if command.contains(['$', '(', ')', '{', '}', ';', '|', '&', '`', '\n', '\r', '>', '<', '@', '%']) {
        return None;
    }
    let mut rules = run.view.policy.rules.shell(Behavior::Allow, "PowerShell", None);
    let mode = run.view.mode;
    let rule = rules.find(|rule| {
        !run.view.policy.suspends(rule, mode)
            && shell_pattern(rule).is_some_and(|pattern| names_command(pattern, command))
    })?;
    Some(covered(rule))
}

fn by_paths(run: &PipelineRun<'_>) -> Option<Reason> {
    let mode = run.view.mode;
    let is_reading = run.view.case.call().kind() == ToolKind::Read;
    let mut files = run.view.own_source().path_uses();
    let permits: Option<Vec<&Rule>> =
        files.clone().map(|path_use| find_path_permit(&run.view, &path_use)).collect();
    if let Some(rule) = permits.and_then(|permits| permits.first().copied()) {
        return Some(covered(rule));
    }
    if is_reading {
        if run.view.judgement().block().is_some() {
            return None;
        }
        return Some(Reason::ReadOnly);
    }
    let in_workspace = files.all(|path_use| is_in_workspace(&run.view, &path_use));
    (mode == Mode::AcceptEdits && in_workspace).then_some(Reason::Mode(mode))
}

/// Says whether a tool only keeps the agent's own books, and nothing is found in what it is asked for.
fn is_bookkeeping(run: &PipelineRun<'_>) -> bool {
    find_tool(run.view.case.call().tool())
        .is_some_and(|tool| tool.is_harmless && tool.kind == ToolKind::Internal)
        && run.view.judgement().block().is_none()
}
