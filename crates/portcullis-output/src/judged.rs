//! A verdict with all that came with it as fields of a JSON object, the same for `check --json` and `check --batch`.

use portcullis_core::CallExplanation;
use serde_json::Value;

use super::{exchange, explanation, json};
use portcullis_gate::judge::JudgedCall;

/// Writes the fields to the end of `out`, without the braces round them. What there is not has no field.
pub fn write_fields(
    out: &mut String,
    judged: &JudgedCall,
    elapsed_us: u128,
    explained: Option<&CallExplanation>,
) {
    json::write_verdict_fields(out, &judged.verdict, elapsed_us);
    if !judged.exchanges.is_empty() {
        let calls = judged.exchanges.iter().map(exchange::object).collect();
        json::write_field(out, "classifier", &Value::Array(calls));
    }
    if let Some(id) = &judged.denial {
        json::write_field(out, "denial", &Value::String(id.clone()));
    }
    if judged.verdict.ends_run {
        json::write_field(out, "endsRun", &Value::Bool(true));
    }
    if let Some(explained) = explained {
        explanation::write_field(out, explained);
    }
}
