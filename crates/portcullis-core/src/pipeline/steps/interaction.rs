//! A5: a tool that only a person can answer.

use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::tool::find_tool;
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    let listed = find_tool(run.view.case.call().tool()).is_some_and(|tool| tool.needs_person);
    if listed || run.view.case.context().hints.needs_person {
        return StepResult::Ask { reason: Reason::Interaction, spans: Vec::new(), lift: Lift::Nobody };
    }
    StepResult::pass()
}
