//! What a line of the client is, read so that no server can read it in another way.
//!
//! The server behind the proxy has a reader of its own, and readers differ: which of two equal names counts, whether
//! `Method` is `method`, where a line ends. A line that a careless reader could take for a call of a tool, and that is
//! not plainly one, is not forwarded.

use std::collections::BTreeMap;

use portcullis_core::{ToolInput, Value};
use portcullis_hosts::json::{kind, parse};

use crate::commands::mcp::json_rpc::{ErrorCode, find_id};

/// The method that is judged.
const TOOL_CALL: &str = "tools/call";

/// The method that takes a request back.
const CANCELLED: &str = "notifications/cancelled";

/// The names in a message that say what it is.
const ENVELOPE: [&str; 4] = ["id", "jsonrpc", "method", "params"];

/// The names in the parameters of a call that say what is called.
const PARAMETERS: [&str; 2] = ["arguments", "name"];

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Frame {
    /// One message.
    One(Message),
    /// Several messages.
    Batch(Vec<(Value, Message)>),
}

/// What a message is.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// A call of a tool.
    Call(Call),
    /// Whoever asked does not want the answer to the request with this id any more.
    Cancellation(Value),
    /// Something else.
    Other,
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// What the answer is known by; a call without an id gets none.
    pub(super) id: Option<Value>,
    /// The server's name for the tool.
    pub(super) tool: String,
    pub(super) arguments: ToolInput,
}

/// Why a line is not forwarded.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    /// Whom to answer: the ids of the messages in it, or null.
    pub(super) ids: Vec<Value>,
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

/// What is wrong with one message.
type Fault = (ErrorCode, String);

/// Reads a line, given without its newline.
pub(super) fn read(line: &[u8]) -> Result<Frame, Refusal> {
    let refuse = |ids: Vec<Value>, (code, message): Fault| Refusal { ids, code, message };
    let value =
        parse(line).map_err(|error| refuse(vec![find_id(line)], (ErrorCode::Parse, error.message)))?;
    if has_inner_line(line) {
        let message = "the message holds a line end after which another message could begin".to_owned();
        return Err(refuse(ids_of(&value), (ErrorCode::InvalidRequest, message)));
    }
    let frame = match &value {
        Value::Object(fields) => message(fields).map(Frame::One),
        Value::List(members) => batch(members),
        other => Err(invalid(format!("expected a message, found {}", kind(other)))),
    };
    frame.map_err(|fault| refuse(ids_of(&value), fault))
}

fn invalid(message: String) -> Fault {
    (ErrorCode::InvalidRequest, message)
}

fn batch(members: &[Value]) -> Result<Frame, Fault> {
    let mut parts = Vec::new();
    for member in members {
        let Value::Object(fields) = member else {
            return Err(invalid(format!("expected messages in the batch, found {}", kind(member))));
        };
        parts.push((member.clone(), message(fields)?));
    }
    Ok(Frame::Batch(parts))
}

/// Reads one message.
fn message(fields: &BTreeMap<String, Value>) -> Result<Message, Fault> {
    refuse_lookalikes(fields, &ENVELOPE)?;
    let method = match fields.get("method") {
        // An answer to what the server asked.
        None => return Ok(Message::Other),
        Some(Value::Text(method)) => method,
        Some(other) => return Err(invalid(format!("`method` must be a string, but is {}", kind(other)))),
    };
    if method != TOOL_CALL {
        if bare(method).contains(&bare(TOOL_CALL)) {
            let message = format!("the method looks like `{TOOL_CALL}`, but is not spelled so");
            return Err((ErrorCode::MethodNotFound, message));
        }
        return Ok(cancelled_id(method, fields).map_or(Message::Other, Message::Cancellation));
    }
    let id = match fields.get("id") {
        None => None,
        Some(id @ (Value::Text(_) | Value::Number(_))) => Some(id.clone()),
        Some(other) => {
            return Err(invalid(format!("`id` must be a string or number, but is {}", kind(other))));
        }
    };
    let (tool, arguments) = parameters(fields.get("params"))?;
    Ok(Message::Call(Call { id, tool, arguments }))
}

