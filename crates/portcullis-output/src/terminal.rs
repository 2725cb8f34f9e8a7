//! The terminal: colours, and text that is written whole or reported as not written.
//!
//! Colours are dropped where they do not belong (a pipe, `NO_COLOR`). Text from outside must have gone through
//! `visible` before it comes here.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::io::{IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use portcullis_core::{Decision, is_hidden, visible};
use portcullis_hosts::json::write_escape;

use portcullis_gate::Failure;

/// The style of a heading or a name.
pub const BOLD: Style = Style::new().bold();
/// The style of what is there for completeness.
pub const DIM: Style = Style::new().dimmed();
/// The style of a problem.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of an error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Returns the style of a decision.
pub const fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::Allow => AnsiColor::Green.on_default().bold(),
        Decision::Contained => AnsiColor::Cyan.on_default().bold(),
        Decision::Ask => AnsiColor::Yellow.on_default().bold(),
        Decision::Deny => AnsiColor::Red.on_default().bold(),
    }
}

/// Returns the symbol shown before a decision.
pub const fn symbol_of(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "✓",
        Decision::Contained => "▣",
        Decision::Ask => "?",
        Decision::Deny => "✗",
    }
}

/// A value in a style.
#[derive(Debug)]
pub struct Painted<T>(pub Style, pub T);

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, value) = self;
        write!(formatter, "{style}{value}{style:#}")
    }
}

/// Writes text to standard output; what cannot be written is a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| unwritten(&error))
}

/// Makes JSON fit to be printed: characters that are not seen become escapes, which stand for the same.
///
/// Otherwise a terminal would obey them, and what drops colours where they do not belong would drop some of them too.
pub fn printable(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        // Line ends stand between values; those in a text are escapes already.
        if character != '\n' && is_hidden(character) {
            write_escape(&mut out, character);
        } else {
            out.push(character);
        }
    }
    out
}

/// Writes text to standard error; if that fails, there is nowhere left to say so.
pub fn print_error(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// What helps whoever did not confirm, or could not without a terminal.
pub const HOW_TO_CONFIRM: &str = "say yes in a terminal, or use --yes";

/// Asks the person at the terminal; without one nobody confirms.
pub fn confirm(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    print_error(&format!("{question} [y/N] "));
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| Failure::internal(format!("the answer could not be read: {error}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Says on standard error what does not change the outcome: a line each, then an empty one.
pub fn print_notes(notes: impl IntoIterator<Item = impl AsRef<str>>) {
    let line = |note: &str| format!("{}\n", Painted(DIM, format_args!("note: {}", visible(note))));
    let lines: String = notes.into_iter().map(|note| line(note.as_ref())).collect();
    if !lines.is_empty() {
        print_error(&format!("{lines}\n"));
    }
}

/// Notes of a long run, each of them said once.
#[derive(Debug, Default)]
pub struct Notes {
    said: BTreeSet<String>,
}

impl Notes {
    /// The most notes that are said, so that a long run neither floods the terminal nor the memory.
    const MOST: usize = 100;

    /// Says what was not said before.
    pub fn say(&mut self, notes: Vec<String>) {
        print_notes(self.fresh(notes));
    }

    /// Returns what was not said before; the last one there is room for says that there are more.
    fn fresh(&mut self, notes: Vec<String>) -> Vec<String> {
        let mut fresh = Vec::new();
        for note in notes {
            if self.said.len() > Self::MOST || self.said.contains(&note) {
                continue;
            }
            self.said.insert(note.clone());
            let is_last = self.said.len() > Self::MOST;
            fresh.push(if is_last { "further notes are not shown".to_owned() } else { note });
        }
        fresh
    }
}

/// Makes the failure of an output that could not be written; a reader who has left need not be told.
pub fn unwritten(error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Failure::internal("");
    }
    Failure::internal(format!("the output could not be written: {error}"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn printable_json_says_the_same_and_hides_nothing() {
        let value =
            serde_json::json!({"\u{9b}31m": ["\u{1b}]0;x\u{7}", "\u{202e}\u{7f}\u{85}\u{e0001}", "é\n日本"]});
        for text in [format!("{value}\n"), format!("{value:#}\n")] {
            let printed = printable(&text);
            assert!(
                !printed.chars().any(|character| character != '\n' && is_hidden(character)),
                "{printed:?}"
            );
            assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
            assert_eq!(printed.lines().count(), text.lines().count());
        }
    }

    #[test]
    fn a_note_is_said_once_and_a_flood_of_them_ends() {
        let mut notes = Notes::default();
        let one = || vec!["one".to_owned()];
        assert_eq!(notes.fresh([one(), one()].concat()), one());
        assert_eq!(notes.fresh(one()), Vec::<String>::new());
        let many: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        let said = notes.fresh(many.clone());
        assert_eq!(said.len(), Notes::MOST);
        assert_eq!(said.last().map(String::as_str), Some("further notes are not shown"));
        assert_eq!(notes.fresh([many, vec!["new".to_owned()]].concat()), Vec::<String>::new());
    }
}
