//! A0: an aborted session gets no verdict.

use crate::pipeline::run::{PipelineRun, StepResult};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    if run.view.case.context().aborted { StepResult::Abort } else { StepResult::pass() }
}