/// Returns the id of the request that a message takes back; `None` if it does not.
fn cancelled_id(method: &str, fields: &BTreeMap<String, Value>) -> Option<Value> {
    let Some(Value::Object(params)) = fields.get("params").filter(|_| method == CANCELLED) else {
        return None;
    };
    params.get("requestId").filter(|id| matches!(id, Value::Text(_) | Value::Number(_))).cloned()
}

fn parameters(params: Option<&Value>) -> Result<(String, ToolInput), Fault> {
    let wrong = |message: &str| (ErrorCode::InvalidParams, message.to_owned());
    let Some(Value::Object(params)) = params else {
        return Err(wrong("`params` of a tool call must be an object"));
    };
    refuse_lookalikes(params, &PARAMETERS)?;
    let Some(Value::Text(tool)) = params.get("name") else {
        return Err(wrong("`name` of a tool call must be a string"));
    };
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => ToolInput::default(),
        Some(Value::Object(fields)) => fields.clone().into_iter().collect(),
        Some(_) => return Err(wrong("`arguments` of a tool call must be an object")),
    };
    Ok((tool.clone(), arguments))
}

/// Refuses names that some readers take for one that counts: many compare without regard to case.
fn refuse_lookalikes(fields: &BTreeMap<String, Value>, names: &[&str]) -> Result<(), Fault> {
    for field in fields.keys() {
        if let Some(name) = names.iter().find(|name| **name == bare(field))
            && *name != field
        {
            return Err(invalid(format!("a field looks like `{name}`, but is not spelled so")));
        }
    }
    Ok(())
}

/// Returns the letters and digits of a text, in lower case, also of letters that other readers fold into these.
fn bare(text: &str) -> String {
    let folded = text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.filter(char::is_ascii_alphanumeric).collect()
}

/// Says whether a reader that knows more line ends than ours could find a further message in a line.
///
/// Inside of a string the separators of Unicode need no escape, so an agent can bring them into a call that is allowed.
fn has_inner_line(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return true };
    let is_line_end =
        |character: char| matches!(character, '\r' | '\u{b}'..='\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let blank = |character: char| character.is_whitespace() || character == '\u{feff}';
    let mut later = text.split(is_line_end).skip(1);
    later.any(|piece| piece.trim_start_matches(blank).starts_with(['{', '[']))
}

