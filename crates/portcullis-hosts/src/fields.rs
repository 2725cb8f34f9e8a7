//! The fields of a host's input, taken one by one, each with an error that names it.

use std::collections::BTreeMap;

use portcullis_core::{ToolInput, Value};

use crate::json;
use crate::reply::HostError;

/// The fields of one JSON object.
#[derive(Debug)]
pub(crate) struct HookInputFields(BTreeMap<String, Value>);

impl HookInputFields {
    /// Reads a host's input, which must be an object.
    pub(crate) fn read(text: &[u8]) -> Result<Self, HostError> {
        match json::parse(text)? {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(HostError::NotAnObject { found: json::kind(&other) }),
        }
    }

    /// Takes a field, whatever it is.
    pub(crate) fn take(&mut self, field: &str) -> Option<Value> {
        self.0.remove(field)
    }

    /// Takes a text that must be there; it may be empty.
    pub(crate) fn text(&mut self, field: &'static str) -> Result<String, HostError> {
        match self.0.remove(field) {
            Some(Value::Text(text)) => Ok(text),
            Some(other) => Err(wrong_type(field, "a string", &other)),
            None => Err(HostError::Missing { field }),
        }
    }

    /// Takes a text that must be there and say something.
    pub(crate) fn word(&mut self, field: &'static str) -> Result<String, HostError> {
        let text = self.text(field)?;
        if text.is_empty() { Err(unknown(field, "")) } else { Ok(text) }
    }

    /// Takes a text where it is what it should be, for what only helps the judge.
    pub(crate) fn optional(&mut self, field: &str) -> Option<String> {
        match self.0.remove(field) {
            Some(Value::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Takes an absolute path that must be there.
    pub(crate) fn directory(&mut self, field: &'static str) -> Result<String, HostError> {
        absolute(field, self.text(field)?)
    }

    /// Takes the input of a tool, which must be an object.
    pub(crate) fn input(&mut self, field: &'static str) -> Result<ToolInput, HostError> {
        match self.0.remove(field) {
            Some(Value::Object(input)) => Ok(input.into_iter().collect()),
            Some(other) => Err(wrong_type(field, "an object", &other)),
            None => Err(HostError::Missing { field }),
        }
    }
}

/// Returns a path if it is absolute.
pub(crate) fn absolute(field: &'static str, path: String) -> Result<String, HostError> {
    if path.starts_with('/') {
        return Ok(path);
    }
    Err(HostError::NotAbsolute { field, value: path.escape_debug().to_string() })
}

pub(crate) fn wrong_type(field: &'static str, expected: &'static str, found: &Value) -> HostError {
    HostError::WrongType { field, expected, found: json::kind(found) }
}

pub(crate) fn unknown(field: &'static str, value: &str) -> HostError {
    HostError::UnknownValue { field, value: value.escape_debug().to_string() }
}
