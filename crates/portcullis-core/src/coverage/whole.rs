//! What covers a whole command line, and which parts are left over.

use portcullis_analysis::effect::Effect;
use portcullis_analysis::environment::is_safe_prefix;
use portcullis_analysis::{Access, Invocation, Wrapping};
use portcullis_shell::Span;

use super::part::{
    CommandPart, CoverGrounds, PartCover, RedirectionCover, cover_one, permitting, redirect_cover,
};
use crate::case::{CaseView, Shell};
use crate::path_use::PathUse;
use crate::rule::{Rule, ShellPattern};
use crate::rule_match::shell_pattern;

/// What covers a command line, and what is left over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage<'a> {
    /// The rules that covered a part, without repetition.
    pub(crate) rules: Vec<&'a Rule>,
    /// The places of the commands that a rule covers, itself or what wraps them.
    by_rule: Vec<usize>,
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
    /// How a question names it.
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

    /// Returns how a question names the gaps, in order.
    pub(crate) fn parts(&self) -> Vec<String> {
        let text = |gap: &Gap| match &gap.kind {
            GapKind::Path { access: Access::Write, .. } => format!("> {}", gap.text),
            GapKind::Command | GapKind::Path { .. } => gap.text.clone(),
        };
        // Of further words that the shell may make nothing is written.
        self.gaps.iter().filter(|gap| !gap.text.is_empty()).map(text).collect()
    }

    /// Returns where the gaps stand, in order.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.gaps.iter().map(|gap| gap.span).collect()
    }

    /// Says whether an effect is one of a command that a rule covers. Where the shell redirects to is not the command's.
    pub(crate) fn permits(&self, effect: &Effect) -> bool {
        !effect.is_redirection && effect.invocation.is_some_and(|place| self.by_rule.contains(&place))
    }

    /// Forgets the gaps that leave nothing open: of those that are told, only these need a rule. Where something is open
    /// that belongs to no gap, all stay.
    pub(crate) fn narrow(&mut self, doubts: &[&Effect]) {
        let is_of = |gap: &Gap, effect: &Effect| {
            let (outer, inner) = (gap.span, effect.span);
            let is_within = outer.start <= inner.start && inner.end <= outer.end && inner.start < inner.end;
            effect.invocation == Some(gap.invocation) || is_within
        };
        if doubts.iter().all(|effect| self.gaps.iter().any(|gap| is_of(gap, effect))) {
            self.gaps.retain(|gap| doubts.iter().any(|effect| is_of(gap, effect)));
        }
    }

    fn name(&mut self, rule: &'a Rule) {
        if !self.rules.iter().any(|known| std::ptr::eq(*known, rule)) {
            self.rules.push(rule);
        }
    }
}

/// Works out what covers each part of a command line.
pub(crate) fn cover<'a>(view: &CaseView<'a>, shell: &Shell, grounds: CoverGrounds) -> Coverage<'a> {
    let mut coverage = Coverage::default();
    if grounds != CoverGrounds::Proof
        && let Some(rule) = find_whole(view, shell)
    {
        coverage.rules.push(rule);
        return coverage;
    }
    let source = view.own_source();
    let invocations = &shell.survey.invocations;
    let mut answers =
        PartCovers { own: vec![PartCover::No; invocations.len()], wrapped: vec![None; invocations.len()] };
    // A wrapped command stands after its wrapper, so that going backwards its own answer is known first.
    for (place, invocation) in invocations.iter().enumerate().rev() {
        let part = CommandPart { invocation, effects: source.effects_of(place) };
        let answer = cover_one(view, part, grounds, answers.wrapped(place));
        answers.note(place, invocation.parent, answer);
    }
    for (place, invocation) in invocations.iter().enumerate() {
        collect_command(place, invocation, &answers, &mut coverage);
        for effect in source.effects_of(place).iter().filter(|effect| effect.is_redirection) {
            collect_redirection(view, place, effect, grounds, &mut coverage);
        }
    }
    coverage
}

/// Finds an exact rule that names the whole command line.
fn find_whole<'a>(view: &CaseView<'a>, shell: &Shell) -> Option<&'a Rule> {
    let program = shell.survey.invocations.first()?.program_name();
    permitting(view, program).find(|rule| {
        shell_pattern(rule)
            .is_some_and(|pattern| matches!(pattern, ShellPattern::Exact(_)) && pattern.matches(&shell.text))
    })
}

