//! A2: a deny rule about the content or a parameter of the call, and what no rule, mode or person lifts: a call that
//! changes our own places or answers in a person's place.

use portcullis_analysis::effect::Certainty;

use crate::decision::Decision;
use crate::pipeline::run::{PipelineRun, StepResult};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    match by_rule(run) {
        StepResult::Pass(detail) => match run.view.judgement().trespass() {
            Some((reason, span)) => {
                StepResult::Settle { decision: Decision::Deny, reason, spans: vec![span] }
            }
            None => StepResult::Pass(detail),
        },
        settled => settled,
    }
}

fn by_rule(run: &PipelineRun<'_>) -> StepResult {
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
