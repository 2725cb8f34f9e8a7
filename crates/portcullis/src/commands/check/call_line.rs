//! A call as one line of JSON: `tool`, `input`, and where and how it is made.

use std::collections::BTreeMap;

use portcullis_core::{Mode, ToolCall, Value};
use portcullis_hosts::json::{kind, parse};

/// The longest line that is read, in bytes.
pub(crate) const LONGEST_LINE: usize = 8 << 20;

/// The fields of an object, by name.
pub(crate) type Fields = BTreeMap<String, Value>;

/// The call a line describes.
pub(crate) struct CallLine {
    pub(crate) call: ToolCall,
    pub(crate) cwd: Option<String>,
    pub(crate) mode: Option<Mode>,
}

/// Reads a line, which must be an object.
pub(crate) fn parse_object(line: &[u8]) -> Result<Fields, String> {
    match parse(line) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(format!("expected an object, found {}", kind(&other))),
        Err(error) => Err(error.to_string()),
    }
}

/// Takes a call out of the fields of a line.
pub(crate) fn take_call(fields: &mut Fields) -> Result<CallLine, String> {
    let tool = take_text(fields, "tool")?.ok_or("field `tool` is missing")?;
    if tool.is_empty() {
        return Err("field `tool` is empty".to_owned());
    }
    let input = match fields.remove("input") {
        Some(Value::Object(input)) => input.into_iter().collect(),
        Some(other) => return Err(format!("field `input` must be an object, but is {}", kind(&other))),
        None => return Err("field `input` is missing".to_owned()),
    };
    let cwd = take_text(fields, "cwd")?;
    let mode = match take_text(fields, "mode")? {
        Some(name) => Some(Mode::find(&name).ok_or_else(|| format!("the mode `{name}` is not known"))?),
        None => None,
    };
    Ok(CallLine { call: ToolCall::new(&tool, input), cwd, mode })
}

/// Takes a text out of the fields of a line; null counts as not given.
pub(crate) fn take_text(fields: &mut Fields, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(other) => Err(format!("field `{name}` must be a string, but is {}", kind(&other))),
    }
}
