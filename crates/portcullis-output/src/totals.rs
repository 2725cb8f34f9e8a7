//! Totals for programs.

use portcullis_store::audit::index::{Asked, Counted, Day, Denied, Latency, Totals};
use serde_json::{Map, Value, json};

use crate::calendar;

/// Makes the object of totals.
pub fn totals_object(totals: &Totals) -> Value {
    let cost = &totals.cost;
    json!({
        "calls": totals.calls,
        "repeats": totals.repeats,
        "promptsAvoided": totals.prompts_avoided,
        "decisions": counts(&totals.decisions),
        "said": counts(&totals.said),
        "steps": counts(&totals.steps),
        "hosts": counts(&totals.hosts),
        "modes": counts(&totals.modes),
        "days": totals.days.iter().map(day).collect::<Vec<_>>(),
        "models": {
            "toolCalls": cost.tool_calls,
            "requests": cost.requests,
            "unpriced": cost.unpriced,
            "input": cost.tokens_in,
            "cached": cost.tokens_cached,
            "output": cost.tokens_out,
            "costUsd": cost.usd,
        },
        "latencyMicros": {
            "withoutModel": latency(totals.latency_alone),
            "withModel": latency(totals.latency_with_model),
        },
        "asked": totals.asked.iter().map(asked).collect::<Vec<_>>(),
        "denied": totals.denied.iter().map(denied).collect::<Vec<_>>(),
    })
}

fn counts(counted: &[Counted]) -> Value {
    let fields: Map<String, Value> =
        counted.iter().map(|one| (one.name.clone(), Value::from(one.count))).collect();
    Value::Object(fields)
}

fn day(day: &Day) -> Value {
    json!({"day": calendar::day(day.at_ms), "allow": day.allow, "ask": day.ask, "deny": day.deny})
}

fn latency(latency: Latency) -> Value {
    let Latency { count, p50, p90, p99, max } = latency;
    json!({"count": count, "p50": p50, "p90": p90, "p99": p99, "max": max})
}

fn asked(asked: &Asked) -> Value {
    json!({"count": asked.count, "example": asked.example, "rule": asked.rule})
}

fn denied(denied: &Denied) -> Value {
    json!({"count": denied.count, "example": denied.example, "code": denied.code})
}
