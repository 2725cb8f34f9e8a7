//! The body of an error, in the shape of its wire.

use serde_json::{Map, Value, json};

use super::WireProtocol;

/// Writes an error. `details` are the fields of the script's own `error` object; what is missing follows the status.
pub(crate) fn error_body(
    wire: Option<WireProtocol>,
    status: u16,
    details: &Map<String, Value>,
    id: &str,
) -> Value {
    let message = details.get("message").cloned().unwrap_or_else(|| json!(default_message(status)));
    match wire {
        Some(WireProtocol::Anthropic) => {
            let mut error = details.clone();
            error.entry("type").or_insert_with(|| json!(anthropic_type(status)));
            error.entry("message").or_insert(message);
            json!({"type": "error", "error": error, "request_id": id})
        }
        Some(WireProtocol::Ollama) => json!({"error": message}),
        Some(WireProtocol::Gemini) => {
            let mut error = details.clone();
            let kind = error.remove("type").unwrap_or_else(|| json!(gemini_status(status)));
            error.entry("code").or_insert_with(|| json!(status));
            error.entry("message").or_insert(message);
            error.entry("status").or_insert(kind);
            json!({"error": error})
        }
        Some(WireProtocol::Responses | WireProtocol::Chat) | None => {
            let mut error = details.clone();
            error.entry("message").or_insert(message);
            error.entry("type").or_insert_with(|| json!(openai_type(status)));
            error.entry("param").or_insert(Value::Null);
            error.entry("code").or_insert_with(|| openai_code(status));
            json!({"error": error})
        }
    }
}

const fn default_message(status: u16) -> &'static str {
    match status {
        400 => "the request is not valid",
        401 => "the key is not valid",
        403 => "the key may not do this",
        404 => "there is no such model",
        413 => "the request is too large",
        429 => "too many requests",
        503 | 529 => "overloaded",
        _ => "the server failed",
    }
}

const fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

const fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn openai_code(status: u16) -> Value {
    match status {
        401 => json!("invalid_api_key"),
        404 => json!("model_not_found"),
        429 => json!("rate_limit_exceeded"),
        _ => Value::Null,
    }
}

const fn gemini_status(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}
