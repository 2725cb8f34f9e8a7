//! A line of Gemini CLI's session files, or a whole file of the older form. They tell neither directory nor mode.
//!
//! A message is written again when something is added to it, so messages and calls count by their ids.

use serde::Deserialize;

use super::super::TranscriptEntry;
use super::super::gemini;
use super::super::wire::{ListWire, ObjectWire, TextWire};
use super::{CallResult, SessionEvent, SessionStream};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiLineWire<'a> {
    #[serde(borrow)]
    kind: TextWire<'a>,
    #[serde(borrow, rename = "$set")]
    set: ObjectWire<GeminiLineChangeWire<'a>>,
    #[serde(borrow)]
    messages: ListWire<ObjectWire<GeminiLineMessageWire<'a>>>,
    #[serde(borrow)]
    timestamp: TextWire<'a>,
    #[serde(borrow, rename = "toolCalls")]
    calls: ListWire<ObjectWire<GeminiCallStatusWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiLineChangeWire<'a> {
    #[serde(borrow)]
    kind: TextWire<'a>,
    #[serde(borrow)]
    messages: ListWire<ObjectWire<GeminiLineMessageWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiLineMessageWire<'a> {
    #[serde(borrow)]
    timestamp: TextWire<'a>,
    #[serde(borrow, rename = "toolCalls")]
    calls: ListWire<ObjectWire<GeminiCallStatusWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiCallStatusWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow)]
    status: TextWire<'a>,
}

/// Reads a line or a document.
pub(super) fn take(stream: &mut SessionStream, line: &[u8], told: &mut Vec<SessionEvent>) -> Option<()> {
    let ObjectWire(around) = serde_json::from_slice::<ObjectWire<GeminiLineWire<'_>>>(line).ok()?;
    let around = around?;
    let change = around.set.0.unwrap_or_default();
    stream.is_subagent |= around.kind.as_str() == "subagent" || change.kind.as_str() == "subagent";
    // Of messages that come at once, the first that is dated dates the line.
    let messages =
        || around.messages.0.iter().chain(&change.messages.0).filter_map(|message| message.0.as_ref());
    let time = around.timestamp.0.as_deref();
    stream.move_to(
        None,
        None,
        time.or_else(|| messages().find_map(|message| message.timestamp.0.as_deref())),
    );
    for (id, entries) in gemini::messages(line)? {
        let has_turn = |entry: &TranscriptEntry| matches!(entry, TranscriptEntry::Human(_));
        let is_repeated = !id.is_empty() && entries.iter().any(has_turn) && !stream.is_new("message", &id);
        let is_anothers = stream.is_subagent && entries.iter().any(has_turn);
        if !is_repeated && !is_anothers {
            stream.push(entries, told);
        }
    }
    let calls = around.calls.0.iter().chain(messages().flat_map(|message| &message.calls.0));
    told.extend(calls.filter_map(|call| end_of(call.0.as_ref()?)));
    Some(())
}

fn end_of(call: &GeminiCallStatusWire<'_>) -> Option<SessionEvent> {
    let fate = match call.status.as_str() {
        "success" => CallResult::Ran,
        "error" => CallResult::Failed,
        "cancelled" => CallResult::Rejected,
        _ => return None,
    };
    Some(SessionEvent::Ended { id: call.id.0.as_deref()?.to_owned(), fate })
}
