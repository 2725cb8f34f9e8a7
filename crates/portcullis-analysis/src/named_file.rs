//! Words of a command that could be files, for programs of which that is not known, and what others read unasked.

use portcullis_shell::Span;

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::effect::target::path_of;
use crate::effect::{Effect, PathTarget, Target};
use crate::invocation::Invocation;

/// A file that a command may touch although nothing says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleFile {
    /// Where it would be.
    pub target: PathTarget,
    /// Where its name stands.
    pub span: Span,
    /// Whether it is the very script that is run, which is read and otherwise left alone.
    pub is_run: bool,
    /// Where its name stands.
    pub naming: Naming,
}

/// Where the name of a file stands that a command may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// It is a word that may be a file or not.
    Word,
    /// It is a word of a command that does something unknown to what it names.
    ChangedWord,
    /// It stands inside a text that nobody reads.
    Text,
}

/// The most names inside one text that are looked at.
const MOST_NAMES: usize = 256;

/// Lists the files that a command may touch although nothing says so: words of a program that is not wholly known, and
/// names inside code that is not understood.
pub fn possible_files(invocation: &Invocation, effects: &[Effect], home: Option<&str>) -> Vec<PossibleFile> {
    let is_run = |word: &Argument| {
        effects.iter().any(|effect| effect.act == Act::Execute && effect.word.as_ref() == Some(word))
    };
    let possible = |word: &Argument, naming: Naming| PossibleFile {
        target: path_of(word, &invocation.directories, home),
        span: word.span,
        is_run: is_run(word),
        naming,
    };
    // Words of git name files in commits, which its profile does not tell from other names.
    let is_accounted = is_accounted_for(invocation, effects) && invocation.program_name() != Some("git");
    let words = if is_accounted { Vec::new() } else { mentioned(invocation) };
    // A program that nobody knows has no word for what it does.
    let is_changing = |effect: &Effect| {
        effect.act == Act::Unknown && (effect.word.is_some() || effect.target == Target::None)
    };
    let naming = if effects.iter().any(is_changing) { Naming::ChangedWord } else { Naming::Word };
    let mut files: Vec<PossibleFile> = words.iter().map(|word| possible(word, naming)).collect();
    files.extend(names_in_texts(invocation, effects).iter().map(|name| possible(name, Naming::Text)));
    files
}

/// Says whether the program is known and every effect says what it does to which file.
fn is_accounted_for(invocation: &Invocation, effects: &[Effect]) -> bool {
    // Code that is run may take any word for a file.
    let is_file_work = |effect: &Effect| {
        effect.act != Act::Execute && (effect.act.is_observing() || effect.act.access().is_some())
    };
    invocation.program().is_none_or(|program| program.fixed().is_some()) && effects.iter().all(is_file_work)
}

/// Returns the names that stand inside code which is not understood, or not wholly.
fn names_in_texts(invocation: &Invocation, effects: &[Effect]) -> Vec<Argument> {
    let unknown = effects.iter().filter(|effect| effect.act == Act::Unknown);
    let mut texts: Vec<(&str, Span)> = unknown
        .clone()
        .filter_map(|effect| effect.word.as_ref())
        .map(|word| (word.text.as_str(), word.span))
        .collect();
    if let (Some(code), Some(_)) = (&invocation.code, unknown.clone().next()) {
        texts.push((code.text.as_str(), invocation.span));
    }
    let names = texts.into_iter().flat_map(|(text, span)| {
        let names =
            text.split(|letter: char| letter.is_whitespace() || "'\"`()[]{}<>,;|&=!\\".contains(letter));
        names.filter(|name| !name.is_empty()).map(move |name| (name, span))
    });
    let argument = |(name, span): (&str, Span)| {
        let knowledge = if name.starts_with('~') { Knowledge::Tilde } else { Knowledge::Fixed };
        Argument { text: name.to_owned(), source: None, knowledge, span, bound: None }
    };
    names.take(MOST_NAMES).map(argument).collect()
}

/// Returns the operands of any program that could be files, and the paths inside its options.
fn mentioned(invocation: &Invocation) -> Vec<Argument> {
    let mut words = plain_operands(invocation.operands());
    if invocation.program_name() == Some("git") {
        // A file in a commit: `HEAD:src/main.rs`.
        let in_commit = |word: &Argument| word.text.split_once(':').map(|(_, file)| word.piece(file));
        let files: Vec<Argument> = words.iter().filter_map(in_commit).collect();
        words.extend(files.into_iter().filter(|file| !file.text.is_empty()));
    }
    words.extend(invocation.operands().iter().filter(|word| word.is_option()).filter_map(path_in_option));
    words
}

/// Programs that find their work by the directory they run in, which no operand of theirs names.
const WORKING_HERE: &[&str] = &["gh", "git"];

/// Returns what a program reads without being told in so many words: the directory it runs in, and for git the words
/// that lead out of it.
pub(crate) fn implied(invocation: &Invocation) -> Vec<Argument> {
    let Some(program) = invocation.program() else {
        return Vec::new();
    };
    let name = invocation.program_name().unwrap_or_default();
    let mut words: Vec<Argument> = Vec::new();
    if WORKING_HERE.contains(&name) {
        words.push(program.piece("."));
    }
    if name == "git" {
        let leads_out = |word: &Argument| {
            let is_address = word.text.contains("://") || word.text.starts_with("//");
            let climbs = word.text.split('/').any(|component| component == "..");
            !is_address && (word.text.starts_with(['/', '~']) || climbs)
        };
        words.extend(mentioned(invocation).into_iter().filter(leads_out));
    }
    words
}

/// Returns the operands: what is not an option, and everything after `--`.
fn plain_operands(operands: &[Argument]) -> Vec<Argument> {
    let mut plain = Vec::new();
    let mut ended = false;
    for argument in operands {
        if !ended && argument.text == "--" {
            ended = true;
        } else if ended || !argument.is_option() {
            plain.push(argument.clone());
        }
    }
    plain.retain(|argument| argument.text != "-");
    plain
}

/// Returns the path that stands inside an option: `--file=/etc/x`, `-f/etc/x`.
fn path_in_option(option: &Argument) -> Option<Argument> {
    let text = option.text.as_str();
    let value = match text.split_once('=') {
        Some((_, value)) => value,
        None => text.find(['/', '~']).and_then(|at| text.get(at..)).unwrap_or_default(),
    };
    let is_path = value.contains('/') || value.starts_with('~') || value.starts_with("..");
    let is_named = !value.is_empty() && text.contains('=') && option.is_known();
    (is_path || is_named).then(|| option.piece(value))
}
