//! Walks a command line and lists every invocation in it, wrapped ones included.
//!
//! Substitutions, function bodies, branches and background jobs all count: a command that stands anywhere in the text
//! is listed. Shell text in arguments (`bash -c`, `eval`) is parsed and walked in turn, to a bounded depth.

use portcullis_shell::ast::{
    AndOr, AssignmentValue, Command, CommandKind, Link, List, Part, Pipeline, Redirect, RedirectOperator,
    RedirectTarget, SimpleCommand, Word,
};
use portcullis_shell::{Script, Span, nested_lists, parse};

use crate::argument::{Argument, Knowledge};
use crate::arithmetic;
use crate::directories::Directories;
use crate::feed::{Feed, output_of};
use crate::interpreter;
use crate::invocation::{
    Access, Invocation, Opacity, Redirection, Survey, Variable, Wrapping, base_name, join,
};
use crate::wrapper::{self, Inside, Peeled};

/// Shell text inside shell text inside … is followed this far.
const DEEPEST: usize = 8;

/// A command line with more invocations than this is opaque.
const MOST_INVOCATIONS: usize = 20_000;

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
    let mut walk = Walk {
        text,
        fixed_span: None,
        home: surroundings.home,
        depth: 0,
        background: false,
        parent: None,
        input: Feed::Nothing,
        found: Survey::default(),
    };
    walk.script(&script, Directories::only(surroundings.directory));
    walk.found
}

struct Walk<'a> {
    text: &'a str,
    /// The span every finding gets while walking text that is an argument of the outermost command.
    fixed_span: Option<Span>,
    home: Option<&'a str>,
    depth: usize,
    background: bool,
    parent: Option<usize>,
    /// What arrives on standard input where no pipe or redirection says otherwise.
    input: Feed,
    found: Survey,
}

/// The directories after success and after failure.
struct After {
    success: Directories,
    failure: Directories,
}

impl After {
    fn same(directories: Directories) -> Self {
        Self { success: directories.clone(), failure: directories }
    }

    fn any(self) -> Directories {
        if self.success == self.failure { self.success } else { self.success.either(self.failure) }
    }
}

