//! Blacks out secrets in JSON: in every text, and wherever a name says that a secret is kept under it.

use serde_json::{Map, Value};

use super::name::{self, NameWeight};
use super::{MARK, mark, redact, value};

/// How deep values are walked. JSON that was parsed is never deeper.
const DEEPEST: usize = 160;

/// Replaces every secret in a JSON value. What is no text stays, but for numbers that are passwords.
pub fn redact_json(value: &Value) -> Value {
    walk(value, 0)
}

fn walk(value: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::String(mark("too-deep"));
    }
    match value {
        Value::String(text) => Value::String(redact(text).into_owned()),
        Value::Array(items) => Value::Array(walk_items(items, depth)),
        Value::Object(fields) => Value::Object(walk_fields(fields, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Walks a list, in which an option may stand before its value.
fn walk_items(items: &[Value], depth: usize) -> Vec<Value> {
    let mut kind = None;
    let mut walked = Vec::with_capacity(items.len());
    for item in items {
        walked.push(match kind {
            Some(kind) if item.as_str().is_some_and(|text| !text.starts_with('-')) => hide(item, kind, depth),
            _ => walk(item, depth + 1),
        });
        let option = item.as_str().filter(|text| text.starts_with("--") && !text.contains('='));
        kind = option.and_then(kind_of);
    }
    walked
}

fn walk_fields(fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    // A list of names and values has the name as a value.
    let named = ["name", "key", "Name", "Key"].iter().find_map(|field| fields.get(*field)?.as_str());
    let named = named.and_then(kind_of);
    let walk_field = |(name, value): (&String, &Value)| {
        let is_value = name == "value" || name == "Value";
        let kind = kind_of(name).or(if is_value { named } else { None });
        let walked = match kind {
            Some(kind) => hide(value, kind, depth),
            None => walk(value, depth + 1),
        };
        (redact(name).into_owned(), walked)
    };
    fields.iter().map(walk_field).collect()
}

/// Returns the kind of secret that a name promises, if it leaves no doubt.
fn kind_of(name: &str) -> Option<&'static str> {
    // A name that held a secret itself says nothing more.
    if name.contains(MARK) {
        return None;
    }
    let label = name::classify(name.as_bytes())?;
    // `pass` counts tests and `pwd` names a directory as often as not.
    let is_doubtful = label.weight == NameWeight::Weak || (label.is_short && label.is_single);
    (!is_doubtful).then_some(label.kind)
}

/// Hides what stands under a telling name. An object there describes the field, as a schema does, and is walked.
fn hide(value: &Value, kind: &'static str, depth: usize) -> Value {
    match value {
        Value::String(text) if text.is_empty() || value::is_whole_mark(text) => value.clone(),
        Value::String(_) => Value::String(mark(kind)),
        Value::Number(_) if kind == "password" || kind == "secret" => Value::String(mark(kind)),
        Value::Array(items) if depth <= DEEPEST => {
            Value::Array(items.iter().map(|item| hide(item, kind, depth + 1)).collect())
        }
        _ => walk(value, depth + 1),
    }
}
