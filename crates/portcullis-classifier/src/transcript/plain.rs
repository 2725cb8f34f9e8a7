//! Our own form of a transcript, for hosts without a session file and for tests: one JSON object a line.
//!
//! ```text
//! {"user":"fix the bug"}
//! {"notice":"a summary of what came before","kind":"summary"}
//! {"tool":"Bash","input":{"command":"npm test"},"id":"call-1"}
//! ```
//!
//! A line that says more or less than that is not understood: whoever writes this form can write it right.

use std::collections::BTreeMap;

use portcullis_core::{ToolCall, ToolInput, Value};
use portcullis_hosts::json;

use super::lines::{TranscriptWindow, lines};
use super::{NoticeKind, Transcript, TranscriptEntry};

/// Reads a file of our own form.
pub(super) fn read(window: TranscriptWindow<'_>) -> Transcript {
    let mut transcript = Transcript::default();
    for line in lines(window.body) {
        match read_line(line) {
            Some(entry) => transcript.entries.push(entry),
            None => transcript.skipped += 1,
        }
    }
    transcript
}

/// Reads one line.
pub(super) fn read_line(line: &[u8]) -> Option<TranscriptEntry> {
    json::parse(line).ok().and_then(entry)
}

fn entry(value: Value) -> Option<TranscriptEntry> {
    let Value::Object(mut fields) = value else {
        return None;
    };
    let entry = if let Some(text) = fields.remove("user") {
        TranscriptEntry::Human(text.as_text()?.to_owned())
    } else if let Some(text) = fields.remove("notice") {
        TranscriptEntry::Notice { kind: kind(&mut fields)?, text: text.as_text()?.to_owned() }
    } else {
        let tool = fields.remove("tool")?;
        let name = tool.as_text().filter(|name| !name.is_empty())?;
        let input = match fields.remove("input") {
            None => ToolInput::default(),
            Some(Value::Object(input)) => input.into_iter().collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_)) => {
                return None;
            }
        };
        let id = match fields.remove("id") {
            None => None,
            Some(id) => Some(id.as_text()?.to_owned()),
        };
        TranscriptEntry::Call { id, call: ToolCall::new(name, input) }
    };
    fields.is_empty().then_some(entry)
}

fn kind(fields: &mut BTreeMap<String, Value>) -> Option<NoticeKind> {
    let Some(kind) = fields.remove("kind") else {
        return Some(NoticeKind::Host);
    };
    match kind.as_text()? {
        "summary" => Some(NoticeKind::Summary),
        "scheduled" => Some(NoticeKind::ScheduledTask),
        "agent" => Some(NoticeKind::Agent),
        "host" => Some(NoticeKind::Host),
        _ => None,
    }
}