impl Walk<'_> {
    fn script(&mut self, script: &Script, directories: Directories) {
        for error in &script.errors {
            self.opaque(error.span, format!("the shell syntax is not understood: {}", error.message));
        }
        let first = self.found.invocations.len();
        let _ = self.list(&script.body, directories);
        let own = self.found.invocations.get(first..).unwrap_or_default();
        if let Some(span) = arithmetic::find_hidden_code(self.text, own) {
            self.opaque(span, "arithmetic may run a command that stands in its data".to_owned());
        }
    }

    fn opaque(&mut self, span: Span, why: String) {
        let span = self.fixed_span.unwrap_or(span);
        self.found.opacities.push(Opacity { span, why });
    }

    fn list(&mut self, list: &List, mut directories: Directories) -> Directories {
        for item in &list.items {
            directories = self.and_or(item, directories);
        }
        directories
    }

    fn and_or(&mut self, item: &AndOr, before: Directories) -> Directories {
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

    fn pipeline(&mut self, pipeline: &Pipeline, before: Directories) -> After {
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
        for stage in &pipeline.stages {
            let _ = self.command(stage, before.clone(), feed);
            feed = output_of(stage);
        }
        After::same(before)
    }

    fn command(&mut self, command: &Command, before: Directories, feed: Feed) -> After {
        if let CommandKind::Simple(simple) = &command.kind {
            return self.simple(simple, command, before, feed);
        }
        let mut feed = feed;
        let redirections = self.redirections(command, &before, &mut feed);
        if !redirections.is_empty() {
            self.invoke(self.bare(command, redirections, &before), Feed::Nothing);
        }
        let outer = std::mem::replace(&mut self.input, feed);
        let after = self.compound(command, before);
        self.input = outer;
        After::same(after)
    }

    /// Makes an invocation of nothing but redirections.
    fn bare(
        &self,
        command: &Command,
        redirections: Vec<Redirection>,
        directories: &Directories,
    ) -> Invocation {
        Invocation {
            span: self.fixed_span.unwrap_or(command.span),
            arguments: Vec::new(),
            assignments: Vec::new(),
            redirections,
            directories: directories.clone(),
            parent: self.parent,
            background: self.background,
            wrapping: Wrapping::Nothing,
        }
    }

    fn redirections(
        &mut self,
        command: &Command,
        directories: &Directories,
        feed: &mut Feed,
    ) -> Vec<Redirection> {
        let mut redirections = Vec::new();
        for redirect in &command.redirects {
            self.redirect(redirect, directories, &mut redirections, feed);
        }
        redirections
    }

    fn compound(&mut self, command: &Command, before: Directories) -> Directories {
        match &command.kind {
            CommandKind::Simple(_) => before,
            CommandKind::Subshell(body) => {
                let _ = self.list(body, before.clone());
                before
            }
            CommandKind::Group(body) => self.list(body, before),
            CommandKind::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), before),
            CommandKind::Loop { condition, body } => {
                let inside = self.list(condition, before.clone());
                let after = self.list(body, inside);
                settled(before, after)
            }
            CommandKind::For { words, body, .. } => {
                self.words(words.iter().flatten(), &before);
                let after = self.list(body, before.clone());
                settled(before, after)
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.parts(header, &before);
                let after = self.list(body, before.clone());
                settled(before, after)
            }
            CommandKind::Case { subject, arms } => {
                self.words(std::iter::once(subject), &before);
                let mut after = before.clone();
                for arm in arms {
                    self.words(arm.patterns.iter(), &before);
                    after = after.either(self.list(&arm.body, before.clone()));
                }
                after
            }
            CommandKind::Function { body, .. } => {
                // The body runs where it is called from, which is not followed.
                let outer = std::mem::replace(&mut self.input, Feed::Unknown);
                let _ = self.command(body, Directories::Unknown, Feed::Unknown);
                self.input = outer;
                before
            }
            CommandKind::Conditional(words) => {
                self.words(words.iter(), &before);
                before
            }
            CommandKind::Arithmetic(parts) => {
                self.parts(parts, &before);
                before
            }
            CommandKind::Coprocess { body, .. } => {
                let _ = self.command(body, before.clone(), Feed::Unknown);
                before
            }
            CommandKind::Opaque => {
                self.opaque(command.span, "the shell syntax is not understood".to_owned());
                before
            }
        }
    }

    fn branches(
        &mut self,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        before: Directories,
    ) -> Directories {
        let mut tested = before;
        let mut after: Option<Directories> = None;
        let mut join = |state: Directories| {
            after = Some(match after.take() {
                Some(so_far) => so_far.either(state),
                None => state,
            });
        };
        for (condition, body) in branches {
            tested = self.list(condition, tested);
            join(self.list(body, tested.clone()));
        }
        match otherwise {
            Some(body) => join(self.list(body, tested)),
            None => join(tested),
        }
        after.unwrap_or(Directories::Unknown)
    }

    fn words<'w>(&mut self, words: impl Iterator<Item = &'w Word>, directories: &Directories) {
        for word in words {
            self.parts(&word.parts, directories);
        }
    }

    /// Walks the substitutions inside parts.
    fn parts(&mut self, parts: &[Part], directories: &Directories) {
        if !parts.iter().any(is_expansion) {
            return;
        }
        let parent = self.parent.take();
        nested_lists(parts, &mut |body| {
            let _ = self.list(body, directories.clone());
        });
        self.parent = parent;
    }

    fn simple(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: Directories,
        mut feed: Feed,
    ) -> After {
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            self.parts(&assignment.subscript, &before);
            let value = match &assignment.value {
                AssignmentValue::Word(word) => {
                    self.words(std::iter::once(word), &before);
                    Argument::of_word(word, self.text, self.fixed_span)
                }
                AssignmentValue::Array(words) => {
                    self.words(words.iter(), &before);
                    Argument::unknown(assignment.span)
                }
            };
            assignments.push(Variable { name: assignment.name.clone(), value });
        }
        self.words(simple.words.iter(), &before);
        let redirections = self.redirections(command, &before, &mut feed);
        let mut invocation = self.bare(command, redirections, &before);
        invocation.arguments =
            simple.words.iter().map(|word| Argument::of_word(word, self.text, self.fixed_span)).collect();
        invocation.assignments = assignments;
        let moved = self.change_of_directory(&invocation, &before);
        self.invoke(invocation, feed);
        match moved {
            Some(success) => After { success, failure: before },
            None => After::same(before),
        }
    }

    fn redirect(
        &mut self,
        redirect: &Redirect,
        directories: &Directories,
        redirections: &mut Vec<Redirection>,
        feed: &mut Feed,
    ) {
        let word = match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => {
                self.parts(&heredoc.parts, directories);
                *feed = if heredoc.quoted || !heredoc.parts.iter().any(is_expansion) {
                    Feed::Text(heredoc.text.clone())
                } else {
                    Feed::Partly(heredoc.text.clone())
                };
                return;
            }
            RedirectTarget::Word(word) => word,
        };
        self.words(std::iter::once(word), directories);
        let target = Argument::of_word(word, self.text, self.fixed_span);
        let accesses: &[Access] = match redirect.operator {
            RedirectOperator::Input => &[Access::Read],
            RedirectOperator::Output
            | RedirectOperator::Append
            | RedirectOperator::Clobber
            | RedirectOperator::OutputBoth
            | RedirectOperator::AppendBoth => &[Access::Write],
            RedirectOperator::ReadWrite => &[Access::Read, Access::Write],
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
                if !is_descriptor(&target) =>
            {
                &[Access::Read, Access::Write]
            }
            RedirectOperator::HereString => {
                *feed = match target.knowledge {
                    Knowledge::Fixed | Knowledge::Tilde | Knowledge::Glob => Feed::Text(target.text.clone()),
                    Knowledge::Dynamic => Feed::Partly(target.text.clone()),
                };
                &[]
            }
            RedirectOperator::DuplicateInput
            | RedirectOperator::DuplicateOutput
            | RedirectOperator::Heredoc => &[],
        };
        if accesses.contains(&Access::Read) {
            *feed = Feed::Unknown;
        }
        redirections.extend(accesses.iter().map(|&access| Redirection { access, target: target.clone() }));
    }

    /// Returns the directories after the command succeeded, if it changes them.
    fn change_of_directory(&self, invocation: &Invocation, before: &Directories) -> Option<Directories> {
        let name = invocation.program_name()?;
        match name {
            "cd" | "pushd" => {}
            "popd" => return Some(Directories::Unknown),
            _ => return None,
        }
        if invocation.assignments.iter().any(|variable| matches!(variable.name.as_str(), "CDPATH" | "HOME")) {
            return Some(Directories::Unknown);
        }
        let mut operands = invocation.operands().iter().filter(|argument| !is_cd_option(argument));
        let target = match operands.next() {
            None if name == "cd" => self.home.map(str::to_owned),
            None => None,
            Some(target) => match target.knowledge {
                Knowledge::Fixed if !target.text.starts_with(['+', '-']) => Some(target.text.clone()),
                Knowledge::Tilde => self.expand_tilde(&target.text),
                Knowledge::Fixed | Knowledge::Glob | Knowledge::Dynamic => None,
            },
        };
        Some(target.map_or(Directories::Unknown, |target| before.enter(&target)))
    }

    fn expand_tilde(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~')?;
        (rest.is_empty() || rest.starts_with('/')).then(|| self.home.map(|home| format!("{home}{rest}")))?
    }

    /// Records an invocation and walks what it wraps.
    fn invoke(&mut self, mut invocation: Invocation, feed: Feed) {
        if self.found.invocations.len() >= MOST_INVOCATIONS {
            self.opaque(invocation.span, "the command line is too long to follow".to_owned());
            return;
        }
        if let Some(program) = invocation.program()
            && program.fixed().is_none_or(str::is_empty)
        {
            let why = format!("the program `{}` is only known at run time", program.as_written());
            self.opaque(invocation.span, why);
        }
        if changes_reading(&invocation) {
            let why = "it changes how later commands are read".to_owned();
            self.opaque(invocation.span, why);
        }
        let peeled =
            wrapper::peel(&invocation.arguments).or_else(|| interpreter::peel(&invocation.arguments));
        if let Some(peeled) = &peeled {
            invocation.wrapping = peeled.wrapping;
        }
        let index = self.found.invocations.len();
        let outer = invocation.clone_surroundings();
        self.found.invocations.push(invocation);
        if let Some(peeled) = peeled {
            self.wrapped(peeled, index, outer, feed);
        }
    }

    fn wrapped(&mut self, peeled: Peeled, index: usize, outer: Invocation, feed: Feed) {
        if self.depth >= DEEPEST {
            self.opaque(outer.span, "commands are nested too deep to follow".to_owned());
            return;
        }
        let parent = self.parent.replace(index);
        self.depth += 1;
        let directories = match &peeled.directory {
            None => outer.directories.clone(),
            Some(directory) => match directory.fixed() {
                Some(target) => outer.directories.enter(target),
                None => Directories::Unknown,
            },
        };
        match peeled.inside {
            Inside::Commands(commands) => {
                for arguments in commands {
                    let mut assignments = outer.assignments.clone();
                    assignments.extend(peeled.assignments.iter().cloned());
                    let directories = directories.clone();
                    let inner = Invocation {
                        arguments,
                        assignments,
                        directories,
                        parent: Some(index),
                        ..outer.clone()
                    };
                    self.invoke(inner, feed.clone());
                }
            }
            Inside::Text(words) => self.text_of(&words, outer.span, directories),
            Inside::Input => self.input(feed, outer.span, directories),
            Inside::Unknown(why) => self.opaque(outer.span, why.to_owned()),
        }
        self.depth -= 1;
        self.parent = parent;
    }

    /// Walks shell text that stands in arguments.
    fn text_of(&mut self, words: &[Argument], span: Span, directories: Directories) {
        if words.iter().any(|word| !word.is_known()) {
            self.opaque(span, "the shell text it runs is only known at run time".to_owned());
        }
        let text = join(words.iter().map(|word| word.text.as_str()));
        let span = words.iter().map(|word| word.span).reduce(Span::cover).unwrap_or(span);
        self.inner(&text, span, directories);
    }

    /// Walks shell text that arrives on standard input.
    fn input(&mut self, feed: Feed, span: Span, directories: Directories) {
        match feed {
            Feed::Nothing => {}
            Feed::Text(text) => self.inner(&text, span, directories),
            Feed::Partly(text) => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned());
                self.inner(&text, span, directories);
            }
            Feed::Unknown => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned())
            }
        }
    }

    fn inner(&mut self, text: &str, span: Span, directories: Directories) {
        let script = parse(text);
        let mut walk = Walk {
            text,
            fixed_span: Some(self.fixed_span.unwrap_or(span)),
            home: self.home,
            depth: self.depth,
            background: self.background,
            parent: self.parent,
            input: self.input.clone(),
            found: std::mem::take(&mut self.found),
        };
        walk.script(&script, directories);
        self.found = walk.found;
    }
}

