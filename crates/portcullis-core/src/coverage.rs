//! Whether allow rules and the read-only set cover every part of a command line (spec A9, C7).

use portcullis_analysis::environment::{is_harmless_assignment, is_safe_prefix};
use portcullis_analysis::{Access, Invocation, Wrapping, access, read_only};
use portcullis_shell::Span;

use crate::mode::Mode;
use crate::path_use::{InvocationPaths, PathUse};
use crate::pipeline::Run;
use crate::request::Shell;
use crate::rule::{Behavior, Rule, ShellPattern, is_dangerous_allow};
use crate::rule_match::{shell_pattern, shell_tools};
use crate::scope::{find_path_permit, is_in_workspace, may_read};
use crate::shell_match::permits;

/// What may cover a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grounds {
    /// Only the proof that it changes nothing.
    Proof,
    /// Allow rules too.
    Rules,
    /// Allow rules, and file edits in the workspace: accept-edits mode, or its simulation in auto mode.
    RulesAndEdits,
}

/// What covers a command line, and what is left over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage<'a> {
    /// The rules that covered a part, without repetition.
    pub(crate) rules: Vec<&'a Rule>,
    /// Whether an edit was accepted because of the mode.
    pub(crate) by_edits: bool,
    /// The parts nothing covers, in order.
    pub(crate) gaps: Vec<Gap>,
}

/// A part that nothing covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The place of the invocation.
    pub(crate) invocation: usize,
    /// As it is written.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Why it is not covered.
    pub(crate) kind: GapKind,
}

/// Why a part is not covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GapKind {
    /// No rule and no proof.
    Command,
    /// A path that may not be read or written without asking.
    Path { access: Access, path: Option<String> },
}

impl<'a> Coverage<'a> {
    pub(crate) fn is_complete(&self) -> bool {
        self.gaps.is_empty()
    }

    fn name(&mut self, rule: &'a Rule) {
        if !self.rules.iter().any(|known| std::ptr::eq(*known, rule)) {
            self.rules.push(rule);
        }
    }
}

/// Works out what covers each part of a command line.
pub(crate) fn cover<'a>(run: &Run<'a>, shell: &Shell, grounds: Grounds) -> Coverage<'a> {
    let mut coverage = Coverage::default();
    if grounds != Grounds::Proof
        && let Some(rule) = find_whole(run, shell)
    {
        coverage.rules.push(rule);
        return coverage;
    }
    let invocations = &shell.survey.invocations;
    let mut answers =
        Answers { own: vec![Cover::No; invocations.len()], wrapped: vec![None; invocations.len()] };
    // A wrapped command stands after its wrapper, so that going backwards its own answer is known first.
    for (place, invocation) in invocations.iter().enumerate().rev() {
        let Some(paths) = shell.paths.get(place) else { continue };
        let answer = cover_one(run, invocation, paths, grounds, answers.wrapped(place));
        answers.note(place, invocation.parent, answer);
    }
    for (place, invocation) in invocations.iter().enumerate() {
        collect_command(place, invocation, &answers, &mut coverage);
        let paths = shell.paths.get(place).map(|paths| paths.redirections.as_slice()).unwrap_or_default();
        for path_use in paths {
            collect_redirection(run, place, path_use, grounds, &mut coverage);
        }
    }
    coverage
}

/// The answer for each invocation, and for each wrapper whether all it wraps is covered.
struct Answers<'a> {
    own: Vec<Cover<'a>>,
    wrapped: Vec<Option<bool>>,
}

impl<'a> Answers<'a> {
    fn note(&mut self, place: usize, parent: Option<usize>, answer: Cover<'a>) {
        if let Some(wrapped) = parent.and_then(|parent| self.wrapped.get_mut(parent)) {
            *wrapped = Some(wrapped.unwrap_or(true) && answer.is_covered());
        }
        if let Some(own) = self.own.get_mut(place) {
            *own = answer;
        }
    }

    fn own(&self, place: usize) -> &Cover<'a> {
        self.own.get(place).unwrap_or(&Cover::No)
    }

    /// Returns whether everything an invocation wraps is covered; `None` if it wraps nothing.
    fn wrapped(&self, place: usize) -> Option<bool> {
        self.wrapped.get(place).copied().flatten()
    }
}

