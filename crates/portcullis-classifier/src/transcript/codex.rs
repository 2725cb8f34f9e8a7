//! Codex's session files ("rollouts"): one JSON record a line, in order, each a type and a payload.
//!
//! What the user said is written twice: as an item of the conversation and as an event. Newer versions also note where
//! each piece of an item comes from; in older ones the host's own pieces are told by how they begin.

use portcullis_core::{ToolInput, Value};
use portcullis_hosts::{json, tool_names};
use serde::Deserialize;

use super::lines::{TranscriptWindow, lines};
use super::speaker::{self, Speaker};
use super::wire::{ContentWire, CountWire, ListWire, ObjectWire, PresentWire, TextWire};
use super::{NoticeKind, Transcript, TranscriptEntry};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexRecordWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    payload: ObjectWire<CodexPayloadWire<'a>>,
}

/// The fields of all payloads that matter; none has all of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexPayloadWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    role: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
    #[serde(borrow, rename = "internal_chat_message_metadata_passthrough")]
    sources: ObjectWire<CodexSourcesWire<'a>>,
    #[serde(borrow)]
    name: TextWire<'a>,
    #[serde(borrow)]
    namespace: TextWire<'a>,
    #[serde(borrow)]
    arguments: TextWire<'a>,
    #[serde(borrow)]
    input: TextWire<'a>,
    #[serde(borrow)]
    call_id: TextWire<'a>,
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow)]
    action: ObjectWire<CodexActionWire<'a>>,
    #[serde(borrow)]
    message: TextWire<'a>,
    #[serde(borrow)]
    item: ObjectWire<CodexItemWire<'a>>,
    num_turns: CountWire,
    source: ObjectWire<CodexSourceWire>,
    #[serde(borrow)]
    thread_source: TextWire<'a>,
}

/// Where the pieces of a message come from.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexSourcesWire<'a> {
    #[serde(borrow, rename = "content_item_kinds")]
    kinds: ListWire<TextWire<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexActionWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    command: ListWire<TextWire<'a>>,
    #[serde(borrow)]
    working_directory: TextWire<'a>,
    #[serde(borrow)]
    query: TextWire<'a>,
    #[serde(borrow)]
    url: TextWire<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexItemWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexSourceWire {
    subagent: PresentWire,
}

/// Reads a session file. In a subagent's file it is another agent that speaks.
pub(super) fn read(window: TranscriptWindow<'_>) -> Transcript {
    // Whose file it is stands in its first line. If that is lost, nobody in it counts as the user.
    let has_begun = window.is_cut && window.head.is_none();
    let mut reader = CodexReader { is_subagent: window.is_cut, has_begun, ..CodexReader::default() };
    for line in window.head.into_iter().chain(lines(window.body)) {
        match serde_json::from_slice::<ObjectWire<CodexRecordWire<'_>>>(line) {
            Ok(ObjectWire(Some(record))) if !record.kind.as_str().is_empty() => reader.take(&record),
            Ok(_) | Err(_) => reader.transcript.skipped += 1,
        }
    }
    reader.transcript
}

/// Returns what one record holds, whatever became of it later.
pub(super) fn entries(reader: &mut CodexReader, line: &[u8]) -> Option<Vec<TranscriptEntry>> {
    let ObjectWire(record) = serde_json::from_slice::<ObjectWire<CodexRecordWire<'_>>>(line).ok()?;
    reader.take(&record?);
    Some(std::mem::take(&mut reader.transcript.entries))
}

/// A file in the course of being read.
#[derive(Debug, Default)]
pub(super) struct CodexReader {
    transcript: Transcript,
    is_subagent: bool,
    has_begun: bool,
}

impl CodexReader {
    fn take(&mut self, record: &CodexRecordWire<'_>) {
        let Some(payload) = &record.payload.0 else {
            return;
        };
        match record.kind.as_str() {
            // A forked session repeats the records of the one it comes from; only the first is its own.
            "session_meta" if !self.has_begun => {
                self.has_begun = true;
                self.is_subagent = payload.thread_source.as_str() == "subagent"
                    || payload.source.0.as_ref().is_some_and(|source| source.subagent.0);
            }
            "response_item" => self.take_item(payload),
            "event_msg" => self.take_event(payload),
            "compacted" => {
                let text = payload.message.as_str().to_owned();
                self.transcript.entries.push(TranscriptEntry::Notice { kind: NoticeKind::Summary, text });
            }
            _ => {}
        }
    }

    fn take_item(&mut self, payload: &CodexPayloadWire<'_>) {
        match payload.kind.as_str() {
            "message" if payload.role.as_str() == "user" => self.take_message(payload),
            "function_call" => {
                let input = arguments(payload.arguments.as_str());
                self.push_calls(payload, tool_names::codex(payload.name.as_str(), namespace(payload), input));
            }
            "custom_tool_call" => {
                let input = ToolInput::of_text("input", payload.input.as_str());
                self.push_calls(payload, tool_names::codex(payload.name.as_str(), namespace(payload), input));
            }
            "local_shell_call" => {
                if let Some(action) = &payload.action.0 {
                    self.push_calls(payload, tool_names::codex("local_shell", None, shell_input(action)));
                }
            }
            "web_search_call" => {
                if let Some(action) = &payload.action.0 {
                    let (name, field, text) = match action.url.0.as_deref() {
                        Some(url) if action.kind.as_str() != "search" => ("web_fetch", "url", url),
                        Some(_) | None => ("web_search", "query", action.query.as_str()),
                    };
                    self.push_calls(payload, tool_names::codex(name, None, ToolInput::of_text(field, text)));
                }
            }
            _ => {}
        }
    }

