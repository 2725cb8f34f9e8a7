//! The words of a command.

use portcullis_shell::Span;

use super::super::cursor::{ends_word, is_newline, is_quote};
use super::super::item;
use super::super::value::PowerShellValue;
use super::super::word::PowerShellWord;
use super::PowerShellReader;
use super::text::TextPieces;

impl PowerShellReader<'_, '_> {
    /// Reads an argument and the items after it that commas join to it.
    pub(super) fn argument_list(&mut self, words: &mut Vec<PowerShellWord>) {
        let first = words.len();
        loop {
            self.cursor.skip_blanks();
            let start = self.cursor.position();
            if let Some((value, is_quoted)) = self.argument_value() {
                let span = self.span(start);
                let written = self.cursor.since(start);
                let value = item::as_text(value, &self.collector.directories);
                words.extend(words_of(value, written, span, is_quoted));
            }
            let mut ahead = self.cursor;
            ahead.skip_blanks();
            if ahead.peek() != Some(',') {
                break;
            }
            ahead.bump();
            ahead.skip_trivia();
            self.cursor = ahead;
        }
        for word in words.iter_mut().skip(first + 1) {
            word.is_item = true;
        }
    }

    /// Reads `@name`: the words that a table or list holds, if it is known.
    pub(super) fn splatted(&mut self, words: &mut Vec<PowerShellWord>) -> bool {
        let start = self.cursor.position();
        let is_name = |letter: char| letter.is_alphabetic() || letter == '_';
        if self.cursor.peek() != Some('@') || !self.cursor.peek_second().is_some_and(is_name) {
            return false;
        }
        let (name, _) = self.variable_name();
        let span = self.span(start);
        let value = self.collector.scope.value(&name).cloned();
        let is_whole = self.cursor.peek().is_none_or(ends_word);
        match value.filter(|value| is_whole && self.collector.spend(value.size(), span)) {
            Some(PowerShellValue::Table(entries)) => {
                for (key, value) in entries {
                    words.extend(splatted_parameter(&key, value, span));
                }
            }
            Some(PowerShellValue::List(items)) => {
                let is_plain = |item: &PowerShellValue| item.known_text().is_some();
                if !items.iter().all(is_plain) {
                    self.collector.lose();
                }
                words.extend(items.into_iter().map(|item| PowerShellWord::new(item, "$_", span, false)));
            }
            _ => {
                self.collector.lose();
                let value = PowerShellValue::Open(self.cursor.since(start).to_owned());
                words.push(PowerShellWord::new(value, self.cursor.since(start), span, true));
            }
        }
        true
    }

    /// Reads one argument, without the items a comma joins to it.
    pub(super) fn argument(&mut self) -> Option<PowerShellWord> {
        let start = self.cursor.position();
        let (value, is_quoted) = self.argument_value()?;
        let span = self.span(start);
        let written = self.cursor.since(start);
        let value = item::as_text(value, &self.collector.directories);
        Some(PowerShellWord::new(value, written, span, is_quoted))
    }

    /// Reads the value of an argument, and says whether it is quoted or computed.
    pub(super) fn argument_value(&mut self) -> Option<(PowerShellValue, bool)> {
        let start = self.cursor.position();
        let next = self.cursor.peek_second();
        match self.cursor.peek()? {
            letter if is_quote(letter) => {
                let value = self.quoted();
                let value = if self.cursor.peek() == Some('.') { self.postfix(value, start) } else { value };
                Some((self.sourced(value, start), true))
            }
            '$' => Some(self.expanded_word(start)),
            '(' | '{' => {
                let value = self.primary().unwrap_or_else(PowerShellValue::unknown);
                let value = self.postfix(value, start);
                Some((self.sourced(value, start), true))
            }
            '@' if next.is_some_and(|next| is_quote(next) || matches!(next, '(' | '{')) => {
                let value = self.primary().unwrap_or_else(PowerShellValue::unknown);
                let value = self.postfix(value, start);
                Some((self.sourced(value, start), true))
            }
            '@' if next.is_some_and(|next| next.is_alphabetic() || next == '_') => {
                self.generic_word();
                Some((PowerShellValue::Open(self.cursor.since(start).to_owned()), true))
            }
            _ => self.generic_word().map(|value| (value, false)),
        }
    }

    /// Reads a word that begins with a variable or sub-expression.
    fn expanded_word(&mut self, start: usize) -> (PowerShellValue, bool) {
        let value = self.primary().unwrap_or_else(PowerShellValue::unknown);
        let value = self.postfix(value, start);
        let value = self.sourced(value, start);
        if self.cursor.peek().is_none_or(ends_word) {
            return (value, true);
        }
        let value = match self.generic_word() {
            Some(rest) => value.plus(rest),
            None => value,
        };
        (self.sourced(value, start), false)
    }

    /// Reads an unquoted word, in which quoted pieces and expansions may stand.
    pub(super) fn generic_word(&mut self) -> Option<PowerShellValue> {
        let start = self.cursor.position();
        let mut pieces = TextPieces::default();
        while let Some(letter) = self.cursor.peek() {
            match letter {
                '`' => {
                    // What some letters stand for after it differs between versions of PowerShell.
                    self.collector.lose();
                    self.cursor.bump();
                    match self.cursor.bump() {
                        None => break,
                        Some(escaped) if is_newline(escaped) => break,
                        Some(escaped) => pieces.push(escaped),
                    }
                }
                '$' => self.expansion(&mut pieces),
                letter if is_quote(letter) => {
                    let value = self.quoted();
                    pieces.add(&value, "$_");
                }
                letter if ends_word(letter) => break,
                letter => {
                    self.cursor.bump();
                    pieces.push(letter);
                }
            }
        }
        (self.cursor.position() > start).then(|| pieces.into_value())
    }
}

/// Makes the words of a parameter and its value in a table that is splatted.
fn splatted_parameter(key: &str, value: PowerShellValue, span: Span) -> Vec<PowerShellWord> {
    match value.known_text().as_deref() {
        Some("$true") => vec![PowerShellWord::computed(&format!("-{key}"), false, span)],
        Some(text @ ("$false" | "$null")) => {
            vec![PowerShellWord::computed(&format!("-{key}:{text}"), false, span)]
        }
        _ => {
            let name = PowerShellWord::computed(&format!("-{key}"), false, span);
            std::iter::once(name).chain(words_of(value, "$_", span, true)).collect()
        }
    }
}

/// Makes words of a value: one, or one for each item of a list.
pub(super) fn words_of(
    value: PowerShellValue,
    written: &str,
    span: Span,
    is_quoted: bool,
) -> Vec<PowerShellWord> {
    match value {
        PowerShellValue::List(items) if items.len() > 1 => {
            let mut words: Vec<PowerShellWord> =
                items.into_iter().map(|item| PowerShellWord::new(item, "$_", span, is_quoted)).collect();
            for word in words.iter_mut().skip(1) {
                word.is_item = true;
            }
            words
        }
        PowerShellValue::List(items) => {
            items.into_iter().map(|item| PowerShellWord::new(item, written, span, is_quoted)).collect()
        }
        other => vec![PowerShellWord::new(other, written, span, is_quoted)],
    }
}