#[derive(Debug, Clone)]
enum Cover<'a> {
    Rule(&'a Rule),
    /// With the rule that lets it read outside the workspace, if it does.
    ReadOnly(Option<&'a Rule>),
    Edit,
    Wrapped,
    Nothing,
    No,
    Outside(PathUse),
}

impl Cover<'_> {
    fn is_covered(&self) -> bool {
        !matches!(self, Self::No | Self::Outside(_))
    }
}

fn cover_one<'a>(
    run: &Run<'a>,
    invocation: &Invocation,
    paths: &InvocationPaths,
    grounds: Grounds,
    wrapped: Option<bool>,
) -> Cover<'a> {
    if invocation.arguments.is_empty() {
        let harmless = invocation.assignments.iter().all(|variable| is_harmless_assignment(&variable.name));
        return if harmless { Cover::Nothing } else { Cover::No };
    }
    if grounds != Grounds::Proof
        && let Some(rule) = find_permit(run, invocation)
    {
        return Cover::Rule(rule);
    }
    if let (Wrapping::Transparent, Some(is_covered)) = (invocation.wrapping, wrapped)
        && invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
    {
        return if is_covered { Cover::Wrapped } else { Cover::No };
    }
    if read_only::is_read_only(invocation) {
        return cover_read(run, invocation, paths);
    }
    if grounds == Grounds::RulesAndEdits && is_edit(run, invocation, paths) {
        return Cover::Edit;
    }
    Cover::No
}

/// Covers a command that only reads, if it reads what it may.
fn cover_read<'a>(run: &Run<'a>, invocation: &Invocation, paths: &InvocationPaths) -> Cover<'a> {
    let mut rule = None;
    for path_use in paths
        .operands
        .iter()
        .flatten()
        .chain(&paths.pointed)
        .filter(|path_use| !is_in_workspace(run, path_use))
    {
        if !may_read(run, path_use) {
            return Cover::Outside(path_use.clone());
        }
        rule = rule.or_else(|| find_path_permit(run, path_use));
    }
    if runs_in_workspace(run, invocation) { Cover::ReadOnly(rule) } else { Cover::No }
}

/// A program that finds its work by the current directory, such as git, must run in the workspace.
fn runs_in_workspace(run: &Run<'_>, invocation: &Invocation) -> bool {
    let depends = matches!(
        invocation.program_name(),
        Some("git" | "gh" | "find" | "ls" | "rg" | "grep" | "tree" | "du" | "fd" | "fdfind")
    );
    !depends
        || invocation.directories.alternatives().is_some_and(|directories| {
            directories.iter().all(|directory| {
                let directory = crate::path::normalize(directory);
                run.request.roots.iter().any(|root| crate::path::is_inside(&directory, root))
            })
        })
}

/// Says whether an invocation is one of the file commands with every path in the workspace.
fn is_edit(run: &Run<'_>, invocation: &Invocation, paths: &InvocationPaths) -> bool {
    let is_listed = invocation
        .program()
        .and_then(|program| program.fixed())
        .is_some_and(|name| access::EDITING_COMMANDS.contains(&name));
    let options_known = invocation
        .operands()
        .iter()
        .all(|argument| argument.knowledge != portcullis_analysis::Knowledge::Dynamic);
    is_listed
        && options_known
        && !has_acting_script(invocation)
        && invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
        && paths.operands.as_ref().is_some_and(|operands| {
            // A device may be read, but not replaced or removed.
            let is_inside = |path_use: &PathUse| {
                is_in_workspace(run, path_use) && (path_use.access == Access::Read || !path_use.is_free())
            };
            !operands.is_empty() && operands.iter().all(is_inside)
        })
}

/// `sed` can write other files and run programs from its script.
fn has_acting_script(invocation: &Invocation) -> bool {
    invocation.program_name() == Some("sed") && !read_only::has_harmless_sed_script(invocation)
}

