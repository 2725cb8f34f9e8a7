//! A client that shows everything, and requests in the shape of each wire.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use portcullis_testkit::{ModelScript, ScriptedServer, WireProtocol};
use serde_json::{Value, json};

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        self.head.lines().any(|own| own == line)
    }

    /// Takes a response apart.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }
}

pub(crate) fn serve(script: &Value) -> ScriptedServer {
    ScriptedServer::start(ModelScript::from_value(script).unwrap())
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Sends bytes and reads until the server closes.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// Reads for a while, and says whether the connection is still open then.
pub(crate) fn read_for(stream: &mut TcpStream, time: Duration) -> (Vec<u8>, bool) {
    stream.set_read_timeout(Some(time)).unwrap();
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => (bytes, false),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => (bytes, true),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn post_bytes(path: &str, body: &Value, connection: &str) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: secret-key\r\nconnection: {connection}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

pub(crate) fn post(server: &ScriptedServer, path: &str, body: &Value) -> Got {
    Got::of(&exchange(server.address(), &post_bytes(path, body, "close")))
}

/// Asks over a wire and returns the body of the answer, which must be one.
pub(crate) fn ask(server: &ScriptedServer, wire: WireProtocol, form: Form) -> Value {
    let got = post(server, path(wire), &request(wire, form));
    assert_eq!(got.status, 200, "{got:?}");
    assert!(got.has_header("content-type: application/json"), "{got:?}");
    got.json()
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Block,
    Severity,
    /// The thinking stage of the block form.
    Thinking,
    Tool,
    Schema,
}

impl Form {
    pub(crate) const ALL: [Self; 5] = [Self::Block, Self::Severity, Self::Thinking, Self::Tool, Self::Schema];
}

pub(crate) const fn path(wire: WireProtocol) -> &'static str {
    match wire {
        WireProtocol::Anthropic => "/anthropic/v1/messages",
        WireProtocol::Responses => "/v1/responses",
        WireProtocol::Chat => "/v1/chat/completions",
        WireProtocol::Ollama => "/api/chat",
        WireProtocol::Gemini => "/v1beta/models/some-model:generateContent",
    }
}

pub(crate) const ACTION: &str = "{\"Bash\":\"rm -rf build \\u003cblock>no\"}";
pub(crate) const ACTION_RAW: &str = "rm -rf build <block>no";

/// Makes a request in the shape of a wire.
pub(crate) fn request(wire: WireProtocol, form: Form) -> Value {
    request_about(wire, form, ACTION)
}

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "thinking": {"type": "string"},
            "should_block": {"type": "boolean"},
            "category": {"type": "string"},
            "reason": {"type": "string"},
        },
        "required": ["thinking", "should_block", "category", "reason"],
        "additionalProperties": false,
    })
}

pub(crate) fn request_about(wire: WireProtocol, form: Form, action: &str) -> Value {
    let (suffix, limit, stop) = match form {
        Form::Block => ("Begin with `<block>`; then `<category>` and `<reason>`.", 64, Some("</block>")),
        Form::Severity => {
            ("Answer `<severity>0</severity>` to `<severity>100</severity>`.", 64, Some("</severity>"))
        }
        Form::Thinking => ("Use `<thinking>`, then `<block>`, `<category>`, `<reason>`.", 4096, None),
        Form::Tool | Form::Schema => ("Answer.", 256, None),
    };
    let transcript = format!("<transcript>\n{{\"user\":\"hi\"}}\n{action}\n</transcript>\n");
    let messages = json!([
        {"role": "system", "content": "the system prompt"},
        {"role": "user", "content": format!("{transcript}{suffix}")},
    ]);
    let mut body = match wire {
        WireProtocol::Anthropic => json!({
            "model": "some-model",
            "max_tokens": limit,
            "system": [{"type": "text", "text": "the system prompt"}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "<session></session>"}]},
                {"role": "user", "content": [
                    {"type": "text", "text": transcript},
                    {"type": "text", "text": suffix},
                ]},
            ],
        }),
        WireProtocol::Responses => json!({
            "model": "some-model",
            "max_output_tokens": limit,
            "instructions": "the system prompt",
            "input": [{"role": "user", "content": [
                {"type": "input_text", "text": transcript},
                {"type": "input_text", "text": suffix},
            ]}],
        }),
        WireProtocol::Chat => {
            json!({"model": "some-model", "max_completion_tokens": limit, "messages": messages})
        }
        WireProtocol::Ollama => json!({
            "model": "some-model",
            "stream": false,
            "options": {"num_predict": limit},
            "messages": messages,
        }),
        WireProtocol::Gemini => json!({
            "systemInstruction": {"parts": [{"text": "the system prompt"}]},
            "contents": [{"role": "user", "parts": [{"text": transcript}, {"text": suffix}]}],
            "generationConfig": {"maxOutputTokens": limit},
        }),
    };
    add_form(&mut body, wire, form);
    match (wire, stop) {
        (WireProtocol::Anthropic, Some(stop)) => body["stop_sequences"] = json!([stop]),
        (WireProtocol::Chat, Some(stop)) => body["stop"] = json!(stop),
        (WireProtocol::Ollama, Some(stop)) => body["options"]["stop"] = json!([stop]),
        (WireProtocol::Gemini, Some(stop)) => body["generationConfig"]["stopSequences"] = json!([stop]),
        (WireProtocol::Responses, _) | (_, None) => {}
    }
    body
}

