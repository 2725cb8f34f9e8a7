//! A10: what nothing decided becomes a question.

use crate::case::CallSubject;
use crate::coverage::grounds_in;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    if run.raised.is_some() {
        return StepResult::Pass("a question was raised before".to_owned());
    }
    let case = run.view.case;
    let (parts, spans) = match &case.subject {
        CallSubject::Shell(_) => {
            let coverage = run.coverage(grounds_in(run.view.mode));
            (coverage.parts(), coverage.spans())
        }
        CallSubject::Files => {
            let files = run.view.own_source().path_uses();
            (files.map(|path_use| path_use.shown().to_owned()).collect(), Vec::new())
        }
        CallSubject::Fetch { host } => (host.iter().cloned().collect(), Vec::new()),
        CallSubject::PowerShell(_) | CallSubject::Other | CallSubject::Malformed(_) => {
            (vec![case.call().tool().to_owned()], Vec::new())
        }
    };
    StepResult::Raise {
        reason: Reason::Unsettled { parts, doubt: String::new() },
        spans,
        lift: Lift::ToolRule,
    }
}
