//! Claude Code's session files: one JSON record a line, tied together by the names of their parents.
//!
//! Who speaks is decided by the record around the words: its type, its flags, its origin. What a tool was given or
//! returned lies deeper and is never looked at for that.

use std::borrow::Cow;

use portcullis_core::ToolCall;
use serde::Deserialize;

use super::chain::{self, RecordLink};
use super::lines::{TranscriptWindow, lines};
use super::skim::{SkimmedRecord, skim};
use super::speaker::{self, Speaker};
use super::wire::{ContentWire, FlagWire, ObjectWire, PresentWire, ReferenceWire, TextWire};
use super::{NoticeKind, Transcript, TranscriptEntry};

/// What every record has around its contents.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeRecordWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    subtype: TextWire<'a>,
    #[serde(borrow)]
    uuid: TextWire<'a>,
    #[serde(borrow)]
    parent_uuid: ReferenceWire<'a>,
    is_sidechain: FlagWire,
    is_meta: FlagWire,
    is_compact_summary: FlagWire,
    is_visible_in_transcript_only: FlagWire,
    #[serde(borrow)]
    origin: ObjectWire<ClaudeOriginWire<'a>>,
    #[serde(borrow)]
    prompt_source: TextWire<'a>,
    tool_use_result: PresentWire,
    #[serde(rename = "sourceToolAssistantUUID")]
    source_answer: PresentWire,
    #[serde(rename = "sourceToolUseID")]
    source_call: PresentWire,
    #[serde(borrow)]
    message: ObjectWire<ClaudeMessageWire<'a>>,
    #[serde(borrow)]
    attachment: ObjectWire<ClaudeAttachmentWire<'a>>,
}

/// The names of a record whose contents could not be read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeRecordNames<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    subtype: TextWire<'a>,
    #[serde(borrow)]
    uuid: TextWire<'a>,
    #[serde(borrow)]
    parent_uuid: ReferenceWire<'a>,
    is_sidechain: FlagWire,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeOriginWire<'a> {
    #[serde(borrow)]
    kind: TextWire<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeMessageWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeAttachmentWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    command_mode: TextWire<'a>,
    #[serde(borrow)]
    origin: ObjectWire<ClaudeOriginWire<'a>>,
    #[serde(borrow)]
    prompt: ContentWire<'a>,
    is_meta: FlagWire,
}

/// Reads a session file. A subagent's own file, in which every record is a sidechain, is read like any other, but what
/// speaks in it is the agent that started it.
pub(super) fn read(window: TranscriptWindow<'_>) -> Transcript {
    let mut transcript = Transcript::default();
    let mut records: Vec<ClaudeRecordWire<'_>> = Vec::new();
    for line in lines(window.body) {
        if let Some(skimmed) = skim(line) {
            records.extend(Some(silent(skimmed)).filter(is_kept));
            continue;
        }
        match serde_json::from_slice::<ObjectWire<ClaudeRecordWire<'_>>>(line) {
            Ok(ObjectWire(Some(record))) if is_kept(&record) => records.push(record),
            Ok(ObjectWire(Some(record))) if !record.kind.as_str().is_empty() => {}
            Ok(_) => transcript.skipped += 1,
            Err(_) => {
                transcript.skipped += 1;
                records.extend(envelope(line).filter(is_kept));
            }
        }
    }
    let speaks = |record: &ClaudeRecordWire<'_>| matches!(record.kind.as_str(), "user" | "assistant");
    let is_subagent = records.iter().any(speaks)
        && records.iter().filter(|record| speaks(record)).all(|record| record.is_sidechain.0);
    let links: Vec<RecordLink<'_>> = records.iter().map(|record| link(record, is_subagent)).collect();
    for index in chain::walk(&links) {
        // Each record is passed once, so its contents can be taken.
        if let Some(record) = records.get_mut(index).map(std::mem::take)
            && record.is_sidechain.0 == is_subagent
        {
            push_entries(record, is_subagent, &mut transcript.entries);
        }
    }
    transcript
}

