//! Reading the fields of a JSON object, with errors that name the place.

use serde_json::{Map, Value};

use super::ScriptError;

/// An object of a script and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScriptFields<'a> {
    pub(super) place: &'a str,
    map: &'a Map<String, Value>,
}

/// Makes the place of a part.
pub(super) fn below(place: &str, name: &str) -> String {
    let name = shown(name);
    if place.is_empty() { name } else { format!("{place}.{name}") }
}

/// Makes a name of somebody else's fit for a message: short, and nothing in it that a terminal would obey.
fn shown(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars().take(60) {
        if letter.is_control() { out.extend(letter.escape_default()) } else { out.push(letter) }
    }
    out
}

/// Makes an error.
pub(super) fn wrong(place: &str, message: impl Into<String>) -> ScriptError {
    ScriptError { place: place.to_owned(), message: message.into() }
}

/// Says what kind of value stands where another should.
pub(super) const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> ScriptFields<'a> {
    /// Takes a value as an object.
    pub(super) fn of(value: &'a Value, place: &'a str) -> Result<Self, ScriptError> {
        match value {
            Value::Object(map) => Ok(Self { place, map }),
            other => Err(wrong(place, format!("{} stands here; write an object", kind_of(other)))),
        }
    }

    /// Refuses fields that are not known.
    pub(super) fn only(self, known: &[&str]) -> Result<Self, ScriptError> {
        match self.map.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(self),
            Some(name) => Err(wrong(self.place, unknown("field", name, known))),
        }
    }

    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    pub(super) fn has(self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    fn refuse<T>(self, name: &str, value: &Value, wanted: &str) -> Result<T, ScriptError> {
        let message = format!("{} stands here; write {wanted}", kind_of(value));
        Err(wrong(&below(self.place, name), message))
    }

    pub(super) fn text(self, name: &str) -> Result<Option<String>, ScriptError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => self.refuse(name, other, "a string"),
        }
    }

    /// Reads a whole number within bounds.
    pub(super) fn number(self, name: &str, least: u64, most: u64) -> Result<Option<u64>, ScriptError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|number| (least..=most).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(wrong(
                    &below(self.place, name),
                    format!("`{value}` is not a whole number from {least} to {most}"),
                )),
            },
        }
    }

    /// Reads a word out of a list.
    pub(super) fn choice<T: Copy>(
        self,
        name: &str,
        kind: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, ScriptError> {
        let Some(word) = self.text(name)? else { return Ok(None) };
        let found = choices.iter().find(|(choice, _)| *choice == word);
        let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        match found {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(wrong(&below(self.place, name), unknown(kind, &word, &names()))),
        }
    }

    pub(super) fn list(self, name: &str) -> Result<Option<&'a [Value]>, ScriptError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => self.refuse(name, other, "a list"),
        }
    }

    /// Reads a list of strings, none of them empty.
    pub(super) fn words(self, name: &str) -> Result<Vec<String>, ScriptError> {
        let items = self.list(name)?.unwrap_or_default();
        let mut words = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item {
                Value::String(word) if !word.is_empty() => words.push(word.clone()),
                other => {
                    let place = format!("{}[{index}]", below(self.place, name));
                    let message = format!("`{other}` stands here; write a string that is not empty");
                    return Err(wrong(&place, message));
                }
            }
        }
        Ok(words)
    }

    pub(super) fn object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, ScriptError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => self.refuse(name, other, "an object"),
        }
    }

    /// Reads an object of strings, in order.
    pub(super) fn pairs(self, name: &str) -> Result<Vec<(String, String)>, ScriptError> {
        let Some(map) = self.object(name)? else { return Ok(Vec::new()) };
        let mut pairs = Vec::with_capacity(map.len());
        for (key, value) in map {
            match value {
                Value::String(text) => pairs.push((key.clone(), text.clone())),
                other => {
                    let place = below(&below(self.place, name), key);
                    return Err(wrong(&place, format!("{} stands here; write a string", kind_of(other))));
                }
            }
        }
        Ok(pairs)
    }
}

/// Says that a name is not known, which one it may have been meant to be, and which there are.
fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let shown = shown(name);
    let close = known.iter().map(|word| (distance(&shown, word), word)).min();
    let hint = match close {
        Some((distance, word)) if distance <= 2 => format!("did you mean `{word}`?"),
        _ => format!("use one of {}", known.join(", ")),
    };
    format!("unknown {kind} `{shown}`; {hint}")
}

/// Counts the letters to change, add or take away between two short words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut next = vec![line + 1];
        let mut last = line + 1;
        for ((other, above_left), above) in right.iter().zip(&row).zip(row.iter().skip(1)) {
            let cost = usize::from(letter != *other);
            last = (above_left + cost).min(above + 1).min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
