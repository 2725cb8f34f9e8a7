//! Reads PowerShell text from left to right, without a tree: commands go to the collector as they are met.
//!
//! - [`statement`]: statements, keywords, blocks
//! - [`pipeline`]: pipelines, commands, redirections, assignments
//! - [`argument`]: the words of a command
//! - [`text`]: quotes, here-strings, variables
//! - [`expression`]: operators, literals, brackets
//! - [`member`]: types, members, indices

mod argument;
mod expression;
mod member;
mod pipeline;
mod statement;
mod text;

use std::collections::BTreeMap;

use portcullis_shell::Span;

use super::collector::{CommandCollector, TextPlace};
use super::cursor::{TextCursor, is_name};
use super::value::PowerShellValue;

/// Reads one text from left to right; texts inside it have readers of their own over the same collector.
#[derive(Debug)]
pub(super) struct PowerShellReader<'t, 'c> {
    cursor: TextCursor<'t>,
    collector: &'c mut CommandCollector,
    place: TextPlace,
    /// Where the property that was read last ends, and its name.
    property: Option<(usize, String)>,
}

impl<'t, 'c> PowerShellReader<'t, 'c> {
    pub(super) fn new(text: &'t str, place: TextPlace, collector: &'c mut CommandCollector) -> Self {
        Self { cursor: TextCursor::new(text), collector, place, property: None }
    }

    /// Reads the whole text.
    pub(super) fn read(&mut self) {
        for name in unstable_variables(self.cursor.rest()) {
            self.collector.scope.never_keep(name);
        }
        self.statements(None);
    }

    /// Returns where something that began at a place stands in the outermost text.
    fn span(&self, start: usize) -> Span {
        self.place.span.unwrap_or_else(|| Span::new(start, self.cursor.position().max(start)))
    }

    /// Notes that what began at a place is not known.
    fn opaque(&mut self, start: usize, why: &str) {
        let span = self.span(start);
        self.collector.opaque(span, why);
    }

    /// Goes into brackets; gives the rest of the text up if they stand too deep.
    fn enter(&mut self) -> bool {
        let span = self.span(self.cursor.position());
        let may_enter = self.collector.enter(span);
        if !may_enter {
            self.cursor.jump_to_end();
        }
        may_enter
    }

    /// Keeps a computed value if the budget allows.
    fn paid(&mut self, value: PowerShellValue, start: usize) -> PowerShellValue {
        let span = self.span(start);
        if self.collector.spend(value.size(), span) { value } else { PowerShellValue::unknown() }
    }

    /// Takes a closing bracket, or notes that it is missing.
    fn close(&mut self, bracket: char, start: usize) {
        self.cursor.skip_trivia();
        if !self.cursor.eat(bracket) {
            self.opaque(start, "a bracket is not closed where it should be");
        }
    }

    /// Replaces an unknown value without a source form by its source.
    fn sourced(&self, value: PowerShellValue, start: usize) -> PowerShellValue {
        match value {
            PowerShellValue::Open(text) if text.is_empty() => {
                PowerShellValue::Open(self.cursor.since(start).to_owned())
            }
            other => other,
        }
    }
}

/// Returns the variables that are assigned more than once in a text that has blocks.
///
/// Which of their values holds depends on the way taken. Without blocks the order of the text tells.
fn unstable_variables(text: &str) -> Vec<String> {
    if !text.contains('{') {
        return Vec::new();
    }
    let mut counts = BTreeMap::<String, usize>::new();
    for piece in text.split('$').skip(1) {
        let piece = piece.strip_prefix('{').unwrap_or(piece);
        let end = piece.find(|letter| !is_name(letter) && letter != ':').unwrap_or(piece.len());
        let (name, rest) = piece.split_at_checked(end).unwrap_or((piece, ""));
        let rest = rest.trim_start_matches('}').trim_start();
        let is_assigned = rest.starts_with('=')
            || ["+=", "-=", "*=", "/=", "%=", "++", "--", "??="].iter().any(|sign| rest.starts_with(sign));
        if is_assigned {
            *counts.entry(text::variable_key(name)).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}
