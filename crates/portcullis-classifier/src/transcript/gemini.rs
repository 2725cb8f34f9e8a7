//! Gemini CLI's session files: one JSON record a line (older versions: one document), messages known by their ids.
//!
//! A message is written again when something is added to it, everything can be set anew, and a rewind forgets a message
//! with all that follow it.

use std::collections::HashMap;

use portcullis_hosts::tool_names;
use serde::Deserialize;

use super::lines::{LONGEST_FILE, TranscriptWindow, lines};
use super::speaker::{self, Speaker};
use super::wire::{ContentWire, ListWire, ObjectWire, TextWire, ToolInputWire};
use super::{NoticeKind, Transcript, TranscriptEntry};

/// A record: the head of the file, a message, a change or a rewind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiRecordWire<'a> {
    #[serde(borrow)]
    kind: TextWire<'a>,
    #[serde(borrow, rename = "$set")]
    set: ObjectWire<GeminiChangeWire<'a>>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind: TextWire<'a>,
    #[serde(borrow, rename = "sessionId")]
    session: TextWire<'a>,
    #[serde(borrow)]
    messages: Option<ListWire<ObjectWire<GeminiMessageWire<'a>>>>,
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow, rename = "type")]
    speaker: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
    #[serde(borrow, rename = "displayContent")]
    shown: Option<ContentWire<'a>>,
    #[serde(borrow, rename = "toolCalls")]
    calls: ListWire<ObjectWire<GeminiCallWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiChangeWire<'a> {
    #[serde(borrow)]
    kind: TextWire<'a>,
    #[serde(borrow)]
    messages: Option<ListWire<ObjectWire<GeminiMessageWire<'a>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiMessageWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow, rename = "type")]
    speaker: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
    #[serde(borrow, rename = "displayContent")]
    shown: Option<ContentWire<'a>>,
    #[serde(borrow, rename = "toolCalls")]
    calls: ListWire<ObjectWire<GeminiCallWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiCallWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow)]
    name: TextWire<'a>,
    args: ToolInputWire,
}

/// Reads a session file. `bytes` is all of it, for the form that is one document.
pub(super) fn read(window: TranscriptWindow<'_>, bytes: &[u8]) -> Transcript {
    let mut session = GeminiMessages::default();
    let is_document = is_document(bytes);
    // Whose file it is stands in its first line. If that is lost, nobody in it counts as the user.
    session.is_subagent = window.is_cut && !is_document && !window.head.is_some_and(is_head);
    if is_document {
        match serde_json::from_slice::<ObjectWire<GeminiRecordWire<'_>>>(bytes) {
            Ok(ObjectWire(Some(record))) if bytes.len() <= 4 * LONGEST_FILE => session.take(record),
            Ok(_) | Err(_) => session.skipped += 1,
        }
    } else {
        for line in window.head.into_iter().chain(lines(window.body)) {
            match serde_json::from_slice::<ObjectWire<GeminiRecordWire<'_>>>(line) {
                Ok(ObjectWire(Some(record))) => session.take(record),
                Ok(_) | Err(_) => session.skipped += 1,
            }
        }
    }
    session.finish()
}

/// Returns the messages of one record with their ids, whatever became of them later.
pub(super) fn messages(line: &[u8]) -> Option<Vec<(String, Vec<TranscriptEntry>)>> {
    let ObjectWire(record) = serde_json::from_slice::<ObjectWire<GeminiRecordWire<'_>>>(line).ok()?;
    let mut session = GeminiMessages::default();
    session.take(record?);
    Some(session.messages)
}

/// Says whether a line is the first of a file: it names the session.
fn is_head(line: &[u8]) -> bool {
    let record = serde_json::from_slice::<ObjectWire<GeminiRecordWire<'_>>>(line);
    matches!(record, Ok(ObjectWire(Some(record))) if record.session.0.is_some())
}

