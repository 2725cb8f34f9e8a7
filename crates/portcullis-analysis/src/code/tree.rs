//! What the lexer makes of a program: items in groups, one group a pair of brackets or a piece of code in a string.
//!
//! The groups lie side by side in one list, so that nobody has to descend into them.

/// The group the whole program stands in.
pub(super) const WHOLE: usize = 0;

/// One item of a program and whether white space stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeToken {
    pub(super) item: CodeItem,
    pub(super) is_spaced: bool,
}

/// One item of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodeItem {
    /// A name or keyword, with its sigil if it has one.
    Name(String),
    /// A number as it is written.
    Number(String),
    /// A string.
    Text(Vec<StringPiece>),
    /// A string that is run as a shell command.
    Shell(Vec<StringPiece>),
    /// A list of words.
    Words(Vec<String>),
    /// A regular expression, or a replacement that gives a new text, with the code inside it.
    Regex(Vec<StringPiece>),
    /// A replacement in place, with the code inside it.
    Replacement(Vec<StringPiece>),
    /// An operator or a separator.
    Mark(&'static str),
    /// The end of a line where lines matter.
    Line,
    /// Brackets by the opening one, and the group inside.
    Group(char, usize),
}

/// One piece of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StringPiece {
    /// Text that stands for itself.
    Plain(String),
    /// The value of the code in a group.
    Hole(usize),
}

/// A program as groups of items.
#[derive(Debug, Default)]
pub(super) struct CodeTree {
    pub(super) groups: Vec<Vec<CodeToken>>,
    /// What the lexer did not understand, one clause each.
    pub(super) problems: Vec<String>,
    /// The letters with which comments begin that have a line for themselves.
    pub(super) comments: Vec<usize>,
}

impl CodeTree {
    /// Returns the items of a group; none if there is no such group.
    pub(super) fn items(&self, group: usize) -> &[CodeToken] {
        self.groups.get(group).map_or(&[], Vec::as_slice)
    }

    /// Returns one item of a group.
    pub(super) fn item(&self, group: usize, at: usize) -> Option<&CodeItem> {
        self.items(group).get(at).map(|token| &token.item)
    }
}

impl CodeItem {
    /// Returns the name, if it is one.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Says whether it is this mark.
    pub(super) fn is_mark(&self, mark: &str) -> bool {
        matches!(self, Self::Mark(own) if *own == mark)
    }

    /// Says whether it is this name.
    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }
}
