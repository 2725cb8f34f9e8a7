//! Reads PowerShell text from left to right, without a tree: commands go to the collector as they are met.
//!
//! - [`statement`]: statements, keywords, blocks
//! - [`pipeline`]: pipelines, commands, redirections
//! - [`assignment`]: values of variables
//! - [`argument`]: the words of a command
//! - [`text`]: quotes, here-strings, variables
//! - [`function`]: functions, their parameters
//! - [`expression`]: operators, literals, brackets
//! - [`member`]: types, members, indices

mod argument;
mod assignment;
mod expression;
mod function;
mod member;
mod pipeline;
mod statement;
mod text;

pub(crate) use assignment::EXPORT;
use portcullis_shell::Span;

use super::collector::{CommandCollector, TextPlace};
use super::cursor::TextCursor;
use super::value::PowerShellValue;

/// Reads one text from left to right; texts inside it have readers of their own over the same collector.
#[derive(Debug)]
pub(super) struct PowerShellReader<'t, 'c> {
    cursor: TextCursor<'t>,
    collector: &'c mut CommandCollector,
    place: TextPlace,
    /// Where the property that was read last ends, and its name.
    property: Option<(usize, String)>,
    /// When the next script block runs.
    block_use: BlockUse,
    /// What the script block yields that was read last.
    block: Option<PowerShellValue>,
    /// What comes through the pipe to the command that is read.
    item: Option<PowerShellValue>,
}

/// When a script block runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::powershell) enum BlockUse {
    /// At once for each thing that comes through a pipe.
    ForItems,
    /// At once.
    Now,
    /// At some time, when variables may hold something else.
    Later,
}

impl<'t, 'c> PowerShellReader<'t, 'c> {
    pub(super) fn new(text: &'t str, place: TextPlace, collector: &'c mut CommandCollector) -> Self {
        Self::at(TextCursor::new(text), place, collector)
    }

    /// Begins at a place of a text.
    fn at(cursor: TextCursor<'t>, place: TextPlace, collector: &'c mut CommandCollector) -> Self {
        Self { cursor, collector, place, property: None, block_use: BlockUse::Later, block: None, item: None }
    }

    /// Reads the whole text.
    pub(super) fn read(&mut self) {
        note_variables(self.cursor.rest(), self.collector);
        self.statements(None);
        if self.place.owner.is_none() && !self.collector.is_trial {
            self.uncalled_functions();
        }
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

/// Notes the variables that a text sets, and those whose value depends on the way taken.
///
/// Without blocks the order of the text tells.
fn note_variables(text: &str, collector: &mut CommandCollector) {
    collector.scope.changes_in_place |= function::changes_in_place(text);
    let has_blocks = text.contains('{');
    for (name, (set, counted)) in function::assigned_variables(text) {
        if set > 0 && set + counted > 1 && has_blocks {
            collector.scope.never_keep(name.clone());
        }
        if set > 0 {
            collector.scope.note_assigned(name);
        }
    }
}
