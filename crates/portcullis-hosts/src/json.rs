//! JSON text to the core's plain values, and back.
//!
//! Stricter than most readers: a name given twice in one object is an error, because two readers could disagree on
//! which one counts. Numbers are kept as text.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use portcullis_core::{ToolInput, Value, is_hidden};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Why a text is not the JSON that was expected: lower case, no final period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    /// What is wrong and where.
    pub message: String,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self { message: error.to_string() }
    }
}

/// Reads one JSON value.
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    Ok(serde_json::from_slice::<ValueWire<true>>(text)?.0)
}

/// Reads the input of a tool call, which must be an object.
pub fn parse_input(text: &[u8]) -> Result<ToolInput, JsonError> {
    match parse(text)? {
        Value::Object(fields) => Ok(fields.into_iter().collect()),
        other => Err(JsonError { message: format!("expected an object, found {}", kind(&other)) }),
    }
}

/// Returns the input of a tool call as a value that can be a part of another.
pub(crate) fn to_wire(input: &ToolInput) -> serde_json::Value {
    let mut text = String::new();
    write_input(&mut text, input);
    // What we write can be read; if it could not, no input is better than a wrong one.
    serde_json::from_str(&text).unwrap_or_default()
}

/// Names the kind of a value for a message.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::Text(_) => "a string",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Writes the input of a tool call in the one way there is, names in order and no blanks, to the end of `out`.
pub fn write_input(out: &mut String, input: &ToolInput) {
    out.push('{');
    for (index, (name, value)) in input.fields().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, name);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
}

/// Writes a value as compact JSON to the end of `out`.
pub fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(number),
        Value::Text(text) => write_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index);
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                separate(out, index);
                write_text(out, name);
                out.push(':');
                write_value(out, field);
            }
            out.push('}');
        }
    }
}

/// Writes a text as a JSON string to the end of `out`.
///
/// Beyond what JSON demands, every control character, line separator and direction mark is written as an escape, so
/// that the line is safe to print.
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    let mut rest = text;
    while let Some((plain, special)) =
        rest.bytes().position(|byte| !is_plain(byte)).and_then(|place| rest.split_at_checked(place))
    {
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(character) if is_hidden(character) => write_escape(out, character),
            Some(character) => out.push(character),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

/// Writes a character as the escape, or the two, that JSON has for it.
pub fn write_escape(out: &mut String, character: char) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        // Writing to a String cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// A [`Value`] as it comes over the wire. A name given twice in one object is an error if `UNIQUE`; else the last one
/// counts, as for most readers.
#[derive(Debug)]
pub struct ValueWire<const UNIQUE: bool>(pub Value);

impl<'de, const UNIQUE: bool> Deserialize<'de> for ValueWire<UNIQUE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<UNIQUE>).map(Self)
    }
}

struct ValueVisitor<const UNIQUE: bool>;

impl<'de, const UNIQUE: bool> Visitor<'de> for ValueVisitor<UNIQUE> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = serde_json::Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(ValueWire::<UNIQUE>(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = BTreeMap::new();
        while let Some((name, ValueWire(value))) = fields.next_entry::<String, ValueWire<UNIQUE>>()? {
            if UNIQUE && object.contains_key(&name) {
                return Err(de::Error::custom(format_args!(
                    "field `{}` is given twice",
                    name.escape_debug()
                )));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn printed(text: &str) -> String {
        let mut out = String::new();
        write_value(&mut out, &parse(text.as_bytes()).unwrap());
        out
    }

    #[test]
    fn what_is_read_is_written_back() {
        let table = [
            ("null", "null"),
            (" [ true , false ] ", "[true,false]"),
            ("-12", "-12"),
            ("18446744073709551615", "18446744073709551615"),
            ("1.50", "1.5"),
            (r#""a\"b\\c\/\n\u0041""#, r#""a\"b\\c/\nA""#),
            (r#"{"b":{"y":[],"x":{}},"a":1}"#, r#"{"a":1,"b":{"x":{},"y":[]}}"#),
            (r#""\u001b[2J\u202e\ud83d\ude00\u0085""#, "\"\\u001b[2J\\u202e😀\\u0085\""),
        ];
        for (text, expected) in table {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_could_be_read_two_ways_is_refused() {
        let deep = "[".repeat(200_000);
        let table = [
            "",
            "{",
            "{} {}",
            "NaN",
            "1e999",
            r#"{"command":"ls","command":"rm"}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#""\ud800""#,
            "{'a':1}",
            "{\"a\":1,}",
            deep.as_str(),
        ];
        for text in table {
            assert!(parse(text.as_bytes()).is_err(), "{}", text.get(..20).unwrap_or(text));
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn an_input_is_an_object() {
        assert_eq!(parse_input(br#"{"command":"ls"}"#).unwrap(), ToolInput::of_text("command", "ls"));
        assert_eq!(parse_input(b"[1]").unwrap_err().message, "expected an object, found a list");
    }
}
