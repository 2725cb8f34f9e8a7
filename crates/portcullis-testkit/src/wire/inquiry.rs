//! What a request asks for, whichever wire it came over.

use serde_json::Value;

use super::{WireProtocol, gemini_model};

/// From so many tokens on, a request is the thinking stage. Room a model needs for thoughts is less than that.
const THINKING_TOKENS: u64 = 4_096;

/// The end of the transcript in a prompt.
const TRANSCRIPT_END: &str = "</transcript>";

/// A request, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The wire it came over.
    pub wire: WireProtocol,
    /// The model that is asked.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The texts of the messages that follow, in order; several blocks of one message are joined.
    pub messages: Vec<String>,
    /// The most tokens the answer may have.
    pub max_tokens: Option<u64>,
    /// Where the answer ends.
    pub stops: Vec<String>,
    /// The form the answer must have.
    pub form: RequestedForm,
    /// Whether the answer is to come in pieces.
    pub is_streamed: bool,
    /// All messages, joined.
    said: String,
}

/// The form a request asks its answer in.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestedForm {
    /// Text.
    Text,
    /// A call of this tool.
    Tool {
        /// Its name.
        name: String,
        /// The schema of its arguments.
        schema: Value,
    },
    /// JSON that follows a schema.
    Schema(Value),
}

/// A stage of a judgement, known by how long the answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestedStage {
    /// The quick look: fewer than 4,096 tokens.
    Fast,
    /// The careful look: 4,096 tokens or more.
    Thinking,
}

impl ModelRequest {
    /// Reads the body of a request. What is missing is empty: a scripted server answers anything that is JSON.
    pub fn read(wire: WireProtocol, path: &str, body: &Value) -> Self {
        let (system, messages) = read_messages(wire, body);
        let model = match wire {
            WireProtocol::Gemini => gemini_model(path).unwrap_or_default().to_owned(),
            _ => text_at(body, "/model"),
        };
        let said = messages.concat();
        Self {
            wire,
            model,
            system,
            messages,
            max_tokens: read_limit(wire, body),
            stops: read_stops(wire, body),
            form: read_form(wire, body),
            is_streamed: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            said,
        }
    }

    /// Returns which stage it is.
    pub fn stage(&self) -> RequestedStage {
        if self.max_tokens.unwrap_or(0) >= THINKING_TOKENS {
            RequestedStage::Thinking
        } else {
            RequestedStage::Fast
        }
    }

    /// Returns the system prompt and all messages.
    pub fn everything(&self) -> String {
        format!("{}\n{}", self.system, self.said)
    }

    /// Returns the last message.
    pub fn last_message(&self) -> &str {
        self.messages.last().map_or("", String::as_str)
    }

    /// Returns the action that is judged as it stands in the prompt: the last entry of the transcript, without its line
    /// break. Without a transcript it is the last message.
    pub fn action(&self) -> &str {
        let Some((before, _)) = self.said.rsplit_once(TRANSCRIPT_END) else {
            return self.last_message().trim();
        };
        let before = before.trim_end();
        // An entry of the legacy form goes on in lines that are indented.
        let mut start = before.len();
        for line in before.split('\n').rev() {
            start = start.saturating_sub(line.len());
            if !line.starts_with([' ', '\t']) {
                break;
            }
            start = start.saturating_sub(1);
        }
        before.get(start..).unwrap_or_default()
    }

    /// Returns the action's own text: what stands decoded in its line of JSON, or the line if it is none.
    pub fn action_raw(&self) -> String {
        let action = self.action();
        match serde_json::from_str::<Value>(action) {
            Ok(Value::Object(fields)) => {
                if let (Some(_), Some(Value::String(text))) = (fields.get("role"), fields.get("action")) {
                    return text.clone();
                }
                let mut texts = Vec::new();
                fields.values().for_each(|value| collect_strings(value, &mut texts));
                texts.join("\n")
            }
            _ => action.to_owned(),
        }
    }

    /// Returns what stands behind the transcript: the words that say how to answer.
    pub fn instructions(&self) -> &str {
        self.said.rsplit_once(TRANSCRIPT_END).map_or(self.last_message(), |(_, after)| after)
    }
}

/// Collects the strings of a value. The depth is bounded by the parser's.
fn collect_strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| collect_strings(field, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn text_at(body: &Value, pointer: &str) -> String {
    body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Joins the texts of a string or a list of blocks.
fn joined(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect()
        }
        _ => String::new(),
    }
}

