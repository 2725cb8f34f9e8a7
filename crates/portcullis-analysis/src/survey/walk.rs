//! The walk itself: lists, pipelines, and the substitutions inside words.
//!
//! The walk goes over the text again until what holds for the whole line (functions, aliases, `CDPATH`) no longer changes:
//! a function may be defined after the place that calls it. The rounds are limited, and in the last one whatever is still
//! open counts as unsettled.

use std::ops::Range;

use portcullis_shell::ast::{
    AndOr, AssignmentValue, Command, CommandKind, List, Pipeline, PipelineLink, Word, WordPart,
};
use portcullis_shell::{ParsedScript, Span, nested_lists, parse};

use super::evaluation::Evaluations;
use super::function::KnownFunctions;
use super::lasting::LineFacts;
use super::settled::VariableNames;
use super::simple::has_own_input;
use super::variables::KnownValues;
use crate::arithmetic::{self, HiddenCode};
use crate::directories::Directories;
use crate::invocation::{Invocation, Opacity, Survey};
use crate::profile::Profiles;
use crate::standard_input::StandardInput;

/// A survey is made at most so many times.
const MOST_ROUNDS: usize = 4;

/// How the reason begins of what is opaque because the shell would not understand it.
pub const SYNTAX_ERROR: &str = "the shell syntax is not understood";

/// Where a command line runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings<'a> {
    /// The absolute directory it starts in.
    pub directory: &'a str,
    /// The user's home directory.
    pub home: Option<&'a str>,
    /// What is known of programs.
    pub profiles: &'a Profiles,
}

/// Lists every invocation of a command line.
pub fn survey(text: &str, surroundings: Surroundings<'_>) -> Survey {
    let script = parse(text);
    let mut lasting = LineFacts::default();
    lasting.note_text(text);
    let names = if may_set(text) { VariableNames::of(&script, text) } else { VariableNames::default() };
    let mut walk = SurveyWalk::begin(text, surroundings, lasting.clone());
    for round in 0..MOST_ROUNDS {
        walk.values.follow(names.settled(&walk.lasting));
        walk.script(&script, Directories::only(surroundings.directory));
        if walk.lasting == lasting {
            break;
        }
        lasting = walk.lasting.clone();
        if round + 1 < MOST_ROUNDS {
            // What values still bring up in the last round is not followed once more.
            lasting.is_all_unsettled |= round + 2 == MOST_ROUNDS;
            walk = SurveyWalk::begin(text, surroundings, lasting.clone());
        }
    }
    if let Some((name, span)) = walk.evaluations.unsafe_one() {
        let why =
            format!("a calculation with `{name}` may run a command that stands in what was read into it");
        walk.found.opacities.push(Opacity { span, why });
    }
    walk.found.functions = walk.lasting.functions;
    text.clone_into(&mut walk.found.text);
    walk.found
}

/// Says whether a text may set a variable.
pub(super) fn may_set(text: &str) -> bool {
    ["=", "for ", "read", "mapfile"].iter().any(|word| text.contains(word))
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub(super) struct SurveyWalk<'a> {
    pub(super) text: &'a str,
    /// The span every finding gets while walking text that is an argument of the outermost command.
    pub(super) fixed_span: Option<Span>,
    pub(super) home: Option<&'a str>,
    /// The directory in which the outermost text begins.
    pub(super) start: &'a str,
    pub(super) depth: usize,
    pub(super) background: bool,
    pub(super) parent: Option<usize>,
    /// What arrives on standard input where no pipe or redirection says otherwise.
    pub(super) input: StandardInput,
    /// The invocations whose output arrives on standard input where no redirection says otherwise.
    pub(super) piped: Range<usize>,
    /// Whether the text was hidden by an encoding.
    pub(super) is_decoded: bool,
    /// Code that quoting protects, the most dangerous found so far.
    pub(super) hidden: Option<(HiddenCode, Span)>,
    /// Whether a shell runs the text that may know nothing of bash.
    pub(super) is_posix: bool,
    pub(super) lasting: LineFacts,
    /// What is known of variables and substitutions.
    pub(super) values: KnownValues,
    /// Whether the shell expands values as bash does.
    pub(super) knows_values: bool,
    /// Whether `HOME` is the user's.
    pub(super) knows_home: bool,
    /// What the last command wrote.
    pub(super) output: StandardInput,
    /// How many words of wrapped commands were followed.
    pub(super) followed: usize,
    /// Whether the condition of a loop is read.
    pub(super) is_condition: bool,
    /// Whether a loop is read that may begin its next round in another directory.
    pub(super) is_moving: bool,
    /// Whether the next invocation sets variables in a way that is followed.
    pub(super) sets_followed: bool,
    /// The functions of this text.
    pub(super) functions: KnownFunctions,
    /// What is evaluated as arithmetic, and which variables hold text nobody knows.
    pub(super) evaluations: Evaluations,
    pub(super) found: Survey,
}

