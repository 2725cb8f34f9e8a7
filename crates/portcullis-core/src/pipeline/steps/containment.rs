//! A11, the fence: where all that is not known of a call is local, it runs contained instead of being asked about (spec H1).
//!
//! INVARIANT: nothing that was found, asked about by a rule, or is a person's to say ends here, and nothing whose purpose is
//! outside. Every rule was asked about the command as it was written before the host gets another one.

use portcullis_analysis::Invocation;
use portcullis_analysis::effect::{Act, Effect, Target, Weight};
use portcullis_analysis::profile::{Flag, Form};

use crate::case::{CallSubject, CaseView, EffectSource};
use crate::decision::Decision;
use crate::fence::{FenceCause, FenceNetwork, FenceOffer, FenceRequest, FenceWrites};
use crate::input::Value;
use crate::path;
use crate::pipeline::outcome::Need;
use crate::pipeline::run::{Lift, PipelineRun, RaisedQuestion, StepResult};
use crate::verdict::Reason;

/// Contains a call that nothing speaks against but that something local is not known.
pub(in crate::pipeline) fn contain(run: &PipelineRun<'_>, raised: &RaisedQuestion) -> Option<StepResult> {
    let is_doubt = matches!(raised.reason, Reason::Unsettled { .. } | Reason::Opaque { .. });
    let takes_fences = run.view.case.context().takes_fences();
    if raised.lift == Lift::Nobody || !is_doubt || !takes_fences || !judges_alone(&run.view) {
        return None;
    }
    let (open, open_inside) = run.view.judgement().open_alone()?;
    if open_inside.iter().any(|effect| reaches_outside(effect.act)) {
        return None;
    }
    let is_opaque = matches!(raised.reason, Reason::Opaque { .. });
    let causes: Option<Vec<FenceCause>> = open.iter().map(|effect| cause_of(&run.view, effect)).collect();
    let cause = match causes?.first() {
        _ if is_opaque || !open_inside.is_empty() => FenceCause::UnreadCode,
        Some(cause) => *cause,
        // Nothing is open: only the mode wants somebody to say so.
        None => FenceCause::NobodyToAsk,
    };
    settle(run, raised, cause)
}

/// Contains a call that is proven harmless but for code of the project, if settings want that. Where there are fences and
/// none holds this call, because of where it installs from or of what it needs, a person is asked.
pub(in crate::pipeline) fn contain_project_code(
    run: &PipelineRun<'_>,
    raised: &RaisedQuestion,
) -> Option<StepResult> {
    let wants = run.view.policy.contains_project_code && judges_alone(&run.view);
    // Packages bring scripts along that run when they are installed.
    let runs_code =
        |effect: &Effect| matches!(effect.act, Act::RunProject | Act::Execute | Act::InstallDeclared);
    if !wants || !run.view.case.effects().iter().any(runs_code) {
        return None;
    }
    settle(run, raised, FenceCause::ProjectCode).or_else(|| {
        let strange = strange_registry(&run.view);
        let strange = strange.map(|host| {
            format!("it installs from `{host}`, which files of the project name and you never did")
        });
        let detail = strange.or_else(|| runs_bare(&run.view).then(|| RUNS_BARE.to_owned()))?;
        let raised = RaisedQuestion { reason: Reason::Opaque { detail }, ..raised.clone() };
        Some(StepResult::Needs { need: Need::Person, raised })
    })
}

/// Why a person is asked about code of the project that no fence holds.
const RUNS_BARE: &str =
    "it runs code of the project, which settings want contained, in a way that no fence holds";

/// Says whether code of the project would run without any wall where there are fences: inside it could not do what it is
/// meant to, such as reach a container or write to `/tmp`. What only installs runs nothing that was changed here.
fn runs_bare(view: &CaseView<'_>) -> bool {
    let runs = |effect: &Effect| matches!(effect.act, Act::RunProject | Act::Execute);
    let is_offered = view.case.context().fence.is_some() && !view.policy.sandbox.enabled;
    is_offered && view.case.effects().iter().any(runs)
}

/// Returns the registry that files of the project name for a program which the call installs with, and that nobody chose.
fn strange_registry<'a>(view: &'a CaseView<'_>) -> Option<&'a str> {
    let offer = view.case.context().fence.as_ref()?;
    let installs = view.own_source().effects.iter().filter(|effect| effect.act == Act::InstallDeclared);
    let mut programs = installs.filter_map(|effect| program_of(view, effect));
    programs.find_map(|program| {
        let strange = offer.strange_registries.iter().find(|strange| strange.program == program);
        strange.map(|strange| strange.host.as_str())
    })
}

/// Returns the program of the command that an effect belongs to.
fn program_of<'a>(view: &'a CaseView<'_>, effect: &Effect) -> Option<&'a str> {
    let command = effect.invocation.and_then(|at| view.case.survey().invocations.get(at));
    command.and_then(Invocation::program_name)
}

