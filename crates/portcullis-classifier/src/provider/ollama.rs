//! Ollama's own API, which alone lets the window be chosen and an answer be bound to a schema.

use serde_json::{Value, json};

use super::envelope::{AnswerEnvelope, AnswerParts, count, list, text, without_thoughts};
use super::layout::{self, RequestBody};
use super::{ModelQuery, ModelResult, RequiredForm, TokenUsage, WireRequest, chat};
use crate::fault::FaultKind;
use crate::model::{ModelInfo, ModelProvider, ThinkingOff};

const ENVELOPE: AnswerEnvelope = AnswerEnvelope { provider: ModelProvider::Ollama, usage };

/// How long the server keeps the model at hand after an answer: five minutes, its own choice, are over before many a
/// person has read what the agent did.
const KEEP_ALIVE: &str = "30m";

/// Makes the request that asks a question.
///
/// A prompt longer than the window would lose its beginning without a word, so the window is always named, and cutting
/// and sliding are switched off where the server knows how.
pub(crate) fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    let mut body = RequestBody::default();
    body.put("model", model.id.as_str());
    body.put("stream", false);
    body.put_some(
        "think",
        match model.thinking_off {
            ThinkingOff::Disabled | ThinkingOff::BetweenTools | ThinkingOff::EffortNone => Some(json!(false)),
            ThinkingOff::Always => Some(json!("low")),
            ThinkingOff::Never => None,
        },
    );
    body.put("keep_alive", KEEP_ALIVE);
    body.put("truncate", false);
    body.put("shift", false);
    body.put("messages", chat::messages(query));
    match query.form {
        RequiredForm::Text => {}
        RequiredForm::Tool(spec) => {
            let function =
                json!({"name": spec.name, "description": spec.description, "parameters": spec.schema});
            body.put("tools", json!([{"type": "function", "function": function}]));
        }
        RequiredForm::Schema(spec) => body.put_some("format", model.schema.then(|| spec.schema.clone())),
    }
    let mut options = RequestBody::default();
    options.put("num_ctx", model.context);
    options.put_some("temperature", model.temperature.then_some(0));
    options.put("num_predict", layout::limit(model, query));
    options.put_some("stop", layout::stops(model, query));
    body.put_some("options", options.into_value());
    body.into_request(model, "/api/chat".to_owned())
}

/// Reads what came back.
pub(crate) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelResult {
    let body = ENVELOPE.open(status, headers, body)?;
    let usage = usage(&body);
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    if body.get("done") != Some(&Value::Bool(true)) {
        return Err(malformed("something unfinished"));
    }
    match text(&body, "done_reason") {
        Some("stop") => {}
        Some("length") => {
            return Err(ENVELOPE.fault(FaultKind::Truncated, "more than fits its limit", usage));
        }
        Some("load" | "unload") => return Err(ENVELOPE.fault(FaultKind::Empty, "nothing", usage)),
        Some(other) => return Err(malformed(&format!("and stopped for an unknown reason: {other}"))),
        // Older servers do not say.
        None if body.get("done_reason").is_none() => {}
        None => return Err(malformed("without saying why it stopped")),
    }
    let Some(message) = body.get("message").filter(|message| message.is_object()) else {
        return Err(malformed("without a message"));
    };
    // The same word stands for an end by itself and for a stop sequence.
    let mut parts = AnswerParts { is_stopped: true, ..AnswerParts::default() };
    match message.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => parts.add_text(without_thoughts(text)),
        Some(_) => return Err(malformed("content that is no text")),
    }
    for call in list(message, "tool_calls").ok_or_else(|| malformed("tool calls that are no list"))? {
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name").ok_or_else(|| malformed("a tool call without a name"))?;
        parts.calls.push((name.to_owned(), function.get("arguments").cloned().unwrap_or_default()));
    }
    ENVELOPE.reply(parts, usage)
}

fn usage(body: &Value) -> TokenUsage {
    TokenUsage {
        input: count(body, &["prompt_eval_count"]),
        output: count(body, &["eval_count"]),
        ..TokenUsage::default()
    }
}
