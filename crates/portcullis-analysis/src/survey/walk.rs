//! The walk itself: lists, pipelines, and the substitutions inside words.

use portcullis_shell::ast::{AndOr, Command, CommandKind, Link, List, Part, Pipeline, Word};
use portcullis_shell::{Script, Span, nested_lists, parse};

use super::lasting::Lasting;
use super::written::find_written_script;
use crate::arithmetic::{self, Hidden};
use crate::directories::Directories;
use crate::feed::{Feed, output_of};
use crate::invocation::{Opacity, Survey};

/// Where a command line runs.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The absolute directory it starts in.
    pub directory: &'a str,
    /// The user's home directory.
    pub home: Option<&'a str>,
}

/// Lists every invocation of a command line.
pub fn survey(text: &str, surroundings: Surroundings<'_>) -> Survey {
    let script = parse(text);
    let mut lasting = Lasting::default();
    lasting.note_text(text);
    let mut walk = Walk::begin(text, surroundings, lasting.clone());
    walk.script(&script, Directories::only(surroundings.directory));
    if walk.lasting != lasting {
        walk = Walk::begin(text, surroundings, walk.lasting);
        walk.script(&script, Directories::only(surroundings.directory));
    }
    if let Some(span) = find_written_script(&walk.found.invocations) {
        walk.opaque(span, "it runs a file that the same command line writes".to_owned());
    }
    walk.found
}

pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    /// The span every finding gets while walking text that is an argument of the outermost command.
    pub(super) fixed_span: Option<Span>,
    pub(super) home: Option<&'a str>,
    pub(super) depth: usize,
    pub(super) background: bool,
    pub(super) parent: Option<usize>,
    /// What arrives on standard input where no pipe or redirection says otherwise.
    pub(super) input: Feed,
    /// Code that quoting protects, the most dangerous found so far.
    pub(super) hidden: Option<(Hidden, Span)>,
    /// Whether a shell runs the text that may know nothing of bash.
    pub(super) is_posix: bool,
    pub(super) lasting: Lasting,
    /// How many words of wrapped commands were followed.
    pub(super) followed: usize,
    pub(super) found: Survey,
}

/// The directories after success and after failure.
pub(super) struct After {
    pub(super) success: Directories,
    pub(super) failure: Directories,
}

impl After {
    pub(super) fn same(directories: Directories) -> Self {
        Self { success: directories.clone(), failure: directories }
    }

    pub(super) fn any(self) -> Directories {
        if self.success == self.failure { self.success } else { self.success.either(self.failure) }
    }
}

impl<'a> Walk<'a> {
    fn begin(text: &'a str, surroundings: Surroundings<'a>, lasting: Lasting) -> Self {
        Walk {
            text,
            fixed_span: None,
            home: surroundings.home,
            depth: 0,
            background: false,
            parent: None,
            input: Feed::Nothing,
            is_posix: false,
            lasting,
            followed: 0,
            hidden: None,
            found: Survey::default(),
        }
    }
}

impl Walk<'_> {
    pub(super) fn script(&mut self, script: &Script, directories: Directories) {
        for error in &script.errors {
            self.opaque(error.span, format!("the shell syntax is not understood: {}", error.message));
        }
        let outer = self.hidden.take();
        let _ = self.list(&script.body, directories);
        if let Some((hidden, span)) = std::mem::replace(&mut self.hidden, outer)
            && arithmetic::may_run(hidden, self.text)
        {
            self.opaque(span, "a second evaluation may run a command that stands in quoted text".to_owned());
        }
    }

    pub(super) fn opaque(&mut self, span: Span, why: String) {
        let span = self.fixed_span.unwrap_or(span);
        self.found.opacities.push(Opacity { span, why });
    }

    pub(super) fn list(&mut self, list: &List, mut directories: Directories) -> Directories {
        for item in &list.items {
            directories = self.and_or(item, directories);
        }
        directories
    }

    pub(super) fn and_or(&mut self, item: &AndOr, before: Directories) -> Directories {
        let outer = self.background;
        self.background |= item.background;
        let mut after = After::same(before.clone());
        for (link, pipeline) in &item.pipelines {
            after = match link {
                Link::First => self.pipeline(pipeline, after.success),
                Link::And => {
                    let next = self.pipeline(pipeline, after.success);
                    After { success: next.success, failure: after.failure.either(next.failure) }
                }
                Link::Or => {
                    let next = self.pipeline(pipeline, after.failure);
                    After { success: after.success.either(next.success), failure: next.failure }
                }
            };
        }
        self.background = outer;
        if item.background { before } else { after.any() }
    }

    pub(super) fn pipeline(&mut self, pipeline: &Pipeline, before: Directories) -> After {
        if let [only] = pipeline.stages.as_slice() {
            let feed = self.input.clone();
            let after = self.command(only, before, feed);
            return if pipeline.negated {
                After { success: after.failure, failure: after.success }
            } else {
                after
            };
        }
        let mut feed = self.input.clone();
        let mut last = After::same(before.clone());
        for stage in &pipeline.stages {
            last = self.command(stage, before.clone(), feed);
            feed = output_of(stage);
        }
        // Some shells run the last stage themselves, others in a process of its own.
        After::same(before.either(last.any()))
    }

    pub(super) fn command(&mut self, command: &Command, before: Directories, feed: Feed) -> After {
        if let CommandKind::Simple(simple) = &command.kind {
            return self.simple(simple, command, before, feed);
        }
        let mut feed = feed;
        let redirections = self.redirections(command, &before, &mut feed);
        if !redirections.is_empty() {
            self.invoke(self.bare(command, redirections, &before), &Feed::Nothing);
        }
        let outer = std::mem::replace(&mut self.input, feed);
        let after = self.compound(command, before);
        self.input = outer;
        After::same(after)
    }

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
    fn is_of_bash(&self, part: &Part) -> bool {
        let starts = |start: &str| part.span().of(self.text).starts_with(start);
        match part {
            Part::AnsiC { .. } => true,
            Part::Double { parts, .. } => starts("$\"") || parts.iter().any(|part| self.is_of_bash(part)),
            Part::Arithmetic { .. } => starts("$["),
            _ => false,
        }
    }

    /// Notes syntax that shells other than bash read as something else.
    pub(super) fn not_everywhere(&mut self, span: Span) {
        self.opaque(span, "what it means depends on the shell that `sh` is".to_owned());
    }

    /// Walks the substitutions inside parts.
    pub(super) fn parts(&mut self, parts: &[Part], directories: &Directories) {
        if !parts.iter().any(is_expansion) {
            return;
        }
        let parent = self.parent.take();
        // A process may read what the command writes.
        let is_fed = parts.iter().any(|part| matches!(part, Part::Process { .. }));
        let outer = is_fed.then(|| std::mem::replace(&mut self.input, Feed::Unknown));
        let first = self.found.invocations.len();
        nested_lists(parts, &mut |body| {
            let _ = self.list(body, directories.clone());
        });
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

/// Says whether a word holds `${ command; }`, which the shell runs itself.
fn runs_in_place(word: &str) -> bool {
    word.split("${").skip(1).any(|inside| inside.starts_with([' ', '\t', '\n', '|']))
}

pub(super) fn is_expansion(part: &Part) -> bool {
    match part {
        Part::Literal { .. }
        | Part::Escaped { .. }
        | Part::Single { .. }
        | Part::AnsiC { .. }
        | Part::Glob { .. } => false,
        Part::Double { parts, .. } => parts.iter().any(is_expansion),
        Part::Parameter { .. } | Part::Command { .. } | Part::Process { .. } | Part::Arithmetic { .. } => {
            true
        }
    }
}
