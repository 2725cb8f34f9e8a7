//! What covers one part: a rule, the proof that it changes nothing, or the mode's leave to edit.

use portcullis_analysis::command_effects::is_looking;
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::environment::{is_harmless_assignment, is_safe_prefix};
use portcullis_analysis::place::{Scope, Secrecy, secrecy};
use portcullis_analysis::{Access, Invocation, Wrapping};
use portcullis_shell::Span;

use crate::case::{CaseView, is_steered};
use crate::mode::Mode;
use crate::path_use::PathUse;
use crate::repository_config::may_run_program;
use crate::rule::{Behavior, Rule};
use crate::rule_match::{shell_pattern, shell_tools};
use crate::scope::{find_path_permit, is_in_workspace, may_read};
use crate::shell_match::permits;

/// What may cover a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoverGrounds {
    /// Only the proof that it changes nothing.
    Proof,
    /// Allow rules too.
    Rules,
    /// Allow rules, and file edits in the workspace: accept-edits mode, or its simulation in auto mode.
    RulesAndEdits,
}

/// Returns what may cover a part of a command in a mode.
pub(crate) fn grounds_in(mode: Mode) -> CoverGrounds {
    match mode {
        Mode::AcceptEdits => CoverGrounds::RulesAndEdits,
        Mode::Default | Mode::Plan | Mode::Auto | Mode::DontAsk | Mode::BypassPermissions => {
            CoverGrounds::Rules
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum PartCover<'a> {
    Rule(&'a Rule),
    /// With the rule that lets it read outside the workspace, if it does.
    ReadOnly(Option<&'a Rule>),
    Edit,
    Wrapped,
    Nothing,
    No,
    /// What it reads there.
    Outside(OutsideRead),
}

impl PartCover<'_> {
    pub(super) fn is_covered(&self) -> bool {
        !matches!(self, Self::No | Self::Outside(_))
    }
}

/// A file outside that is read.
#[derive(Debug, Clone)]
pub(super) struct OutsideRead {
    pub(super) shown: String,
    pub(super) path: Option<String>,
    pub(super) span: Span,
}

impl OutsideRead {
    fn of(path_use: &PathUse<'_>) -> Self {
        let path = path_use.path().map(str::to_owned);
        Self { shown: path_use.shown().to_owned(), path, span: path_use.span }
    }
}

/// One command with what is known of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandPart<'p> {
    pub(super) invocation: &'p Invocation,
    pub(super) effects: &'p [Effect],
}

pub(super) fn cover_one<'a>(
    view: &CaseView<'a>,
    part: CommandPart<'_>,
    grounds: CoverGrounds,
    wrapped: Option<bool>,
) -> PartCover<'a> {
    let CommandPart { invocation, effects } = part;
    if invocation.arguments.is_empty() {
        let harmless = invocation.assignments.iter().all(|variable| is_harmless_assignment(&variable.name));
        return if harmless { PartCover::Nothing } else { PartCover::No };
    }
    if grounds != CoverGrounds::Proof
        && let Some(rule) = find_permit(view, invocation)
    {
        return PartCover::Rule(rule);
    }
    if let (Wrapping::Transparent, Some(is_covered)) = (invocation.wrapping, wrapped)
        && invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
    {
        return if is_covered { PartCover::Wrapped } else { PartCover::No };
    }
    if is_looking(&view.case.context().profiles, invocation, effects) {
        let named = |effect: &Effect| effect.target.paths().first().cloned();
        if shows_a_key(view, effects, named)
            || may_run_program(invocation, &view.case.answers)
            || is_steered(view, invocation)
        {
            return PartCover::No;
        }
        let read = cover_read(view, effects);
        let followed = |effect: &Effect| effect.target.paths().to_vec();
        return if read.is_covered() && shows_a_key(view, effects, followed) { PartCover::No } else { read };
    }
    if grounds == CoverGrounds::RulesAndEdits && is_edit(view, part) {
        return PartCover::Edit;
    }
    PartCover::No
}

