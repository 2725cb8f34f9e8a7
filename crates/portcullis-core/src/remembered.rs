//! A person's yes that counts again: which commands of a call have a shape that may be remembered, and whether all that a
//! call is asked for was allowed in that shape before.
//!
//! Who remembers, and what was found out about programs and files, is the caller's business; this says what a memory can
//! never lift. It is looked at where allow rules are, so that deny and ask rules, findings, protected paths, our own places
//! and what the user forbade have all had their say before.

use portcullis_analysis::Invocation;
use portcullis_analysis::command_shape::{ShapeGrounds, ShapedCommand};
use portcullis_analysis::effect::Effect;
use portcullis_analysis::place::{runs_later, secrecy};
use portcullis_analysis::script::scripts;

use crate::case::{Case, CaseView, is_agents_own, is_steered, scope_of};
use crate::context::RecalledCommand;
use crate::coverage::{Coverage, GapKind, cover, grounds_in};
use crate::mode::Mode;
use crate::policy::Policy;
use crate::repository_config::may_run_program;
use crate::rule::runs_anything;
use crate::safety::is_protected;

/// A command of a call that nothing covers, and of which a yes may be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberableCommand {
    /// The place of the command in the line.
    pub invocation: usize,
    /// Its shape, and what must be looked up before that counts.
    pub shaped: ShapedCommand,
    /// The command as it is written.
    pub text: String,
}

impl Case {
    /// Lists the commands of the call that nothing covers, if a yes to every one of them may be remembered; `None` if that
    /// is not so, or nothing is asked.
    pub fn rememberable(&self, policy: &Policy) -> Option<Vec<RememberableCommand>> {
        let view = CaseView::new(self, policy);
        if !may_recall(&view) {
            return None;
        }
        let shell = self.subject.shell()?;
        let coverage = cover(&view, shell, grounds_in(view.mode));
        let commands: Option<Vec<_>> =
            gaps(&coverage)?.into_iter().map(|place| rememberable(&view, place)).collect();
        commands.filter(|commands| !commands.is_empty())
    }
}

/// Returns what was recalled of the commands that nothing else covers; `None` if that is not all of them.
pub(crate) fn recalled(view: &CaseView<'_>, coverage: &Coverage<'_>) -> Option<Vec<RecalledCommand>> {
    let known = &view.case.context().session.recalled;
    if known.is_empty() || !may_recall(view) {
        return None;
    }
    let find = |place: usize| {
        let command = known.iter().find(|command| command.invocation == place)?;
        rememberable(view, place).map(|_| command.clone())
    };
    let mut commands = Vec::new();
    for place in gaps(coverage)? {
        let command = find(place)?;
        if !commands.iter().any(|known: &RecalledCommand| known.id == command.id) {
            commands.push(command);
        }
    }
    (!commands.is_empty()).then_some(commands)
}

/// Returns the commands that nothing covers; `None` if a path is among what is left over.
fn gaps(coverage: &Coverage<'_>) -> Option<Vec<usize>> {
    coverage.gaps.iter().map(|gap| (gap.kind == GapKind::Command).then_some(gap.invocation)).collect()
}

/// Says whether a memory counts for a call at all. While planning, where nobody is to be asked, and where settings have
/// every command judged, it does not.
fn may_recall(view: &CaseView<'_>) -> bool {
    let policy = view.policy;
    let is_asking = match view.mode {
        Mode::Default | Mode::AcceptEdits => true,
        Mode::Auto => policy.prose.prohibitions.is_empty() && !policy.classify_all_shell,
        Mode::Plan | Mode::DontAsk | Mode::BypassPermissions => false,
    };
    let is_readable = || view.case.subject.shell().is_some_and(|shell| shell.first_opacity().is_none());
    let writes_later = || view.case.written_paths().iter().any(|path| runs_later(path).is_some());
    if !is_asking || !is_readable() || writes_later() {
        return false;
    }
    let judgement = view.judgement();
    judgement.block().is_none()
        && judgement.request().is_none()
        && judgement.trespass().is_none()
        && !judgement.loses_work()
        && !judgement.shows_secrets()
}

fn rememberable(view: &CaseView<'_>, place: usize) -> Option<RememberableCommand> {
    let survey = view.case.survey();
    let invocation = survey.invocations.get(place)?;
    let effects = view.own_source().effects_of(place);
    let scope = scope_of(view);
    let is_barred =
        |path: &str| is_protected(path) || secrecy(path, &scope).is_some() || runs_later(path).is_some();
    let profiles = &view.case.context().profiles;
    let grounds = ShapeGrounds { survey, profiles, scope: &scope, is_barred: &is_barred };
    let shaped = grounds.shape(invocation, effects)?;
    let is_open = runs_freely(invocation, &shaped)
        || may_run_program(invocation, &view.case.answers)
        || is_steered(view, invocation)
        || has_loose_script(view, effects);
    (!is_open).then(|| RememberableCommand { invocation: place, shaped, text: invocation.as_written() })
}

/// Says whether a command runs whatever its words say, or an unknown program stands for one that does.
fn runs_freely(invocation: &Invocation, shaped: &ShapedCommand) -> bool {
    let words: Option<Vec<&str>> = invocation.arguments.iter().map(|word| word.fixed()).collect();
    let subcommand = shaped.shape.subcommand.iter().map(String::as_str);
    let titled: Vec<&str> = std::iter::once(shaped.shape.program.as_str()).chain(subcommand).collect();
    words.is_some_and(|words| runs_anything(&words)) || runs_anything(&titled)
}

/// Says whether a script is run that the session wrote, that nobody can read, or that runs files of the project in turn:
/// its own text would not tell when those change.
fn has_loose_script(view: &CaseView<'_>, effects: &[Effect]) -> bool {
    let files = scripts(view.case.survey(), effects);
    files.iter().any(|script| {
        let Some(called) = view.scripts().find(|called| called.script == *script) else {
            return !view.is_in_project(&script.file) || is_agents_own(view, &script.file);
        };
        let readings = view.case.readings(called);
        let runs_more = |layout: &portcullis_analysis::command_effects::Layout| {
            let nested = scripts(&layout.survey, &layout.effects);
            nested.iter().any(|nested| view.is_in_project(&nested.file))
        };
        is_agents_own(view, &script.file) || readings.into_iter().flatten().any(runs_more)
    })
}
