//! Removing a whole top-level key: text in, text out.

use std::path::Path;

use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};

use super::EditError;
use super::change::{PARSE_OPTIONS, broken};
use crate::json::{self, JsonValue, TextPosition};

/// Returns the text without a key, however often it is set and whatever it holds; `None` if it is not set.
pub(super) fn remove_section(file: &Path, whole: &str, name: &str) -> Result<Option<String>, EditError> {
    let (mark, text) = match whole.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", whole),
    };
    if text.trim().is_empty() || count(file, text, name)? == 0 {
        return Ok(None);
    }
    let root = CstRootNode::parse(text, &PARSE_OPTIONS).map_err(|error| {
        broken(file, text, error.to_string(), TextPosition { line: 1, column: 1, length: 1 })
    })?;
    if let Some(object) = root.object_value() {
        remove(&object, name);
    }
    let after = root.to_string();
    // Read once more before it replaces anything.
    if count(file, &after, name)? > 0 {
        let detail = "the change did not come out as meant".to_owned();
        return Err(EditError::Io { file: file.to_path_buf(), detail });
    }
    Ok(Some(format!("{mark}{after}")))
}

/// Counts how often a key is set, in a text that must be an object.
fn count(file: &Path, text: &str, name: &str) -> Result<usize, EditError> {
    let reading = json::read(text);
    if let Some(mistake) = reading.mistake {
        return Err(broken(file, text, mistake.message, mistake.position));
    }
    let Some(root) = reading.root else { return Ok(0) };
    match &root.value {
        JsonValue::Object(members) => Ok(members.iter().filter(|member| member.name == name).count()),
        other => {
            let message = format!("this must be an object, not {}", other.kind());
            Err(broken(file, text, message, root.position))
        }
    }
}

fn remove(object: &CstObject, name: &str) {
    let was_tight = space_after_brace(object).is_none();
    for property in object.properties() {
        if property.decoded_name().is_some_and(|found| found == name) {
            property.remove();
        }
    }
    // `{"a": 1, "b": 2}` without its first key is `{"b": 2}`, not `{ "b": 2}`.
    if was_tight && let Some(space) = space_after_brace(object) {
        space.remove();
    }
}

/// Finds the blanks between the opening brace and what follows on the same line.
fn space_after_brace(object: &CstObject) -> Option<CstNode> {
    object.child_at_index(1).filter(CstNode::is_whitespace)
}
