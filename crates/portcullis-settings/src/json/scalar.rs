//! Words, numbers and strings: the values that have no parts.

use std::borrow::Cow;

use super::reader::JsonReader;
use super::{JsonValue, TextPosition};

impl<'text> JsonReader<'text> {
    pub(super) fn word(&mut self, start: TextPosition) -> Option<JsonValue<'text>> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        self.at += end;
        let value = match word {
            "true" => JsonValue::Bool(true),
            "false" => JsonValue::Bool(false),
            "null" => JsonValue::Null,
            _ => {
                let position = self.until_here(start);
                let shown: String = word.chars().take(40).collect();
                self.fail_at(position, format!("expected a value, found the bare word `{shown}`"));
                return None;
            }
        };
        Some(value)
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > start
    }

    pub(super) fn number(&mut self, start: TextPosition) -> Option<f64> {
        let first = self.at;
        self.take(b'-');
        let mut sound = if self.take(b'0') { true } else { self.digits() };
        if sound && self.take(b'.') {
            sound = self.digits();
        }
        if sound && (self.take(b'e') || self.take(b'E')) {
            if !self.take(b'+') {
                self.take(b'-');
            }
            sound = self.digits();
        }
        if !sound {
            self.fail("expected a digit");
            return None;
        }
        let number = self.text.get(first..self.at).and_then(|text| text.parse::<f64>().ok());
        let position = self.until_here(start);
        let finite = number.filter(|number| number.is_finite());
        if finite.is_none() {
            self.fail_at(position, "this number is out of range".to_owned());
        }
        finite
    }

    pub(super) fn string(&mut self) -> Option<Cow<'text, str>> {
        let quote = self.position();
        self.at += 1;
        let mut piece = self.at;
        let mut decoded: Option<String> = None;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let before = self.text.get(piece..self.at).unwrap_or_default();
                    let text = decoded.get_or_insert_default();
                    text.push_str(before);
                    let character = self.escape()?;
                    decoded.get_or_insert_default().push(character);
                    piece = self.at;
                }
                None | Some(b'\n') => {
                    let position = self.until_here(quote);
                    self.fail_at(position, "this string does not end on its line".to_owned());
                    return None;
                }
                Some(0..0x20) => {
                    self.fail("control characters must be escaped in a string");
                    return None;
                }
                Some(_) => self.at += 1,
            }
        }
        let last = self.text.get(piece..self.at).unwrap_or_default();
        self.at += 1;
        Some(match decoded {
            None => Cow::Borrowed(last),
            Some(text) => Cow::Owned(text + last),
        })
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.position();
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => {
                self.fail_at(
                    TextPosition { length: 2, ..start },
                    "a backslash in a string must begin an escape".to_owned(),
                );
                return None;
            }
        };
        self.at += 1;
        Some(character)
    }

    /// Reads `\uXXXX`, or two of them that make one character.
    fn unicode_escape(&mut self, start: TextPosition) -> Option<char> {
        let unit = self.hex_unit();
        let character = match unit {
            Some(high @ 0xd800..=0xdbff) if self.take(b'\\') && self.peek() == Some(b'u') => self
                .hex_unit()
                .filter(|low| (0xdc00..=0xdfff).contains(low))
                .and_then(|low| char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))),
            other => other.and_then(char::from_u32),
        };
        if character.is_none() {
            let position = self.until_here(start);
            self.fail_at(position, "this escape is not a character".to_owned());
        }
        character
    }

    /// Reads `uXXXX`.
    fn hex_unit(&mut self) -> Option<u32> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
