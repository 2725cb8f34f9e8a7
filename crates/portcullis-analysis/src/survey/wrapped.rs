//! Invocations and what they wrap: other commands, shell text in arguments or on standard input.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::{Span, parse};

use super::filling::unfilled;
use super::function::{KnownFunctions, moves_parameters, parameters_of, sets_arguments};
use super::program;
use super::settled::VariableNames;
use super::variables::{KnownValue, KnownValues};
use super::walk::{SurveyWalk, may_set};
use crate::argument::Argument;
use crate::directories::Directories;
use crate::environment::runs_value;
use crate::interpreter::{self, is_shell};
use crate::invocation::{Invocation, Variable, Wrapping, base_name, join};
use crate::standard_input::StandardInput;
use crate::wrapper::{self, Unwrapped, WrappedPart};

/// Shell text inside shell text inside … is followed this far.
const DEEPEST: usize = 8;

/// A command line with more invocations than this is opaque.
const MOST_INVOCATIONS: usize = 20_000;

/// The reason why a command line is opaque that has more.
pub const TOO_LONG: &str = "the command line is too long to follow";

/// Of wrapped commands so many words are followed, all in all: a word may be wrapped again and again.
const MOST_WORDS: usize = 100_000;

/// Programs that start a shell or hand text to one.
const OTHER_SHELLS: &[&str] = &[
    "at", "batch", "crontab", "doas", "env", "find", "git", "node", "parallel", "perl", "python", "python3",
    "ruby", "script", "ssh", "su", "sudo", "tmux", "watch", "xargs",
];

/// Programs that leave `HOME` to what they run.
const KEEPING: &[&str] = &[
    "builtin", "command", "env", "eval", "exec", "find", "flock", "git", "nice", "nohup", "setsid", "stdbuf",
    "time", "timeout", "trap", "xargs",
];

/// How a text that stands inside another one is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellOfText {
    /// By the same shell, which knows its variables.
    Again,
    /// By another shell.
    Elsewhere,
    /// By either.
    Unsure,
}