fn settle(run: &PipelineRun<'_>, raised: &RaisedQuestion, cause: FenceCause) -> Option<StepResult> {
    let view = &run.view;
    let offer = view.case.context().fence.as_ref()?;
    if !matches!(view.case.subject, CallSubject::Shell(_)) || view.policy.sandbox.enabled || stays(view) {
        return None;
    }
    if !path::is_inside(&view.case.context().cwd, &offer.workspace)
        || !view.own_source().effects.iter().all(|effect| works_inside(view, offer, effect))
        || view.sources().any(|source| needs_hidden(view, offer, source))
    {
        return None;
    }
    let installs = view.own_source().effects.iter().any(|effect| effect.act == Act::InstallDeclared);
    let fence = FenceRequest {
        cause,
        workspace: offer.workspace.clone(),
        network: if installs { FenceNetwork::Registries } else { FenceNetwork::None },
        writes: FenceWrites::CopyOnWrite,
    };
    Some(StepResult::Settle {
        decision: Decision::Contained,
        reason: Reason::Contained { fence },
        spans: raised.spans.clone(),
    })
}

/// Says whether words of settings leave the call to proofs; else a judge must weigh it first.
fn judges_alone(view: &CaseView<'_>) -> bool {
    view.policy.prose.prohibitions.is_empty() && !view.policy.classify_all_shell
}

/// Says whether a command goes on while others run: what it starts could not be reached, and its changes would land late.
fn stays(view: &CaseView<'_>) -> bool {
    let input = view.case.call().input();
    input.field("run_in_background").is_some_and(|value| *value != Value::Bool(false))
}

/// Returns what is not known of an open effect, if that is local.
fn cause_of(view: &CaseView<'_>, effect: &Effect) -> Option<FenceCause> {
    match effect.act {
        Act::Unknown if effect.invocation.is_none() => Some(FenceCause::UnreadCode),
        Act::Unknown => Some(FenceCause::UnknownProgram),
        // What the project holds is open only because its name says that it reaches outside.
        Act::Execute if !effect.target.paths().iter().any(|file| view.is_in_project(file)) => {
            Some(FenceCause::UnknownProgram)
        }
        Act::Write | Act::Move | Act::Link | Act::SetMode if effect.target.paths().is_empty() => {
            Some(FenceCause::UnknownPath)
        }
        _ => None,
    }
}

/// Says whether an effect can be had inside a fence: it is local.
fn works_inside(view: &CaseView<'_>, offer: &FenceOffer, effect: &Effect) -> bool {
    let is_inside = |file: &String| path::is_inside(file, &offer.workspace);
    let paths = effect.target.paths();
    match effect.act {
        Act::Unknown => !is_meant_for_outside(view, effect),
        Act::InstallDeclared => {
            let program = program_of(view, effect);
            program.is_some_and(|program| offer.installers.iter().any(|known| known == program))
        }
        Act::Observe
        | Act::Environment
        | Act::RunProject
        | Act::GitLocal
        | Act::GitRewrite
        | Act::KillOwn
        | Act::Read
        | Act::List
        | Act::Execute => true,
        Act::Write | Act::Delete | Act::DeleteTree | Act::Move | Act::SetMode | Act::Link => {
            matches!(&effect.target, Target::Path(target) if !target.is_lost) && paths.iter().all(is_inside)
                || paths.is_empty()
        }
        _ => false,
    }
}

/// Says whether a text needs a file that is not there inside: it would fail as if there were none, or take another one. What
/// a script puts there itself it finds there.
fn needs_hidden(view: &CaseView<'_>, offer: &FenceOffer, source: &EffectSource<'_>) -> bool {
    let is_written = |file: &String| {
        let writes = source.effects.iter().filter(|effect| effect.act == Act::Write);
        writes.into_iter().any(|effect| effect.target.paths().contains(file))
    };
    source.effects.iter().any(|effect| match effect.act {
        Act::Read | Act::List | Act::Execute => {
            effect.target.paths().iter().any(|file| offer.hides(file) && !is_written(file))
        }
        // A word of a command that nobody knows may be a file.
        Act::Unknown if source.script.is_none() => names_hidden(view, offer, effect),
        _ => false,
    })
}

fn names_hidden(view: &CaseView<'_>, offer: &FenceOffer, effect: &Effect) -> bool {
    let context = view.case.context();
    let command = effect.invocation.and_then(|at| view.case.survey().invocations.get(at));
    let words = command.into_iter().flat_map(|command| &command.arguments);
    words.into_iter().any(|word| offer.hides_word(&word.text, &context.cwd, context.home.as_deref()))
}

/// Says whether a program is known, and known to reach outside in one of its forms. Inside a fence it could only fail.
fn is_meant_for_outside(view: &CaseView<'_>, effect: &Effect) -> bool {
    let profiles = &view.case.context().profiles;
    let profile = program_of(view, effect).and_then(|program| profiles.find(program));
    profile.is_some_and(|profile| has_outward_form(profile.form))
}

fn has_outward_form(form: Form<'_>) -> bool {
    form.does().any(reaches_outside)
        || form.options().flat_map(Flag::acts).any(reaches_outside)
        || form.subcommands().any(|(_, inner)| has_outward_form(inner))
}

fn reaches_outside(act: Act) -> bool {
    let is_local = matches!(
        act,
        Act::GitDiscard
            | Act::GitErase
            | Act::GitConfig
            | Act::Kill
            | Act::Wipe
            | Act::LoadCode
            | Act::Listen
    );
    matches!(act, Act::Query | Act::Fetch | Act::GitPush | Act::ContainerLocal)
        || matches!(act.weight(), Weight::Outward | Weight::Grave) && !is_local
}