/// The answer for each invocation, and for each wrapper whether all it wraps is covered.
struct PartCovers<'a> {
    own: Vec<PartCover<'a>>,
    wrapped: Vec<Option<bool>>,
}

impl<'a> PartCovers<'a> {
    fn note(&mut self, place: usize, parent: Option<usize>, answer: PartCover<'a>) {
        if let Some(wrapped) = parent.and_then(|parent| self.wrapped.get_mut(parent)) {
            *wrapped = Some(wrapped.unwrap_or(true) && answer.is_covered());
        }
        if let Some(own) = self.own.get_mut(place) {
            *own = answer;
        }
    }

    fn own(&self, place: usize) -> &PartCover<'a> {
        self.own.get(place).unwrap_or(&PartCover::No)
    }

    /// Returns whether everything an invocation wraps is covered; `None` if it wraps nothing.
    fn wrapped(&self, place: usize) -> Option<bool> {
        self.wrapped.get(place).copied().flatten()
    }
}

fn collect_command<'a>(
    place: usize,
    invocation: &Invocation,
    answers: &PartCovers<'a>,
    coverage: &mut Coverage<'a>,
) {
    let is_ruled = |place: usize| matches!(answers.own(place), PartCover::Rule(_));
    let by_parent = invocation.parent.is_some_and(is_ruled);
    if by_parent || is_ruled(place) {
        coverage.by_rule.push(place);
    }
    let passes_on = invocation.wrapping == Wrapping::Transparent && answers.wrapped(place) == Some(false);
    match answers.own(place) {
        PartCover::Rule(rule) => coverage.name(rule),
        PartCover::Edit => coverage.by_edits = true,
        PartCover::ReadOnly(Some(rule)) => coverage.name(rule),
        PartCover::ReadOnly(None) | PartCover::Wrapped | PartCover::Nothing => {}
        PartCover::Outside(read) if !by_parent => coverage.gaps.push(Gap {
            invocation: place,
            text: read.shown.clone(),
            span: read.span,
            kind: GapKind::Path { access: Access::Read, path: read.path.clone() },
        }),
        // Of a wrapper that only passes on, what it wraps is named as missing.
        PartCover::No if !by_parent && !passes_on => {
            coverage.gaps.push(Gap {
                invocation: place,
                text: as_named(invocation),
                span: invocation.span,
                kind: GapKind::Command,
            });
        }
        PartCover::Outside(_) | PartCover::No => {}
    }
}

/// Returns an invocation as a question names it: with the variables before it that no rule looks past, without values.
fn as_named(invocation: &Invocation) -> String {
    let steering = invocation.assignments.iter().filter(|variable| !is_safe_prefix(&variable.name));
    let mut words: Vec<String> = steering.map(|variable| format!("{}=…", variable.name)).collect();
    if !invocation.arguments.is_empty() {
        words.push(invocation.as_written());
    }
    words.join(" ")
}

fn collect_redirection<'a>(
    view: &CaseView<'a>,
    place: usize,
    effect: &Effect,
    grounds: CoverGrounds,
    coverage: &mut Coverage<'a>,
) {
    let Some(path_use) = PathUse::of(effect) else {
        // The shell opens a connection, which no path rule is about.
        let (text, span) = (effect.target.written().to_owned(), effect.span);
        let kind = GapKind::Path { access: Access::Write, path: None };
        coverage.gaps.push(Gap { invocation: place, text, span, kind });
        return;
    };
    match redirect_cover(view, &path_use, grounds) {
        RedirectionCover::Free => {}
        RedirectionCover::Rule(rule) => coverage.name(rule),
        RedirectionCover::Edit => coverage.by_edits = true,
        RedirectionCover::No => coverage.gaps.push(Gap::of_path(place, &path_use)),
    }
}

impl Gap {
    /// Says whether nothing is wrong with the part but that it reads a path outside.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.kind, GapKind::Path { access: Access::Read, .. })
    }

    fn of_path(place: usize, path_use: &PathUse<'_>) -> Self {
        Self {
            invocation: place,
            text: path_use.shown().to_owned(),
            span: path_use.span,
            kind: GapKind::Path { access: path_use.access, path: path_use.path().map(str::to_owned) },
        }
    }
}
