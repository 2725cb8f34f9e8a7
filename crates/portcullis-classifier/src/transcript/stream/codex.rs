//! A line of Codex's session files. They do not tell the permission mode, nor whether the user said no to a call.

use serde::Deserialize;

use super::super::codex;
use super::super::wire::{CountWire, ObjectWire, TextWire};
use super::{SessionEvent, SessionStream};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexLineWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    timestamp: TextWire<'a>,
    #[serde(borrow)]
    payload: ObjectWire<CodexLinePayloadWire<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CodexLinePayloadWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    cwd: TextWire<'a>,
    num_turns: CountWire,
}

/// Reads a line.
pub(super) fn take(stream: &mut SessionStream, line: &[u8], told: &mut Vec<SessionEvent>) -> Option<()> {
    let ObjectWire(around) = serde_json::from_slice::<ObjectWire<CodexLineWire<'_>>>(line).ok()?;
    let around = around.filter(|around| !around.kind.as_str().is_empty())?;
    stream.move_to(None, None, around.timestamp.0.as_deref());
    let Some(payload) = &around.payload.0 else { return Some(()) };
    match (around.kind.as_str(), payload.kind.as_str()) {
        ("session_meta", _) => {
            // A forked session repeats the records of the one it comes from; only the first says where this one is.
            if stream.scene.cwd.is_none() {
                stream.move_to(payload.cwd.0.as_deref(), None, None);
            }
        }
        ("turn_context", _) => {
            stream.move_to(payload.cwd.0.as_deref(), None, None);
            return Some(());
        }
        ("event_msg", "thread_rolled_back") => {
            told.push(SessionEvent::TookBack(payload.num_turns.0.unwrap_or(0)));
            return Some(());
        }
        ("event_msg", "user_message" | "item_completed") | ("compacted", _) => {}
        // What a tool returned is most of a file.
        ("response_item", kind) if !kind.ends_with("_output") => {}
        _ => return Some(()),
    }
    let entries = codex::entries(&mut stream.codex, line)?;
    stream.push(entries, told);
    Some(())
}
