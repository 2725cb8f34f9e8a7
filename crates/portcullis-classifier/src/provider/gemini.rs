//! Gemini's `generateContent`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::envelope::{AnswerEnvelope, AnswerParts, count, list, text};
use super::layout::{self, RequestBody};
use super::{ModelQuery, ModelResult, RequiredForm, TokenUsage, WireRequest};
use crate::fault::{FaultKind, ModelFault};
use crate::model::{ModelInfo, ModelProvider, ThinkingOff};

const ENVELOPE: AnswerEnvelope = AnswerEnvelope { provider: ModelProvider::Gemini, usage };

/// The filters to switch off: what is judged here are attacks, and a judge must be able to read them.
const FILTERS: [&str; 4] = [
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
];

/// Makes the request that asks a question.
pub(crate) fn request(model: &ModelInfo, query: &ModelQuery<'_>) -> WireRequest {
    let prompt = query.prompt;
    let part = |text: &str| json!({"text": text});
    let mut body = RequestBody::default();
    if layout::has_content(&prompt.system) {
        body.put("systemInstruction", json!({"parts": [part(&prompt.system)]}));
    }
    let off = |category: &str| json!({"category": category, "threshold": "BLOCK_NONE"});
    body.put("safetySettings", FILTERS.map(off).to_vec());
    let session = layout::session(prompt).map(|text| part(&text));
    let parts = session.into_iter().chain([part(&layout::transcript(prompt)), part(query.suffix)]);
    body.put("contents", json!([{"role": "user", "parts": parts.collect::<Vec<_>>()}]));
    if let RequiredForm::Tool(spec) = query.form {
        let function = json!({
            "name": spec.name,
            "description": spec.description,
            "parametersJsonSchema": spec.schema,
        });
        body.put("tools", json!([{"functionDeclarations": [function]}]));
        let forced = json!({"mode": "ANY", "allowedFunctionNames": [spec.name]});
        let choice = if model.forced_tool { forced } else { json!({"mode": "AUTO"}) };
        body.put("toolConfig", json!({"functionCallingConfig": choice}));
    }
    body.put_some("generationConfig", generation_config(model, query));
    body.into_request(model, path(&model.id))
}

fn generation_config(model: &ModelInfo, query: &ModelQuery<'_>) -> Option<Value> {
    let mut config = RequestBody::default();
    if let RequiredForm::Schema(spec) = query.form {
        config.put_some("responseMimeType", model.schema.then_some("application/json"));
        config.put_some("responseJsonSchema", model.schema.then(|| spec.schema.clone()));
    }
    let is_thinking = matches!(model.thinking_off, ThinkingOff::Always | ThinkingOff::EffortNone);
    config.put_some("thinkingConfig", is_thinking.then(|| json!({"thinkingLevel": "minimal"})));
    config.put_some("temperature", model.temperature.then_some(0));
    config.put("maxOutputTokens", layout::limit(model, query));
    config.put_some("stopSequences", layout::stops(model, query));
    config.into_value()
}

/// Returns the path of a model; no id can lead to another one.
fn path(id: &str) -> String {
    let mut path = "/v1beta/models/".to_owned();
    for byte in id.strip_prefix("models/").unwrap_or(id).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => path.push(char::from(byte)),
            // Writing to a String cannot fail.
            other => {
                let _ = write!(path, "%{other:02X}");
            }
        }
    }
    path.push_str(":generateContent");
    path
}

/// Reads what came back.
pub(crate) fn answer(status: u16, headers: &[(String, String)], body: &[u8]) -> ModelResult {
    let body = ENVELOPE.open(status, headers, body)?;
    let usage = usage(&body);
    let malformed = |what: &str| ENVELOPE.fault(FaultKind::Malformed, what, usage);
    if let Some(reason) = body.get("promptFeedback").and_then(|feedback| text(feedback, "blockReason")) {
        return Err(ENVELOPE.fault(FaultKind::Refused, &format!("with a refusal ({reason})"), usage));
    }
    let candidate = match list(&body, "candidates") {
        Some([candidate]) => candidate,
        Some([]) => return Err(ENVELOPE.fault(FaultKind::Empty, "nothing", usage)),
        Some(_) => return Err(malformed("more than once")),
        None => return Err(malformed("candidates that are no list")),
    };
    check_finish_reason(candidate, usage)?;
    // The same word stands for an end by itself and for a stop sequence.
    let mut parts = AnswerParts { is_stopped: true, ..AnswerParts::default() };
    let found = candidate.get("content").map_or(Some(&[][..]), |content| list(content, "parts"));
    for part in found.ok_or_else(|| malformed("parts that are no list"))? {
        if part.get("thought").is_some_and(|thought| *thought != Value::Bool(false)) {
            continue;
        }
        if let Some(call) = part.get("functionCall") {
            let name = text(call, "name").ok_or_else(|| malformed("a tool call without a name"))?;
            parts.calls.push((name.to_owned(), call.get("args").cloned().unwrap_or_default()));
        }
        match part.get("text") {
            None => {}
            Some(Value::String(text)) => parts.add_text(text),
            Some(_) => return Err(malformed("a text that is none")),
        }
    }
    ENVELOPE.reply(parts, usage)
}

fn check_finish_reason(candidate: &Value, usage: TokenUsage) -> Result<(), ModelFault> {
    let fault = |kind, what: &str| Err(ENVELOPE.fault(kind, what, usage));
    match text(candidate, "finishReason") {
        Some("STOP") => Ok(()),
        Some("MAX_TOKENS") => fault(FaultKind::Truncated, "more than fits its limit"),
        Some(
            reason @ ("SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "OTHER"),
        ) => fault(FaultKind::Refused, &format!("with a refusal ({reason})")),
        Some(other) => fault(FaultKind::Malformed, &format!("and stopped for an unknown reason: {other}")),
        None => fault(FaultKind::Malformed, "without saying why it stopped"),
    }
}

/// Reads the tokens; what this provider calls the prompt includes what was cached, and thoughts are counted apart.
fn usage(body: &Value) -> TokenUsage {
    let cache_read = count(body, &["usageMetadata", "cachedContentTokenCount"]);
    let said = count(body, &["usageMetadata", "candidatesTokenCount"]);
    let thought = count(body, &["usageMetadata", "thoughtsTokenCount"]);
    TokenUsage {
        input: count(body, &["usageMetadata", "promptTokenCount"]).saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: said.saturating_add(thought),
    }
}
