//! What a call does by each text that is known of it: its own, and those of the scripts of the project that it runs.
//!
//! Rules for paths, protected paths, critical removals, scope, proof and findings all read these effects, links
//! followed, and nothing else.

use portcullis_analysis::Survey;
use portcullis_analysis::effect::{Effect, PathTarget, Target};
use portcullis_analysis::place::is_free;
use portcullis_analysis::script::Script;
use portcullis_shell::Span;

use super::judgement::is_agents_own;
use super::script::CalledScript;
use super::view::CaseView;
use crate::disk::{DiskAnswer, DiskAnswers, DiskQuestion};
use crate::path_use::PathUse;

/// How a file is named that is only known when the call runs.
const UNKNOWN_FILE: &str = "a file that is only known at run time";

/// What one text makes a call do.
#[derive(Debug)]
pub(crate) struct EffectSource<'a> {
    /// The commands of the text.
    pub(crate) survey: &'a Survey,
    /// What they do, links followed.
    pub(crate) effects: Vec<Effect>,
    /// The script that the text stands in; `None` for the call itself.
    pub(crate) script: Option<&'a Script>,
    /// Whether the agent may have written it in this session, as it has the call itself.
    pub(crate) is_agents_own: bool,
}

impl EffectSource<'_> {
    /// Returns the files that it touches.
    pub(crate) fn path_uses(&self) -> impl Iterator<Item = PathUse<'_>> + Clone {
        self.effects.iter().filter_map(PathUse::of)
    }

    /// Returns how a question names a file that it touches, and where that stands in the call.
    pub(crate) fn named(&self, path_use: &PathUse<'_>) -> (String, Span) {
        let shown = if path_use.shown().is_empty() { UNKNOWN_FILE } else { path_use.shown() };
        match self.script {
            None => (shown.to_owned(), path_use.span),
            Some(script) => (format!("{}: {shown}", script.name()), Span::default()),
        }
    }

    /// Returns the effects of one of the commands.
    pub(crate) fn effects_of(&self, place: usize) -> &[Effect] {
        of_invocation(&self.effects, place)
    }
}

/// Returns what the call itself does.
pub(super) fn own_source<'a>(view: &CaseView<'a>) -> EffectSource<'a> {
    let (case, is_agents_own) = (view.case, true);
    EffectSource {
        survey: case.survey(),
        effects: followed(case.effects(), &case.answers),
        script: None,
        is_agents_own,
    }
}

/// Returns what the scripts of the project do that the call runs, as far as somebody read them.
pub(super) fn script_sources<'a>(view: &CaseView<'a>) -> Vec<EffectSource<'a>> {
    let case = view.case;
    let read = |called: &'a CalledScript| {
        let is_agents_own = is_agents_own(view, &called.script.file);
        let layouts = case.readings(called).into_iter().flatten();
        layouts.map(move |layout| EffectSource {
            survey: &layout.survey,
            effects: followed(&layout.effects, &case.answers),
            script: Some(&called.script),
            is_agents_own,
        })
    };
    view.scripts().flat_map(read).collect()
}

fn followed(effects: &[Effect], answers: &DiskAnswers) -> Vec<Effect> {
    effects.iter().map(|effect| with_links(effect, answers)).collect()
}

/// Returns the effects of one invocation. They stand in the order of the invocations, those of none at the end.
pub(crate) fn of_invocation(effects: &[Effect], place: usize) -> &[Effect] {
    let place_of = |effect: &Effect| effect.invocation.unwrap_or(usize::MAX);
    let first = effects.partition_point(|effect| place_of(effect) < place);
    let end = effects.partition_point(|effect| place_of(effect) <= place);
    effects.get(first..end).unwrap_or_default()
}

/// Returns what must be looked up about the target of an effect.
pub(super) fn questions_of(effect: &Effect) -> Vec<DiskQuestion> {
    match &effect.target {
        Target::Path(path) => questions_about(path),
        Target::None | Target::Host { .. } | Target::Name(_) => Vec::new(),
    }
}

/// Returns what must be looked up about a path.
pub(super) fn questions_about(path: &PathTarget) -> Vec<DiskQuestion> {
    let question = if path.is_pattern { DiskQuestion::Pattern } else { DiskQuestion::RealPath };
    let known = path.paths.iter().filter(|path| !is_free(path)).cloned().map(question);
    known.chain(path.windings.iter().cloned().map(DiskQuestion::RealPath)).collect()
}

/// Adds the places that links of a path lead to. A path nobody could follow may lead anywhere.
fn with_links(effect: &Effect, answers: &DiskAnswers) -> Effect {
    let mut effect = effect.clone();
    if let Target::Path(path) = &mut effect.target {
        follow_links(path, answers);
    }
    effect
}

/// Adds the places that the links of a path lead to.
pub(crate) fn follow_links(path: &mut PathTarget, answers: &DiskAnswers) {
    let mut leads = Vec::new();
    for spelling in path.paths.iter().filter(|spelling| !is_free(spelling)) {
        let found = if path.is_pattern { answers.pattern(spelling) } else { answers.path(spelling) };
        match found {
            Some(DiskAnswer::Leads(more)) => leads.extend(more.iter().cloned()),
            _ => path.is_lost = true,
        }
    }
    for winding in &path.windings {
        match answers.path(winding) {
            Some(DiskAnswer::Leads(more)) => leads.extend(more.iter().cloned()),
            _ => path.is_lost = true,
        }
    }
    leads.retain(|lead| !path.paths.contains(lead));
    path.paths.extend(leads);
}
