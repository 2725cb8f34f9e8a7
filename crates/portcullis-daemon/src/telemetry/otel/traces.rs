//! Spans: one for a decision, and one below it for each talk with a model.
//!
//! They are made of what the audit trail keeps: when a decision was made, how long it took, and how long each talk took.
//! When a talk began is not kept. Talks follow one another and come last in a decision, so the last one is told to end
//! when the decision does, and each one before it to end when the next begins.

use std::sync::Arc;

use portcullis_store::audit::ModelEntry;
use portcullis_store::redact;
use serde_json::{Value, json};

use super::super::models::{Talk, input_tokens};
use super::ids::{Ids, hex};
use super::noted::Noted;
use super::wire::{Attributes, scope, whole};

/// The kind of a span that serves somebody.
const SERVER: u8 = 2;
/// The kind of a span that asks somebody.
const CLIENT: u8 = 3;
/// The status of a span that failed.
const FAILED: u8 = 2;

/// Writes decisions as a request to a collector of traces.
pub(super) fn request(resource: &Value, decisions: &[Arc<Noted>], ids: &Ids) -> Value {
    let spans: Vec<Value> = decisions.iter().flat_map(|noted| spans(noted, ids)).collect();
    json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope(), "spans": spans}]}]})
}

fn spans(noted: &Noted, ids: &Ids) -> Vec<Value> {
    let mut spans = vec![decision(noted)];
    let mut end = noted.ended_at();
    for model in noted.models.iter().rev() {
        let took = model.latency_ms.saturating_mul(1_000_000);
        let start = end.saturating_sub(took).max(noted.started_at());
        spans.push(talk(noted, model, ids.span(), (start, end)));
        end = start;
    }
    spans
}

fn decision(noted: &Noted) -> Value {
    let mut span = json!({
        "traceId": hex(&noted.place.trace),
        "spanId": hex(&noted.place.span),
        "flags": 1,
        "name": "portcullis.decide",
        "kind": SERVER,
        "startTimeUnixNano": whole(noted.started_at()),
        "endTimeUnixNano": whole(noted.ended_at()),
        "attributes": described(noted).json(),
        "status": {},
    });
    if let (Some(parent), Some(fields)) = (noted.place.parent, span.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), hex(&parent).into());
    }
    span
}

/// Returns what is said of a decision, in spans and in logs.
pub(super) fn described(noted: &Noted) -> Attributes {
    Attributes::default()
        .text("portcullis.decision", noted.decision.as_str())
        .text("portcullis.said", noted.said.as_str())
        .text("portcullis.step", noted.step.as_str())
        .text("portcullis.reason.kind", noted.kind.as_str())
        .text("portcullis.rule", redact(&noted.rule))
        .text("portcullis.code", redact(&noted.code))
        .text("portcullis.host", noted.host.as_str())
        .text("portcullis.tool", noted.tool.as_str())
        .text("portcullis.mode", noted.mode.as_str())
        .flag("portcullis.headless", noted.is_headless)
        .text("portcullis.denial.id", noted.denial.as_str())
        .text("session.id", noted.session.as_str())
        .text("gen_ai.agent.id", noted.agent.as_str())
        .text("gen_ai.tool.call.id", noted.call.as_str())
}

fn talk(noted: &Noted, model: &ModelEntry, span: [u8; 8], (start, end): (u64, u64)) -> Value {
    let Talk { provider, model: name, stage, outcome } = Talk::of(model);
    let has_failed = has_failed(&outcome);
    let mut attributes = Attributes::default()
        .text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", provider_name(&provider))
        .text("gen_ai.request.model", name.as_str())
        .text("gen_ai.output.type", "text")
        .text("gen_ai.conversation.id", noted.session.as_str())
        .number("gen_ai.usage.input_tokens", input_tokens(model))
        .number("gen_ai.usage.output_tokens", model.output)
        .number("gen_ai.usage.cache_read.input_tokens", model.cache_read)
        .number("gen_ai.usage.cache_creation.input_tokens", model.cache_write)
        .text("portcullis.model.stage", stage)
        .text("portcullis.model.outcome", outcome.as_str());
    if let Some(cost) = model.cost_usd.filter(|cost| cost.is_finite()) {
        attributes = attributes.fraction("portcullis.model.cost_usd", cost);
    }
    if has_failed {
        attributes = attributes.text("error.type", outcome);
    }
    json!({
        "traceId": hex(&noted.place.trace),
        "spanId": hex(&span),
        "parentSpanId": hex(&noted.place.span),
        "flags": 1,
        "name": format!("chat {name}"),
        "kind": CLIENT,
        "startTimeUnixNano": whole(start),
        "endTimeUnixNano": whole(end),
        "attributes": attributes.json(),
        "status": if has_failed { json!({"code": FAILED}) } else { json!({}) },
    })
}

/// Says whether a talk ended without an answer, whatever the answer is worth.
pub(super) fn has_failed(outcome: &str) -> bool {
    !matches!(outcome, "allow" | "block" | "unclear" | "answer")
}

/// Returns the name that the conventions have for a provider.
pub(super) fn provider_name(provider: &str) -> &str {
    match provider {
        // Servers that speak as OpenAI does are told as what they speak.
        "chat" => "openai",
        "gemini" => "gcp.gemini",
        other => other,
    }
}
