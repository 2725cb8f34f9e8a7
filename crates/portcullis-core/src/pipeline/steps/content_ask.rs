//! A6: an ask rule about the content or a parameter of the call, or a boundary the user stated in the session; no mode
//! lifts them. Auto mode denies what crosses a boundary; what may cross one goes to the judge or a person.

use portcullis_analysis::effect::Certainty;

use crate::boundary::{crossing, possible_crossing};
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    match run.asked() {
        Some(found) if found.certainty == Certainty::Certain => {
            StepResult::Ask { reason: found.reason(), spans: found.spans.clone(), lift: Lift::Nobody }
        }
        Some(_) | None => match crossing(&run.view) {
            Some((reason, span)) => StepResult::Ask { reason, spans: vec![span], lift: Lift::Nobody },
            None => match possible_crossing(&run.view) {
                Some(sentence) => StepResult::Raise {
                    reason: Reason::Prose {
                        code: None,
                        detail: format!("you said “{sentence}”, which may forbid it"),
                    },
                    spans: Vec::new(),
                    lift: Lift::Bypass,
                },
                None => StepResult::pass(),
            },
        },
    }
}
