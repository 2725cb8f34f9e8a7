//! A call made of what a person typed: the tool, and its whole input or the text of its main field.

use portcullis_core::tool::{canonical_name, find_tool};
use portcullis_core::{ToolCall, ToolInput};
use portcullis_hosts::json;

use crate::Failure;

/// Makes a call of a tool from its whole input as JSON.
pub fn call_with_input(tool: &str, input: &[u8]) -> Result<ToolCall, Failure> {
    refuse_nameless(tool)?;
    let input = json::parse_input(input).map_err(|error| Failure::usage(format!("--input: {error}")))?;
    Ok(ToolCall::new(tool, input))
}

/// Makes a call of a tool from the text of its main field, such as a command.
pub fn call_about(tool: &str, text: &str) -> Result<ToolCall, Failure> {
    refuse_nameless(tool)?;
    let field = find_tool(canonical_name(tool)).and_then(|info| info.primary_field).ok_or_else(|| {
        Failure::usage(format!("the tool `{tool}` has no main field that `{text}` could be"))
            .with_hint("give its whole input with --input")
    })?;
    Ok(ToolCall::new(tool, ToolInput::of_text(field, text)))
}

fn refuse_nameless(tool: &str) -> Result<(), Failure> {
    if tool.is_empty() {
        return Err(Failure::usage("the tool has no name").with_hint("name it as in --tool Read"));
    }
    Ok(())
}
