//! `OpenAI`'s Responses API.

use serde_json::{Value, json};

use super::envelope::{AnswerEnvelope, AnswerParts, count, list, text};
use super::layout::{self, RequestBody};
use super::{ModelQuery, ModelResult, RequiredForm, TokenUsage, WireRequest};
use crate::fault::{FaultKind, ModelFault};
use crate::model::{ModelInfo, ModelProvider, ThinkingOff};
use crate::prompt::fingerprint;

const ENVELOPE: AnswerEnvelope = AnswerEnvelope { provider: ModelProvider::OpenAi, usage };

/// Makes the request that asks a question. There are no stop sequences in this protocol.
pub(crate) fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    let prompt = query.prompt;
    let mut body = RequestBody::default();
    body.put("model", model.id.as_str());
    body.put("store", false);
    body.put("prompt_cache_key", cache_key(&prompt.system));
    body.put_some("reasoning", effort(model).map(|effort| json!({"effort": effort})));
    body.put_some("temperature", model.temperature.then_some(0));
    body.put_some("instructions", layout::has_content(&prompt.system).then_some(prompt.system.as_str()));
    body.put("input", input(query));
    match query.form {
        RequiredForm::Text => {}
        RequiredForm::Tool(spec) => {
            let tool = json!({
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.schema,
                "strict": model.schema,
            });
            body.put("tools", vec![tool]);
            let forced = json!({"type": "function", "name": spec.name});
            body.put("tool_choice", if model.forced_tool { forced } else { json!("auto") });
            body.put("parallel_tool_calls", false);
        }
        RequiredForm::Schema(spec) => {
            let format = json!({"format": {
                "type": "json_schema",
                "name": spec.name,
                "description": spec.description,
                "schema": spec.schema,
                "strict": true,
            }});
            body.put_some("text", model.schema.then_some(format));
        }
    }
    body.put("max_output_tokens", layout::limit(model, query));
    body.into_request(model, "/responses".to_owned())
}

fn input(query: &ModelQuery<'_>) -> Vec<Value> {
    let part = |text: &str| json!({"type": "input_text", "text": text});
    let session = layout::session(query.prompt).map(|text| json!({"role": "user", "content": [part(&text)]}));
    let content = json!([part(&layout::transcript(query.prompt)), part(query.suffix)]);
    session.into_iter().chain([json!({"role": "user", "content": content})]).collect()
}

/// Returns the effort to ask for, if any.
pub(super) fn effort(model: &ModelInfo) -> Option<&'static str> {
    match model.thinking_off {
        ThinkingOff::EffortNone => Some("none"),
        ThinkingOff::Always => Some("low"),
        ThinkingOff::Never | ThinkingOff::Disabled | ThinkingOff::BetweenTools => None,
    }
}

/// Returns a name for everything that shares a system prompt, so that its calls meet in one cache.
fn cache_key(system: &str) -> String {
    format!("portcullis-{}", fingerprint(system))
}

/// Reads what came back.
pub(crate) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelResult {
    let body = ENVELOPE.open(status, headers, body)?;
    let usage = usage(&body);
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    check_status(&body, usage)?;
    let Some(output) = body.get("output").and_then(Value::as_array) else {
        return Err(malformed("without output"));
    };
    let mut parts = AnswerParts::default();
    for item in output {
        let kind = text(item, "type").ok_or_else(|| malformed("output without a type"))?;
        if !matches!(kind, "message" | "function_call") {
            // Thoughts, and whatever may come.
            continue;
        }
        if text(item, "status").is_some_and(|status| status != "completed") {
            return Err(ENVELOPE.fault(FaultKind::Truncated, "something unfinished", usage));
        }
        if kind == "message" {
            add_message(&mut parts, item, usage)?;
        } else {
            let call = text(item, "name").zip(text(item, "arguments"));
            let added = call.and_then(|(name, arguments)| parts.add_written_call(name, arguments));
            added.ok_or_else(|| malformed("a tool call whose arguments are not JSON"))?;
        }
    }
    ENVELOPE.reply(parts, usage)
}

fn add_message(parts: &mut AnswerParts, item: &Value, usage: TokenUsage) -> Result<(), ModelFault> {
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    for part in list(item, "content").ok_or_else(|| malformed("content that is no list"))? {
        match text(part, "type") {
            Some("output_text") => match text(part, "text") {
                Some(text) => parts.add_text(text),
                None => return Err(malformed("a text that is none")),
            },
            Some("refusal") => return Err(ENVELOPE.fault(FaultKind::Refused, "with a refusal", usage)),
            Some(_) => {}
            None => return Err(malformed("content without a type")),
        }
    }
    Ok(())
}

fn check_status(body: &Value, usage: TokenUsage) -> Result<(), ModelFault> {
    let fault = |kind, what: &str| Err(ENVELOPE.fault(kind, what, usage));
    let why = body.get("incomplete_details").and_then(|details| text(details, "reason"));
    match (text(body, "status"), why) {
        (Some("completed"), _) => Ok(()),
        (Some("incomplete"), Some("content_filter")) => {
            fault(FaultKind::Refused, "with a refusal (content filter)")
        }
        (Some("incomplete"), _) => fault(FaultKind::Truncated, "more than fits its limit"),
        (Some("failed" | "cancelled"), _) => fault(FaultKind::Server, "that it failed"),
        (Some(other), _) => fault(FaultKind::Malformed, &format!("in an unknown state: {other}")),
        (None, _) => fault(FaultKind::Malformed, "without a status"),
    }
}

/// Reads the tokens; what this provider calls input includes what was cached.
fn usage(body: &Value) -> TokenUsage {
    let cache_read = count(body, &["usage", "input_tokens_details", "cached_tokens"]);
    let cache_write = count(body, &["usage", "input_tokens_details", "cache_write_tokens"]);
    let all = count(body, &["usage", "input_tokens"]);
    TokenUsage {
        input: all.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: count(body, &["usage", "output_tokens"]),
    }
}