/// Returns what one record holds, whatever became of it later.
pub(super) fn entries(line: &[u8], is_subagent: bool) -> Option<Vec<TranscriptEntry>> {
    let ObjectWire(record) = serde_json::from_slice::<ObjectWire<ClaudeRecordWire<'_>>>(line).ok()?;
    let mut entries = Vec::new();
    push_entries(record?, is_subagent, &mut entries);
    Some(entries)
}

/// Makes the record of a line that holds nobody's words and no call.
fn silent(skimmed: SkimmedRecord<'_>) -> ClaudeRecordWire<'_> {
    ClaudeRecordWire {
        kind: TextWire(Some(Cow::Borrowed(skimmed.kind))),
        uuid: TextWire(skimmed.uuid.map(Cow::Borrowed)),
        parent_uuid: skimmed.parent,
        is_sidechain: FlagWire(skimmed.is_sidechain),
        tool_use_result: PresentWire(true),
        ..ClaudeRecordWire::default()
    }
}

/// Says whether a record can be a part of the chain. Bookkeeping has no place in it.
fn is_kept(record: &ClaudeRecordWire<'_>) -> bool {
    matches!(record.kind.as_str(), "user" | "assistant" | "attachment" | "system")
        || !record.uuid.as_str().is_empty() && !record.kind.as_str().is_empty()
}

/// Reads at least how a record hangs on the others, if its contents are nested too deeply or are damaged.
fn envelope(line: &[u8]) -> Option<ClaudeRecordWire<'_>> {
    let ObjectWire(envelope) = serde_json::from_slice::<ObjectWire<ClaudeRecordNames<'_>>>(line).ok()?;
    let ClaudeRecordNames { kind, subtype, uuid, parent_uuid, is_sidechain } = envelope?;
    Some(ClaudeRecordWire { kind, subtype, uuid, parent_uuid, is_sidechain, ..ClaudeRecordWire::default() })
}

fn link<'a>(record: &'a ClaudeRecordWire<'_>, is_subagent: bool) -> RecordLink<'a> {
    let kind = record.kind.as_str();
    let message = record.message.0.as_ref();
    RecordLink {
        uuid: record.uuid.0.as_deref(),
        parent: match &record.parent_uuid {
            ReferenceWire::To(uuid) => Some(uuid),
            ReferenceWire::None | ReferenceWire::Unknown => None,
        },
        answer: message.and_then(|message| message.id.0.as_deref()).filter(|_| kind == "assistant"),
        is_main: record.is_sidechain.0 == is_subagent
            && matches!(kind, "user" | "assistant" | "attachment" | "system"),
        is_boundary: kind == "system" && record.subtype.as_str() == "compact_boundary",
    }
}

fn push_entries(record: ClaudeRecordWire<'_>, is_subagent: bool, entries: &mut Vec<TranscriptEntry>) {
    match record.kind.as_str() {
        "assistant" => push_calls(record, entries),
        "user" => {
            let Some(message) = &record.message.0 else {
                return;
            };
            let texts = message.content.texts();
            if record.is_compact_summary.0 {
                let text = texts.collect::<Vec<_>>().join("\n");
                entries.push(TranscriptEntry::Notice { kind: NoticeKind::Summary, text });
            } else if !is_host_record(&record) {
                let speaker = speaker_of(&record, is_subagent);
                entries.extend(slash_command(&record, speaker).or_else(|| turn(texts, speaker)));
            }
        }
        "attachment" => {
            let Some(attachment) = &record.attachment.0 else {
                return;
            };
            if attachment.kind.as_str() == "queued_command" && !attachment.is_meta.0 && !record.is_meta.0 {
                entries.extend(turn(attachment.prompt.texts(), speaker_in_queue(attachment, is_subagent)));
            }
        }
        _ => {}
    }
}

/// Says whether a user record holds only what the host or a tool had to say.
fn is_host_record(record: &ClaudeRecordWire<'_>) -> bool {
    record.is_meta.0
        || record.is_visible_in_transcript_only.0
        || record.tool_use_result.0
        || record.source_answer.0
        || record.source_call.0
}

