//! Programs that run the commands in their arguments, and how to find these there.
//!
//! Where the tables leave a doubt, every reading is listed: a command that may stand in the arguments counts.

mod batch;
mod carrier;
mod git;
mod layout;
mod place;
mod search;

/// The wrappers by name and how their arguments are laid out, compiled from `data/wrappers.toml`.
mod forms {
    use super::layout::WrapperLayout;
    use crate::invocation::Wrapping;

    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}

use crate::argument::Argument;
use crate::invocation::{Variable, Wrapping, base_name};

/// What stands inside a wrapper's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrappedPart {
    /// A command as words.
    Command(Vec<Argument>),
    /// A command line as text, one argument or several joined with blanks.
    Text(Vec<Argument>),
    /// Shell text on standard input.
    Input,
    /// A command whose place cannot be told.
    Unknown(&'static str),
}

/// A wrapper and what it wraps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unwrapped {
    pub(crate) wrapping: Wrapping,
    pub(crate) parts: Vec<WrappedPart>,
    pub(crate) assignments: Vec<Variable>,
    /// The directory the wrapped command runs in, if the wrapper changes it.
    pub(crate) directory: Option<Argument>,
}

impl Unwrapped {
    /// Makes a wrapper that changes something, with these insides.
    pub(crate) fn changing(parts: Vec<WrappedPart>) -> Self {
        Self { wrapping: Wrapping::Changing, parts, assignments: Vec::new(), directory: None }
    }
}

/// Finds what a command's arguments run; empty if it is no wrapper.
pub(crate) fn peel(arguments: &[Argument]) -> Vec<Unwrapped> {
    let Some((program, rest)) = arguments.split_first() else {
        return Vec::new();
    };
    let Some(name) = program.fixed().map(program_name) else {
        return Vec::new();
    };
    if name == "command" && is_query(rest) {
        return Vec::new();
    }
    let mut all: Vec<Unwrapped> = layout::peel(&name, rest);
    if matches!(name.as_str(), "find" | "gfind" | "bfs") {
        all.extend(search::peel_find(rest));
    }
    all.extend(match name.as_str() {
        "fd" | "fdfind" => search::peel_fd(rest),
        "xargs" | "gxargs" => batch::peel_xargs(rest),
        "parallel" | "env_parallel" | "sem" => Some(batch::peel_parallel(rest)),
        "git" => git::peel(rest).map(|unwrapped| place::anywhere(unwrapped, rest)),
        name if name.starts_with("git-") => git::peel_dashed(name, program, rest),
        "gdb" if !place::changes_directory(rest) => carrier::peel(&name, rest),
        name => carrier::peel(name, rest).map(|unwrapped| place::anywhere(unwrapped, rest)),
    });
    all
}

/// Returns the name a program is looked up by: without directory, case and `.exe`, as some systems run it.
pub(crate) fn program_name(program: &str) -> String {
    let name = base_name(program).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

/// Says whether `command` only looks something up: `command -v git`.
fn is_query(rest: &[Argument]) -> bool {
    rest.iter().take_while(|argument| argument.is_option()).any(|argument| argument.text.contains(['v', 'V']))
}