    fn take_event(&mut self, payload: &CodexPayloadWire<'_>) {
        match payload.kind.as_str() {
            "user_message" => {
                self.push_turn(speaker::codex(payload.message.as_str()), payload.message.as_str());
            }
            "item_completed" => {
                if let Some(item) = payload.item.0.as_ref().filter(|item| item.kind.as_str() == "UserMessage")
                {
                    let text = item.content.texts().collect::<Vec<_>>().join("\n");
                    self.push_turn(speaker::codex(&text), &text);
                }
            }
            "thread_rolled_back" => self.roll_back(payload.num_turns.0.unwrap_or(0)),
            _ => {}
        }
    }

    fn take_message(&mut self, payload: &CodexPayloadWire<'_>) {
        let kinds = payload.sources.0.as_ref().map(|sources| sources.kinds.0.as_slice()).unwrap_or_default();
        let mut words: Vec<&str> = Vec::new();
        let mut others = None;
        for (index, block) in payload.content.0.iter().enumerate() {
            let Some(text) = block.text.0.as_deref() else {
                continue;
            };
            let is_users = kinds.get(index).is_none_or(|kind| kind.as_str().starts_with("user."));
            match speaker::codex(text) {
                Speaker::Human if is_users && (kinds.is_empty() || kinds.len() > index) => words.push(text),
                Speaker::Other(kind) => others = others.or(Some((kind, text))),
                Speaker::Human | Speaker::Nobody => {}
            }
        }
        if words.is_empty() {
            if let Some((kind, text)) = others {
                self.push_turn(Speaker::Other(kind), text);
            }
        } else {
            self.push_turn(Speaker::Human, &words.join("\n"));
        }
    }

    fn push_turn(&mut self, speaker: Speaker, text: &str) {
        let entry = match speaker {
            Speaker::Human if self.is_subagent => {
                TranscriptEntry::Notice { kind: NoticeKind::Agent, text: text.to_owned() }
            }
            Speaker::Human => TranscriptEntry::Human(text.to_owned()),
            // The notification quotes what the other agent answered, and an agent must not talk to its judge.
            Speaker::Other(kind) if text.trim_start().starts_with("<subagent_notification>") => {
                TranscriptEntry::Notice { kind, text: "another agent reported".to_owned() }
            }
            Speaker::Other(kind) => TranscriptEntry::Notice { kind, text: text.to_owned() },
            Speaker::Nobody => return,
        };
        // The item and the event say the same.
        if self.transcript.entries.last() != Some(&entry) {
            self.transcript.entries.push(entry);
        }
    }

    fn push_calls(&mut self, payload: &CodexPayloadWire<'_>, calls: Vec<portcullis_core::ToolCall>) {
        let id = payload.call_id.0.as_deref().or(payload.id.0.as_deref());
        let entries = calls
            .into_iter()
            .filter(|call| !call.tool().is_empty())
            .map(|call| TranscriptEntry::Call { id: id.map(str::to_owned), call });
        self.transcript.entries.extend(entries);
    }

    /// Forgets the last turns of the user and what followed them.
    fn roll_back(&mut self, turns: u64) {
        let is_turn = |entry: &TranscriptEntry| match entry {
            TranscriptEntry::Human(_) => true,
            TranscriptEntry::Notice { kind, .. } => *kind == NoticeKind::Agent && self.is_subagent,
            TranscriptEntry::Call { .. } => false,
        };
        let Some(last) = usize::try_from(turns).ok().and_then(|turns| turns.checked_sub(1)) else {
            return;
        };
        let entries = &self.transcript.entries;
        let place =
            (0..entries.len()).rev().filter(|index| entries.get(*index).is_some_and(is_turn)).nth(last);
        self.transcript.entries.truncate(place.unwrap_or(0));
    }
}

fn namespace<'a>(payload: &'a CodexPayloadWire<'_>) -> Option<&'a str> {
    payload.namespace.0.as_deref().filter(|namespace| !namespace.is_empty())
}

/// Reads the arguments of a call, which are JSON in a text. If they are not, they are shown as they are.
fn arguments(text: &str) -> ToolInput {
    json::parse_input(text.as_bytes()).unwrap_or_else(|_| ToolInput::of_text("arguments", text))
}

fn shell_input(action: &CodexActionWire<'_>) -> ToolInput {
    let words = action.command.0.iter().map(|word| Value::Text(word.as_str().to_owned())).collect();
    let mut fields = vec![("command".to_owned(), Value::List(words))];
    if let Some(directory) = action.working_directory.0.as_deref() {
        fields.push(("workdir".to_owned(), Value::Text(directory.to_owned())));
    }
    fields.into_iter().collect()
}
