//! Setting the mode that sessions start in: text in, text out.

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use portcullis_core::Mode;

use super::EditError;
use super::change::{PARSE_OPTIONS, broken, find_once};
use crate::json::{self, JsonValue, TextPosition};

const KEY: &str = "defaultMode";

/// Returns the text with `permissions.defaultMode` set; `None` if it is so already.
pub(super) fn put_mode(file: &Path, before: Option<&str>, mode: Mode) -> Result<Option<String>, EditError> {
    let whole = before.unwrap_or_default();
    let (mark, text) = match whole.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", whole),
    };
    let is_new = text.trim().is_empty();
    let text = if is_new { "{}\n" } else { text };
    if current(file, text)?.as_deref() == Some(mode.as_str()) {
        return Ok(None);
    }
    let root = CstRootNode::parse(text, &PARSE_OPTIONS).map_err(|error| {
        broken(file, text, error.to_string(), TextPosition { line: 1, column: 1, length: 1 })
    })?;
    let object = root.object_value_or_set();
    let permissions = object.object_value_or_set("permissions");
    let value = CstInputValue::String(mode.as_str().to_owned());
    if let Some(property) = permissions.get(KEY) {
        property.set_value(value);
    } else {
        if is_new || object.children().iter().any(CstNode::is_newline) {
            object.ensure_multiline();
            permissions.ensure_multiline();
        }
        permissions.insert(0, KEY, value);
    }
    let after = root.to_string();
    // Read once more before it replaces anything.
    if current(file, &after)?.as_deref() != Some(mode.as_str()) {
        let detail = "the change did not come out as meant".to_owned();
        return Err(EditError::Io { file: file.to_path_buf(), detail });
    }
    Ok(Some(format!("{mark}{after}")))
}

/// Returns the mode that a text names; an empty one if it is no text. Refuses what cannot be edited without guessing.
fn current(file: &Path, text: &str) -> Result<Option<String>, EditError> {
    let reading = json::read(text);
    if let Some(mistake) = reading.mistake {
        return Err(broken(file, text, mistake.message, mistake.position));
    }
    let Some(root) = reading.root else { return Ok(None) };
    let Some(permissions) = find_once(file, text, &root, "permissions")? else { return Ok(None) };
    let Some(mode) = find_once(file, text, permissions, KEY)? else { return Ok(None) };
    match &mode.value {
        JsonValue::String(word) => Ok(Some(word.to_string())),
        _ => Ok(Some(String::new())),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn put(before: &str) -> Result<Option<String>, EditError> {
        put_mode(Path::new("/s.json"), Some(before), Mode::Auto)
    }

    #[test]
    fn the_mode_is_set_and_every_other_byte_stays() {
        for (before, after) in [
            ("", "{\n  \"permissions\": {\n    \"defaultMode\": \"auto\"\n  }\n}\n"),
            (
                "{\n  // mine\n  \"permissions\": {\n    \"defaultMode\": \"plan\", // why\n    \"deny\": [\"Read(.env)\"]\n  }\n}\n",
                "{\n  // mine\n  \"permissions\": {\n    \"defaultMode\": \"auto\", // why\n    \"deny\": [\"Read(.env)\"]\n  }\n}\n",
            ),
            ("{\"permissions\": {\"defaultMode\": 7}}", "{\"permissions\": {\"defaultMode\": \"auto\"}}"),
        ] {
            assert_eq!(put(before).unwrap().as_deref(), Some(after), "{before}");
        }
        assert_eq!(put("{\"permissions\": {\"defaultMode\": \"auto\"}}").unwrap(), None);
    }

    #[test]
    fn a_file_that_would_have_to_be_guessed_is_left_alone() {
        for before in ["{", "[]", "{\"permissions\": []}", "{\"permissions\": {}, \"permissions\": {}}"] {
            assert!(put(before).is_err(), "{before}");
        }
    }
}
