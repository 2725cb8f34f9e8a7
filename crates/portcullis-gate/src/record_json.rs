//! A decision of the audit trail as the JSON object that programs are shown: the same in `log`, the API and the queue.

use portcullis_store::audit::{Entry, ModelEntry};
use serde_json::{Value, json};

/// Makes the object of a decision, without its place in the trail.
pub fn entry_object(entry: &Entry) -> Value {
    let findings = entry.findings.iter().map(
        |finding| json!({"code": finding.code, "sentence": finding.sentence, "cleared": finding.cleared}),
    );
    let trace = entry
        .trace
        .iter()
        .map(|line| json!({"step": line.step, "outcome": line.outcome, "detail": line.detail}));
    let suggestions = entry.suggestions.iter().map(|one| json!({"behavior": one.behavior, "rule": one.rule}));
    let rule = entry
        .rule
        .as_ref()
        .map(|rule| json!({"text": rule.text, "behavior": rule.behavior, "origin": rule.origin.to_string()}));
    json!({
        "atMs": entry.at_ms,
        "host": entry.host,
        "event": entry.event,
        "session": entry.session,
        "agent": entry.agent,
        "callId": entry.call_id,
        "cwd": entry.cwd,
        "mode": entry.mode,
        "headless": entry.headless,
        "tool": entry.tool,
        "summary": entry.summary,
        "input": entry.input,
        "decision": entry.decision,
        "said": entry.said,
        "step": entry.step,
        "kind": entry.kind,
        "reason": entry.reason,
        "rule": rule,
        "code": entry.code,
        "denial": entry.denial,
        "findings": findings.collect::<Vec<_>>(),
        "trace": trace.collect::<Vec<_>>(),
        "suggestions": suggestions.collect::<Vec<_>>(),
        "models": entry.models.iter().map(model_object).collect::<Vec<_>>(),
        "micros": entry.micros,
    })
}

fn model_object(model: &ModelEntry) -> Value {
    json!({
        "provider": model.provider,
        "model": model.model,
        "stage": model.stage,
        "outcome": model.outcome,
        "input": model.input,
        "cacheRead": model.cache_read,
        "cacheWrite": model.cache_write,
        "output": model.output,
        "costUsd": model.cost_usd,
        "latencyMs": model.latency_ms,
    })
}
