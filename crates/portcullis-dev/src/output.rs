//! The only place of this crate that writes to the terminal.

use std::io::Write;

/// Prints a line for people to standard output.
pub fn say(line: &str) {
    // A closed pipe is the reader's wish, not a failure of the command.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints a line to standard error.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
