//! A line of Codex's session files. They do not tell the permission mode, nor whether the user said no to a call.

use serde::Deserialize;

use super::super::codex;
use super::super::wire::{Count, Object, Text};
use super::{Happening, Stream};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Around<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    payload: Object<Payload<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    num_turns: Count,
}

/// Reads a line.
pub(super) fn take(stream: &mut Stream, line: &[u8], told: &mut Vec<Happening>) -> Option<()> {
    let Object(around) = serde_json::from_slice::<Object<Around<'_>>>(line).ok()?;
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
            told.push(Happening::TookBack(payload.num_turns.0.unwrap_or(0)));
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
