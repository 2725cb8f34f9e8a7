//! Session files in the form of each host: the user asks for something, a record follows, the user goes on.

use portcullis_classifier::transcript::TranscriptFormat;
use serde_json::{Value, json};

/// What the user says in every session.
pub(crate) const FIRST: &str = "run the tests";
pub(crate) const LAST: &str = "and now the linter";

/// The records of a session file.
pub(crate) struct Records {
    format: TranscriptFormat,
    lines: Vec<Value>,
}

impl Records {
    pub(crate) fn format(&self) -> TranscriptFormat {
        self.format
    }

    pub(crate) fn into_text(self) -> String {
        self.lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n")
    }
}

/// Claude Code.
pub(crate) mod claude {
    use portcullis_core::ToolCall;

    use super::{FIRST, LAST, Records, TranscriptFormat, Value, json};

    /// Makes a session around a record: each hangs on the one before it.
    pub(crate) fn with(record: &Value) -> Records {
        with_both(record, None)
    }

    /// Makes a session around a call and what the host noted of its end.
    pub(crate) fn with_end(tool: &str, input: &Value, end: &Value) -> Records {
        let call = answered(&json!([{"type": "tool_use", "id": "t1", "name": tool, "input": input}]));
        with_both(&call, Some(end))
    }

    fn with_both(record: &Value, second: Option<&Value>) -> Records {
        let middle = std::iter::once(record).chain(second).cloned();
        let mut lines: Vec<Value> =
            std::iter::once(said(FIRST)).chain(middle).chain(std::iter::once(said(LAST))).collect();
        let uuids = if second.is_some() { ["u1", "x", "y", "u2"].as_slice() } else { &["u1", "x", "u2"] };
        let mut parent = Value::Null;
        for (line, uuid) in lines.iter_mut().zip(uuids) {
            link(line, uuid, &parent);
            parent = json!(uuid);
        }
        Records { format: TranscriptFormat::Claude, lines }
    }

    /// Makes what the host notes of the end of the call.
    pub(crate) fn ended(content: &str, more: &Value) -> Value {
        user(&json!([{"type": "tool_result", "tool_use_id": "t1", "content": content}]), more)
    }

    /// Makes a session in which the agent made a call.
    pub(crate) fn with_call(call: &ToolCall) -> Records {
        let mut input = String::from("{");
        for (index, (name, value)) in call.input().fields().enumerate() {
            input.push_str(if index == 0 { "" } else { "," });
            input.push_str(&json!(name).to_string());
            input.push(':');
            portcullis_hosts::json::write_value(&mut input, value);
        }
        input.push('}');
        let input: Value = serde_json::from_str(&input).unwrap();
        with(&answered(&json!([{"type": "tool_use", "id": "t1", "name": call.tool(), "input": input}])))
    }

    /// Makes a session with words on a branch that was left.
    pub(crate) fn with_dead_branch(text: &str) -> Records {
        let mut records = with(&said(text));
        if let Some(last) = records.lines.last_mut() {
            link(last, "u2", &json!("u1"));
        }
        records
    }

    fn link(line: &mut Value, uuid: &str, parent: &Value) {
        line["uuid"] = json!(uuid);
        line["parentUuid"] = parent.clone();
    }

    pub(crate) fn said(text: &str) -> Value {
        said_with(text, &json!({}))
    }

    pub(crate) fn said_by(text: &str, origin: &str) -> Value {
        said_with(text, &json!({"origin": {"kind": origin}}))
    }

    pub(crate) fn said_with(text: &str, more: &Value) -> Value {
        user(&json!(text), more)
    }

    pub(crate) fn user(content: &Value, more: &Value) -> Value {
        let mut record =
            json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": content}});
        for (name, value) in more.as_object().unwrap() {
            record[name] = value.clone();
        }
        record
    }

    pub(crate) fn answered(content: &Value) -> Value {
        json!({"type": "assistant", "isSidechain": false, "message": {"id": "m1", "role": "assistant", "content": content}})
    }
}

/// Codex.
pub(crate) mod codex {
    use super::{FIRST, LAST, Records, TranscriptFormat, Value, json};

    pub(crate) fn record(kind: &str, payload: &Value) -> Value {
        json!({"type": kind, "payload": payload})
    }

    fn said(text: &str) -> Value {
        let content = json!([{"type": "input_text", "text": text}]);
        record("response_item", &json!({"type": "message", "role": "user", "content": content}))
    }

    pub(crate) fn with(middle: &Value) -> Records {
        let head = record("session_meta", &json!({"id": "s", "source": "cli", "thread_source": "user"}));
        Records {
            format: TranscriptFormat::Codex,
            lines: vec![head, said(FIRST), middle.clone(), said(LAST)],
        }
    }

    pub(crate) fn of_subagent(text: &str) -> Records {
        let head = record("session_meta", &json!({"id": "s", "thread_source": "subagent"}));
        Records { format: TranscriptFormat::Codex, lines: vec![head, said(text)] }
    }
}

/// Gemini CLI.
pub(crate) mod gemini {
    use super::{FIRST, LAST, Records, TranscriptFormat, Value, json};

    fn head(kind: &str) -> Value {
        json!({"sessionId": "s", "projectHash": "p", "kind": kind})
    }

    fn said(id: &str, text: &str) -> Value {
        json!({"id": id, "type": "user", "content": [{"text": text}]})
    }

    pub(crate) fn with(middle: &Value) -> Records {
        let lines = vec![head("main"), said("a", FIRST), middle.clone(), said("b", LAST)];
        Records { format: TranscriptFormat::Gemini, lines }
    }

    pub(crate) fn of_subagent(text: &str) -> Records {
        Records { format: TranscriptFormat::Gemini, lines: vec![head("subagent"), said("a", text)] }
    }
}

/// Our own form.
pub(crate) mod plain {
    use super::{FIRST, LAST, Records, TranscriptFormat, Value, json};

    pub(crate) fn with(middle: &Value) -> Records {
        let lines = vec![json!({"user": FIRST}), middle.clone(), json!({"user": LAST})];
        Records { format: TranscriptFormat::Plain, lines }
    }
}
