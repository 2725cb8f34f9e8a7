//! Calls as text, for tests that compare them.

use portcullis_core::ToolCall;

use crate::json;

/// Writes each call as its tool and input, a line a call.
pub(crate) fn shown(calls: &[ToolCall]) -> String {
    let one = |call: &ToolCall| {
        let mut text = format!("{} ", call.tool());
        json::write_input(&mut text, call.input());
        text
    };
    calls.iter().map(one).collect::<Vec<_>>().join("\n")
}
