//! The input of a tool call as plain data, whatever wire it came over.

use std::collections::BTreeMap;

/// A value in a tool's input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// JSON's `null`; no rule compares with it.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// Returns the text if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Returns a scalar as the text a parameter rule compares with; `None` for null, lists and objects.
    pub fn as_scalar(&self) -> Option<&str> {
        match self {
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(text) | Self::Text(text) => Some(text),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }
}

/// Texts deeper in an input than this are not looked at.
const DEEPEST: usize = 16;

/// The input of a tool call: named values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolInput {
    fields: BTreeMap<String, Value>,
}

impl ToolInput {
    /// Makes an input of one text field.
    pub fn of_text(field: &str, text: &str) -> Self {
        Self { fields: BTreeMap::from([(field.to_owned(), Value::Text(text.to_owned()))]) }
    }

    /// Returns a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Returns a field that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_text)
    }

    /// Returns every text in the input with its path, such as `options.command`, as far as [`DEEPEST`] levels down.
    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let mut open: Vec<(String, &Value, usize)> =
            self.fields.iter().rev().map(|(name, value)| (name.clone(), value, 0)).collect();
        while let Some((path, value, depth)) = open.pop() {
            match value {
                Value::Null => {}
                Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                    texts.push((path, value.as_scalar().unwrap_or_default().to_owned()));
                }
                Value::List(_) | Value::Object(_) if depth >= DEEPEST => {}
                Value::List(items) => open.extend(
                    items
                        .iter()
                        .enumerate()
                        .rev()
                        .map(|(at, item)| (format!("{path}.{at}"), item, depth + 1)),
                ),
                Value::Object(fields) => open.extend(
                    fields.iter().rev().map(|(name, item)| (format!("{path}.{name}"), item, depth + 1)),
                ),
            }
        }
        texts
    }

    /// Returns the fields in the order of their names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl FromIterator<(String, Value)> for ToolInput {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().collect() }
    }
}