impl SurveyWalk<'_> {
    /// Records an invocation and walks what it wraps.
    pub(super) fn invoke(&mut self, mut invocation: Invocation, stdin: &StandardInput) {
        if self.depth > 0 {
            self.followed += invocation.arguments.len();
        }
        if self.found.invocations.len() >= MOST_INVOCATIONS || self.followed > MOST_WORDS {
            self.opaque(invocation.span, TOO_LONG.to_owned());
            return;
        }
        if let Some(program) = invocation.program()
            && program.fixed().is_none_or(|name| name.is_empty() || name.starts_with('='))
        {
            let why = format!("the program `{}` is only known at run time", program.as_written());
            self.opaque(invocation.span, why);
        }
        // Some shells take the dashes for the name of a command.
        let is_dashed = invocation.operands().first().is_some_and(|word| word.text == "--");
        if self.is_posix && is_dashed && matches!(invocation.program_name(), Some("eval" | "command" | ".")) {
            self.not_everywhere(invocation.span);
        }
        if changes_reading(&invocation) && !self.is_unused_alias(&invocation) {
            let why = "it changes how later commands are read".to_owned();
            self.opaque(invocation.span, why);
        }
        if invocation.program_name() == Some("git") {
            invocation.directories = self.place_of_git(&invocation);
        }
        if self.values.has_parameters() && sets_arguments(&invocation) {
            let why = "it gives `$1` another meaning in a way that is not followed".to_owned();
            self.opaque(invocation.span, why);
        }
        let is_followed = std::mem::take(&mut self.sets_followed);
        self.lasting.note_builtin(&invocation, is_followed);
        let mut unwrapped = wrapper::peel(&invocation.arguments);
        unwrapped.extend(interpreter::peel(&invocation.arguments));
        unwrapped.extend(self.alias(&invocation));
        invocation.code = program::code_of(&invocation.arguments, stdin);
        unwrapped.extend(invocation.code.as_ref().and_then(|code| program::peel(code, invocation.span)));
        invocation.wrapping = wrapping_of(&unwrapped);
        let index = self.found.invocations.len();
        let outer = invocation.clone_surroundings();
        let parent = invocation.parent.and_then(|parent| self.found.invocations.get(parent));
        let steering = steering_texts(&invocation, parent);
        self.found.invocations.push(invocation);
        for unwrapped in unwrapped {
            self.wrapped(unwrapped, index, &outer, stdin);
        }
        self.steered(steering, index, &outer);
    }

    /// Returns what an invocation is if its program is an alias.
    fn alias(&self, invocation: &Invocation) -> Option<Unwrapped> {
        let (program, operands) = invocation.arguments.split_first()?;
        let value = self.lasting.aliases.get(program.fixed()?)?;
        // An alias that begins with its own name is not expanded twice.
        let parent = invocation.parent.and_then(|parent| self.found.invocations.get(parent));
        if parent.is_some_and(|parent| parent.program().is_some_and(|outer| outer.text == program.text)) {
            return None;
        }
        let is_plain =
            !value.contains(['$', '`', '\'', '"', '\\', ';', '&', '|', '<', '>', '(', ')', '{', '*']);
        let part = if is_plain {
            let words = value.split_whitespace().map(|word| program.piece(word));
            WrappedPart::Command(words.chain(operands.iter().cloned()).collect())
        } else {
            WrappedPart::Text(std::iter::once(program.piece(value)).chain(operands.iter().cloned()).collect())
        };
        Some(Unwrapped::changing(vec![part]))
    }

    /// Says whether an invocation only makes aliases that nothing uses.
    fn is_unused_alias(&self, invocation: &Invocation) -> bool {
        let is_function = |name: &String| self.lasting.is_function(name);
        invocation.program_name() == Some("alias")
            && !self.lasting.has_used_alias
            && !self.lasting.aliases.keys().any(is_function)
            && invocation.operands().iter().all(|word| word.fixed().is_some() && !word.is_option())
    }

    /// Walks the values of variables that name a program to run.
    fn steered(&mut self, texts: Vec<Argument>, index: usize, outer: &Invocation) {
        if !texts.is_empty() {
            let parts = texts.into_iter().map(|text| WrappedPart::Text(vec![text])).collect();
            self.wrapped(Unwrapped::changing(parts), index, outer, &StandardInput::Nothing);
        }
    }

    /// Walks what an invocation wraps: commands, shell texts, the shell text it reads. While it does, the walk is in the
    /// place of the wrapper: its directory, its variables, its pipe.
    fn wrapped(&mut self, unwrapped: Unwrapped, index: usize, outer: &Invocation, stdin: &StandardInput) {
        if self.depth >= DEEPEST {
            self.opaque(outer.span, "commands are nested too deep to follow".to_owned());
            return;
        }
        let parent = self.parent.replace(index);
        let was_posix = self.is_posix;
        self.is_posix = self.runs_posix_text(index);
        let knew = (self.knows_values, self.knows_home);
        // zsh splits no words, so that values are put in elsewhere than bash does.
        self.knows_values &= !self.is_started_by(index, |name| name.contains("zsh"));
        self.knows_home &= self.is_started_by(index, |name| is_shell(name) || KEEPING.contains(&name))
            && outer.assignments.iter().chain(&unwrapped.assignments).all(|variable| variable.name != "HOME");
        let run = self.run_of(index);
        self.depth += 1;
        let piped = std::mem::replace(&mut self.piped, outer.piped.clone());
        let directories = match &unwrapped.directory {
            None => outer.directories.clone(),
            Some(directory) => match directory.fixed() {
                Some(target) => outer.directories.enter(target),
                None => Directories::Unknown,
            },
        };
        let mut assignments = outer.assignments.clone();
        assignments.extend(unwrapped.assignments.iter().cloned());
        for part in unwrapped.parts {
            let directories = directories.clone();
            match part {
                WrappedPart::Command(arguments) if arguments.is_empty() => {}
                WrappedPart::Command(arguments) => {
                    let assignments = assignments.clone();
                    let parent = Some(index);
                    let inner = Invocation {
                        arguments: Vec::new(),
                        assignments,
                        directories,
                        parent,
                        ..outer.clone()
                    };
                    let (filled, is_whole) = self.filled(&arguments, index, stdin);
                    for arguments in filled {
                        self.invoke(Invocation { arguments, ..inner.clone() }, &StandardInput::Nothing);
                    }
                    if !is_whole {
                        let arguments = arguments.into_iter().map(unfilled).collect();
                        let stdin = if self.keeps_input(index) { &StandardInput::Nothing } else { stdin };
                        self.invoke(Invocation { arguments, ..inner }, stdin);
                    }
                }
                WrappedPart::Text(words) => self.text_of(&words, run, outer.span, directories, stdin.clone()),
                WrappedPart::Input => self.input(stdin.clone(), run, outer.span, directories),
                WrappedPart::Unknown(why) => self.opaque(outer.span, why.to_owned()),
            }
        }
        self.piped = piped;
        self.depth -= 1;
        (self.knows_values, self.knows_home) = knew;
        self.is_posix = was_posix;
        self.parent = parent;
    }

    /// Says whether a wrapper reads its input itself, so that its commands find nothing there.
    fn keeps_input(&self, index: usize) -> bool {
        let is_from_file = |word: &Argument| word.text.starts_with("-a") || word.text.starts_with("--arg");
        let operands = self.found.invocations.get(index).map(Invocation::operands).unwrap_or_default();
        self.is_started_by(index, |name| matches!(name, "gxargs" | "xargs"))
            && !operands.iter().any(is_from_file)
    }

    /// Says how the text inside an invocation is run.
    fn run_of(&self, index: usize) -> ShellOfText {
        match self.found.invocations.get(index).and_then(Invocation::program_name) {
            Some("eval" | "trap") => ShellOfText::Again,
            Some(name) if is_shell(name) || OTHER_SHELLS.contains(&name) => ShellOfText::Elsewhere,
            Some(_) | None => ShellOfText::Unsure,
        }
    }

    /// Says whether the program of an invocation has a name of this kind.
    fn is_started_by(&self, index: usize, is: impl Fn(&str) -> bool) -> bool {
        let invocation = self.found.invocations.get(index);
        let has_options = |found: &Invocation| found.operands().iter().any(Argument::is_option);
        invocation.is_some_and(|found| {
            found.program_name().is_some_and(|name| is(name) && (name != "env" || !has_options(found)))
        })
    }

    /// Says whether the text inside an invocation may be run by a shell that is not bash.
    fn runs_posix_text(&self, index: usize) -> bool {
        let name = self.found.invocations.get(index).and_then(Invocation::program_name);
        match name {
            Some("eval" | "trap" | "source" | ".") => self.is_posix,
            Some(name) => !name.contains("bash") && !name.contains("ksh") && !name.contains("zsh"),
            None => true,
        }
    }

    /// Walks shell text that stands in arguments.
    fn text_of(
        &mut self,
        words: &[Argument],
        run: ShellOfText,
        span: Span,
        directories: Directories,
        stdin: StandardInput,
    ) {
        if words.iter().any(|word| !word.is_known()) {
            self.opaque(span, "the shell text it runs is only known at run time".to_owned());
        }
        let text = join(words.iter().map(|word| word.text.as_str()));
        let span = words.iter().map(|word| word.span).reduce(Span::cover).unwrap_or(span);
        let was_decoded = self.is_decoded;
        self.is_decoded |= words.iter().any(|word| self.values.is_decoded(word));
        self.inner(&text, run, span, directories, stdin);
        self.is_decoded = was_decoded;
    }

    /// Walks shell text that arrives on standard input.
    fn input(&mut self, stdin: StandardInput, run: ShellOfText, span: Span, directories: Directories) {
        let taken_over = std::mem::take(&mut self.lasting.inputs);
        for input in &taken_over {
            self.opaque(span, "what it reads may be what `exec` put there".to_owned());
            if let StandardInput::Text(text) | StandardInput::Decoded(text) | StandardInput::Partly(text) =
                input
            {
                self.inner(text, run, span, directories.clone(), StandardInput::Unknown);
            }
        }
        self.read(stdin, run, span, directories);
        for input in taken_over {
            self.lasting.note_input(input);
        }
    }

    /// Walks the text that a shell reads. What is known of a text that is partly known is still walked, for deny rules.
    fn read(&mut self, stdin: StandardInput, run: ShellOfText, span: Span, directories: Directories) {
        let was_decoded = self.is_decoded;
        self.is_decoded |= matches!(stdin, StandardInput::Decoded(_));
        match stdin {
            StandardInput::Nothing => {}
            StandardInput::Text(text) | StandardInput::Decoded(text) => {
                if spans_lines(&text) {
                    self.opaque(span, "the script it reads may be read by a command in it".to_owned());
                }
                self.inner(&text, run, span, directories, StandardInput::Unknown);
            }
            StandardInput::Partly(text) => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned());
                self.inner(&text, run, span, directories, StandardInput::Unknown);
            }
            StandardInput::Lines { .. } | StandardInput::Columns(_) | StandardInput::Unknown => {
                self.opaque(span, "the shell text it reads is only known at run time".to_owned());
            }
        }
        self.is_decoded = was_decoded;
    }

    /// Returns what `$1` and the rest are in a text that a shell is given with words behind it: `sh -c 'wc "$1"' _ a`.
    fn parameters_of_text(&mut self, text: &str) -> Option<BTreeMap<String, KnownValue>> {
        let shell = self.parent.and_then(|parent| self.found.invocations.get(parent))?;
        let words = shell.operands();
        let at = words.iter().position(|word| word.text == text)?;
        let is_option = at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(Argument::is_option);
        let (name, given) = words.get(at + 1..).and_then(<[Argument]>::split_first)?;
        self.evaluations.note_parameters(given);
        if !is_option || moves_parameters(text) {
            return None;
        }
        let mut parameters = parameters_of(given)?;
        parameters.extend(KnownValue::of_argument(name, false).map(|name| ("0".to_owned(), name)));
        Some(parameters)
    }

    /// Returns what is known of variables where a text begins: what was known before it, or what its shell is given.
    fn values_of_text(&mut self, text: &str, run: ShellOfText, names: &VariableNames) -> KnownValues {
        if run == ShellOfText::Again {
            return std::mem::take(&mut self.values);
        }
        let mut values = KnownValues::of_text(names.settled(&self.lasting), self.values.put_in);
        if run == ShellOfText::Elsewhere
            && let Some(parameters) = self.parameters_of_text(text)
        {
            let _ = values.replace_parameters(parameters);
        }
        values
    }

    /// Walks a text inside the outermost one, with a walk of its own that hands back what it found.
    fn inner(
        &mut self,
        text: &str,
        run: ShellOfText,
        span: Span,
        directories: Directories,
        input: StandardInput,
    ) {
        let script = parse(text);
        let is_plain = run == ShellOfText::Elsewhere && !may_set(text);
        let is_later =
            self.parent.and_then(|parent| self.found.invocations.get(parent)?.program_name()) == Some("trap");
        let names = if is_plain { VariableNames::default() } else { VariableNames::of(&script, text) };
        let mut values = self.values_of_text(text, run, &names);
        let mark = values.mark();
        // What is set in the text itself is not followed if it is run once more.
        let settled = if run == ShellOfText::Again { values.follow_none() } else { BTreeSet::new() };
        if run == ShellOfText::Again && is_later {
            values.forget_changing();
        }
        if run != ShellOfText::Elsewhere {
            self.lasting.note_names(names);
        }
        let mut walk = SurveyWalk {
            text,
            fixed_span: Some(self.fixed_span.unwrap_or(span)),
            home: self.home,
            start: self.start,
            depth: self.depth,
            background: self.background,
            parent: self.parent,
            input,
            piped: self.piped.clone(),
            is_decoded: self.is_decoded,
            is_posix: self.is_posix,
            lasting: std::mem::take(&mut self.lasting),
            values,
            knows_values: self.knows_values,
            knows_home: self.knows_home,
            output: StandardInput::Unknown,
            followed: self.followed,
            is_condition: false,
            is_moving: self.is_moving,
            sets_followed: false,
            functions: KnownFunctions::default(),
            hidden: None,
            evaluations: std::mem::take(&mut self.evaluations),
            found: std::mem::take(&mut self.found),
        };
        walk.lasting.note_text(text);
        walk.script(&script, directories);
        self.followed = walk.followed;
        if run == ShellOfText::Again {
            let _ = walk.values.undo(mark);
            self.values = walk.values;
            self.values.follow_again(settled);
        } else {
            self.values.put_in = walk.values.put_in;
        }
        self.lasting = walk.lasting;
        self.evaluations = walk.evaluations;
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
            piped: self.piped.clone(),
            substituted: self.substituted.clone(),
            code: None,
            decoded: self.decoded,
            given: None,
            input: None,
            put: None,
        }
    }
}

