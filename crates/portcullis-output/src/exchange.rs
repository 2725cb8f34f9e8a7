//! What was said with models: a line for people, an object for programs.

use portcullis_classifier::protocol::ModelExchange;
use portcullis_core::visible;
use serde_json::{Value, json};

/// Describes an exchange on one line: whom, what came of it, how long, how much.
pub fn line(exchange: &ModelExchange) -> String {
    let usage = exchange.usage;
    let status = exchange.status.map_or_else(|| "no answer".to_owned(), |status| format!("HTTP {status}"));
    format!(
        "{} {}: {} ({status}), {} ms, {} tokens in ({} cached), {} out, {}",
        visible(&exchange.model),
        exchange.talk.as_str(),
        exchange.outcome.as_str(),
        millis(exchange),
        usage.input + usage.cache_read + usage.cache_write,
        usage.cache_read,
        usage.output,
        exchange.cost.map_or_else(|| "cost not known".to_owned(), dollars),
    )
}

/// Makes the object of an exchange.
pub fn object(exchange: &ModelExchange) -> Value {
    json!({
        "stage": exchange.talk.as_str(),
        "provider": exchange.provider.as_str(),
        "model": exchange.model,
        "outcome": exchange.outcome.as_str(),
        "status": exchange.status,
        "latencyMs": millis(exchange),
        "attempts": exchange.attempts,
        "input": exchange.usage.input,
        "cacheRead": exchange.usage.cache_read,
        "cacheWrite": exchange.usage.cache_write,
        "output": exchange.usage.output,
        "costUsd": exchange.cost,
    })
}

/// Writes an amount that is mostly a small part of a cent.
pub fn dollars(amount: f64) -> String {
    format!("${amount:.6}")
}

fn millis(exchange: &ModelExchange) -> u64 {
    u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX)
}