/// The directories after success and after failure.
pub(super) struct DirectoriesAfter {
    pub(super) success: Directories,
    pub(super) failure: Directories,
}

impl DirectoriesAfter {
    pub(super) fn same(directories: Directories) -> Self {
        Self { success: directories.clone(), failure: directories }
    }

    pub(super) fn either(self, other: Self) -> Self {
        Self { success: self.success.either(other.success), failure: self.failure.either(other.failure) }
    }

    pub(super) fn any(self) -> Directories {
        if self.success == self.failure { self.success } else { self.success.either(self.failure) }
    }
}

impl<'a> SurveyWalk<'a> {
    /// Begins at the outermost text.
    fn begin(text: &'a str, surroundings: Surroundings<'a>, lasting: LineFacts) -> Self {
        SurveyWalk {
            text,
            fixed_span: None,
            home: surroundings.home,
            start: surroundings.directory,
            depth: 0,
            background: false,
            parent: None,
            input: StandardInput::Nothing,
            piped: 0..0,
            is_decoded: false,
            is_posix: false,
            lasting,
            values: KnownValues::default(),
            knows_values: true,
            knows_home: true,
            output: StandardInput::Unknown,
            followed: 0,
            is_condition: false,
            is_moving: false,
            sets_followed: false,
            functions: KnownFunctions::default(),
            hidden: None,
            evaluations: Evaluations::default(),
            found: Survey::default(),
        }
    }
}

