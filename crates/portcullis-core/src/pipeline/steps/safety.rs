//! A7: protected paths, critical removals, and an agent that would grant itself something; no mode lifts them, bypass
//! mode only where settings say so.

use portcullis_analysis::Invocation;
use portcullis_analysis::command_effects::reaches_daemon;
use portcullis_analysis::effect::Act;

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
    if grants_itself(run)
        && let Some((reason, span)) = run.view.judgement().block()
    {
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

/// Says whether a call would change what agents may do through our own program, or answer in a person's place.
fn grants_itself(run: &PipelineRun<'_>) -> bool {
    let invocations = &run.view.case.survey().invocations;
    let home = run.view.case.context().home.as_deref();
    let program = |place: usize| invocations.get(place).and_then(Invocation::program_name);
    run.view.case.effects().iter().any(|effect| {
        let program = effect.invocation.and_then(program);
        let is_ours = matches!(program, Some("portcullis" | "portcullis-full" | "portcullis-amp"));
        effect.act == Act::AgentConfig && is_ours || reaches_daemon(effect, invocations, home)
    })
}
