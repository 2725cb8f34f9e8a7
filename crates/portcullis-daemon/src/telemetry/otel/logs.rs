//! Log records: one for each decision that did not simply allow, with what decided and what the call is known by.
//!
//! The reason of a verdict quotes the call, so it stays in the audit trail; what is told here names the rule or the code.

use std::sync::Arc;

use portcullis_store::redact;
use serde_json::{Value, json};

use super::ids::hex;
use super::noted::Noted;
use super::traces::described;
use super::wire::{scope, whole};

/// The severity of something that was asked.
const INFO: u8 = 9;
/// The severity of something that was denied.
const WARN: u8 = 13;

/// Says whether a decision is told as a log record.
pub(super) fn is_told(decision: &str) -> bool {
    decision != "allow"
}

/// Writes decisions as a request to a collector of logs.
pub(super) fn request(resource: &Value, decisions: &[Arc<Noted>], now: u64) -> Value {
    let records: Vec<Value> = decisions.iter().map(|noted| record(noted, now)).collect();
    json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope(), "logRecords": records}]}]})
}

fn record(noted: &Noted, now: u64) -> Value {
    let (severity, word) = if noted.decision == "ask" { (INFO, "INFO") } else { (WARN, "WARN") };
    json!({
        "timeUnixNano": whole(noted.ended_at()),
        "observedTimeUnixNano": whole(now),
        "severityNumber": severity,
        "severityText": word,
        "eventName": "portcullis.decision",
        "body": {"stringValue": sentence(noted)},
        "attributes": described(noted).json(),
        "traceId": hex(&noted.place.trace),
        "spanId": hex(&noted.place.span),
        "flags": u8::from(noted.place.is_sampled),
    })
}

/// Says what decided, in the words of settings and findings and not in those of the call.
fn sentence(noted: &Noted) -> String {
    let rule = if noted.rule.is_empty() { String::new() } else { format!(" `{}`", redact(&noted.rule)) };
    let code = if noted.code.is_empty() { String::new() } else { format!(" {}", redact(&noted.code)) };
    format!("{} at the step {}: {}{rule}{code}", noted.decision, noted.step, noted.kind)
}
