//! Command text in the words of build tools: what a word makes such a tool run besides the project.
//!
//! `make 'X=$(shell date)'` runs the command whatever the makefile says, and so do settings of other tools that are
//! commands by their name. A test's name or a pattern may hold the same letters, so that only what cannot be one counts.

use crate::argument::{Argument, Knowledge};
use crate::invocation::Invocation;
use crate::lists::programs::builds::{CHAINING, PROGRAM_VARIABLES, STEERING, TOOLS};

/// Says whether a word of a build command holds a command of its own.
pub(crate) fn is_command_text(command: &Invocation, word: &Argument) -> bool {
    let text = word.text.as_str();
    let program = command.program_name().unwrap_or_default();
    is_expanded_by_tool(word)
        || is_chain(text) && !CHAINING.contains(&program)
        || is_document(text)
        || setting(text).is_some_and(|(name, value)| steers(name, value))
}

/// Says whether the tool itself would run a part of the word: the shell leaves the text alone.
fn is_expanded_by_tool(word: &Argument) -> bool {
    let is_written = |text: &str| text.contains("$(") || text.contains('`') || text.contains("${shell");
    match word.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => is_written(&word.text),
        Knowledge::Glob | Knowledge::Dynamic => {
            word.as_written().contains("\\$(") || word.as_written().contains("\\`")
        }
    }
}

/// Says whether a text is several commands: words with something between them that joins commands.
fn is_chain(text: &str) -> bool {
    let has_words = text.contains(char::is_whitespace);
    has_words && (text.contains("&&") || text.contains(';') || text.contains(" | ") || text.contains("|sh"))
        || text.contains("|sh") && text.contains('.')
}

/// Says whether a text is a document that stands for a file of settings.
fn is_document(text: &str) -> bool {
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    value.starts_with(['{', '[']) && value.contains(':') && value.contains(['{', '"'])
}

/// Reads `NAME=VALUE`, `-DNAME=VALUE`, `-p:NAME=VALUE`, `/p:NAME=VALUE`, `--define=NAME=VALUE`.
fn setting(text: &str) -> Option<(&str, &str)> {
    let (front, value) = text.split_once('=')?;
    let name = front.rsplit([':', '/']).next().unwrap_or(front);
    let name = name.trim_start_matches('-');
    let is_short = front.starts_with('-') && !front.starts_with("--") && !front.contains(':');
    let name = if is_short { name.strip_prefix(['D', 'P', 'X']).unwrap_or(name) } else { name };
    (!name.is_empty()).then_some((name, value))
}

/// Says whether a setting makes a tool run its value.
fn steers(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_named = STEERING.iter().any(|part| lower.contains(part));
    let is_program = PROGRAM_VARIABLES.contains(&name);
    let first = value.split_whitespace().next().unwrap_or_default();
    let base = first.rsplit('/').next().unwrap_or(first);
    let is_tool = TOOLS
        .iter()
        .any(|tool| base.trim_end_matches(|letter: char| "-.0123456789".contains(letter)) == *tool);
    let has_commands = value.contains([';', '|', '&', '<', '>']) || value.contains(" -c ");
    (is_named || is_program) && !value.is_empty() && (!is_tool || has_commands)
}
