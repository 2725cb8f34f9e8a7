//! The terminal: colours, and text that is written whole or reported as not written.
//!
//! Colours are dropped where they do not belong (a pipe, `NO_COLOR`). Text from outside must have gone through
//! `visible` before it comes here.

use std::fmt::{self, Display};
use std::io::Write;

use anstyle::{AnsiColor, Style};
use portcullis_core::Decision;

use crate::failure::Failure;

/// The style of a heading or a name.
pub(crate) const BOLD: Style = Style::new().bold();
/// The style of what is there for completeness.
pub(crate) const DIM: Style = Style::new().dimmed();
/// The style of a problem.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of an error.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Returns the style of a decision.
pub(crate) const fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::Allow => AnsiColor::Green.on_default().bold(),
        Decision::Ask => AnsiColor::Yellow.on_default().bold(),
        Decision::Deny => AnsiColor::Red.on_default().bold(),
    }
}

/// Returns the symbol shown before a decision.
pub(crate) const fn symbol_of(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "✓",
        Decision::Ask => "?",
        Decision::Deny => "✗",
    }
}

/// A value in a style.
#[derive(Debug)]
pub(crate) struct Painted<T>(pub Style, pub T);

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, value) = self;
        write!(formatter, "{style}{value}{style:#}")
    }
}

/// Writes text to standard output; what cannot be written is a failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| unwritten(&error))
}

/// Writes text to standard error; if that fails, there is nowhere left to say so.
pub(crate) fn print_error(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Makes the failure of an output that could not be written; a reader who has left need not be told.
pub(crate) fn unwritten(error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Failure::internal("");
    }
    Failure::internal(format!("the output could not be written: {error}"))
}