fn speaker_of(record: &ClaudeRecordWire<'_>, is_subagent: bool) -> Speaker {
    let blocks = record.message.0.iter().flat_map(|message| &message.content.0);
    if blocks.into_iter().any(|block| block.kind.as_str() == "tool_result") {
        // What stands beside the result of a tool is the host's.
        return Speaker::Other(NoticeKind::Host);
    }
    match record.origin.0.as_ref().map(|origin| origin.kind.as_str()) {
        Some(kind) => by_origin(kind),
        None if record.prompt_source.as_str() == "system" => Speaker::Other(NoticeKind::Host),
        None if is_subagent => Speaker::Other(NoticeKind::Agent),
        None => Speaker::Human,
    }
}

fn speaker_in_queue(attachment: &ClaudeAttachmentWire<'_>, is_subagent: bool) -> Speaker {
    match attachment.origin.0.as_ref().map(|origin| origin.kind.as_str()) {
        Some(kind) => by_origin(kind),
        None if !matches!(attachment.command_mode.as_str(), "" | "prompt") => {
            Speaker::Other(NoticeKind::Host)
        }
        None if is_subagent => Speaker::Other(NoticeKind::Agent),
        None => Speaker::Human,
    }
}

fn by_origin(kind: &str) -> Speaker {
    match kind {
        "human" => Speaker::Human,
        "cron" | "loop" => Speaker::Other(NoticeKind::ScheduledTask),
        "peer" | "teammate" | "agent" | "channel" => Speaker::Other(NoticeKind::Agent),
        _ => Speaker::Other(NoticeKind::Host),
    }
}

/// Makes one turn of the texts of one record.
fn turn<'a>(texts: impl Iterator<Item = &'a str>, by_record: Speaker) -> Option<TranscriptEntry> {
    let mut who = by_record;
    let mut words: Vec<String> = Vec::new();
    for text in texts {
        let by_text = speaker::claude(text);
        if by_text == Speaker::Nobody {
            continue;
        }
        if who == Speaker::Human {
            who = by_text;
        }
        let kept = if by_text == Speaker::Human { speaker::without_reminders(text) } else { text.to_owned() };
        words.push(if is_task_notification(text) { task_ended(text) } else { kept });
    }
    let text = words.join("\n");
    if text.trim().is_empty() {
        return None;
    }
    match who {
        Speaker::Human => Some(TranscriptEntry::Human(text)),
        Speaker::Other(kind) => Some(TranscriptEntry::Notice { kind, text }),
        Speaker::Nobody => None,
    }
}

/// Makes a turn of a slash command with arguments. Commands that an agent calls leave such a record too, so they are the
/// user's words only where the host says that a person typed them. What a command stands for is a prepared text.
fn slash_command(record: &ClaudeRecordWire<'_>, speaker: Speaker) -> Option<TranscriptEntry> {
    let mut texts = record.message.0.as_ref()?.content.texts();
    let (Some(text), None) = (texts.next(), texts.next()) else { return None };
    let text = speaker::slash_command(text).filter(|_| speaker == Speaker::Human)?;
    let is_typed = record.origin.0.as_ref().is_some_and(|origin| origin.kind.as_str() == "human");
    Some(if is_typed {
        TranscriptEntry::Human(text)
    } else {
        TranscriptEntry::Notice { kind: NoticeKind::Command, text }
    })
}

fn is_task_notification(text: &str) -> bool {
    text.trim_start().starts_with("<task-notification>")
}

/// Says that a task ended. The notification quotes what the agent called the task and what it answered, and an agent
/// must not talk to its judge.
fn task_ended(text: &str) -> String {
    let status = text.split_once("<status>").and_then(|(_, rest)| rest.split_once("</status>"));
    match status.map(|(status, _)| status) {
        Some(known @ ("completed" | "failed" | "killed" | "stopped" | "running")) => {
            format!("a background task reported: {known}")
        }
        Some(_) | None => "a background task reported".to_owned(),
    }
}

fn push_calls(record: ClaudeRecordWire<'_>, entries: &mut Vec<TranscriptEntry>) {
    let blocks = record.message.0.into_iter().flat_map(|message| message.content.0);
    for block in blocks.filter(|block| block.kind.as_str() == "tool_use") {
        if let Some(name) = block.name.0.filter(|name| !name.is_empty()) {
            let call = ToolCall::new(&name, block.input.0);
            entries.push(TranscriptEntry::Call { id: block.id.0.map(Cow::into_owned), call });
        }
    }
}
