//! What a command reads on its standard input, where that can be told.

use portcullis_shell::ast::RedirectOperator;

use crate::shape::{Shape, TextKind};

/// What arrives on a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StandardInput {
    /// Nothing the command line says.
    Nothing,
    /// Exactly this text.
    Text(String),
    /// Exactly this text, which an encoding hid.
    Decoded(String),
    /// This text, with parts in source form that are only known at run time.
    Partly(String),
    /// Lines of known shapes.
    Lines {
        /// What each line looks like: one of these.
        shapes: Vec<Shape>,
        /// How many there are.
        count: LineCount,
    },
    /// Lines in columns, of which the first ones are known.
    Columns(LineColumns),
    /// Something only known at run time.
    Unknown,
}

/// The columns of lines; what stands behind those that are listed may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineColumns {
    /// What stands between them.
    pub(crate) separator: ColumnSeparator,
    /// What the first ones hold; `None` is anything without the separator.
    pub(crate) kinds: Vec<Option<TextKind>>,
    /// How many lines there are.
    pub(crate) count: LineCount,
    /// Whether a line without anything may be among them.
    pub(crate) may_be_blank: bool,
    /// Whether nothing stands behind the columns that are listed.
    pub(crate) is_whole: bool,
}

/// What stands between columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnSeparator {
    /// Exactly one of this letter.
    Letter(char),
    /// Any number of blanks and tabs, at the beginning of a line too.
    Blanks,
}

impl LineColumns {
    /// Returns what a column holds, counted from 1, for whoever splits lines so.
    pub(crate) fn column(&self, separator: ColumnSeparator, number: usize) -> Option<TextKind> {
        let is_same = self.separator == separator
            || separator == ColumnSeparator::Blanks
                && matches!(self.separator, ColumnSeparator::Letter(' ' | '\t'));
        self.kinds.get(number.checked_sub(1)?).filter(|_| is_same)?.clone()
    }
}

/// How many lines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineCount {
    /// Exactly one, unless the command fails.
    One,
    /// One or none.
    AtMostOne,
    /// Any number.
    Many,
}

impl StandardInput {
    /// Returns what arrives if it may be this or another text: both count.
    pub(crate) fn and(self, other: Self) -> Self {
        let is_alone = self == Self::Nothing || other == Self::Nothing;
        let (first, second) =
            if is_alone { (self, other) } else { (self.roughly_lines(), other.roughly_lines()) };
        match (first, second) {
            (Self::Nothing, only) | (only, Self::Nothing) => only,
            (Self::Unknown, Self::Unknown) => Self::Unknown,
            (Self::Unknown, Self::Text(text) | Self::Decoded(text) | Self::Partly(text))
            | (Self::Text(text) | Self::Decoded(text) | Self::Partly(text), Self::Unknown) => {
                Self::Partly(text)
            }
            (Self::Partly(first), Self::Text(second) | Self::Decoded(second) | Self::Partly(second))
            | (Self::Text(first) | Self::Decoded(first), Self::Partly(second)) => {
                Self::Partly(appended(first, &second))
            }
            (Self::Text(first), Self::Text(second)) => Self::Text(appended(first, &second)),
            (Self::Text(first) | Self::Decoded(first), Self::Text(second) | Self::Decoded(second)) => {
                Self::Decoded(appended(first, &second))
            }
            // Lines are no longer told apart from other input here.
            (Self::Lines { .. } | Self::Columns(_), _) | (_, Self::Lines { .. } | Self::Columns(_)) => {
                Self::Unknown
            }
        }
    }

    /// Returns it with lines as something only known at run time.
    fn roughly_lines(self) -> Self {
        if matches!(self, Self::Lines { .. } | Self::Columns(_)) { Self::Unknown } else { self }
    }

    /// Returns it as something that need not be exact.
    pub(crate) fn roughly(self) -> Self {
        match self {
            Self::Text(text) | Self::Decoded(text) => Self::Partly(text),
            Self::Lines { .. } | Self::Columns(_) => Self::Unknown,
            other => other,
        }
    }
}

/// Adds a line, in the place of the first text so that many cost no more than their length.
fn appended(mut first: String, second: &str) -> String {
    first.push('\n');
    first.push_str(second);
    first
}

/// Says whether a redirection replaces what a command reads.
pub(crate) fn is_input(operator: RedirectOperator) -> bool {
    matches!(
        operator,
        RedirectOperator::Input
            | RedirectOperator::ReadWrite
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereString
            | RedirectOperator::Heredoc
    )
}