impl SurveyWalk<'_> {
    /// Walks a whole text, and says what of it the parser did not understand.
    pub(super) fn script(&mut self, script: &ParsedScript, directories: Directories) {
        for error in &script.errors {
            self.opaque(error.span, format!("{SYNTAX_ERROR}: {}", error.message));
        }
        let outer = self.hidden.take();
        self.lines(&script.body, directories);
        self.open_functions();
        if let Some((hidden, span)) = std::mem::replace(&mut self.hidden, outer)
            && arithmetic::may_run(hidden, self.text)
        {
            self.opaque(span, "a second evaluation may run a command that stands in quoted text".to_owned());
        }
    }

    /// Returns the invocations found from this place on.
    pub(super) fn since(&self, first: usize) -> Range<usize> {
        let end = self.found.invocations.len();
        if first < end { first..end } else { 0..0 }
    }

    /// Notes that something is not known. It never makes the walk stop: what else stands there is still listed.
    pub(super) fn opaque(&mut self, span: Span, why: String) {
        let span = self.fixed_span.unwrap_or(span);
        self.found.opacities.push(Opacity { span, why });
    }

    /// Walks a text line by line: where an expansion fails, the shell goes on with the next line.
    fn lines(&mut self, list: &List, mut directories: Directories) {
        let (mut mark, mut before, mut end) = (self.values.mark(), directories.clone(), None);
        let mut may_have_failed = false;
        for item in &list.items {
            let range = item.span.range();
            let between = end.and_then(|end| self.text.get(end..range.start)).unwrap_or_default();
            if between.contains('\n') {
                if self.values.end_line(mark) {
                    directories = directories.either(before);
                    may_have_failed = true;
                }
                (mark, before) = (self.values.mark(), directories.clone());
            }
            end = Some(range.end);
            directories = self.and_or(item, directories);
        }
        if may_have_failed {
            // Whoever has the text run drops the rest of a line too.
            self.values.note_failure();
        }
        if list.items.len() != 1 {
            self.output = StandardInput::Unknown;
        }
    }

    /// Walks commands one after the other.
    pub(super) fn list(&mut self, list: &List, mut directories: Directories) -> Directories {
        for item in &list.items {
            directories = self.and_or(item, directories);
        }
        if list.items.len() != 1 {
            self.output = StandardInput::Unknown;
        }
        directories
    }

    /// Walks commands joined by `&&` and `||`: the next one runs where the one before left the shell if it succeeded, or if
    /// it failed.
    pub(super) fn and_or(&mut self, item: &AndOr, before: Directories) -> Directories {
        let outer = self.background;
        self.background |= item.background;
        let mut after = DirectoriesAfter::same(before.clone());
        let begin = self.values.mark();
        // The constants that are set whatever the chain's commands say.
        let mut kept = begin;
        let mut is_certain = true;
        for (link, pipeline) in &item.pipelines {
            after = match link {
                PipelineLink::First => self.pipeline(pipeline, after.success),
                PipelineLink::And => {
                    let next = self.pipeline(pipeline, after.success);
                    DirectoriesAfter { success: next.success, failure: after.failure.either(next.failure) }
                }
                PipelineLink::Or => {
                    self.values.weaken(kept);
                    is_certain = false;
                    let next = self.pipeline(pipeline, after.failure);
                    self.values.weaken(kept);
                    DirectoriesAfter { success: after.success.either(next.success), failure: next.failure }
                }
            };
            if is_certain {
                kept = self.values.mark();
            }
            is_certain &= always_succeeds(pipeline);
        }
        if item.background {
            let _ = self.values.undo(begin);
        } else {
            self.values.weaken(kept);
        }
        if item.background || item.pipelines.len() != 1 {
            self.output = StandardInput::Unknown;
        }
        self.background = outer;
        if item.background { before } else { after.any() }
    }

    /// Walks the stages of a pipeline. Of several, each begins where the shell is, and what it sets is forgotten after it.
    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, before: Directories) -> DirectoriesAfter {
        if let [only] = pipeline.stages.as_slice() {
            let stdin = self.input.clone();
            let after = self.command(only, before, stdin);
            return if pipeline.negated {
                DirectoriesAfter { success: after.failure, failure: after.success }
            } else {
                after
            };
        }
        let mut stdin = self.input.clone();
        let mut last = DirectoriesAfter::same(before.clone());
        let outer = self.piped.clone();
        for (place, stage) in pipeline.stages.iter().enumerate() {
            let (first, mark) = (self.found.invocations.len(), self.values.mark());
            last = self.command(stage, before.clone(), stdin);
            if place + 1 < pipeline.stages.len() {
                let _ = self.values.undo(mark);
            } else {
                self.values.weaken(mark);
            }
            self.piped = self.since(first);
            stdin = self.output.clone();
        }
        self.piped = outer;
        // Some shells run the last stage themselves, others in a process of its own.
        DirectoriesAfter::same(before.either(last.any()))
    }

    pub(super) fn command(
        &mut self,
        command: &Command,
        before: Directories,
        stdin: StandardInput,
    ) -> DirectoriesAfter {
        if let CommandKind::Simple(simple) = &command.kind {
            return self.simple(simple, command, before, stdin);
        }
        let mut stdin = stdin;
        let first = self.found.invocations.len();
        let redirections = self.redirections(command, &before, &mut stdin);
        if !redirections.is_empty() {
            let substituted = self.since(first);
            self.invoke(
                Invocation { substituted, ..self.bare(command, redirections, &before) },
                &StandardInput::Nothing,
            );
        }
        let outer = std::mem::replace(&mut self.input, stdin);
        let piped = self.piped.clone();
        if has_own_input(command) {
            self.piped = 0..0;
        }
        let mark = self.values.mark();
        let after = self.compound(command, before);
        // A redirection that fails keeps a command from running.
        if !command.redirects.is_empty() {
            self.values.weaken(mark);
        }
        if !matches!(command.kind, CommandKind::Group(_) | CommandKind::Subshell(_))
            || !command.redirects.is_empty()
        {
            self.output = StandardInput::Unknown;
        }
        self.piped = piped;
        self.input = outer;
        DirectoriesAfter::same(after)
    }

    /// Walks the substitutions in words, which run before the command that has them.
    pub(super) fn words<'w>(&mut self, words: impl Iterator<Item = &'w Word>, directories: &Directories) {
        for word in words {
            if let Some(hidden) = arithmetic::find_hidden(word) {
                self.hidden = self.hidden.max(Some((hidden, word.span)));
            }
            if self.is_posix && word.parts.iter().any(|part| self.is_of_bash(part)) {
                self.not_everywhere(word.span);
            }
            self.parts(&word.parts, directories);
        }
    }

    /// Says whether other shells read a part as something else: `$'…'`, `$"…"`, `$[…]`.
    fn is_of_bash(&self, part: &WordPart) -> bool {
        let starts = |start: &str| part.span().of(self.text).starts_with(start);
        match part {
            WordPart::AnsiC { .. } => true,
            WordPart::Double { parts, .. } => starts("$\"") || parts.iter().any(|part| self.is_of_bash(part)),
            WordPart::Arithmetic { .. } => starts("$["),
            _ => false,
        }
    }

    /// Notes syntax that shells other than bash read as something else.
    pub(super) fn not_everywhere(&mut self, span: Span) {
        self.opaque(span, "what it means depends on the shell that `sh` is".to_owned());
    }

    /// Walks the substitutions inside parts.
    pub(super) fn parts(&mut self, parts: &[WordPart], directories: &Directories) {
        if !parts.iter().any(is_expansion) {
            return;
        }
        let parent = self.parent.take();
        // A process may read what the command writes.
        let is_fed = parts.iter().any(|part| matches!(part, WordPart::Process { .. }));
        let outer = is_fed.then(|| std::mem::replace(&mut self.input, StandardInput::Unknown));
        let first = self.found.invocations.len();
        nested_lists(parts, &mut |body| {
            let mark = self.values.mark();
            let _ = self.list(body, directories.clone());
            self.values.weaken(mark);
            let output = std::mem::replace(&mut self.output, StandardInput::Unknown);
            self.values.note_output(body, output);
        });
        self.note_expansions(parts);
        let in_place = parts.iter().find(|part| runs_in_place(part.span().of(self.text)));
        if let Some(part) = in_place.filter(|_| self.moves_since(first)) {
            self.opaque(part.span(), "a substitution changes the directory of the shell itself".to_owned());
        }
        if let Some(outer) = outer {
            self.input = outer;
        }
        self.parent = parent;
    }
}

