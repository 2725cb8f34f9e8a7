//! A word under construction: its parts, its text after quote removal, and what is known of it.

use crate::ast::{Word, WordPart, WordTraits};
use crate::brace;
use crate::span::Span;

/// Where a word stands, as far as tilde expansion depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// An argument, a pattern, a file.
    Argument,
    /// The value of an assignment, where `~` also counts after `:`.
    Value,
}

/// The parts of a word or of quoted text, and the text they stand for.
#[derive(Debug, Default)]
pub(crate) struct WordPieces {
    pub(crate) parts: Vec<WordPart>,
    pub(crate) text: String,
    pub(crate) quoted: bool,
    pub(crate) dynamic: bool,
}

impl WordPieces {
    /// Adds unquoted text, joined to the text before it.
    pub(crate) fn literal(&mut self, span: Span, added: &str) {
        self.text.push_str(added);
        if let Some(WordPart::Literal { span: last, text }) = self.parts.last_mut() {
            *last = last.cover(span);
            text.push_str(added);
        } else if !added.is_empty() {
            self.parts.push(WordPart::Literal { span, text: added.to_owned() });
        }
    }

    /// Adds a glob character.
    pub(crate) fn glob(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.parts.push(WordPart::Glob { span, text: text.to_owned() });
    }

    /// Adds an escaped character.
    pub(crate) fn escaped(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.quoted = true;
        self.parts.push(WordPart::Escaped { span, text: text.to_owned() });
    }

    /// Adds `'…'`.
    pub(crate) fn single(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.quoted = true;
        self.parts.push(WordPart::Single { span, text: text.to_owned() });
    }

    /// Adds `$'…'`.
    pub(crate) fn ansi(&mut self, span: Span, text: String) {
        self.text.push_str(&text);
        self.quoted = true;
        self.parts.push(WordPart::AnsiC { span, text });
    }

    /// Adds `"…"`.
    pub(crate) fn double(&mut self, span: Span, inner: Self) {
        self.text.push_str(&inner.text);
        self.quoted = true;
        self.dynamic |= inner.dynamic;
        self.parts.push(WordPart::Double { span, parts: inner.parts });
    }

    /// Adds an expansion, whose text is its source.
    pub(crate) fn expansion(&mut self, part: WordPart, source: &str) {
        self.text.push_str(source);
        self.dynamic = true;
        self.parts.push(part);
    }

    /// Returns the finished word.
    pub(crate) fn into_word(mut self, span: Span, role: WordRole) -> Word {
        settle_brackets(&mut self.parts);
        let traits = WordTraits {
            quoted: self.quoted,
            dynamic: self.dynamic,
            glob: self.parts.iter().any(|part| matches!(part, WordPart::Glob { .. })),
            brace: brace::expands(&self.parts),
            tilde: has_tilde(&self.parts, role),
        };
        Word { span, parts: self.parts, text: self.text, traits }
    }
}

/// Turns each `[` that no unquoted `]` closes back into ordinary text.
fn settle_brackets(parts: &mut Vec<WordPart>) {
    let mut closed = false;
    let mut demoted = false;
    for part in parts.iter_mut().rev() {
        match part {
            WordPart::Literal { text, .. } => closed |= text.contains(']'),
            WordPart::Glob { span, text } if text == "[" && !closed => {
                *part = WordPart::Literal { span: *span, text: std::mem::take(text) };
                demoted = true;
            }
            _ => {}
        }
    }
    if demoted {
        join_literals(parts);
    }
}

fn join_literals(parts: &mut Vec<WordPart>) {
    let mut joined: Vec<WordPart> = Vec::with_capacity(parts.len());
    for part in parts.drain(..) {
        match (joined.last_mut(), part) {
            (Some(WordPart::Literal { span, text }), WordPart::Literal { span: next, text: added }) => {
                *span = span.cover(next);
                text.push_str(&added);
            }
            (_, part) => joined.push(part),
        }
    }
    *parts = joined;
}

fn has_tilde(parts: &[WordPart], role: WordRole) -> bool {
    let Some(WordPart::Literal { text: first, .. }) = parts.first() else { return false };
    first.starts_with('~')
        || (role == WordRole::Value || looks_like_assignment(first, parts.len()))
            && follows_separator(parts, role)
}

/// Says whether a word whose first unquoted text is `first` has the shape `name=`, `name+=` or `name[`.
fn looks_like_assignment(first: &str, parts: usize) -> bool {
    let rest =
        first.trim_start_matches(|character: char| character.is_ascii_alphanumeric() || character == '_');
    let named = rest.len() < first.len() && !first.starts_with(|character: char| character.is_ascii_digit());
    named && (rest.starts_with('=') || rest.starts_with("+=") || rest.is_empty() && parts > 1)
}

fn follows_separator(parts: &[WordPart], role: WordRole) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Literal { text, .. } => {
            text.contains(":~") || role == WordRole::Argument && text.contains("=~")
        }
        _ => false,
    })
}
