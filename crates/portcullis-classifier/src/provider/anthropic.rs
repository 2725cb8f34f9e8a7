//! Anthropic's Messages API, which gateways and Bedrock speak too.

use serde_json::{Value, json};

use super::envelope::{AnswerEnvelope, AnswerParts, count, text};
use super::layout::{self, RequestBody};
use super::{ModelQuery, ModelResult, RequiredForm, TokenUsage, WireRequest};
use crate::fault::{FaultKind, ModelFault};
use crate::model::{ModelInfo, ModelProvider, ThinkingOff};
use crate::prompt::Prompt;

const ENVELOPE: AnswerEnvelope = AnswerEnvelope { provider: ModelProvider::Anthropic, usage };

/// Makes the request that asks a question.
pub(crate) fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    let mut body = RequestBody::default();
    body.put("model", model.id.as_str());
    if layout::has_content(&query.prompt.system) {
        body.put("system", vec![marked(model, &query.prompt.system)]);
    }
    body.put_some(
        "thinking",
        match model.thinking_off {
            ThinkingOff::Disabled => Some(json!({"type": "disabled"})),
            ThinkingOff::BetweenTools => Some(json!({"type": "between_tools"})),
            ThinkingOff::Never | ThinkingOff::EffortNone | ThinkingOff::Always => None,
        },
    );
    body.put_some("temperature", model.temperature.then_some(0));
    body.put("messages", messages(model, query));
    if let RequiredForm::Tool(spec) = query.form {
        let mut tool = RequestBody::default();
        tool.put("name", spec.name);
        tool.put("description", spec.description);
        tool.put("input_schema", spec.schema.clone());
        tool.put_some("strict", model.schema.then_some(true));
        body.put("tools", tool.into_value().into_iter().collect::<Vec<_>>());
        body.put(
            "tool_choice",
            if model.forced_tool {
                json!({"type": "tool", "name": spec.name, "disable_parallel_tool_use": true})
            } else {
                json!({"type": "auto", "disable_parallel_tool_use": true})
            },
        );
    }
    body.put_some("output_config", output_config(model, query));
    body.put("max_tokens", layout::limit(model, query));
    body.put_some("stop_sequences", layout::stops(model, query));
    let mut request = body.into_request(model, "/v1/messages".to_owned());
    request.headers.push(("anthropic-version".into(), "2023-06-01".to_owned()));
    request
}

fn output_config(model: &ModelInfo, query: &ModelQuery<'_>) -> Option<Value> {
    let mut config = RequestBody::default();
    let is_left_out = model.leave_out.iter().any(|name| name == "effort");
    let has_effort = model.thinking_off == ThinkingOff::Always && !is_left_out;
    config.put_some("effort", has_effort.then_some("low"));
    if let RequiredForm::Schema(spec) = query.form {
        let format = json!({"type": "json_schema", "schema": spec.schema});
        config.put_some("format", model.schema.then_some(format));
    }
    config.into_value()
}

fn messages(model: &ModelInfo, query: &ModelQuery<'_>) -> Vec<Value> {
    let prompt: &Prompt = query.prompt;
    let session =
        layout::session(prompt).map(|text| json!({"role": "user", "content": [marked(model, &text)]}));
    let mut blocks = vec![plain(layout::OPENING)];
    blocks.extend(prompt.history.iter().filter(|entry| layout::has_content(entry)).map(|entry| plain(entry)));
    if layout::has_content(&prompt.action) {
        blocks.push(marked(model, &prompt.action));
    }
    blocks.push(plain(&layout::closing(prompt)));
    if layout::has_content(query.suffix) {
        blocks.push(plain(query.suffix));
    }
    session.into_iter().chain([json!({"role": "user", "content": blocks})]).collect()
}

fn plain(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Makes a block up to which the prompt is cached.
fn marked(model: &ModelInfo, text: &str) -> Value {
    match model.least_cached {
        Some(_) => json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
        None => plain(text),
    }
}

/// Reads what came back.
pub(crate) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelResult {
    let body = ENVELOPE.open(status, headers, body)?;
    let usage = usage(&body);
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    if text(&body, "type").is_some_and(|kind| kind != "message") {
        return Err(malformed("something that is no message"));
    }
    check_stop_reason(&body, usage)?;
    let Some(content) = body.get("content").and_then(Value::as_array) else {
        return Err(malformed("a message without content"));
    };
    let is_stopped = text(&body, "stop_reason") == Some("stop_sequence");
    let mut parts = AnswerParts { is_stopped, ..AnswerParts::default() };
    for block in content {
        match text(block, "type") {
            Some("text") => {
                parts.add_text(text(block, "text").ok_or_else(|| malformed("a text that is none"))?);
            }
            Some("tool_use") => {
                let name = text(block, "name").ok_or_else(|| malformed("a tool call without a name"))?;
                parts.calls.push((name.to_owned(), block.get("input").cloned().unwrap_or_default()));
            }
            // Thoughts, and whatever may come.
            Some(_) => {}
            None => return Err(malformed("content without a type")),
        }
    }
    ENVELOPE.reply(parts, usage)
}

fn check_stop_reason(body: &Value, usage: TokenUsage) -> Result<(), ModelFault> {
    let fault = |kind, what: &str| Err(ENVELOPE.fault(kind, what, usage));
    match text(body, "stop_reason") {
        Some("end_turn" | "stop_sequence" | "tool_use") => Ok(()),
        Some("max_tokens") => fault(FaultKind::Truncated, "more than fits its limit"),
        Some("model_context_window_exceeded") => fault(FaultKind::TooLong, "until its window was full"),
        Some("refusal") => {
            let category = body.get("stop_details").and_then(|details| text(details, "category"));
            let category = category.map_or_else(String::new, |name| format!(" ({name})"));
            fault(FaultKind::Refused, &format!("with a refusal{category}"))
        }
        Some(other) => fault(FaultKind::Malformed, &format!("and stopped for an unknown reason: {other}")),
        None => fault(FaultKind::Malformed, "without saying why it stopped"),
    }
}

fn usage(body: &Value) -> TokenUsage {
    TokenUsage {
        input: count(body, &["usage", "input_tokens"]),
        cache_read: count(body, &["usage", "cache_read_input_tokens"]),
        cache_write: count(body, &["usage", "cache_creation_input_tokens"]),
        output: count(body, &["usage", "output_tokens"]),
    }
}
