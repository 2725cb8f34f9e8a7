//! The grammar: one file per family of productions, all methods of [`crate::cursor::Parser`].
//!
//! A production is called with the cursor on its first byte and leaves it after its last. `opt_*` productions may be
//! absent. None returns an error: see [`crate::cursor`].

mod arithmetic;
mod assignment;
mod backquote;
mod case;
mod command;
mod compound;
mod conditional;
mod dollar;
mod enclosed;
mod function;
mod heredoc;
mod keyword;
mod list;
mod loops;
mod parameter;
mod pipeline;
mod quote;
mod redirect;
mod simple;
mod space;
mod substitution;
mod word;

/// How the text around an expansion is quoted, which decides what the expansion's inside means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Not at all.
    Unquoted,
    /// Directly in `"…"`.
    Double,
    /// Directly in the body of an unquoted here-document.
    Heredoc,
    /// In arithmetic, or in `${…}` inside quotes: single quotes are ordinary characters to the expansions inside them.
    Mixed,
}

impl Quoting {
    /// Returns how the inside of `${…}` or of a nested `"…"` is quoted.
    pub(crate) fn inside(self) -> Self {
        if self == Self::Unquoted { Self::Unquoted } else { Self::Mixed }
    }
}
