//! How a wrapper's arguments are laid out, and how the command among them is found.
//!
//! A layout says what must be skipped between the wrapper's name and the command: options with and without a value,
//! assignments, leading operands. An option the layout does not know may have a value in the next word or not, so that
//! the command is read both ways.
//!
//! Reading both ways is what keeps `sudo --new-option rm -rf /` from hiding its command: a reading too many asks once more,
//! a reading too few lets a deny rule miss.

use super::forms::WRAPPERS;
use super::place::{elsewhere, own_words};
use super::{Unwrapped, WrappedPart};
use crate::argument::Argument;
use crate::invocation::{Variable, Wrapping};

/// How one wrapper's arguments are laid out.
#[derive(Debug, Clone, Copy)]
pub(in crate::wrapper) struct WrapperLayout {
    pub(in crate::wrapper) name: &'static str,
    /// A subcommand that must follow the name, as in `uv run`.
    pub(in crate::wrapper) subcommand: Option<&'static str>,
    /// Short options without a value.
    pub(in crate::wrapper) flags: &'static str,
    /// Short options whose value is the next word unless attached.
    pub(in crate::wrapper) valued: &'static str,
    /// Short options whose value is attached or missing.
    pub(in crate::wrapper) attached: &'static str,
    pub(in crate::wrapper) flags_long: &'static [&'static str],
    /// Long options whose value is the next word unless given with `=`.
    pub(in crate::wrapper) valued_long: &'static [&'static str],
    /// Operands between options and command.
    pub(in crate::wrapper) operands: usize,
    /// Whether `NAME=value` words may precede the command.
    pub(in crate::wrapper) assigns: bool,
    /// Options whose value is shell text.
    pub(in crate::wrapper) text: &'static [&'static str],
    /// Options that name the directory the command runs in.
    pub(in crate::wrapper) directory: &'static [&'static str],
    /// Whether the words after the options are joined into shell text.
    pub(in crate::wrapper) joins: bool,
    /// Whether without a command it starts a shell.
    pub(in crate::wrapper) starts_shell: bool,
    pub(in crate::wrapper) wrapping: Wrapping,
}

/// Words between a program and its subcommand that are no options.
const GROUPS: &[&str] = &["compose", "container", "tool"];

/// More readings than this are not worth following.
const MOST_READINGS: usize = 6;

/// Reads the arguments by every layout of this name.
pub(in crate::wrapper) fn peel(name: &str, rest: &[Argument]) -> Vec<Unwrapped> {
    WRAPPERS
        .iter()
        .filter(|layout| layout.name == name)
        .filter_map(|layout| {
            let unwrapped = layout.peel(layout.after_subcommand(rest)?);
            let own = own_words(name, &unwrapped, rest);
            let directory = elsewhere(name, layout.subcommand.is_some(), own).or(unwrapped.directory);
            Some(Unwrapped { directory, ..unwrapped })
        })
        .collect()
}

/// What one way of reading the arguments finds.
#[derive(Default)]
pub(in crate::wrapper) struct ArgumentReading {
    /// Options with their values.
    pub(in crate::wrapper) values: Vec<(String, Argument)>,
    pub(in crate::wrapper) assignments: Vec<Variable>,
    /// The words of the command.
    pub(in crate::wrapper) words: Vec<Argument>,
    /// How many options were not known.
    pub(in crate::wrapper) doubts: usize,
    /// Whether a word before the command is only known at run time.
    pub(in crate::wrapper) is_open: bool,
}