/// Says whether a command shows a file that holds keys, going by its name: that is somebody's to say, wherever it lies.
fn shows_a_key<Paths: IntoIterator<Item = String>>(
    view: &CaseView<'_>,
    effects: &[Effect],
    paths: impl Fn(&Effect) -> Paths,
) -> bool {
    let mut paths = effects.iter().filter(|effect| effect.act == Act::Read).flat_map(paths).peekable();
    if paths.peek().is_none() {
        return false;
    }
    let scope = Scope { roots: view.roots.clone(), home: view.case.context().home.clone() };
    paths.any(|path| secrecy(&path, &scope) == Some(Secrecy::Key))
}

/// Covers a command that only reads, if it reads what it may.
fn cover_read<'a>(view: &CaseView<'a>, effects: &[Effect]) -> PartCover<'a> {
    let mut rule = None;
    for path_use in operands(effects).filter(|path_use| !is_in_workspace(view, path_use)) {
        if !may_read(view, &path_use) {
            return PartCover::Outside(OutsideRead::of(&path_use));
        }
        rule = rule.or_else(|| find_path_permit(view, &path_use));
    }
    PartCover::ReadOnly(rule)
}

/// Returns the files that a command touches itself, what the shell redirects left aside.
fn operands(effects: &[Effect]) -> impl Iterator<Item = PathUse<'_>> {
    effects.iter().filter(|effect| !effect.is_redirection).filter_map(PathUse::of)
}

/// The file commands that accept-edits mode may view (spec B).
const EDITING_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// Says whether an invocation is one of the file commands with every path in the workspace.
fn is_edit(view: &CaseView<'_>, part: CommandPart<'_>) -> bool {
    let CommandPart { invocation, effects } = part;
    let program = invocation.program().and_then(|program| program.fixed());
    let is_listed = program.is_some_and(|name| EDITING_COMMANDS.contains(&name));
    let options_known = invocation
        .operands()
        .iter()
        .all(|argument| argument.knowledge != portcullis_analysis::Knowledge::Dynamic);
    // `sed` can view programs from its script, `cp` can give rights away.
    let is_plain = |effect: &Effect| {
        let is_file_work = matches!(effect.act, Act::Write | Act::Delete | Act::DeleteTree | Act::Move);
        effect.is_redirection || is_file_work || effect.act.is_observing()
    };
    // A device may be read, but not replaced or removed.
    let is_inside = |path_use: PathUse<'_>| {
        is_in_workspace(view, &path_use) && (path_use.access == Access::Read || !path_use.is_free())
    };
    is_listed
        && options_known
        && effects.iter().all(is_plain)
        && invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
        && operands(effects).next().is_some()
        && operands(effects).all(is_inside)
}

/// Finds an allow rule for one invocation.
fn find_permit<'a>(view: &CaseView<'a>, invocation: &Invocation) -> Option<&'a Rule> {
    permitting(view, invocation.program_name())
        .find(|rule| shell_pattern(rule).is_some_and(|pattern| permits(pattern, invocation)))
}

pub(super) fn permitting<'a>(view: &CaseView<'a>, program: Option<&str>) -> impl Iterator<Item = &'a Rule> {
    let (policy, mode) = (view.policy, view.mode);
    shell_tools(view.case.call().tool())
        .iter()
        .flat_map(move |tool| policy.rules.shell(Behavior::Allow, tool, program).collect::<Vec<_>>())
        .filter(move |rule| !policy.suspends(rule, mode))
}

pub(super) enum RedirectionCover<'a> {
    Free,
    Rule(&'a Rule),
    Edit,
    No,
}

pub(super) fn redirect_cover<'a>(
    view: &CaseView<'a>,
    path_use: &PathUse<'_>,
    grounds: CoverGrounds,
) -> RedirectionCover<'a> {
    if path_use.is_free()
        || (path_use.access == Access::Read && !path_use.target.is_pattern && may_read(view, path_use))
    {
        return RedirectionCover::Free;
    }
    // A pattern as the target names another file each time.
    if path_use.target.is_pattern {
        return RedirectionCover::No;
    }
    if grounds != CoverGrounds::Proof
        && let Some(rule) = find_path_permit(view, path_use)
    {
        return RedirectionCover::Rule(rule);
    }
    let accepted = grounds == CoverGrounds::RulesAndEdits && is_in_workspace(view, path_use);
    if accepted { RedirectionCover::Edit } else { RedirectionCover::No }
}
