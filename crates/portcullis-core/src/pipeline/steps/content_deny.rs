//! A2: a deny rule about the content or a parameter of the call.

use portcullis_analysis::effect::Certainty;

use crate::decision::Decision;
use crate::pipeline::run::{PipelineRun, StepResult};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    match run.denied() {
        Some(found) if found.certainty == Certainty::Certain => StepResult::Settle {
            decision: Decision::Deny,
            reason: found.reason(),
            spans: found.spans.clone(),
        },
        Some(_) => StepResult::Pass("a rule may match, see the tool's own check".to_owned()),
        None => StepResult::pass(),
    }
}