impl Invocation {
    /// Copies everything a wrapped command inherits; the files it is redirected to belong to the wrapper.
    fn clone_surroundings(&self) -> Self {
        Self {
            span: self.span,
            arguments: Vec::new(),
            assignments: self.assignments.clone(),
            redirections: Vec::new(),
            directories: self.directories.clone(),
            parent: None,
            background: self.background,
            wrapping: Wrapping::Nothing,
        }
    }
}

/// After a loop: where its body ends if it goes nowhere, else nobody knows.
fn settled(before: Directories, after: Directories) -> Directories {
    if before == after { before } else { Directories::Unknown }
}

fn is_expansion(part: &Part) -> bool {
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

fn is_descriptor(target: &Argument) -> bool {
    target.fixed().is_some_and(|text| {
        let digits = text.trim_end_matches('-');
        digits.chars().all(|letter| letter.is_ascii_digit())
    })
}

fn is_cd_option(argument: &Argument) -> bool {
    matches!(argument.text.as_str(), "-P" | "-L" | "-e" | "-@" | "--" | "-n")
}

/// Builtins after which the same text may mean something else.
fn changes_reading(invocation: &Invocation) -> bool {
    let Some(name) = invocation.program().and_then(Argument::fixed).map(base_name) else {
        return false;
    };
    let has = |flag: &str| invocation.operands().iter().any(|argument| argument.text.starts_with(flag));
    match name {
        "alias" => invocation.operands().iter().any(|argument| argument.text.contains('=')),
        "shopt" => has("-s") || has("-u"),
        "hash" => has("-p"),
        "enable" => has("-f") || has("-n"),
        _ => false,
    }
}