fn read_messages(wire: WireProtocol, body: &Value) -> (String, Vec<String>) {
    let (mut system, list, content) = match wire {
        WireProtocol::Anthropic => (joined(body.get("system")), "messages", "content"),
        WireProtocol::Responses => (joined(body.get("instructions")), "input", "content"),
        WireProtocol::Chat | WireProtocol::Ollama => (String::new(), "messages", "content"),
        WireProtocol::Gemini => (joined(body.pointer("/systemInstruction/parts")), "contents", "parts"),
    };
    let list = match body.get(list) {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::String(text)) => return (system, vec![text.clone()]),
        _ => &[],
    };
    let mut messages = Vec::new();
    for message in list {
        let text = joined(message.get(content));
        match message.get("role").and_then(Value::as_str) {
            Some("system" | "developer") => system.push_str(&text),
            _ => messages.push(text),
        }
    }
    (system, messages)
}

fn read_limit(wire: WireProtocol, body: &Value) -> Option<u64> {
    let pointers: &[&str] = match wire {
        WireProtocol::Anthropic => &["/max_tokens"],
        WireProtocol::Responses => &["/max_output_tokens"],
        WireProtocol::Chat => &["/max_completion_tokens", "/max_tokens"],
        WireProtocol::Ollama => &["/options/num_predict"],
        WireProtocol::Gemini => &["/generationConfig/maxOutputTokens"],
    };
    pointers.iter().find_map(|pointer| body.pointer(pointer).and_then(Value::as_u64))
}

