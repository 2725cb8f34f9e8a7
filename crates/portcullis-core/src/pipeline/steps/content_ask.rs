//! A6: an ask rule about the content or a parameter of the call; no mode lifts it.

use crate::pipeline::run::{Lift, Run, StepResult};
use crate::verdict::Certainty;

pub(in crate::pipeline) fn run(run: &mut Run<'_>) -> StepResult {
    match run.asked() {
        Some(found) if found.certainty == Certainty::Certain => {
            StepResult::Ask { reason: found.reason(), spans: found.spans.clone(), lift: Lift::Nobody }
        }
        Some(_) | None => StepResult::pass(),
    }
}
