//! `find` and `fd`, which run commands on what they find.

use super::{Unwrapped, WrappedPart};
use crate::argument::{Argument, Knowledge};
use crate::shape::Shape;

/// Options of `find` that start a command.
const EXECUTING: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Finds the commands after `-exec` and the like.
pub(super) fn peel_find(rest: &[Argument]) -> Vec<Unwrapped> {
    let mut found = Vec::new();
    let mut words = rest.iter();
    while let Some(option) = words.next() {
        if EXECUTING.contains(&option.text.as_str()) {
            let mut command: Vec<Argument> = Vec::new();
            let mut is_batch = false;
            for word in words.by_ref() {
                let is_end = word.text == ";"
                    || (word.text == "+" && command.last().is_some_and(|last| last.text == "{}"));
                if is_end {
                    is_batch = word.text == "+";
                    break;
                }
                // Where the file is, it has another name.
                let is_elsewhere = option.text.ends_with("dir") && word.text.contains('{');
                command.push(if is_elsewhere { unknown_piece(word) } else { placeholder(word) });
            }
            // Before a plus it stands for as many files as there are.
            if is_batch && let Some(bound) = command.last_mut().and_then(|last| last.bound.as_mut()) {
                bound.is_many = true;
            }
            // These run where the file is.
            let directory = option.text.ends_with("dir").then(|| Argument::unknown(option.span));
            found.push(Unwrapped { directory, ..Unwrapped::changing(vec![WrappedPart::Command(command)]) });
        }
    }
    found
}

/// Short options of `fd` with a value.
const FD_VALUED: &str = "dtESjceoC";

/// Finds the commands after `-x` and `-X`, also at the end of a cluster or with the program attached.
pub(super) fn peel_fd(rest: &[Argument]) -> Option<Unwrapped> {
    let mut parts = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if let Some(attached) = starts_command(&word.text) {
            let first = (!attached.is_empty()).then(|| word.piece(attached));
            let more = words.by_ref().take_while(|word| word.text != ";").map(placeholder);
            let mut command: Vec<Argument> = first.into_iter().chain(more).collect();
            // Without a placeholder the names are appended.
            if !command.iter().any(|word| word.text.contains('{')) {
                command.push(marked(&Argument { knowledge: Knowledge::Fixed, ..word.piece("{}") }, "{}"));
            }
            parts.push(WrappedPart::Command(command));
        }
    }
    (!parts.is_empty()).then(|| Unwrapped::changing(parts))
}

/// Returns what is attached to an option of `fd` that starts a command; empty if the next word is the program.
fn starts_command(text: &str) -> Option<&str> {
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').unwrap_or((long, ""));
        return (name.starts_with("exe") && "exec-batch".starts_with(name)).then_some(value);
    }
    let cluster = text.strip_prefix('-')?;
    for (at, letter) in cluster.char_indices() {
        if matches!(letter, 'x' | 'X') {
            return cluster.get(at + 1..).map(|attached| attached.trim_start_matches('='));
        }
        if FD_VALUED.contains(letter) {
            return None;
        }
    }
    None
}

/// A word with a placeholder in it stands for file names that are put in later.
fn placeholder(word: &Argument) -> Argument {
    if word.text.contains('{') { marked(word, "{}") } else { word.clone() }
}

/// Returns the word as something that is put together at run time, with what is found in the place of a mark.
pub(super) fn marked(word: &Argument, mark: &str) -> Argument {
    let is_known = word.fixed().is_some();
    word.clone().bounded(Shape::with_marks(&word.text, mark).filter(|_| is_known), false)
}

/// Returns the word as something only known at run time.
pub(super) fn unknown_piece(word: &Argument) -> Argument {
    word.clone().unbounded()
}
