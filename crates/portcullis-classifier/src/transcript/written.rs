//! Files that the agent wrote in a session, as its calls tell.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{ToolInput, Value, path};

use super::{Transcript, TranscriptEntry};

impl Transcript {
    /// Returns the files the agent wrote with its file tools, absolute, with what it wrote where that is the whole file.
    ///
    /// It is what the agent asked for, not what happened: a call may have been denied or have failed, and a command may
    /// have changed the file since. So it shows where to look, and proves nothing harmless.
    pub fn written_files(&self, directory: &str) -> BTreeMap<String, Option<String>> {
        let mut files = BTreeMap::new();
        for entry in &self.entries {
            let TranscriptEntry::Call { call, .. } = entry else {
                continue;
            };
            let (field, whole) = match call.tool() {
                "Write" => ("file_path", call.input().text("content")),
                "Edit" | "MultiEdit" => ("file_path", None),
                "NotebookEdit" => ("notebook_path", None),
                _ => continue,
            };
            if let Some(file) = call.input().text(field).filter(|file| !file.is_empty()) {
                files.insert(path::join(directory, file), whole.map(str::to_owned));
            }
        }
        files
    }

    /// Returns the texts that edits put into files which no call wrote as a whole, by their absolute paths.
    pub fn edited_texts(&self, directory: &str) -> BTreeMap<String, Vec<String>> {
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let calls = self.entries.iter().filter_map(|entry| match entry {
            TranscriptEntry::Call { call, .. } => Some(call),
            TranscriptEntry::Human(_) | TranscriptEntry::Notice { .. } => None,
        });
        let mut whole = BTreeSet::new();
        for call in calls {
            let input = call.input();
            let path = |field: &str| input.text(field).map(|file| path::join(directory, file));
            match call.tool() {
                "Edit" => {
                    let pieces = texts.entry(path("file_path").unwrap_or_default()).or_default();
                    pieces.extend(input.text("new_string").map(str::to_owned));
                }
                "MultiEdit" => {
                    let pieces = texts.entry(path("file_path").unwrap_or_default()).or_default();
                    pieces.extend(new_strings(input));
                }
                "Write" => whole.extend(path("file_path")),
                "NotebookEdit" => whole.extend(path("notebook_path")),
                _ => {}
            }
        }
        texts.retain(|file, _| !whole.contains(file));
        texts
    }
}

/// Returns the texts of a call that makes several edits.
fn new_strings(input: &ToolInput) -> Vec<String> {
    let edits = match input.field("edits") {
        Some(Value::List(edits)) => edits.as_slice(),
        _ => &[],
    };
    let text = |edit: &Value| match edit {
        Value::Object(fields) => fields.get("new_string").and_then(Value::as_text).map(str::to_owned),
        _ => None,
    };
    edits.iter().filter_map(text).collect()
}