/// Finds an exact rule that names the whole command line.
fn find_whole<'a>(run: &Run<'a>, shell: &Shell) -> Option<&'a Rule> {
    let program = shell.survey.invocations.first()?.program_name();
    permitting(run, program).find(|rule| {
        shell_pattern(rule)
            .is_some_and(|pattern| matches!(pattern, ShellPattern::Exact(_)) && pattern.matches(&shell.text))
    })
}

/// Finds an allow rule for one invocation.
fn find_permit<'a>(run: &Run<'a>, invocation: &Invocation) -> Option<&'a Rule> {
    permitting(run, invocation.program_name())
        .find(|rule| shell_pattern(rule).is_some_and(|pattern| permits(pattern, invocation)))
}

fn permitting<'a>(run: &Run<'a>, program: Option<&str>) -> impl Iterator<Item = &'a Rule> {
    let policy = run.policy;
    let in_auto = run.request.context().mode == Mode::Auto;
    shell_tools(run.request.call().tool())
        .iter()
        .flat_map(move |tool| policy.rules.shell(Behavior::Allow, tool, program).collect::<Vec<_>>())
        .filter(move |rule| !(in_auto && is_dangerous_allow(rule)))
}

fn collect_command<'a>(
    place: usize,
    invocation: &Invocation,
    answers: &Answers<'a>,
    coverage: &mut Coverage<'a>,
) {
    let by_parent = invocation.parent.is_some_and(|parent| matches!(answers.own(parent), Cover::Rule(_)));
    let passes_on = invocation.wrapping == Wrapping::Transparent && answers.wrapped(place) == Some(false);
    match answers.own(place) {
        Cover::Rule(rule) => coverage.name(rule),
        Cover::Edit => coverage.by_edits = true,
        Cover::ReadOnly(Some(rule)) => coverage.name(rule),
        Cover::ReadOnly(None) | Cover::Wrapped | Cover::Nothing => {}
        Cover::Outside(path_use) if !by_parent => coverage.gaps.push(Gap::of_path(place, path_use)),
        // Of a wrapper that only passes on, what it wraps is named as missing.
        Cover::No if !by_parent && !passes_on => {
            let text = match invocation.assignments.first() {
                Some(variable) if invocation.arguments.is_empty() => format!("{}=…", variable.name),
                Some(_) | None => invocation.as_written(),
            };
            coverage.gaps.push(Gap {
                invocation: place,
                text,
                span: invocation.span,
                kind: GapKind::Command,
            });
        }
        Cover::Outside(_) | Cover::No => {}
    }
}

fn collect_redirection<'a>(
    run: &Run<'a>,
    place: usize,
    path_use: &PathUse,
    grounds: Grounds,
    coverage: &mut Coverage<'a>,
) {
    match redirect_cover(run, path_use, grounds) {
        Redirected::Free => {}
        Redirected::Rule(rule) => coverage.name(rule),
        Redirected::Edit => coverage.by_edits = true,
        Redirected::No => coverage.gaps.push(Gap::of_path(place, path_use)),
    }
}

impl Gap {
    /// Says whether nothing is wrong with the part but that it reads a path outside.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.kind, GapKind::Path { access: Access::Read, .. })
    }

    fn of_path(place: usize, path_use: &PathUse) -> Self {
        Self {
            invocation: place,
            text: path_use.shown.clone(),
            span: path_use.span,
            kind: GapKind::Path { access: path_use.access, path: path_use.path.clone() },
        }
    }
}

enum Redirected<'a> {
    Free,
    Rule(&'a Rule),
    Edit,
    No,
}

fn redirect_cover<'a>(run: &Run<'a>, path_use: &PathUse, grounds: Grounds) -> Redirected<'a> {
    if path_use.is_free()
        || (path_use.access == Access::Read && path_use.glob.is_none() && may_read(run, path_use))
    {
        return Redirected::Free;
    }
    if grounds != Grounds::Proof
        && let Some(rule) = find_path_permit(run, path_use)
    {
        return Redirected::Rule(rule);
    }
    let accepted =
        grounds == Grounds::RulesAndEdits && path_use.glob.is_none() && is_in_workspace(run, path_use);
    if accepted { Redirected::Edit } else { Redirected::No }
}