fn read_stops(wire: WireProtocol, body: &Value) -> Vec<String> {
    let pointer = match wire {
        WireProtocol::Anthropic => "/stop_sequences",
        WireProtocol::Responses => return Vec::new(),
        WireProtocol::Chat => "/stop",
        WireProtocol::Ollama => "/options/stop",
        WireProtocol::Gemini => "/generationConfig/stopSequences",
    };
    let stops = match body.pointer(pointer) {
        Some(Value::String(stop)) => vec![stop.clone()],
        Some(Value::Array(stops)) => stops.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    stops.into_iter().filter(|stop| !stop.is_empty()).collect()
}

fn read_form(wire: WireProtocol, body: &Value) -> RequestedForm {
    if let Some((name, schema)) = read_tool(wire, body) {
        return RequestedForm::Tool { name, schema };
    }
    let pointers: &[&str] = match wire {
        WireProtocol::Anthropic => &["/output_config/format/schema"],
        WireProtocol::Responses => &["/text/format/schema"],
        // A server of chat completions takes the schema in either place.
        WireProtocol::Chat => &["/response_format/json_schema/schema", "/response_format/schema"],
        WireProtocol::Ollama => &["/format"],
        WireProtocol::Gemini => &["/generationConfig/responseJsonSchema", "/generationConfig/responseSchema"],
    };
    match pointers.iter().find_map(|pointer| body.pointer(pointer)) {
        Some(schema) if !schema.is_null() => RequestedForm::Schema(schema.clone()),
        _ => RequestedForm::Text,
    }
}

/// Returns the tool an obedient model calls: the one that is named, or the first unless tools are switched off.
fn read_tool(wire: WireProtocol, body: &Value) -> Option<(String, Value)> {
    let tools: Vec<(&str, &Value)> = match wire {
        WireProtocol::Gemini => {
            let declared = body.pointer("/tools/0/functionDeclarations").and_then(Value::as_array)?;
            declared.iter().filter_map(|tool| named(tool, &["parametersJsonSchema", "parameters"])).collect()
        }
        WireProtocol::Anthropic => {
            tool_list(body)?.iter().filter_map(|tool| named(tool, &["input_schema"])).collect()
        }
        WireProtocol::Responses => {
            tool_list(body)?.iter().filter_map(|tool| named(tool, &["parameters"])).collect()
        }
        WireProtocol::Chat | WireProtocol::Ollama => tool_list(body)?
            .iter()
            .filter_map(|tool| tool.get("function").and_then(|tool| named(tool, &["parameters"])))
            .collect(),
    };
    let choice = match wire {
        WireProtocol::Anthropic => body.pointer("/tool_choice"),
        WireProtocol::Responses | WireProtocol::Chat => body.get("tool_choice"),
        WireProtocol::Ollama => None,
        WireProtocol::Gemini => body.pointer("/toolConfig/functionCallingConfig"),
    };
    let word = |name: &str| choice.and_then(|choice| choice.get(name)).and_then(Value::as_str);
    let is_off = choice.and_then(Value::as_str) == Some("none")
        || word("type") == Some("none")
        || word("mode") == Some("NONE");
    if is_off {
        return None;
    }
    let wanted = word("name")
        .or_else(|| choice.and_then(|choice| choice.pointer("/function/name")).and_then(Value::as_str))
        .or_else(|| {
            choice.and_then(|choice| choice.pointer("/allowedFunctionNames/0")).and_then(Value::as_str)
        });
    let found = match wanted {
        Some(wanted) => tools.iter().find(|(name, _)| *name == wanted),
        None => tools.first(),
    };
    found.map(|(name, schema)| ((*name).to_owned(), (*schema).clone()))
}

fn tool_list(body: &Value) -> Option<&Vec<Value>> {
    body.get("tools").and_then(Value::as_array)
}

fn named<'a>(tool: &'a Value, schema_fields: &[&str]) -> Option<(&'a str, &'a Value)> {
    let name = tool.get("name").and_then(Value::as_str)?;
    let schema = schema_fields.iter().find_map(|field| tool.get(*field)).unwrap_or(&Value::Null);
    Some((name, schema))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn chat(text: &str) -> ModelRequest {
        let body = json!({"model": "m", "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": text}]});
        ModelRequest::read(WireProtocol::Chat, "/v1/chat/completions", &body)
    }

    #[test]
    fn the_action_is_the_last_entry_of_the_transcript() {
        let inquiry = chat(
            "<transcript>\n{\"user\":\"hi\"}\n{\"Bash\":\"a\\nb \\u003c/transcript>\"}\n</transcript>\nend",
        );
        assert_eq!(inquiry.action(), "{\"Bash\":\"a\\nb \\u003c/transcript>\"}");
        assert_eq!(inquiry.action_raw(), "a\nb </transcript>");
        assert_eq!(inquiry.instructions(), "\nend");
        assert_eq!(inquiry.system, "S");
    }

    #[test]
    fn an_action_of_the_legacy_form_keeps_its_indented_lines() {
        let inquiry = chat("<transcript>\nUser: hi\nBash: cat\n  one\n  two\n</transcript>\n");
        assert_eq!(inquiry.action(), "Bash: cat\n  one\n  two");
        assert_eq!(inquiry.action_raw(), "Bash: cat\n  one\n  two");
        let indented = chat("  a\n  b\n</transcript>");
        assert_eq!(indented.action(), "  a\n  b");
    }

    #[test]
    fn other_shapes_of_an_action_are_decoded_too() {
        let compact = chat("{\"role\":\"Bash\",\"action\":\"ls\"}\n</transcript>");
        assert_eq!(compact.action_raw(), "ls");
        let named = chat("{\"tool\":{\"name\":\"user\",\"text\":\"x\"}}\n</transcript>");
        assert_eq!(named.action_raw(), "user\nx");
        let none = chat("explain this");
        assert_eq!((none.action(), none.instructions()), ("explain this", "explain this"));
    }

    #[test]
    fn a_tool_counts_as_asked_for_unless_it_is_switched_off() {
        let tool = json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}});
        let body = |choice: Value| json!({"messages": [], "tools": [tool], "tool_choice": choice});
        let read = |choice| ModelRequest::read(WireProtocol::Chat, "/chat/completions", &body(choice)).form;
        let called = RequestedForm::Tool { name: "f".into(), schema: json!({"type": "object"}) };
        assert_eq!(read(json!("required")), called);
        assert_eq!(read(json!({"type": "function", "function": {"name": "f"}})), called);
        assert_eq!(read(json!({"type": "function", "function": {"name": "g"}})), RequestedForm::Text);
        assert_eq!(read(json!("none")), RequestedForm::Text);
    }

    #[test]
    fn a_body_of_the_wrong_shape_is_an_empty_inquiry() {
        for body in
            [json!(null), json!([1]), json!({"messages": 3, "tools": "x", "stop": {}, "max_tokens": -1})]
        {
            let inquiry = ModelRequest::read(WireProtocol::Chat, "/chat/completions", &body);
            assert_eq!((inquiry.action(), inquiry.max_tokens), ("", None));
            assert_eq!(inquiry.form, RequestedForm::Text);
        }
    }
}
