//! A word under construction: its parts, its text after quote removal, and what is known of it.

use crate::ast::{Part, Word, WordTraits};
use crate::brace;
use crate::span::Span;

/// Where a word stands, as far as tilde expansion depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// An argument, a pattern, a file.
    Argument,
    /// The value of an assignment, where `~` also counts after `:`.
    Value,
}

/// The parts of a word or of quoted text, and the text they stand for.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) parts: Vec<Part>,
    pub(crate) text: String,
    pub(crate) quoted: bool,
    pub(crate) dynamic: bool,
}

impl Pieces {
    /// Adds unquoted text, joined to the text before it.
    pub(crate) fn literal(&mut self, span: Span, added: &str) {
        self.text.push_str(added);
        if let Some(Part::Literal { span: last, text }) = self.parts.last_mut() {
            *last = last.cover(span);
            text.push_str(added);
        } else if !added.is_empty() {
            self.parts.push(Part::Literal { span, text: added.to_owned() });
        }
    }

    /// Adds a glob character.
    pub(crate) fn glob(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.parts.push(Part::Glob { span, text: text.to_owned() });
    }

    /// Adds an escaped character.
    pub(crate) fn escaped(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.quoted = true;
        self.parts.push(Part::Escaped { span, text: text.to_owned() });
    }

    /// Adds `'…'`.
    pub(crate) fn single(&mut self, span: Span, text: &str) {
        self.text.push_str(text);
        self.quoted = true;
        self.parts.push(Part::Single { span, text: text.to_owned() });
    }

    /// Adds `$'…'`.
    pub(crate) fn ansi(&mut self, span: Span, text: String) {
        self.text.push_str(&text);
        self.quoted = true;
        self.parts.push(Part::AnsiC { span, text });
    }

    /// Adds `"…"`.
    pub(crate) fn double(&mut self, span: Span, inner: Self) {
        self.text.push_str(&inner.text);
        self.quoted = true;
        self.dynamic |= inner.dynamic;
        self.parts.push(Part::Double { span, parts: inner.parts });
    }

    /// Adds an expansion, whose text is its source.
    pub(crate) fn expansion(&mut self, part: Part, source: &str) {
        self.text.push_str(source);
        self.dynamic = true;
        self.parts.push(part);
    }

    /// Returns the finished word.
    pub(crate) fn into_word(mut self, span: Span, role: Role) -> Word {
        settle_brackets(&mut self.parts);
        let traits = WordTraits {
            quoted: self.quoted,
            dynamic: self.dynamic,
            glob: self.parts.iter().any(|part| matches!(part, Part::Glob { .. })),
            brace: brace::expands(&self.parts),
            tilde: has_tilde(&self.parts, role),
        };
        Word { span, parts: self.parts, text: self.text, traits }
    }
}

/// Turns each `[` that no unquoted `]` closes back into ordinary text.
fn settle_brackets(parts: &mut Vec<Part>) {
    let mut closed = false;
    let mut demoted = false;
    for part in parts.iter_mut().rev() {
        match part {
            Part::Literal { text, .. } => closed |= text.contains(']'),
            Part::Glob { span, text } if text == "[" && !closed => {
                *part = Part::Literal { span: *span, text: std::mem::take(text) };
                demoted = true;
            }
            _ => {}
        }
    }
    if demoted {
        join_literals(parts);
    }
}

fn join_literals(parts: &mut Vec<Part>) {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts.drain(..) {
        match (joined.last_mut(), part) {
            (Some(Part::Literal { span, text }), Part::Literal { span: next, text: added }) => {
                *span = span.cover(next);
                text.push_str(&added);
            }
            (_, part) => joined.push(part),
        }
    }
    *parts = joined;
}

fn has_tilde(parts: &[Part], role: Role) -> bool {
    let Some(Part::Literal { text: first, .. }) = parts.first() else { return false };
    first.starts_with('~')
        || (role == Role::Value || looks_like_assignment(first, parts.len()))
            && follows_separator(parts, role)
}

/// Says whether a word whose first unquoted text is `first` has the shape `name=`, `name+=` or `name[`.
fn looks_like_assignment(first: &str, parts: usize) -> bool {
    let rest =
        first.trim_start_matches(|character: char| character.is_ascii_alphanumeric() || character == '_');
    let named = rest.len() < first.len() && !first.starts_with(|character: char| character.is_ascii_digit());
    named && (rest.starts_with('=') || rest.starts_with("+=") || rest.is_empty() && parts > 1)
}

fn follows_separator(parts: &[Part], role: Role) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal { text, .. } => text.contains(":~") || role == Role::Argument && text.contains("=~"),
        _ => false,
    })
}
