//! How the languages differ in their letters: comments, strings, names.

use crate::code::Language;

/// Which code may stand inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringHoles {
    /// None.
    None,
    /// `{…}`, doubled to stand for itself.
    Brace,
    /// `${…}`.
    DollarBrace,
    /// `#{…}`.
    HashBrace,
    /// `$name`, `@name`, `${…}`, `@{…}`.
    PerlSigil,
    /// `$name`, `{$…}`, `${…}`.
    PhpSigil,
}

/// What a backslash does inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringEscapes {
    /// It stands for itself, but the delimiter after it does not end the string.
    Raw,
    /// It only makes the delimiter and itself plain.
    Few,
    /// It begins `\n`, `\x41` and the like.
    All,
}

/// What differs from language to language.
#[derive(Debug, Clone, Copy)]
pub(super) struct LexerDialect {
    pub(super) language: Language,
    /// Whether `#` begins a comment.
    pub(super) has_hash_comments: bool,
    /// Whether `//` and `/* */` are comments.
    pub(super) has_slash_comments: bool,
    /// Whether a slash may begin a regular expression.
    pub(super) has_regex: bool,
    /// What code a `"…"` string may hold.
    pub(super) double: StringHoles,
    /// What a backslash does in a `'…'` string.
    pub(super) single: StringEscapes,
}

impl LexerDialect {
    pub(super) const fn of(language: Language) -> Self {
        let (has_hash_comments, has_slash_comments, has_regex, double, single) = match language {
            Language::Python => (true, false, false, StringHoles::None, StringEscapes::All),
            Language::JavaScript => (false, true, true, StringHoles::None, StringEscapes::All),
            Language::Ruby => (true, false, true, StringHoles::HashBrace, StringEscapes::Few),
            Language::Perl => (true, false, true, StringHoles::PerlSigil, StringEscapes::Few),
            Language::Php => (true, true, false, StringHoles::PhpSigil, StringEscapes::Few),
            Language::Awk | Language::Sql => (true, false, true, StringHoles::None, StringEscapes::All),
        };
        Self { language, has_hash_comments, has_slash_comments, has_regex, double, single }
    }

    /// Says whether a letter may begin a name.
    pub(super) fn begins_name(self, letter: char) -> bool {
        letter.is_alphabetic()
            || letter == '_'
            || (letter == '$' && matches!(self.language, Language::JavaScript))
            || (letter == '#' && matches!(self.language, Language::JavaScript))
    }

    /// Says whether a letter may stand inside a name.
    pub(super) fn continues_name(self, letter: char) -> bool {
        letter.is_alphanumeric()
            || letter == '_'
            || (letter == '$' && matches!(self.language, Language::JavaScript))
    }
}

/// The operators, longest first, so that the first that fits is the right one.
pub(super) const MARKS: &[&str] = &[
    ">>>=", "<=>", "===", "!==", "**=", "...", "||=", "&&=", "??=", "//=", ">>=", "<<=", ">>>", "::", "->",
    "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", ".=",
    "|=", "&=", "^=", ":=", "**", "//", "<<", ">>", "..", "=~", "!~", "|&", "&.", "+", "-", "*", "/", "%",
    "=", "<", ">", "!", "?", ":", ";", ",", ".", "&", "|", "^", "~", "@", "\\", "$", "#", "`",
];