/// Says whether a file is one document: its first line is the beginning of an object and not a whole one.
fn is_document(bytes: &[u8]) -> bool {
    lines(bytes).next().is_some_and(|line| {
        line.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
    }) && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// The messages so far, in order, and where each stands.
#[derive(Debug, Default)]
struct GeminiMessages {
    messages: Vec<(String, Vec<TranscriptEntry>)>,
    places: HashMap<String, usize>,
    is_subagent: bool,
    skipped: usize,
}

impl GeminiMessages {
    fn take(&mut self, record: GeminiRecordWire<'_>) {
        if record.kind.as_str() == "subagent" {
            self.is_subagent = true;
        }
        if let Some(id) = record.rewind.0.as_deref() {
            self.rewind(id);
        } else if record.id.0.is_some() {
            let GeminiRecordWire { id, speaker, content, shown, calls, .. } = record;
            self.put(&GeminiMessageWire { id, speaker, content, shown, calls });
        } else if let ObjectWire(Some(change)) = record.set {
            self.is_subagent |= change.kind.as_str() == "subagent";
            if let Some(messages) = change.messages {
                self.messages.clear();
                self.places.clear();
                self.put_all(messages);
            }
        } else if let Some(messages) = record.messages {
            self.put_all(messages);
        } else if record.session.0.is_none() {
            self.skipped += 1;
        }
    }

    fn put_all(&mut self, messages: ListWire<ObjectWire<GeminiMessageWire<'_>>>) {
        for ObjectWire(message) in messages.0 {
            match message {
                Some(message) => self.put(&message),
                None => self.skipped += 1,
            }
        }
    }

    fn put(&mut self, message: &GeminiMessageWire<'_>) {
        let id = message.id.as_str();
        let entries = entries(message);
        let place = self.places.get(id).copied();
        if let Some((_, old)) = place.and_then(|place| self.messages.get_mut(place)) {
            *old = entries;
            return;
        }
        if !id.is_empty() {
            self.places.insert(id.to_owned(), self.messages.len());
        }
        self.messages.push((id.to_owned(), entries));
    }

    /// Forgets a message and all that follow; all of them if it is not known, as the host does.
    fn rewind(&mut self, id: &str) {
        let place = self.places.get(id).copied().unwrap_or(0);
        for (gone, _) in self.messages.drain(place.min(self.messages.len())..) {
            self.places.remove(&gone);
        }
    }

    fn finish(self) -> Transcript {
        let is_subagent = self.is_subagent;
        let as_agent = |entry| match entry {
            TranscriptEntry::Human(text) if is_subagent => {
                TranscriptEntry::Notice { kind: NoticeKind::Agent, text }
            }
            other => other,
        };
        let entries = self.messages.into_iter().flat_map(|(_, entries)| entries).map(as_agent).collect();
        Transcript { entries, skipped: self.skipped, ..Transcript::default() }
    }
}

fn entries(message: &GeminiMessageWire<'_>) -> Vec<TranscriptEntry> {
    match message.speaker.as_str() {
        "user" => turn(message).into_iter().collect(),
        "gemini" | "model" => calls(message),
        _ => Vec::new(),
    }
}

/// Makes a turn of what the user typed. Files that were mentioned are quoted behind it and are not the user's words.
fn turn(message: &GeminiMessageWire<'_>) -> Option<TranscriptEntry> {
    let typed = message.shown.as_ref().filter(|shown| shown.texts().next().is_some());
    let mut words = Vec::new();
    for text in typed.unwrap_or(&message.content).texts() {
        let before = before_quoted_files(text);
        words.push(before);
        if before.len() < text.len() {
            break;
        }
    }
    let text = words.join("\n").trim_end().to_owned();
    match speaker::gemini(&text) {
        Speaker::Human => Some(TranscriptEntry::Human(text)),
        Speaker::Other(kind) => Some(TranscriptEntry::Notice { kind, text }),
        Speaker::Nobody => None,
    }
}

fn before_quoted_files(text: &str) -> &str {
    let marks = ["--- Content from referenced files ---", "Content from @"];
    marks.iter().fold(text, |text, mark| {
        let place = text.match_indices(mark).map(|(place, _)| place).find(|place| {
            // Only at the beginning of a line.
            text.get(..*place).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
        });
        place.and_then(|place| text.get(..place)).unwrap_or(text)
    })
}

fn calls(message: &GeminiMessageWire<'_>) -> Vec<TranscriptEntry> {
    let mut entries = Vec::new();
    for call in message.calls.0.iter().filter_map(|call| call.0.as_ref()) {
        if call.name.as_str().is_empty() {
            continue;
        }
        let id = call.id.0.as_deref();
        let mapped = tool_names::gemini(call.name.as_str(), call.args.0.clone());
        entries
            .extend(mapped.into_iter().map(|call| TranscriptEntry::Call { id: id.map(str::to_owned), call }));
    }
    entries
}