impl WrapperLayout {
    /// Returns what follows the subcommand; `None` if it is another one.
    fn after_subcommand<'a>(&self, rest: &'a [Argument]) -> Option<&'a [Argument]> {
        let Some(wanted) = self.subcommand else {
            return Some(rest);
        };
        let mut may_be_value = false;
        for (place, word) in rest.iter().enumerate() {
            if word.text == wanted {
                return rest.get(place + 1..);
            }
            let is_skipped = word.is_option() || may_be_value || GROUPS.contains(&word.text.as_str());
            if !is_skipped {
                return None;
            }
            may_be_value = word.is_option() && !word.text.contains('=');
        }
        None
    }

    fn peel(&self, rest: &[Argument]) -> Unwrapped {
        let readings = self.readings(rest);
        let mut unwrapped = Unwrapped {
            wrapping: self.wrapping,
            parts: Vec::new(),
            assignments: readings.last().map(|last| last.assignments.clone()).unwrap_or_default(),
            directory: self.directory_of(&readings),
        };
        if unwrapped.directory.is_some() || readings.len() > 1 {
            unwrapped.wrapping = Wrapping::Changing;
        }
        for reading in readings {
            self.add(reading, &mut unwrapped);
        }
        if self.subcommand.is_some()
            && let Some(place) = rest.iter().position(|word| word.text == "--")
        {
            // No program is called like an option: behind one that came before, it is an argument.
            let after = rest.get(place + 1..).filter(|after| !after.first().is_some_and(Argument::is_option));
            let after = after.unwrap_or_default();
            push_new(&mut unwrapped.parts, WrappedPart::Command(after.to_vec()));
        }
        unwrapped
    }

    /// Returns the directory that all readings agree on; one nobody knows if they do not.
    fn directory_of(&self, readings: &[ArgumentReading]) -> Option<Argument> {
        let chosen = |reading: &ArgumentReading| {
            reading.values_of(self.directory).filter(|value| !value.text.is_empty()).last().cloned()
        };
        let mut all = readings.iter().map(chosen);
        let first = all.next()?;
        match all.find(|other| *other != first) {
            None => first,
            Some(other) => first.or(other).map(|directory| Argument::unknown(directory.span)),
        }
    }

    /// Reads the arguments in every way that options nobody knows leave open.
    pub(in crate::wrapper) fn readings(&self, rest: &[Argument]) -> Vec<ArgumentReading> {
        let mut all: Vec<ArgumentReading> = Vec::new();
        let mut doubts = 0;
        for extra in 0..=MOST_READINGS {
            let mut reading = self.read(rest, extra);
            doubts = doubts.max(reading.doubts);
            reading.is_open |= extra == MOST_READINGS && doubts > MOST_READINGS;
            all.push(reading);
            if extra >= doubts {
                break;
            }
        }
        all
    }

    /// Adds what a reading finds.
    fn add(&self, reading: ArgumentReading, unwrapped: &mut Unwrapped) {
        let texts: Vec<&Argument> = reading.values_of(self.text).collect();
        let has_text = !texts.is_empty();
        if has_text {
            unwrapped.wrapping = Wrapping::Changing;
        }
        for text in texts {
            if self.name == "env" {
                split(text, &reading.words, &mut unwrapped.parts);
            } else {
                push_new(&mut unwrapped.parts, WrappedPart::Text(vec![text.clone()]));
            }
        }
        if reading.is_open {
            let why = "what comes before the wrapped command is only known at run time";
            push_new(&mut unwrapped.parts, WrappedPart::Unknown(why));
        } else if !reading.words.is_empty() {
            let part = if self.joins {
                WrappedPart::Text(reading.words)
            } else {
                WrappedPart::Command(reading.words)
            };
            push_new(&mut unwrapped.parts, part);
        } else if self.starts_shell && !has_text {
            push_new(&mut unwrapped.parts, WrappedPart::Input);
        }
    }

    /// Reads options, assignments and operands up to the command, with so many operands more than usual.
    pub(in crate::wrapper) fn read(&self, rest: &[Argument], extra: usize) -> ArgumentReading {
        let mut reading = ArgumentReading::default();
        let mut words = rest.iter().peekable();
        let mut operands = self.operands.saturating_add(extra);
        let mut has_ended = false;
        while let Some(word) = words.peek() {
            let is_plain = word.shape().is_some_and(|shape| shape.is_plain() && !shape.may_be_option());
            let is_operand = is_plain && operands > 0 && word.is_one_word();
            if !word.is_known() && !is_operand {
                reading.is_open = true;
                return reading;
            }
            if !has_ended && word.text == "--" {
                // `su` hands what follows to a shell, so that it is read like its own options.
                has_ended = self.operands != usize::MAX;
                words.next();
            } else if !has_ended && word.text.starts_with('-') {
                if let Some(option) = words.next() {
                    self.read_option(option, &mut words, &mut reading);
                }
            } else if let Some(variable) = self.assignment(word).filter(|_| !self.has_split(&reading)) {
                reading.assignments.push(variable);
                words.next();
            } else if operands > 0 {
                operands -= 1;
                words.next();
            } else {
                break;
            }
        }
        reading.words = words.cloned().collect();
        reading
    }

    /// Reads one option. One that is not listed is read with a value and without, because either may be true.
    fn read_option<'a>(
        &self,
        option: &Argument,
        words: &mut std::iter::Peekable<impl Iterator<Item = &'a Argument>>,
        reading: &mut ArgumentReading,
    ) {
        if let Some(long) = option.text.strip_prefix("--") {
            if let Some((name, value)) = long.split_once('=') {
                reading.values.push((format!("--{name}"), option.piece(value)));
            } else if self.valued_long.contains(&long) {
                reading.take(&option.text, words.next());
            } else if self.flags_long.contains(&long) {
                reading.values.push((option.text.clone(), option.piece("")));
            } else {
                // It may be cut short, with or without a value.
                reading.values.extend(words.peek().map(|&value| (option.text.clone(), value.clone())));
                reading.values.push((option.text.clone(), option.piece("")));
                reading.doubts += 1;
            }
            return;
        }
        let cluster = option.text.strip_prefix('-').unwrap_or_default();
        let mut is_known = true;
        for (at, letter) in cluster.char_indices() {
            let rest = cluster.get(at + letter.len_utf8()..).unwrap_or_default();
            if self.valued.contains(letter) {
                let attached = (!rest.is_empty()).then(|| option.piece(rest));
                let value = attached.as_ref().or_else(|| words.next());
                reading.take(&format!("-{letter}"), value);
                return;
            }
            if self.attached.contains(letter) {
                reading.values.push((format!("-{letter}"), option.piece(rest)));
                return;
            }
            is_known &= self.flags.contains(letter);
        }
        reading.doubts += usize::from(!is_known);
    }

    /// Says whether `env` was given a text with the beginning of the command, so that what follows belongs to that.
    fn has_split(&self, reading: &ArgumentReading) -> bool {
        self.name == "env" && reading.values_of(self.text).next().is_some()
    }

    /// Returns the assignment that a word is, where the wrapper takes any.
    fn assignment(&self, word: &Argument) -> Option<Variable> {
        let (name, value) = word.text.split_once('=').filter(|_| self.assigns)?;
        (!name.is_empty() && !name.contains('/'))
            .then(|| Variable { name: name.to_owned(), value: word.piece(value) })
    }
}