/// Returns how an invocation treats all it wraps: it only passes on if every way of reading it says so.
fn wrapping_of(unwrapped: &[Unwrapped]) -> Wrapping {
    let is_transparent = unwrapped.iter().all(|unwrapped| unwrapped.wrapping == Wrapping::Transparent);
    match unwrapped {
        [] => Wrapping::Nothing,
        _ if is_transparent => Wrapping::Transparent,
        _ => Wrapping::Changing,
    }
}

/// Returns the values of the variables an invocation sets that programs run.
fn steering_texts(invocation: &Invocation, parent: Option<&Invocation>) -> Vec<Argument> {
    let is_declared =
        matches!(invocation.program_name(), Some("export" | "declare" | "typeset" | "readonly"));
    let declared = invocation.operands().iter().filter(|_| is_declared).filter_map(|word| {
        let (name, value) = word.text.split_once('=')?;
        Some((name, Argument { text: value.to_owned(), source: None, bound: None, ..word.clone() }))
    });
    let is_new = |variable: &&Variable| parent.is_none_or(|parent| !parent.assignments.contains(variable));
    let assigned = invocation.assignments.iter().filter(is_new);
    let assigned = assigned.map(|variable| (variable.name.as_str(), variable.value.clone()));
    declared
        .chain(assigned)
        .filter(|(name, value)| runs_value(name, &value.text))
        .map(|(_, value)| value)
        .collect()
}

