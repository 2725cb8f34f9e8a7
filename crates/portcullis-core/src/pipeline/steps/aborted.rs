//! A0: an aborted session gets no verdict.

use crate::pipeline::run::{Run, StepResult};

pub(in crate::pipeline) fn run(run: &mut Run<'_>) -> StepResult {
    if run.request.context().aborted { StepResult::Abort } else { StepResult::pass() }
}
