//! The reader: one pass, no backtracking, depth bounded, positions counted as it goes.

use super::{JsonMember, JsonNode, JsonValue, JsoncExtension, ParsedJson, SyntaxMistake, TextPosition};
use portcullis_core::is_hidden;

/// How deep lists and objects may nest.
const MAXIMUM_DEPTH: u32 = 64;

/// Reads a text.
pub(crate) fn read(text: &str) -> ParsedJson<'_> {
    let mut reader =
        JsonReader { text, at: 0, line: 1, column: 1, counted: 0, depth: 0, mistake: None, extension: None };
    let root = reader.value();
    reader.skip_trivia();
    if reader.mistake.is_none() && reader.peek().is_some() {
        reader.fail("expected the end of the file");
    }
    ParsedJson { root, mistake: reader.mistake, extension: reader.extension }
}

pub(super) struct JsonReader<'text> {
    pub(super) text: &'text str,
    /// The byte to be read next.
    pub(super) at: usize,
    line: u32,
    /// The column of the byte `counted`.
    column: u32,
    /// How far columns are counted; never before the line's first byte.
    counted: usize,
    depth: u32,
    mistake: Option<SyntaxMistake>,
    extension: Option<JsoncExtension>,
}

impl<'text> JsonReader<'text> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the byte if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    /// Returns the position of the next byte, `length` still to be filled in.
    pub(super) fn position(&mut self) -> TextPosition {
        let passed = self.text.as_bytes().get(self.counted..self.at).unwrap_or_default();
        let characters = passed.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        self.column = self.column.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        self.counted = self.at;
        TextPosition { line: self.line, column: self.column, length: 1 }
    }

    /// Closes a position at the next byte.
    pub(super) fn until_here(&mut self, start: TextPosition) -> TextPosition {
        let end = self.position();
        TextPosition { length: end.column.saturating_sub(start.column).max(1), ..start }
    }

    pub(super) fn fail(&mut self, expected: &str) {
        let position = self.position();
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end of the file".to_owned(),
            Some(character) if is_hidden(character) => {
                format!("the character U+{:04X}", u32::from(character))
            }
            Some(character) => format!("`{character}`"),
        };
        self.fail_at(position, format!("{expected}, found {found}"));
    }

    pub(super) fn fail_at(&mut self, position: TextPosition, message: String) {
        if self.mistake.is_none() {
            self.mistake = Some(SyntaxMistake { message, position });
        }
    }

    fn note_extension(&mut self, name: &'static str, position: TextPosition) {
        if self.extension.is_none() {
            self.extension = Some(JsoncExtension { name, position });
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
        self.column = 1;
        self.counted = self.at;
    }

    fn skip_trivia(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') => self.newline(),
                Some(b'/') => {
                    if !self.skip_comment() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips a comment; false if there is none or it does not end.
    fn skip_comment(&mut self) -> bool {
        let start = self.position();
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'/') => {
                while self.peek().is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
            }
            Some(b'*') => {
                self.at += 2;
                loop {
                    match self.peek() {
                        None => {
                            self.fail_at(start, "this comment does not end".to_owned());
                            return false;
                        }
                        Some(b'\n') => self.newline(),
                        Some(b'*') if self.text.as_bytes().get(self.at + 1) == Some(&b'/') => break,
                        Some(_) => self.at += 1,
                    }
                }
                self.at += 2;
            }
            _ => return false,
        }
        self.note_extension("a comment", TextPosition { length: 2, ..start });
        true
    }

    /// Reads a value; after a mistake, the part of a list or object that stands before it.
    fn value(&mut self) -> Option<JsonNode<'text>> {
        self.skip_trivia();
        if self.mistake.is_some() {
            return None;
        }
        let start = self.position();
        let value = match self.peek() {
            Some(b'"') => JsonValue::String(self.string()?),
            Some(b'{') => return self.nested(start, Self::object),
            Some(b'[') => return self.nested(start, Self::array),
            Some(b'-' | b'0'..=b'9') => JsonValue::Number(self.number(start)?),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word(start)?,
            _ => {
                self.fail("expected a value");
                return None;
            }
        };
        Some(JsonNode { value, position: self.until_here(start) })
    }

    fn nested(
        &mut self,
        start: TextPosition,
        read: fn(&mut Self) -> JsonValue<'text>,
    ) -> Option<JsonNode<'text>> {
        if self.depth == MAXIMUM_DEPTH {
            self.fail_at(start, format!("nested deeper than {MAXIMUM_DEPTH} levels"));
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        Some(JsonNode { value, position: start })
    }

    fn array(&mut self) -> JsonValue<'text> {
        let mut nodes = Vec::new();
        self.skip_trivia();
        if self.take(b']') {
            return JsonValue::Array(nodes);
        }
        while self.mistake.is_none() {
            nodes.extend(self.value());
            if self.mistake.is_some() || self.ends_after_item(b']') {
                break;
            }
        }
        JsonValue::Array(nodes)
    }

    fn object(&mut self) -> JsonValue<'text> {
        let mut members = Vec::new();
        self.skip_trivia();
        if self.take(b'}') {
            return JsonValue::Object(members);
        }
        while self.mistake.is_none() {
            members.extend(self.member());
            if self.mistake.is_some() || self.ends_after_item(b'}') {
                break;
            }
        }
        JsonValue::Object(members)
    }

    fn member(&mut self) -> Option<JsonMember<'text>> {
        self.skip_trivia();
        let start = self.position();
        if self.peek() != Some(b'"') {
            self.fail("expected a key in double quotes");
            return None;
        }
        let name = self.string()?;
        let name_position = self.until_here(start);
        self.skip_trivia();
        if !self.take(b':') {
            self.fail("expected `:` after the key");
            return None;
        }
        let node = self.value()?;
        Some(JsonMember { name, name_position, node })
    }

    /// Reads what follows an item: true at the closing bracket or a mistake, false when another item must follow.
    fn ends_after_item(&mut self, close: u8) -> bool {
        self.skip_trivia();
        if self.mistake.is_some() || self.take(close) {
            return true;
        }
        let comma = self.position();
        if !self.take(b',') {
            self.fail(if close == b']' { "expected `,` or `]`" } else { "expected `,` or `}`" });
            return true;
        }
        self.skip_trivia();
        if self.mistake.is_none() && self.take(close) {
            self.note_extension("a trailing comma", comma);
            return true;
        }
        false
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