/// Builtins after which the same text may mean something else.
fn changes_reading(invocation: &Invocation) -> bool {
    let sets = |start: &str| invocation.assignments.iter().any(|variable| variable.name.starts_with(start));
    if sets("BASH_ENV") || sets("BASH_FUNC_") {
        return true;
    }
    let Some(name) = invocation.program().and_then(Argument::fixed).map(base_name) else {
        return false;
    };
    if name == "git" && sets("GIT_CONFIG") {
        return true;
    }
    let has = |flag: &str| invocation.operands().iter().any(|argument| argument.text.starts_with(flag));
    match name {
        "set" => has("-k") || invocation.operands().iter().any(|argument| argument.text == "keyword"),
        "alias" => invocation.operands().iter().any(|argument| argument.text.contains('=')),
        "shopt" => has("-s") || has("-u"),
        "hash" => has("-p"),
        "enable" => has("-f") || has("-n"),
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            has("BASH_ENV=") || invocation.operands().iter().any(is_quoted_array)
        }
        _ => false,
    }
}

/// Says whether something in a script goes on over lines, so that a command which reads some of them changes what the
/// others mean.
fn spans_lines(text: &str) -> bool {
    let text = text.trim_end();
    let is_open = |line: &str| {
        let is_odd = |quote: char| line.matches(quote).count() % 2 == 1;
        let opens = |from: &str| line.contains(from) && line.matches('(').count() > line.matches(')').count();
        let is_left_open = opens("=(") || opens("((") || (line.contains("${") && !line.contains('}'));
        let is_condition = line.contains("[[") && !line.contains("]]");
        is_odd('\'')
            || is_odd('"')
            || is_odd('`')
            || line.ends_with('\\')
            || line.contains("<<")
            || is_left_open
            || is_condition
    };
    text.contains('\n') && text.lines().any(is_open)
}

/// Says whether a word is an array assignment that a declaration reads once more: `declare -a 'x=($(cmd))'`.
fn is_quoted_array(word: &Argument) -> bool {
    word.text.split_once("=(").is_some_and(|(_, items)| items.contains("$(") || items.contains('`'))
}