/// Says whether a pipeline is nothing but assignments of plain text, which cannot fail.
fn always_succeeds(pipeline: &Pipeline) -> bool {
    let [Command { kind: CommandKind::Simple(simple), redirects, .. }] = pipeline.stages.as_slice() else {
        return false;
    };
    let is_plain =
        |value: &AssignmentValue| matches!(value, AssignmentValue::Word(word) if word.fixed().is_some());
    !pipeline.negated
        && redirects.is_empty()
        && simple.words.is_empty()
        && simple.assignments.iter().all(|one| one.subscript.is_empty() && is_plain(&one.value))
}

/// Says whether a word holds `${ command; }`, which the shell runs itself.
fn runs_in_place(word: &str) -> bool {
    word.split("${").skip(1).any(|inside| inside.starts_with([' ', '\t', '\n', '|']))
}

/// Says whether a part of a word is only known when it was expanded.
pub(super) fn is_expansion(part: &WordPart) -> bool {
    match part {
        WordPart::Literal { .. }
        | WordPart::Escaped { .. }
        | WordPart::Single { .. }
        | WordPart::AnsiC { .. }
        | WordPart::Glob { .. } => false,
        WordPart::Double { parts, .. } => parts.iter().any(is_expansion),
        WordPart::Parameter { .. }
        | WordPart::Command { .. }
        | WordPart::Process { .. }
        | WordPart::Arithmetic { .. } => true,
    }
}
