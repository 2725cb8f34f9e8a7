//! A line of Claude Code's session files. Results of tools, most of a file, are passed over once and never built.

use serde::Deserialize;

use super::super::claude;
use super::super::wire::{Flag, Many, Object, Present, Text};
use super::{Fate, Happening, Stream};

/// What stands around the contents of a record, and whose results it holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Around<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    permission_mode: Text<'a>,
    #[serde(borrow)]
    tool_denial_kind: Text<'a>,
    is_sidechain: Flag,
    tool_use_result: Present,
    #[serde(borrow)]
    message: Object<Results<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Results<'a> {
    #[serde(borrow)]
    content: Many<Object<ResultBlock<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    is_error: Flag,
}

/// Reads a line.
pub(super) fn take(stream: &mut Stream, line: &[u8], told: &mut Vec<Happening>) -> Option<()> {
    let Object(around) = serde_json::from_slice::<Object<Around<'_>>>(line).ok()?;
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

fn push_ends(around: &Around<'_>, told: &mut Vec<Happening>) {
    let blocks = around.message.0.iter().flat_map(|message| &message.content.0);
    for block in blocks.filter_map(|block| block.0.as_ref()) {
        let Some(id) = block.tool_use_id.0.as_deref().filter(|_| block.kind.as_str() == "tool_result") else {
            continue;
        };
        let fate = match around.tool_denial_kind.as_str() {
            "user-rejected" => Fate::Rejected,
            "permission-rule" => Fate::DeniedByRule,
            "automode-blocked" => Fate::Blocked,
            _ if block.is_error.0 => Fate::Failed,
            _ => Fate::Ran,
        };
        told.push(Happening::Ended { id: id.to_owned(), fate });
    }
}
