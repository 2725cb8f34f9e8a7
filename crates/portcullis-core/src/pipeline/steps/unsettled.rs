//! A10: what nothing decided becomes a question.

use crate::coverage::{Edits, GapKind};
use crate::mode::Mode;
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
            let is_editing = request.context().mode == Mode::AcceptEdits;
            let coverage = run.coverage(if is_editing { Edits::Accepted } else { Edits::NeedRule });
            let text = |gap: &crate::coverage::Gap| match &gap.kind {
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
