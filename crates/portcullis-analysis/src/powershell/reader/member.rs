//! Members of types and values, and indices.

use super::super::cursor::{is_dash, is_name, is_quote};
use super::super::inside;
use super::super::item;
use super::super::operator;
use super::super::value::{ObjectKind, PowerShellValue};
use super::super::word::PowerShellWord;
use super::{BlockUse, PowerShellReader};

/// The name under which a member is listed that computes or keeps a value.
const OF_VALUE: &str = ".of-value";

impl PowerShellReader<'_, '_> {
    /// Reads the members, calls and indices after a value that began at a place.
    pub(super) fn postfix(&mut self, mut value: PowerShellValue, start: usize) -> PowerShellValue {
        loop {
            let next = self.cursor.peek_second();
            match self.cursor.peek() {
                Some('?') if matches!(next, Some('.' | '[')) => {
                    self.cursor.bump();
                }
                Some('.') if next.is_some_and(|next| begins_member(next) || next == '(') => {
                    self.cursor.bump();
                    value = self.member(&value, start, false);
                }
                Some(':') if next == Some(':') => {
                    self.cursor.eat_text("::");
                    value = self.member(&value, start, true);
                }
                Some('[') => value = self.index(&value),
                Some(sign) if next == Some(sign) && (sign == '+' || is_dash(sign)) => {
                    self.cursor.bump();
                    self.cursor.bump();
                    self.forget_variables(start);
                    return PowerShellValue::unknown();
                }
                _ => return value,
            }
        }
    }

    /// Reads `value[…]`; picking letters out of a text is a way to spell a command.
    fn index(&mut self, value: &PowerShellValue) -> PowerShellValue {
        let start = self.cursor.position();
        self.collector.is_plain = false;
        if !self.enter() {
            return PowerShellValue::unknown();
        }
        self.cursor.bump();
        self.cursor.skip_trivia();
        let place = self.expression().unwrap_or_else(PowerShellValue::unknown);
        self.close(']', start);
        self.collector.leave();
        let span = self.span(start);
        if !self.collector.spend(value.size(), span) {
            return PowerShellValue::unknown();
        }
        let picked = value.at(&place.into_items());
        self.paid(picked, start)
    }

    /// Reads a member's name and, if it is called, its arguments.
    fn member(&mut self, receiver: &PowerShellValue, start: usize, is_static: bool) -> PowerShellValue {
        self.collector.is_plain = false;
        let name_start = self.cursor.position();
        let name = self.member_name();
        if name.is_none() {
            self.opaque(name_start, "the member is only known at run time");
        }
        let written = name.unwrap_or_else(|| self.cursor.since(name_start).to_owned());
        let lower = written.to_lowercase();
        let full = match receiver {
            PowerShellValue::Type(type_name) if is_static => format!("[{type_name}]::{lower}"),
            _ if is_static => format!("::{lower}"),
            _ => format!(".{lower}"),
        };
        let is_called = matches!(self.cursor.peek(), Some('(' | '{'));
        let runs_block = matches!(lower.as_str(), "foreach" | "where" | "invoke");
        let is_document_part = *receiver == PowerShellValue::Instance(ObjectKind::Document) && !is_called;
        let full = if !is_static && (receiver.is_plain_object() || is_document_part) && !runs_block {
            OF_VALUE.to_owned()
        } else {
            full
        };
        self.property = None;
        if !is_called {
            if is_static {
                let span = self.span(start);
                self.collector.reserve(full.clone(), &written, span, self.place);
            }
            self.property = Some((self.cursor.position(), full));
            let is_place = self.cursor.since(start).to_lowercase() == "$pwd.path";
            return match operator::member(receiver, &lower, &[]) {
                _ if is_place => receiver.clone(),
                PowerShellValue::Open(_) if !is_static => item::property(receiver, &lower),
                value => value,
            };
        }
        let span = self.span(start);
        let index = self.collector.reserve(full.clone(), &written, span, self.place);
        let owner = self.place.owner.replace(index);
        let now = matches!(lower.as_str(), "foreach" | "where");
        let outer = std::mem::replace(&mut self.block_use, if now { BlockUse::Now } else { BlockUse::Later });
        let words = self.member_arguments();
        self.block_use = outer;
        self.place.owner = owner;
        let span = self.span(start);
        if let Some(command) = self.collector.command(index) {
            command.span = span;
        }
        let value = match self.called(receiver, &lower, &words, start) {
            PowerShellValue::Open(_) if full == OF_VALUE => PowerShellValue::Data,
            value => value,
        };
        let key = if matches!(receiver, PowerShellValue::Type(name) if name.starts_with("wmi:")) {
            "wmi".into()
        } else {
            full
        };
        inside::finish_as(self.collector, &key, index, words, None, self.place);
        value
    }

