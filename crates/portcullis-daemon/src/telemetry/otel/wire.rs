//! The JSON of OTLP: ids in hexadecimal digits, 64-bit numbers as text, attributes as a list.

use serde_json::{Value, json};

use super::super::family::Labels;

/// The attributes of something, in order.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    /// Adds a text; one that is empty says nothing and is left out.
    pub(super) fn text(mut self, key: &str, value: impl Into<String>) -> Self {
        let value: String = value.into();
        if !value.is_empty() {
            self.0.push(json!({"key": key, "value": {"stringValue": value}}));
        }
        self
    }

    /// Adds a whole number.
    pub(super) fn number(mut self, key: &str, value: u64) -> Self {
        self.0.push(json!({"key": key, "value": {"intValue": whole(value)}}));
        self
    }

    /// Adds a fraction.
    pub(super) fn fraction(mut self, key: &str, value: f64) -> Self {
        self.0.push(json!({"key": key, "value": {"doubleValue": value}}));
        self
    }

    /// Adds yes or no.
    pub(super) fn flag(mut self, key: &str, value: bool) -> Self {
        self.0.push(json!({"key": key, "value": {"boolValue": value}}));
        self
    }

    /// Adds labels, each under its own name.
    pub(super) fn labels(self, labels: &Labels) -> Self {
        labels.iter().fold(self, |attributes, (key, value)| attributes.text(key, value.as_str()))
    }

    /// Returns them as JSON.
    pub(super) fn json(self) -> Value {
        Value::Array(self.0)
    }
}

/// Writes a 64-bit number. Those beyond what the protocol can say are told as the largest it can.
pub(super) fn whole(number: u64) -> String {
    i64::try_from(number).unwrap_or(i64::MAX).to_string()
}

/// The part of the program that tells.
pub(super) fn scope() -> Value {
    json!({"name": "portcullis", "version": env!("CARGO_PKG_VERSION")})
}

/// Cuts a text to what is worth telling.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}
