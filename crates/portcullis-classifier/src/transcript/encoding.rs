//! What the judge sees of a call: one line of text a tool, with what matters for safety and without the agent's own
//! account of it (spec D4).
//!
//! | tool | text |
//! |---|---|
//! | Bash, PowerShell, Monitor | the command |
//! | Edit, MultiEdit | the path, then every removed line behind `-` and every added line behind `+` |
//! | Write | `path: content` |
//! | NotebookEdit | `path mode cell: source` |
//! | Agent | `(type, mode=…): prompt` |
//! | WebFetch | `url: prompt` |
//! | WebSearch | the query |
//! | Grep | `pattern in path` |
//! | Config | `setting = value` |
//! | CronCreate | `cron: prompt` |
//! | SendMessage | `to whom: message` |
//! | harmless tools | nothing: no judge is needed |
//! | MCP tools and all others | `name=value …` |

use std::fmt::Write as _;

use portcullis_core::tool::find_tool;
use portcullis_core::{ToolCall, ToolInput, Value, visible};
use portcullis_hosts::json;

/// Writes a call the way the judge sees it. The text is empty only for a tool that is known to be harmless.
///
/// A call that lacks what its row needs is written with all it has, so that nothing can be hidden by an odd shape.
pub fn encode(call: &ToolCall) -> String {
    if let Some(text) = row(call.tool(), call.input()).filter(|text| !text.trim().is_empty()) {
        return text;
    }
    if needs_no_judge(call) { String::new() } else { pairs(call.input()) }
}

/// Says whether a tool is known to be harmless, so that its calls are not shown.
pub(super) fn needs_no_judge(call: &ToolCall) -> bool {
    // A search is harmless and has a row nevertheless: what is searched for may tell what an agent is after.
    call.tool() != "Grep" && find_tool(call.tool()).is_some_and(|info| info.is_harmless)
}

/// Writes all fields of an input: `name=value`, in the order of their names.
pub(super) fn pairs(input: &ToolInput) -> String {
    let mut text = String::new();
    for (name, value) in input.fields() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&visible(name));
        text.push('=');
        match value {
            Value::Text(plain) => text.push_str(plain),
            other => json::write_value(&mut text, other),
        }
    }
    if text.is_empty() { "no input".to_owned() } else { text }
}

/// Fields of a shell call that change nothing about what it may do.
const IDLE: [&str; 4] = ["command", "description", "timeout", "run_in_background"];

/// Writes a command line, and what else is asked for with it, such as to run outside the sandbox.
fn shell(input: &ToolInput) -> Option<String> {
    let command = input.text("command")?;
    let others = input.fields().filter(|(name, _)| !IDLE.contains(name));
    let others: Vec<String> = others.map(|(name, value)| format!("{name}={}", plain(value))).collect();
    Some(match others.as_slice() {
        [] => command.to_owned(),
        others => format!("{command}\n[with {}]", others.join(" ")),
    })
}

fn row(tool: &str, input: &ToolInput) -> Option<String> {
    match tool {
        "Bash" | "PowerShell" | "Monitor" => shell(input),
        "Write" => Some(format!("{}: {}", path(input, "file_path")?, input.text("content")?)),
        "Edit" => edit(input),
        "MultiEdit" => multi_edit(input),
        "NotebookEdit" => notebook_edit(input),
        "Agent" => agent(input),
        "WebFetch" => Some(with(input.text("url")?, ": ", scalar(input, "prompt"))),
        "WebSearch" => input.text("query").map(str::to_owned),
        "Grep" => Some(with(input.text("pattern")?, " in ", scalar(input, "path"))),
        "Config" => Some(with(input.text("setting")?, " = ", scalar(input, "value"))),
        "CronCreate" => Some(format!("{}: {}", input.text("cron")?, input.text("prompt")?)),
        "SendMessage" => {
            let to = input.text("to").or_else(|| input.text("recipient"))?;
            let message = input.field("message").or_else(|| input.field("content"))?;
            Some(format!("to {to}: {}", plain(message)))
        }
        _ => None,
    }
}

/// Returns a path on one line.
fn path(input: &ToolInput, field: &str) -> Option<String> {
    input.text(field).map(|path| visible(path).into_owned())
}

fn with(first: &str, between: &str, second: Option<String>) -> String {
    match second {
        Some(second) => format!("{first}{between}{second}"),
        None => first.to_owned(),
    }
}

/// Returns a field as text; `None` if it is missing, null or empty.
fn scalar(input: &ToolInput, field: &str) -> Option<String> {
    input.field(field).filter(|value| **value != Value::Null).map(plain).filter(|text| !text.is_empty())
}

fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => {
            let mut text = String::new();
            json::write_value(&mut text, other);
            text
        }
    }
}

fn edit(input: &ToolInput) -> Option<String> {
    let (old, new) = (input.text("old_string")?, input.text("new_string")?);
    let all = matches!(input.field("replace_all"), Some(Value::Bool(true)));
    let mut text = format!("{}{}:", path(input, "file_path")?, if all { " (everywhere)" } else { "" });
    push_change(&mut text, old, new);
    Some(text)
}

fn multi_edit(input: &ToolInput) -> Option<String> {
    let mut text = format!("{}:", path(input, "file_path")?);
    let Value::List(edits) = input.field("edits")? else {
        return None;
    };
    for edit in edits {
        let Value::Object(fields) = edit else {
            return None;
        };
        let field = |name: &str| fields.get(name).and_then(Value::as_text);
        push_change(&mut text, field("old_string")?, field("new_string")?);
    }
    (!edits.is_empty()).then_some(text)
}

/// Appends the removed lines and the added ones, each behind its sign.
fn push_change(text: &mut String, old: &str, new: &str) {
    for (sign, part) in [('-', old), ('+', new)] {
        for line in part.split_terminator('\n') {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{sign}{line}");
        }
    }
    if old.is_empty() && new.is_empty() {
        text.push_str("\nnothing");
    }
}

fn notebook_edit(input: &ToolInput) -> Option<String> {
    let mode = input.text("edit_mode").unwrap_or("replace");
    let source = match input.text("new_source") {
        Some(source) => source,
        None if mode == "delete" => "",
        None => return None,
    };
    let cell = scalar(input, "cell_id").map(|cell| format!(" {}", visible(&cell))).unwrap_or_default();
    Some(format!("{} {mode}{cell}: {source}", path(input, "notebook_path")?))
}

fn agent(input: &ToolInput) -> Option<String> {
    let prompt = input.text("prompt")?;
    let mut about: Vec<String> = scalar(input, "subagent_type").into_iter().collect();
    about.extend(scalar(input, "mode").map(|mode| format!("mode={mode}")));
    Some(if about.is_empty() { prompt.to_owned() } else { format!("({}): {prompt}", about.join(", ")) })
}
