//! A7: protected paths and critical removals; no mode lifts them, bypass mode only where settings say so.

use crate::case::missing_script;
use crate::mode::Mode;
use crate::pipeline::run::{Lift, PipelineRun, StepResult};
use crate::safety::{find_critical_removal, find_protected_write};
use crate::verdict::{Reason, SafetyCheck};

pub(in crate::pipeline) fn run(run: &mut PipelineRun<'_>) -> StepResult {
    if let Some((subject, span)) = find_critical_removal(&run.view) {
        let reason = Reason::Safety { check: SafetyCheck::CriticalRemoval, subject };
        return StepResult::Ask { reason, spans: vec![span], lift: Lift::Nobody };
    }
    // What a script does that nobody could read is not known to leave protected paths alone.
    if run.view.mode == Mode::BypassPermissions
        && let Some(name) = missing_script(&run.view)
    {
        let reason = Reason::Opaque { detail: format!("it runs `{name}`, which does not exist") };
        return StepResult::Ask { reason, spans: Vec::new(), lift: Lift::Nobody };
    }
    let is_lifted = run.view.policy.bypass_protected_paths && run.view.mode == Mode::BypassPermissions;
    match find_protected_write(&run.view) {
        Some(write) if is_lifted => {
            StepResult::Pass(format!("settings let bypass mode write `{}`", write.subject))
        }
        Some(write) => StepResult::Ask {
            reason: Reason::Safety { check: write.check, subject: write.subject },
            spans: vec![write.span],
            lift: Lift::Nobody,
        },
        None => StepResult::pass(),
    }
}
