//! A line of Claude Code's session files. Results of tools, most of a file, are passed over once and never built.

use serde::Deserialize;

use super::super::claude;
use super::super::wire::{FlagWire, ListWire, ObjectWire, PresentWire, TextWire};
use super::{CallResult, SessionEvent, SessionStream};

/// What stands around the contents of a record, and whose results it holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeLineWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    cwd: TextWire<'a>,
    #[serde(borrow)]
    timestamp: TextWire<'a>,
    #[serde(borrow)]
    permission_mode: TextWire<'a>,
    #[serde(borrow)]
    tool_denial_kind: TextWire<'a>,
    is_sidechain: FlagWire,
    tool_use_result: PresentWire,
    #[serde(borrow)]
    message: ObjectWire<ToolResultsWire<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolResultsWire<'a> {
    #[serde(borrow)]
    content: ListWire<ObjectWire<ToolResultWire<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolResultWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    tool_use_id: TextWire<'a>,
    is_error: FlagWire,
}

/// Reads a line.
pub(super) fn take(stream: &mut SessionStream, line: &[u8], told: &mut Vec<SessionEvent>) -> Option<()> {
    let ObjectWire(around) = serde_json::from_slice::<ObjectWire<ClaudeLineWire<'_>>>(line).ok()?;
    let around = around.filter(|around| !around.kind.as_str().is_empty())?;
    stream.move_to(
        around.cwd.0.as_deref(),
        around.permission_mode.0.as_deref(),
        around.timestamp.0.as_deref(),
    );
    match around.kind.as_str() {
        "user" => {
            push_ends(&around, told);
            if !around.tool_use_result.0 {
                stream.push(claude::entries(line, around.is_sidechain.0)?, told);
            }
        }
        "assistant" | "attachment" => stream.push(claude::entries(line, around.is_sidechain.0)?, told),
        _ => {}
    }
    Some(())
}

fn push_ends(around: &ClaudeLineWire<'_>, told: &mut Vec<SessionEvent>) {
    let blocks = around.message.0.iter().flat_map(|message| &message.content.0);
    for block in blocks.filter_map(|block| block.0.as_ref()) {
        let Some(id) = block.tool_use_id.0.as_deref().filter(|_| block.kind.as_str() == "tool_result") else {
            continue;
        };
        let fate = match around.tool_denial_kind.as_str() {
            "user-rejected" => CallResult::Rejected,
            "permission-rule" => CallResult::DeniedByRule,
            "automode-blocked" => CallResult::Blocked,
            _ if block.is_error.0 => CallResult::Failed,
            _ => CallResult::Ran,
        };
        told.push(SessionEvent::Ended { id: id.to_owned(), fate });
    }
}
