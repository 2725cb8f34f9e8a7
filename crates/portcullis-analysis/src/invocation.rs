//! What a survey finds: every program a command line would start, and what could not be read.
//!
//! The survey is a flat list in the order of the text. What belongs together is told by indices into it (`parent`, `piped`,
//! `substituted`), so that whoever looks at one command can find what surrounds it without a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use portcullis_shell::Span;

use crate::act::Access;
use crate::argument::{Argument, Knowledge};
use crate::code::Code;
use crate::directories::Directories;

/// Every invocation of a command line, in order of appearance, and what is opaque in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// The invocations. A wrapped command follows its wrapper and names it as its parent.
    pub invocations: Vec<Invocation>,
    /// What could not be read or is only known when it runs. Empty means nothing hides.
    pub opacities: Vec<Opacity>,
    /// The functions the line defines; their bodies are listed like everything else.
    pub functions: BTreeSet<String>,
    /// Where the invocations of their bodies are; a function may be defined more than once.
    pub bodies: BTreeMap<String, Vec<Range<usize>>>,
    /// The whole text, in which names may stand that belong to no command.
    pub text: String,
}

impl Survey {
    /// Returns the invocations that a call of a function of the line runs; none if it is no such call.
    pub(crate) fn body(&self, call: &Invocation) -> impl Iterator<Item = usize> {
        let bodies = call.program_name().and_then(|name| self.bodies.get(name));
        bodies.into_iter().flatten().cloned().flatten()
    }
}

/// Something that is not known before the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opacity {
    /// Where it stands in the outermost command.
    pub span: Span,
    /// What is not known, as one clause.
    pub why: String,
}

/// One program about to be started, or a set of assignments or redirections without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Where it stands in the outermost command.
    pub span: Span,
    /// Program and arguments; empty for assignments or redirections alone.
    pub arguments: Vec<Argument>,
    /// Assignments before the program, those of wrappers such as `env` included.
    pub assignments: Vec<Variable>,
    /// Files it is redirected from and to.
    pub redirections: Vec<Redirection>,
    /// Where it may run.
    pub directories: Directories,
    /// The invocation whose argument it is, if it is wrapped.
    pub parent: Option<usize>,
    /// Whether it is started in the background.
    pub background: bool,
    /// How it treats what it wraps, if it wraps anything.
    pub wrapping: Wrapping,
    /// The invocations of the pipeline stage whose output it reads; empty if there is none.
    pub piped: Range<usize>,
    /// The invocations in substitutions of its own words, assignments and redirections; empty if there are none.
    pub substituted: Range<usize>,
    /// Code of another language that it runs.
    pub code: Option<Code>,
    /// Whether its text was hidden by an encoding.
    pub decoded: bool,
    /// The text of a here-document or here-string that it is given, where expansions stand in it.
    pub given: Option<String>,
    /// The text of a here-document or here-string that it is given exactly so.
    pub input: Option<String>,
    /// All that it writes into the one file to which its output goes, where that is known to the letter.
    pub put: Option<String>,
}

/// How an invocation treats the commands it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapping {
    /// It wraps nothing.
    Nothing,
    /// It runs what it wraps and does nothing else worth a rule: `timeout 5`, `bash -c '…'`.
    Transparent,
    /// It changes who, where or how often: `sudo`, `find -exec`, `ssh`.
    Changing,
}

/// A variable that a command line sets, before a command or by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// As it is written before the `=`, a subscript left out.
    pub name: String,
    /// What it is set to; dynamic if that is only known at run time.
    pub value: Argument,
}

impl Variable {
    /// Reads a word of a declaration: `name=value`.
    pub(crate) fn declared(word: &Argument) -> Option<Self> {
        if let Some(shape) = word.shape() {
            let (name, value) = shape.split_assignment()?;
            let text = word.text.split_once('=').map_or("", |(_, text)| text).to_owned();
            let value = Argument { text, ..word.clone() }.bounded(Some(value), false);
            return Some(Self { name, value }).filter(|_| word.is_one_word());
        }
        let (name, value) = word.text.split_once('=').filter(|_| word.knowledge == Knowledge::Fixed)?;
        let value = Argument { text: value.to_owned(), bound: None, ..word.clone() };
        Some(Self { name: name.to_owned(), value })
    }
}

/// A file a command is redirected from or to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Whether the file is read or written.
    pub access: Access,
    /// The file it is redirected from or to, or the descriptor that it may be.
    pub target: Argument,
    /// Whether what is written goes behind what the file holds.
    pub appends: bool,
}

impl Invocation {
    /// Returns the program word.
    pub fn program(&self) -> Option<&Argument> {
        self.arguments.first()
    }

    /// Returns the program's name without its directory, if it is known.
    pub fn program_name(&self) -> Option<&str> {
        self.program().and_then(Argument::fixed).map(base_name)
    }

    /// Returns the arguments after the program.
    pub fn operands(&self) -> &[Argument] {
        self.arguments.get(1..).unwrap_or_default()
    }

    /// Returns program and arguments as they are written, one blank between them.
    pub fn as_written(&self) -> String {
        let mut before: Option<&Argument> = None;
        join(self.arguments.iter().filter_map(|word| {
            let is_same = before.is_some_and(|before| word.is_of_same_word(before));
            before = Some(word);
            (!is_same).then(|| word.as_written())
        }))
    }
}

/// Joins words with one blank.
pub(crate) fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// Returns a program's name without its directory.
pub fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
