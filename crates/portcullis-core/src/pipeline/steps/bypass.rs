//! A8: bypass mode, or plan mode entered from it, allows what got this far.

use crate::decision::Decision;
use crate::mode::Mode;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    let context = run.view.case.context();
    let from_bypass =
        run.view.mode == Mode::Plan && context.plan_from_bypass && !run.view.policy.disabled_modes.bypass;
    if run.view.mode != Mode::BypassPermissions && !from_bypass {
        return StepResult::pass();
    }
    match &run.raised {
        // What a plan holds back, a session that may bypass does not.
        Some(raised) if raised.lift < Lift::Bypass && raised.reason != Reason::Mode(Mode::Plan) => {
            StepResult::Pass("bypass does not lift what was raised before".to_owned())
        }
        Some(_) | None => StepResult::Settle {
            decision: Decision::Allow,
            reason: Reason::Mode(Mode::BypassPermissions),
            spans: Vec::new(),
        },
    }
}