impl ArgumentReading {
    /// Notes the value of an option, which may be no word at all or several if it is expanded.
    fn take(&mut self, option: &str, value: Option<&Argument>) {
        self.is_open |= value.is_some_and(|value| !value.is_known() && !value.is_one_word());
        self.values.extend(value.map(|value| (option.to_owned(), value.clone())));
    }

    /// Returns the values of these options; a long one may be cut short.
    pub(in crate::wrapper) fn values_of(&self, options: &[&str]) -> impl Iterator<Item = &Argument> {
        self.values.iter().filter(|(option, _)| names_one(option, options)).map(|(_, value)| value)
    }
}

/// Says whether an option is one of these, a long one perhaps cut short.
fn names_one(option: &str, options: &[&str]) -> bool {
    let is_long = option.len() > 2 && option.starts_with("--");
    options.iter().any(|listed| *listed == option || (is_long && listed.starts_with(option)))
}

/// Reads the text of `env -S`, which `env` splits into words, and the words that follow it.
fn split(text: &Argument, more: &[Argument], parts: &mut Vec<WrappedPart>) {
    let is_plain = |letter: char| letter.is_alphanumeric() || " _./=:,@%+-".contains(letter);
    if text.text.chars().all(is_plain) {
        let words = std::iter::once("env").chain(text.text.split(' ').filter(|word| !word.is_empty()));
        let words = words.map(|word| text.piece(word)).chain(more.iter().cloned()).collect();
        push_new(parts, WrappedPart::Command(words));
    } else {
        let words = std::iter::once(text).chain(more).cloned().collect();
        push_new(parts, WrappedPart::Text(words));
        push_new(parts, WrappedPart::Unknown("`env` splits the text by rules of its own"));
    }
}

/// Adds a reading that is not there yet: doubts often lead to the same command.
fn push_new(parts: &mut Vec<WrappedPart>, part: WrappedPart) {
    if !parts.contains(&part) {
        parts.push(part);
    }
}