/// Returns the ids in a message or a batch that can be answered, or null.
fn ids_of(value: &Value) -> Vec<Value> {
    let members = match value {
        Value::List(members) => members.as_slice(),
        other => std::slice::from_ref(other),
    };
    let id = |member: &Value| match member {
        Value::Object(fields) if fields.contains_key("method") => fields.get("id").cloned(),
        _ => None,
    };
    let ids: Vec<Value> =
        members.iter().filter_map(id).filter(|id| matches!(id, Value::Text(_) | Value::Number(_))).collect();
    if ids.is_empty() { vec![Value::Null] } else { ids }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn number(text: &str) -> Value {
        Value::Number(text.to_owned())
    }

    #[test]
    fn a_call_is_found_however_it_is_written() {
        let table = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"b"}}}"#,
            r#" { "params" : {"arguments":{"\u0061":"b"},"name":"\u0074"},"method":"tools\/call","id":1}  "#,
            r#"{"id":1,"met\u0068od":"\u0074ools/c\u0061ll","params":{"name":"t","arguments":{"a":"b"}}}"#,
            "{\"id\":1,\t\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"b\"}}}\r",
        ];
        for line in table {
            let expected =
                Call { id: Some(number("1")), tool: "t".to_owned(), arguments: ToolInput::of_text("a", "b") };
            assert_eq!(read(line.as_bytes()), Ok(Frame::One(Message::Call(expected))), "{line}");
        }
    }

    #[test]
    fn what_calls_no_tool_goes_on() {
        let table = [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"method":"tools/call"}}}"#,
            "{}",
        ];
        for line in table {
            assert_eq!(read(line.as_bytes()), Ok(Frame::One(Message::Other)), "{line}");
        }
        assert_eq!(read(b"[]"), Ok(Frame::Batch(Vec::new())));
        let cancelled = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(read(cancelled), Ok(Frame::One(Message::Cancellation(number("1")))));
    }

    #[test]
    fn what_another_reader_could_take_for_a_call_is_refused() {
        use ErrorCode::{InvalidParams, InvalidRequest, MethodNotFound, Parse};
        let table = [
            (r#"{"id":1,"method":"ping","method":"tools/call"}"#, Parse),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#, Parse),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}"#, Parse),
            ("{\"id\":1,\"method\":\"tools/call\",}", Parse),
            ("\u{feff}{\"id\":1,\"method\":\"tools/call\"}", Parse),
            ("// {\n", Parse),
            (r#"{"id":1,"method":"ping","Method":"tools/call"}"#, InvalidRequest),
            (r#"{"id":1,"METHOD":"tools/call"}"#, InvalidRequest),
            (r#"{"id":1,"method ":"tools/call"}"#, InvalidRequest),
            (r#"{"id":1,"method\u0000":"tools/call"}"#, InvalidRequest),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a"},"paramſ":{"name":"b"}}"#, InvalidRequest),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}"#, InvalidRequest),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a","Arguments":{}}}"#, InvalidRequest),
            (r#"{"id":1,"method":["tools/call"]}"#, InvalidRequest),
            (r#"{"id":[1],"method":"tools/call","params":{"name":"a"}}"#, InvalidRequest),
            (r#"{"id":1,"method":"Tools/Call","params":{"name":"a"}}"#, MethodNotFound),
            (r#"{"id":1,"method":" tools/call ","params":{"name":"a"}}"#, MethodNotFound),
            (r#"{"id":1,"method":"tools/call\u0000","params":{"name":"a"}}"#, MethodNotFound),
            (r#"{"id":1,"method":"tools//call"}"#, MethodNotFound),
            (r#"{"id":1,"method":"toolſ/call"}"#, MethodNotFound),
            (r#"{"id":1,"method":"tools/call"}"#, InvalidParams),
            (r#"{"id":1,"method":"tools/call","params":{"name":7}}"#, InvalidParams),
            (r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#, InvalidParams),
            ("{\"id\":1,\"x\":\r{\"method\":\"tools/call\"}\r}", InvalidRequest),
            ("{\"id\":1,\"x\":\"\u{2028} {\\\"method\\\":\\\"tools/call\\\"}\"}", InvalidRequest),
            (r#"[{"id":1,"method":"ping"},[{"method":"tools/call"}]]"#, InvalidRequest),
            (r#""tools/call""#, InvalidRequest),
        ];
        for (line, code) in table {
            assert_eq!(read(line.as_bytes()).map_err(|refusal| refusal.code), Err(code), "{line}");
        }
        let text = "{\"id\":1,\"method\":\"ping\",\"x\":\"one\u{2028}two\u{85}\"}";
        assert_eq!(read(text.as_bytes()), Ok(Frame::One(Message::Other)));
    }

    #[test]
    fn everybody_who_waits_is_answered() {
        let refused = read(br#"[{"id":1,"method":"ping"},{"id":"x","method":"Tools/call"},{"id":3}]"#);
        assert_eq!(refused.unwrap_err().ids, [number("1"), Value::Text("x".to_owned())]);
        assert_eq!(read(b"{\"id\":4,\"method\":\"a\",\"method\":\"b\"}").unwrap_err().ids, [number("4")]);
        assert_eq!(read(b"{").unwrap_err().ids, [Value::Null]);
    }
}
