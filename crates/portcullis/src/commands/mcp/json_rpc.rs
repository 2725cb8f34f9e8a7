//! Lines of JSON-RPC that need no more than an envelope.

use portcullis_core::Value;
use portcullis_hosts::json::{write_text, write_value};
use serde::Deserialize;

/// The longest line that is taken, in bytes.
pub(crate) const LONGEST_FRAME: usize = 16 << 20;

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    /// It is no JSON, or could be read in two ways.
    Parse = -32_700,
    /// It is no message.
    InvalidRequest = -32_600,
    /// It asks for something there is not.
    MethodNotFound = -32_601,
    /// What it asks for lacks something.
    InvalidParams = -32_602,
}

/// Writes the line of an error.
pub(crate) fn error_line(id: &Value, code: ErrorCode, message: &str) -> String {
    let code = code as i32;
    answer_line(id, |out| {
        out.push_str("\"error\":{\"code\":");
        out.push_str(&code.to_string());
        out.push_str(",\"message\":");
        write_text(out, message);
        out.push('}');
    })
}

/// Writes the line of a tool's result that says why the tool did not run.
pub(crate) fn refusal_line(id: &Value, reason: &str) -> String {
    answer_line(id, |out| {
        out.push_str("\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
        write_text(out, reason);
        out.push_str("}],\"isError\":true}");
    })
}

fn answer_line(id: &Value, write_rest: impl FnOnce(&mut String)) -> String {
    let mut out = String::from("{\"jsonrpc\":\"2.0\",\"id\":");
    write_value(&mut out, id);
    out.push(',');
    write_rest(&mut out);
    out.push_str("}\n");
    out
}

/// Finds the id of a message that is not taken, so that its sender does not wait for an answer; null if it has none that
/// can be found. It is for errors alone: nothing is decided by it.
pub(crate) fn find_id(line: &[u8]) -> Value {
    /// The rest is skipped without being built, however deep it nests.
    #[derive(Deserialize)]
    struct Envelope {
        id: serde_json::Value,
    }
    match serde_json::from_slice::<Envelope>(line).map(|envelope| envelope.id) {
        Ok(serde_json::Value::String(id)) => Value::Text(id),
        Ok(serde_json::Value::Number(id)) => Value::Number(id.to_string()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_id_is_found_in_what_cannot_be_taken() {
        let deep = format!("{{\"id\":7,\"x\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999));
        let table = [
            (r#"{"method":"a","id":"x","method":"b"}"#, Value::Text("x".to_owned())),
            (deep.as_str(), Value::Number("7".to_owned())),
            (r#"{"id":1,"id":2}"#, Value::Null),
            (r#"{"id":{}}"#, Value::Null),
            (r#"[{"id":1}]"#, Value::Null),
            (r#"{"id":1"#, Value::Null),
            ("{", Value::Null),
        ];
        for (line, expected) in table {
            assert_eq!(find_id(line.as_bytes()), expected, "{}", line.get(..40).unwrap_or(line));
        }
    }

    #[test]
    fn answers_are_lines_of_json() {
        let id = Value::Text("a\n".to_owned());
        assert_eq!(
            error_line(&id, ErrorCode::Parse, "no \"JSON\""),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\",\"error\":{\"code\":-32700,\"message\":\"no \\\"JSON\\\"\"}}\n"
        );
        assert_eq!(
            refusal_line(&Value::Number("1".to_owned()), "no"),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\
             \"isError\":true}}\n"
        );
    }
}
