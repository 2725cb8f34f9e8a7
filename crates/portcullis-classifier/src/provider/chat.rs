//! Chat completions, as vLLM, llama.cpp, Ollama and many gateways serve them.

use serde_json::{Value, json};

use super::envelope::{AnswerEnvelope, AnswerParts, count, list, text, without_thoughts};
use super::layout::{self, RequestBody};
use super::responses::effort;
use super::{ModelQuery, ModelResult, RequiredForm, TokenUsage, WireRequest};
use crate::fault::{FaultKind, ModelFault};
use crate::model::{LimitField, ModelInfo, ModelProvider, ThinkingOff};

const ENVELOPE: AnswerEnvelope = AnswerEnvelope { provider: ModelProvider::Chat, usage };

/// Makes the request that asks a question.
///
/// Everything but the system prompt is one message: many templates of local models refuse two of one role in a row.
pub(crate) fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    let mut body = RequestBody::default();
    body.put("model", model.id.as_str());
    body.put("stream", false);
    body.put_some("reasoning_effort", effort(model));
    let is_switched = model.thinking_off == ThinkingOff::Disabled;
    body.put_some("chat_template_kwargs", is_switched.then(|| json!({"enable_thinking": false})));
    body.put_some("temperature", model.temperature.then_some(0));
    body.put("messages", messages(query));
    match query.form {
        RequiredForm::Text => {}
        RequiredForm::Tool(spec) => {
            let function = json!({
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.schema,
                "strict": model.schema,
            });
            body.put("tools", json!([{"type": "function", "function": function}]));
            // Not by name: llama.cpp takes a name for no choice at all. There is one tool, so it comes to the same.
            body.put("tool_choice", if model.forced_tool { "required" } else { "auto" });
            body.put("parallel_tool_calls", false);
        }
        RequiredForm::Schema(spec) => {
            let schema = json!({"name": spec.name, "schema": spec.schema, "strict": true});
            let format = json!({"type": "json_schema", "json_schema": schema});
            body.put_some("response_format", model.schema.then_some(format));
        }
    }
    let limit = layout::limit(model, query);
    match model.limit_field {
        LimitField::MaxTokens => body.put("max_tokens", limit),
        LimitField::MaxCompletionTokens => body.put("max_completion_tokens", limit),
    }
    body.put_some("stop", layout::stops(model, query));
    body.into_request(model, "/chat/completions".to_owned())
}

/// Makes two messages: the system prompt, and everything else.
pub(super) fn messages(query: &ModelQuery<'_>) -> Vec<Value> {
    let system = &query.prompt.system;
    let system = layout::has_content(system).then(|| json!({"role": "system", "content": system}));
    let mut question = layout::whole(query.prompt);
    question.push_str(query.suffix);
    system.into_iter().chain([json!({"role": "user", "content": question})]).collect()
}

/// Reads what came back.
pub(crate) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelResult {
    let body = ENVELOPE.open(status, headers, body)?;
    let usage = usage(&body);
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    let choice = match body.get("choices").and_then(Value::as_array).map(Vec::as_slice) {
        Some([choice]) => choice,
        Some([]) => return Err(ENVELOPE.fault(FaultKind::Empty, "nothing", usage)),
        Some(_) => return Err(malformed("more than once")),
        None => return Err(malformed("without choices")),
    };
    check_finish_reason(choice, usage)?;
    let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
        return Err(malformed("without a message"));
    };
    if text(message, "refusal").is_some_and(layout::has_content) {
        return Err(ENVELOPE.fault(FaultKind::Refused, "with a refusal", usage));
    }
    // The same word stands for an end by itself and for a stop sequence.
    let mut parts = AnswerParts { is_stopped: true, ..AnswerParts::default() };
    add_content(&mut parts, message).ok_or_else(|| malformed("content that is no text"))?;
    for call in list(message, "tool_calls").ok_or_else(|| malformed("tool calls that are no list"))? {
        let function = call.get("function");
        let call = function.and_then(|function| text(function, "name").zip(text(function, "arguments")));
        let added = call.and_then(|(name, arguments)| parts.add_written_call(name, arguments));
        added.ok_or_else(|| malformed("a tool call whose arguments are not JSON"))?;
    }
    ENVELOPE.reply(parts, usage)
}

/// Adds the text of a message, which some servers give in parts.
fn add_content(parts: &mut AnswerParts, message: &Value) -> Option<()> {
    match message.get("content") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => parts.add_text(without_thoughts(text)),
        Some(Value::Array(items)) => {
            for item in items {
                if text(item, "type")? == "text" {
                    parts.add_text(text(item, "text")?);
                }
            }
        }
        Some(_) => return None,
    }
    Some(())
}

fn check_finish_reason(choice: &Value, usage: TokenUsage) -> Result<(), ModelFault> {
    let fault = |kind, what: &str| Err(ENVELOPE.fault(kind, what, usage));
    match text(choice, "finish_reason") {
        Some("stop" | "tool_calls") => Ok(()),
        Some("length") => fault(FaultKind::Truncated, "more than fits its limit"),
        Some("content_filter") => fault(FaultKind::Refused, "with a refusal (content filter)"),
        Some(other) => fault(FaultKind::Malformed, &format!("and stopped for an unknown reason: {other}")),
        None => fault(FaultKind::Malformed, "without saying why it stopped"),
    }
}

/// Reads the tokens; what this protocol calls the prompt includes what was cached.
fn usage(body: &Value) -> TokenUsage {
    let cache_read = count(body, &["usage", "prompt_tokens_details", "cached_tokens"]);
    let cache_write = count(body, &["usage", "prompt_tokens_details", "cache_write_tokens"]);
    let all = count(body, &["usage", "prompt_tokens"]);
    TokenUsage {
        input: all.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: count(body, &["usage", "completion_tokens"]),
    }
}
