//! A3: an ask rule for the whole tool, unless the command runs sandboxed without asking.

use super::tool_deny::{find_tool_rule, reason_of_tool_rule};
use crate::mode::Mode;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::rule::Behavior;
use crate::tool::ToolKind;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    match find_tool_rule(run, Behavior::Ask) {
        None => StepResult::pass(),
        Some(rule) if runs_sandboxed(run) => {
            StepResult::Pass(format!("`{}` does not hold for a sandboxed command", rule.source_text))
        }
        Some(rule) => {
            StepResult::Ask { reason: reason_of_tool_rule(rule), spans: Vec::new(), lift: Lift::Nobody }
        }
    }
}

/// Says whether a shell command will run in a sandbox that needs no approval.
pub(super) fn runs_sandboxed(run: &PipelineRun<'_>) -> bool {
    let sandbox = run.view.policy.sandbox;
    let call = run.view.case.call();
    sandbox.enabled
        && sandbox.auto_allow
        && matches!(call.kind(), ToolKind::Shell | ToolKind::PowerShell)
        && call
            .input()
            .field("dangerouslyDisableSandbox")
            .is_none_or(|value| value == &crate::Value::Bool(false))
        && run.view.mode != Mode::Plan
}
