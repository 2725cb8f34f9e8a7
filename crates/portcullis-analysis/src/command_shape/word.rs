//! The words of a program that nobody knows, as far as they may differ from one call to the next.

use std::collections::BTreeSet;

use super::{ShapeGrounds, TargetKind};
use crate::argument::{Argument, Knowledge};
use crate::interpreter::is_shell;
use crate::invocation::{Invocation, base_name};
use crate::lists::memory::{HEAVY_WORDS, PROSE_OPTIONS, PROSE_VERBS};
use crate::path;
use crate::reach::OptionFront;

/// How many leading words a person takes for the name of what is done.
const LONGEST_SUBCOMMAND: usize = 2;
/// The longest number that is one among many.
const LONGEST_NUMBER: usize = 9;

/// What counts of the words.
pub(super) struct ShapedWords {
    pub(super) subcommand: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) paths: Vec<(String, TargetKind)>,
    pub(super) targets: BTreeSet<TargetKind>,
    /// Files that the program is told to load, absolute.
    pub(super) loaded: Vec<String>,
}

/// What may follow a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Anything.
    Free,
    /// Words of people, as the value of an option.
    Prose,
    /// A file to load, as the value of an option.
    Loaded,
}

impl ShapedWords {
    /// Reads the words of a command; `None` if a yes to them is not to be remembered.
    pub(super) fn of(invocation: &Invocation, directory: &str, grounds: &ShapeGrounds<'_>) -> Option<Self> {
        let name = base_name(invocation.program()?.fixed()?);
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        if is_shell(name) || is_heavy(stem) {
            return None;
        }
        let operands = invocation.operands();
        if operands.iter().any(|word| word.knowledge != Knowledge::Fixed) {
            return None;
        }
        let lead = operands.iter().take(LONGEST_SUBCOMMAND).take_while(|word| is_verb(&word.text)).count();
        let (verbs, rest) = operands.split_at_checked(lead)?;
        if verbs.iter().any(|verb| is_heavy(&verb.text)) {
            return None;
        }
        let subcommand: Vec<String> = verbs.iter().map(|verb| verb.text.clone()).collect();
        let (words, paths, loaded) = (Vec::new(), Vec::new(), Vec::new());
        let mut shaped = Self { subcommand, words, paths, targets: BTreeSet::new(), loaded };
        let mut position = Position::Free;
        for word in rest {
            position = shaped.add(word, position, directory, grounds)?;
        }
        Some(shaped)
    }

    /// Adds one word, and says what may follow it.
    fn add(
        &mut self,
        word: &Argument,
        position: Position,
        directory: &str,
        grounds: &ShapeGrounds<'_>,
    ) -> Option<Position> {
        let text = word.text.as_str();
        // A lone dash is what the program is fed; a mark of ours must not stand in a call.
        if text == "-" || text.contains(['\u{2039}', '\u{203a}']) {
            return None;
        }
        if position != Position::Free && !word.is_option() {
            let value = self.value(text, position, directory, grounds)?;
            self.words.push(value);
            return Some(Position::Free);
        }
        if word.is_option() {
            let (option, value) = match text.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (text, None),
            };
            if is_heavy(option) {
                return None;
            }
            let position = match option {
                _ if PROSE_OPTIONS.contains(&option) => Position::Prose,
                _ if OptionFront::of(option).is_loading(option.len()) => Position::Loaded,
                _ => Position::Free,
            };
            let Some(value) = value else {
                self.words.push(text.to_owned());
                return Some(position);
            };
            let value = self.value(value, position, directory, grounds)?;
            self.words.push(format!("{option}={value}"));
            return Some(Position::Free);
        }
        let general = self.general(text, directory, grounds)?;
        self.words.push(general);
        Some(Position::Free)
    }

    /// Returns what counts of the value of an option.
    fn value(
        &mut self,
        text: &str,
        position: Position,
        directory: &str,
        grounds: &ShapeGrounds<'_>,
    ) -> Option<String> {
        match position {
            Position::Prose if is_said(text, directory, grounds) => Some(TEXT.to_owned()),
            Position::Loaded => {
                self.general(text, directory, grounds)?;
                self.loaded.push(path::join(directory, text));
                Some(text.to_owned())
            }
            Position::Free | Position::Prose => self.general(text, directory, grounds),
        }
    }

    /// Returns what counts of a word that is no option.
    fn general(&mut self, text: &str, directory: &str, grounds: &ShapeGrounds<'_>) -> Option<String> {
        if text.contains("://") || text.contains('@') {
            return None;
        }
        if let Some(general) = of_number(text) {
            return Some(general);
        }
        let is_of_people = |verb: &String| PROSE_VERBS.contains(&verb.as_str());
        if text.contains(' ') {
            let is_prose =
                self.subcommand.last().is_some_and(is_of_people) && is_said(text, directory, grounds);
            return Some(if is_prose { TEXT.to_owned() } else { text.to_owned() });
        }
        if is_verb(text) && is_heavy(text) {
            return None;
        }
        if !text.contains('/') && !matches!(text, "." | "..") {
            return Some(text.to_owned());
        }
        let path = path::join(directory, text);
        let kind = grounds.place(&path)?;
        // A program without a subcommand may run the file, and the workspace as a whole is more than a file of it.
        let is_one_of_many = !self.subcommand.is_empty()
            && !grounds.scope.roots.contains(&path)
            && !text.split('/').any(|part| part == "..")
            && !begins_with_host(text);
        self.paths.push((path, kind));
        self.targets.insert(kind);
        Some(if is_one_of_many { format!("\u{2039}{} path\u{203a}", kind.name()) } else { text.to_owned() })
    }
}

/// What stands for words of people.
const TEXT: &str = "\u{2039}text\u{203a}";

/// Says whether a text can only be words of people: programs take what begins like a path or an address, or names a file, for
/// something to read.
fn is_said(text: &str, directory: &str, grounds: &ShapeGrounds<'_>) -> bool {
    let begins_like_place = text.starts_with(|letter: char| "@/~.-$<|%&=+:\\".contains(letter));
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || " -_,;!?'()".contains(letter);
    !begins_like_place
        && !first.contains([':', '=', '/', '@'])
        && (text.contains(' ') || text.chars().all(is_plain))
        && grounds.place(&path::join(directory, text)).is_some()
}

/// Returns what stands for a number, or for a name that ends in one: `12`, `#12`, `bd-12`, `ENT-7a`.
fn of_number(text: &str) -> Option<String> {
    let is_number = |text: &str| {
        !text.is_empty() && text.len() <= LONGEST_NUMBER && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if is_number(text) {
        return Some("\u{2039}number\u{203a}".to_owned());
    }
    if text.strip_prefix('#').is_some_and(is_number) {
        return Some("#\u{2039}number\u{203a}".to_owned());
    }
    let (name, end) = text.split_once('-')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_end = end.len() <= LONGEST_NUMBER
        && end.bytes().any(|byte| byte.is_ascii_digit())
        && end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    (is_name && is_end).then(|| format!("{name}-\u{2039}number\u{203a}"))
}

/// Says whether a word may be the name of what is done.
fn is_verb(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.'))
        && of_number(text).is_none()
}

/// Says whether a part of a word says that more is at stake than a question.
pub(super) fn is_heavy(text: &str) -> bool {
    let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.map(str::to_ascii_lowercase).any(|part| HEAVY_WORDS.contains(&part.as_str()))
}

/// Says whether a word with a slash may begin with the name of a host.
fn begins_with_host(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    !first.starts_with('.') && first.contains(['.', ':'])
}