    /// Computes what a call yields, as far as literals tell.
    fn called(
        &mut self,
        receiver: &PowerShellValue,
        name: &str,
        words: &[PowerShellWord],
        start: usize,
    ) -> PowerShellValue {
        // It turns lists round in place, and which variables hold them is not known.
        if matches!(receiver, PowerShellValue::Type(type_name) if type_name == "system.array") {
            self.collector.scope.forget_all();
        }
        let values: Vec<PowerShellValue> = words.iter().map(|word| word.value.clone()).collect();
        let cost = receiver.size() + values.iter().map(PowerShellValue::size).sum::<usize>();
        let span = self.span(start);
        if !self.collector.spend(cost, span) {
            return PowerShellValue::unknown();
        }
        let result = operator::member(receiver, name, &values);
        self.paid(result, start)
    }

    /// Reads the name of a member, which may be computed; `None` if it is not known.
    fn member_name(&mut self) -> Option<String> {
        self.cursor.skip_trivia();
        match self.cursor.peek() {
            Some(letter) if is_quote(letter) => self.quoted().known_text(),
            Some('$' | '(') => self.primary().and_then(|value| value.known_text()),
            _ => Some(self.cursor.take_while(is_name).to_owned()).filter(|name| !name.is_empty()),
        }
    }

    /// Reads arguments in brackets, or the block that `.ForEach{ }` takes.
    pub(super) fn member_arguments(&mut self) -> Vec<PowerShellWord> {
        let start = self.cursor.position();
        let mut words = Vec::new();
        if self.cursor.peek() == Some('{') {
            self.script_block();
            words.push(PowerShellWord::new(
                PowerShellValue::Block,
                self.cursor.since(start),
                self.span(start),
                true,
            ));
            return words;
        }
        if !self.enter() {
            return words;
        }
        self.cursor.bump();
        loop {
            self.cursor.skip_trivia();
            let before = self.cursor.position();
            match self.cursor.peek() {
                None => {
                    self.opaque(start, "a bracket is not closed");
                    break;
                }
                Some(')') => {
                    self.cursor.bump();
                    break;
                }
                Some(',') => {
                    self.cursor.bump();
                }
                Some(_) => words.extend(self.member_argument()),
            }
            if self.cursor.position() == before {
                self.cursor.bump();
                self.opaque(before, "it is not PowerShell as it is read here");
            }
        }
        self.collector.leave();
        words
    }

    /// Reads one argument of a call.
    fn member_argument(&mut self) -> Option<PowerShellWord> {
        self.skip_argument_name();
        let start = self.cursor.position();
        let value = item::as_text(self.item()?, &self.collector.directories);
        Some(PowerShellWord::new(value, self.cursor.since(start), self.span(start), true))
    }

    /// Skips the name in an attribute's argument: `Mandatory = $true`, `Mandatory`.
    fn skip_argument_name(&mut self) {
        if self.cursor.peek().is_some_and(char::is_alphabetic) {
            self.cursor.take_while(is_name);
            self.cursor.skip_trivia();
            self.cursor.eat('=');
            self.cursor.skip_trivia();
        }
    }
}

/// Says whether a letter after a dot begins a member; a digit is a number's.
fn begins_member(letter: char) -> bool {
    is_name(letter) && !letter.is_ascii_digit() || is_quote(letter) || letter == '$'
}