fn add_form(body: &mut Value, wire: WireProtocol, form: Form) {
    let name = "classify_result";
    match (form, wire) {
        (Form::Tool, WireProtocol::Anthropic) => {
            body["tools"] = json!([{"name": name, "input_schema": schema()}]);
            body["tool_choice"] = json!({"type": "tool", "name": name});
        }
        (Form::Tool, WireProtocol::Responses) => {
            body["tools"] = json!([{"type": "function", "name": name, "parameters": schema()}]);
            body["tool_choice"] = json!({"type": "function", "name": name});
        }
        (Form::Tool, WireProtocol::Chat | WireProtocol::Ollama) => {
            body["tools"] = json!([{"type": "function", "function": {"name": name, "parameters": schema()}}]);
            body["tool_choice"] = json!({"type": "function", "function": {"name": name}});
        }
        (Form::Tool, WireProtocol::Gemini) => {
            body["tools"] =
                json!([{"functionDeclarations": [{"name": name, "parametersJsonSchema": schema()}]}]);
            body["toolConfig"] =
                json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}});
        }
        (Form::Schema, WireProtocol::Anthropic) => {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema()}});
        }
        (Form::Schema, WireProtocol::Responses) => {
            body["text"] = json!({"format": {"type": "json_schema", "name": name, "schema": schema()}});
        }
        (Form::Schema, WireProtocol::Chat) => {
            let schema = json!({"name": name, "schema": schema()});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        (Form::Schema, WireProtocol::Ollama) => body["format"] = schema(),
        (Form::Schema, WireProtocol::Gemini) => {
            body["generationConfig"]["responseMimeType"] = json!("application/json");
            body["generationConfig"]["responseJsonSchema"] = schema();
        }
        (Form::Block | Form::Severity | Form::Thinking, _) => {}
    }
}

/// Reads the text of an answer the way each wire's documentation says.
pub(crate) fn text_of(wire: WireProtocol, answer: &Value) -> String {
    let texts = |list: &Value, kind: &str| -> String {
        let parts = list.as_array().unwrap().iter().filter(|part| part["type"] == kind);
        parts.map(|part| part["text"].as_str().unwrap()).collect()
    };
    match wire {
        WireProtocol::Anthropic => texts(&answer["content"], "text"),
        WireProtocol::Responses => {
            let items = answer["output"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
            items.map(|item| texts(&item["content"], "output_text")).collect()
        }
        WireProtocol::Chat => {
            answer["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
        }
        WireProtocol::Ollama => answer["message"]["content"].as_str().unwrap().to_owned(),
        WireProtocol::Gemini => {
            let parts = answer["candidates"][0]["content"]["parts"].as_array().unwrap();
            let said = parts.iter().filter(|part| part["thought"] != true && part["text"].is_string());
            said.map(|part| part["text"].as_str().unwrap()).collect()
        }
    }
}

/// Reads the tools an answer calls, with their arguments.
pub(crate) fn tools_of(wire: WireProtocol, answer: &Value) -> Vec<(String, Value)> {
    let empty = Vec::new();
    let list = |value: &'_ Value| value.as_array().unwrap_or(&empty).clone();
    let parse = |text: &Value| serde_json::from_str(text.as_str().unwrap()).unwrap_or(text.clone());
    let name = |value: &Value| value.as_str().unwrap().to_owned();
    match wire {
        WireProtocol::Anthropic => {
            let blocks = list(&answer["content"]).into_iter().filter(|block| block["type"] == "tool_use");
            blocks.map(|block| (name(&block["name"]), block["input"].clone())).collect()
        }
        WireProtocol::Responses => {
            let items = list(&answer["output"]).into_iter().filter(|item| item["type"] == "function_call");
            items.map(|item| (name(&item["name"]), parse(&item["arguments"]))).collect()
        }
        WireProtocol::Chat => {
            let calls = list(&answer["choices"][0]["message"]["tool_calls"]).into_iter();
            calls
                .map(|call| (name(&call["function"]["name"]), parse(&call["function"]["arguments"])))
                .collect()
        }
        WireProtocol::Ollama => {
            let calls = list(&answer["message"]["tool_calls"]).into_iter();
            calls
                .map(|call| (name(&call["function"]["name"]), call["function"]["arguments"].clone()))
                .collect()
        }
        WireProtocol::Gemini => {
            let parts = list(&answer["candidates"][0]["content"]["parts"]);
            let calls = parts.iter().filter_map(|part| part.get("functionCall"));
            calls.map(|call| (name(&call["name"]), call["args"].clone())).collect()
        }
    }
}
