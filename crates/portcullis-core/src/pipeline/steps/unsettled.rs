//! A10: what nothing decided becomes a question.

use super::tool_check::grounds_in;
use crate::coverage::{Gap, GapKind};
use crate::pipeline::run::{Lift, Run, StepResult};
use crate::request::Subject;
use crate::verdict::Reason;

pub(in crate::pipeline) fn run(run: &mut Run<'_>) -> StepResult {
    if run.raised.is_some() {
        return StepResult::Pass("a question was raised before".to_owned());
    }
    let request = run.request;
    let (parts, spans) = match &request.subject {
        Subject::Shell(_) => {
            let coverage = run.coverage(grounds_in(request.context().mode));
            let text = |gap: &Gap| match &gap.kind {
                GapKind::Command => gap.text.clone(),
                GapKind::Path { .. } => format!("> {}", gap.text),
            };
            (coverage.gaps.iter().map(text).collect(), coverage.gaps.iter().map(|gap| gap.span).collect())
        }
        Subject::Files(files) => (files.iter().map(|path_use| path_use.shown.clone()).collect(), Vec::new()),
        Subject::Fetch { host } => (host.iter().cloned().collect(), Vec::new()),
        Subject::PowerShell(_) | Subject::Other | Subject::Malformed(_) => {
            (vec![request.call().tool().to_owned()], Vec::new())
        }
    };
    StepResult::Raise { reason: Reason::Unsettled { parts }, spans, lift: Lift::ToolRule }
}
