//! How programs read the value of a variable, by its name.

use crate::lists::environment::{PATTERNS, READ_BY, VARIABLES};

/// What programs take the value of a variable for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// A text that steers nothing.
    Harmless,
    /// Whatever it is: the name says nothing.
    Plain,
    /// One of several names.
    Name,
    /// A command that shows or edits a file.
    Command,
    /// A program of a tool chain.
    Toolchain,
    /// A shell.
    Shell,
    /// Places that code or settings are loaded from, the project's own among them.
    Loaded,
    /// Places that code, settings or trust come from; only the usual ones are known.
    Settings,
    /// The same, where a temporary place is how foreign code is slipped in.
    Searched,
    /// Code that is loaded first.
    Preloaded,
    /// The directories of programs.
    Programs,
    /// A file or directory that is written.
    Written,
    /// A host or an address.
    Address,
    /// Options of a program.
    Options,
    /// Options of an interpreter.
    CodeOptions,
    /// Anything that is no number and no switch steers.
    Steering,
    /// A switch that drops a check.
    Weakening,
    /// A way out for what a program knows.
    Watching,
}

impl ValueKind {
    fn of_row(kind: &str) -> Self {
        match kind {
            "harmless" => Self::Harmless,
            "plain" => Self::Plain,
            "name" => Self::Name,
            "command" => Self::Command,
            "toolchain" => Self::Toolchain,
            "shell" => Self::Shell,
            "loaded" => Self::Loaded,
            "settings" => Self::Settings,
            "searched" => Self::Searched,
            "preloaded" => Self::Preloaded,
            "programs" => Self::Programs,
            "written" => Self::Written,
            "address" => Self::Address,
            "options" => Self::Options,
            "code-options" => Self::CodeOptions,
            "weakening" => Self::Weakening,
            "watching" => Self::Watching,
            _ => Self::Steering,
        }
    }

    /// Says whether the value is run as a command.
    pub(super) fn is_run(self) -> bool {
        matches!(self, Self::Command | Self::Toolchain | Self::Shell)
    }
}

/// Returns how the value of a variable is read, if the table has its very name.
pub(super) fn listed(name: &str) -> Option<ValueKind> {
    let find = |name: &str| VARIABLES.iter().find(|(listed, _)| *listed == name);
    // Npm reads its variables in any case.
    let row = match name.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("npm_") => {
            find(&name.to_ascii_uppercase()).or_else(|| find(&name.to_ascii_lowercase()))
        }
        _ => find(name),
    };
    row.map(|(_, kind)| ValueKind::of_row(kind))
}

/// Returns how the value of a variable is read, by its name or a piece of it.
pub(super) fn kind_of(name: &str) -> ValueKind {
    let by_piece = || {
        let row = PATTERNS.iter().find(|(pattern, _)| fits(pattern, name));
        row.map_or(ValueKind::Plain, |(_, kind)| ValueKind::of_row(kind))
    };
    listed(name).unwrap_or_else(by_piece)
}

/// Returns the program, with its subcommand, that takes the value of a variable for words of its own command line.
pub(crate) fn reading_program(name: &str) -> Option<&'static str> {
    READ_BY.iter().find(|(listed, _)| listed.eq_ignore_ascii_case(name)).map(|(_, program)| *program)
}

/// Says whether a name begins with, ends with or holds the piece of a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_table_is_one_that_is_read() {
        for (name, kind) in VARIABLES.iter().chain(PATTERNS) {
            let is_known = *kind == "steering" || ValueKind::of_row(kind) != ValueKind::Steering;
            assert!(is_known, "{name}: {kind}");
        }
    }

    #[test]
    fn exact_names_come_before_pieces_of_them() {
        for (name, expected) in [
            ("GIT_PAGER", ValueKind::Command),
            ("GIT_ANYTHING_ELSE", ValueKind::Steering),
            ("npm_config_REGISTRY", ValueKind::Address),
            ("ACME_PAGER", ValueKind::Command),
            ("ACME_HOME", ValueKind::Loaded),
            ("ACME", ValueKind::Plain),
            ("http_proxy", ValueKind::Address),
        ] {
            assert_eq!(kind_of(name), expected, "{name}");
        }
    }
}
