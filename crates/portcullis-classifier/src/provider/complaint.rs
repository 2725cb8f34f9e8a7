//! What providers say when they do not answer: one reader for the dialects of all, because gateways mix them.

use std::time::Duration;

use serde_json::Value;

use super::envelope::{list, text};

/// An error as a provider put it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ProviderError {
    /// Its types, codes and reasons.
    pub(super) labels: Vec<String>,
    /// Its sentence.
    pub(super) message: String,
    /// The parameter it is about.
    pub(super) parameter: Option<String>,
    /// How long to wait, where the body says so.
    pub(super) wait: Option<Duration>,
    /// The status it gives itself, if any.
    pub(super) code: Option<u16>,
}

impl ProviderError {
    /// Reads the body of an answer whose status says that it failed.
    pub(super) fn of_failure(body: &Value) -> Self {
        let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
        Self::of_success(body).unwrap_or_else(|| Self::read(body, body))
    }

    /// Reads the error in the body of an answer whose status says that it succeeded, if there is one.
    pub(super) fn of_success(body: &Value) -> Option<Self> {
        match body.get("error") {
            Some(error @ (Value::Object(_) | Value::String(_))) => Some(Self::read(body, error)),
            Some(Value::Null) | None => {
                let is_error = text(body, "type") == Some("error") || text(body, "object") == Some("error");
                is_error.then(|| Self::read(body, body))
            }
            Some(other) => Some(Self { message: other.to_string(), ..Self::default() }),
        }
    }

    fn read(body: &Value, error: &Value) -> Self {
        if let Value::String(message) = error {
            return Self { message: message.clone(), ..Self::default() };
        }
        let details = list(error, "details").unwrap_or_default();
        let inner = error.get("details").and_then(|details| text(details, "error_code"));
        let named = ["type", "code", "status"].into_iter().filter_map(|field| text(error, field));
        let reasons = details.iter().filter_map(|detail| text(detail, "reason"));
        let quotas = details.iter().flat_map(|detail| list(detail, "violations").unwrap_or_default());
        let quotas = quotas.filter_map(|violation| text(violation, "quotaId"));
        let labels = named.chain(inner).chain(text(body, "code")).chain(reasons).chain(quotas);
        let sentences = ["message", "detail", "error_description"];
        let message =
            sentences.into_iter().find_map(|field| text(error, field).or_else(|| text(body, field)));
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            labels: labels.take(20).map(str::to_ascii_lowercase).collect(),
            message: message.unwrap_or_default().to_owned(),
            parameter: text(error, "param").map(str::to_owned),
            wait: details.iter().find_map(|detail| text(detail, "retryDelay")).and_then(read_delay),
            code,
        }
    }

    /// Says whether one of the labels is among some.
    pub(super) fn is_one_of(&self, labels: &[&str]) -> bool {
        self.labels.iter().any(|label| labels.contains(&label.as_str()))
    }

    /// Returns the status an error stands for that came with a status of success.
    pub(super) fn status(&self) -> u16 {
        let by_label = self.labels.iter().find_map(|label| {
            Some(match label.as_str() {
                "invalid_request_error" | "invalid_argument" | "context_length_exceeded" => 400,
                "authentication_error" | "invalid_api_key" | "unauthenticated" => 401,
                "billing_error" => 402,
                "permission_error" | "permission_denied" => 403,
                "not_found_error" | "model_not_found" | "not_found" => 404,
                "request_too_large" => 413,
                "rate_limit_error" | "rate_limit_exceeded" | "resource_exhausted" | "insufficient_quota" => {
                    429
                }
                "overloaded_error" | "unavailable" => 529,
                _ => return None,
            })
        });
        by_label.or(self.code.filter(|code| (400..600).contains(code))).unwrap_or(500)
    }
}

/// Reads a time such as `34s` or `0.5s`.
fn read_delay(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
