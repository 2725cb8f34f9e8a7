//! From a status and a complaint to a fault: what kind it is, and whether trying again may help.

use std::time::Duration;

use portcullis_core::visible;

use super::complaint::ProviderError;
use super::envelope::header;
use super::{TokenUsage, unsupported};
use crate::fault::{FaultKind, ModelFault, RetryAdvice};
use crate::model::ModelProvider;

/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 200;

/// The longest wait a provider can ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// What providers call a prompt that is longer than the model takes.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "prompt_too_long",
    "context_length_exceeded",
    "exceed_context_size",
    "exceeds the available context size",
    "maximum context length",
    "exceeds the context window",
    "exceeds the context length",
    "exceeds the maximum number of tokens",
];

/// What providers call it when the money is used up.
const SPENT: &[&str] = &[
    "spend limit",
    "spending limit",
    "spending cap",
    "usage limits",
    "credit balance",
    "insufficient credit",
    "insufficient balance",
];

/// The same as labels.
const SPENT_LABELS: &[&str] = &[
    "enforced_spend_limit_reached",
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
];

/// Makes the fault of a request that failed.
pub(super) fn of_status(
    provider: ModelProvider,
    status: u16,
    headers: &[(String, String)],
    complaint: &ProviderError,
) -> ModelFault {
    let kind = kind(status, complaint);
    let retry = retry(&kind, status, headers, complaint);
    ModelFault {
        message: message(provider, status, &kind, complaint),
        kind,
        retry,
        usage: TokenUsage::default(),
    }
}

/// Makes the fault of a request that was answered, but with nothing that counts.
pub(super) fn of_answer(
    provider: ModelProvider,
    kind: FaultKind,
    what: &str,
    usage: TokenUsage,
) -> ModelFault {
    let message = shorten(&format!("{provider} answered {what}"));
    ModelFault { kind, message, retry: RetryAdvice::No, usage }
}

fn kind(status: u16, complaint: &ProviderError) -> FaultKind {
    let sentence = complaint.message.to_ascii_lowercase();
    let says = |needles: &[&str]| {
        let has = |text: &str| needles.iter().any(|needle| text.contains(needle));
        has(&sentence) || complaint.labels.iter().any(|label| has(label))
    };
    let is_wrong_request = matches!(status, 400 | 413 | 422);
    match status {
        400 | 402 | 403 | 429 if says(SPENT) || complaint.is_one_of(SPENT_LABELS) => FaultKind::SpendLimit,
        402 => FaultKind::SpendLimit,
        400 if complaint.is_one_of(&["api_key_invalid", "invalid_api_key"]) => FaultKind::Unauthorized,
        // Local servers report it as a failure of their own.
        400..=599 if (is_wrong_request || status == 500) && says(TOO_LONG) => FaultKind::TooLong,
        413 => FaultKind::TooLong,
        400 | 422 => {
            unsupported::find_parameter(complaint).map_or(FaultKind::BadRequest, FaultKind::Unsupported)
        }
        401 => FaultKind::Unauthorized,
        403 => FaultKind::Forbidden,
        404 => FaultKind::NotFound,
        408 => FaultKind::Timeout,
        409 => FaultKind::Server,
        429 => FaultKind::RateLimited,
        400..=499 => FaultKind::BadRequest,
        503 | 529 => FaultKind::Overloaded,
        500..=599 if complaint.is_one_of(&["overloaded_error", "unavailable"]) => FaultKind::Overloaded,
        500..=599 => FaultKind::Server,
        _ => FaultKind::Malformed,
    }
}

fn retry(
    kind: &FaultKind,
    status: u16,
    headers: &[(String, String)],
    complaint: &ProviderError,
) -> RetryAdvice {
    let is_final = matches!(
        kind,
        FaultKind::SpendLimit | FaultKind::TooLong | FaultKind::Unsupported(_) | FaultKind::Malformed
    );
    // A quota for a whole day does not come back within a call.
    let is_for_the_day = complaint.labels.iter().any(|label| label.contains("perday"));
    let helps = match header(headers, "x-should-retry") {
        Some("false") => false,
        Some("true") => true,
        _ => matches!(status, 408 | 409 | 429 | 500..=599) && !is_for_the_day,
    };
    if is_final || !helps {
        return RetryAdvice::No;
    }
    let named = header_wait(headers).or(complaint.wait).filter(|wait| !wait.is_zero());
    named.map_or(RetryAdvice::Backoff, |wait| RetryAdvice::After(wait.min(LONGEST_WAIT)))
}

/// Reads how long to wait. A date is not read: it would need a clock, and the provider's.
fn header_wait(headers: &[(String, String)]) -> Option<Duration> {
    let number = |name| header(headers, name).and_then(|text| text.trim().parse::<f64>().ok());
    let seconds = number("retry-after-ms").map(|wait| wait / 1_000.0).or_else(|| number("retry-after"))?;
    if seconds > LONGEST_WAIT.as_secs_f64() {
        return Some(LONGEST_WAIT);
    }
    Duration::try_from_secs_f64(seconds).ok()
}

fn message(provider: ModelProvider, status: u16, kind: &FaultKind, complaint: &ProviderError) -> String {
    // What is said about a key may contain it.
    if *kind == FaultKind::Unauthorized {
        return format!("{provider} does not accept the key ({status})");
    }
    let sentence = complaint.message.trim();
    let said =
        if sentence.is_empty() { complaint.labels.first().map(String::as_str) } else { Some(sentence) };
    match said {
        Some(said) => shorten(&format!("{provider} answered {status}: {said}")),
        None => format!("{provider} answered {status}"),
    }
}

/// Makes a text safe to show: what looks like a key is left out, hidden characters are written out, and it is short.
fn shorten(text: &str) -> String {
    // Far more than can remain, and little enough for a body of megabytes to cost nothing.
    let start: String = text.chars().take(4 * LONGEST_MESSAGE).collect();
    let words: Vec<&str> =
        start.split_whitespace().map(|word| if is_key(word) { "[hidden]" } else { word }).collect();
    let words = words.join(" ");
    let shown = visible(words.trim_end_matches(['.', ' ']));
    if shown.chars().count() <= LONGEST_MESSAGE {
        return shown.into_owned();
    }
    shown.chars().take(LONGEST_MESSAGE - 1).chain(['…']).collect()
}

/// Says whether a word may be, or contain, a key or a token.
fn is_key(word: &str) -> bool {
    const STARTS: &[&str] =
        &["sk-", "sk_", "aiza", "ya29.", "eyj", "gsk_", "xai-", "hf_", "ghp_", "absk", "akia", "r8_"];
    let lower = word.to_ascii_lowercase();
    let mut pieces =
        lower.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_' | '.'));
    let has_start = pieces.any(|piece| STARTS.iter().any(|start| piece.starts_with(start)));
    let mut runs = word.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_random = |run: &str| {
        run.len() >= 20
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    has_start || runs.any(is_random)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn fault(status: u16, headers: &[(&str, &str)], body: &str) -> ModelFault {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = serde_json::from_str(body).unwrap_or_default();
        of_status(ModelProvider::Anthropic, status, &headers, &ProviderError::of_failure(&body))
    }

    #[test]
    fn each_status_has_its_kind_and_only_passing_ones_are_tried_again() {
        for (status, kind, retry) in [
            (100, FaultKind::Malformed, RetryAdvice::No),
            (204, FaultKind::Malformed, RetryAdvice::No),
            (302, FaultKind::Malformed, RetryAdvice::No),
            (400, FaultKind::BadRequest, RetryAdvice::No),
            (401, FaultKind::Unauthorized, RetryAdvice::No),
            (402, FaultKind::SpendLimit, RetryAdvice::No),
            (403, FaultKind::Forbidden, RetryAdvice::No),
            (404, FaultKind::NotFound, RetryAdvice::No),
            (405, FaultKind::BadRequest, RetryAdvice::No),
            (408, FaultKind::Timeout, RetryAdvice::Backoff),
            (409, FaultKind::Server, RetryAdvice::Backoff),
            (413, FaultKind::TooLong, RetryAdvice::No),
            (422, FaultKind::BadRequest, RetryAdvice::No),
            (429, FaultKind::RateLimited, RetryAdvice::Backoff),
            (500, FaultKind::Server, RetryAdvice::Backoff),
            (502, FaultKind::Server, RetryAdvice::Backoff),
            (503, FaultKind::Overloaded, RetryAdvice::Backoff),
            (504, FaultKind::Server, RetryAdvice::Backoff),
            (529, FaultKind::Overloaded, RetryAdvice::Backoff),
            (999, FaultKind::Malformed, RetryAdvice::No),
        ] {
            let found = fault(status, &[], "");
            assert_eq!((found.kind, found.retry), (kind, retry), "{status}");
        }
    }

    #[test]
    fn the_time_a_provider_names_is_obeyed_within_reason() {
        let after = |milliseconds| RetryAdvice::After(Duration::from_millis(milliseconds));
        for (headers, expected) in [
            (&[("retry-after", "7")][..], after(7_000)),
            (&[("Retry-After", " 0.5 ")], after(500)),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], after(250)),
            (&[("retry-after", "61")], after(60_000)),
            (&[("retry-after", "1e300")], after(60_000)),
            (&[("retry-after", "inf")], after(60_000)),
            (&[("retry-after", "0")], RetryAdvice::Backoff),
            (&[("retry-after", "-3")], RetryAdvice::Backoff),
            (&[("retry-after", "NaN")], RetryAdvice::Backoff),
            (&[("retry-after", "Sun, 15 Nov 2026 08:00:00 GMT")], RetryAdvice::Backoff),
            (&[("x-should-retry", "false"), ("retry-after", "7")], RetryAdvice::No),
            (&[("x-should-retry", "true"), ("retry-after", "7")], after(7_000)),
        ] {
            assert_eq!(fault(429, headers, "").retry, expected, "{headers:?}");
        }
        assert_eq!(fault(400, &[("x-should-retry", "true")], "").retry, RetryAdvice::Backoff);
        assert_eq!(fault(402, &[("x-should-retry", "true")], "").retry, RetryAdvice::No);
        assert_eq!(fault(413, &[("x-should-retry", "true")], "").retry, RetryAdvice::No);
    }

    #[test]
    fn messages_are_short_visible_and_without_keys() {
        let key = "sk-ant-api03-AAAAbbbb1111";
        let random = "Zx8Kq2Lm9Pw4Rt7Yv1Bn5";
        let body = format!(
            r#"{{"error":{{"message":"Wrong key {key}, ({random}) or \"{key}\"\u0007\u202e for claude-haiku-4-5-20251001."}}}}"#
        );
        let message = fault(403, &[], &body).message;
        assert_eq!(
            message,
            "anthropic answered 403: Wrong key [hidden] [hidden] or [hidden] for claude-haiku-4-5-20251001"
        );
        let message = fault(401, &[], &body).message;
        assert_eq!(message, "anthropic does not accept the key (401)");
        let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é\\u202e".repeat(100_000));
        let message = fault(500, &[], &long).message;
        assert_eq!(message.chars().count(), 200);
        assert!(!message.contains('\u{202e}') && message.ends_with('…'));
        assert_eq!(fault(500, &[], "<html>").message, "anthropic answered 500");
    }

    #[test]
    fn a_complaint_in_any_dialect_is_understood() {
        for (status, body, expected) in [
            (400, r#"{"message":"Input is too long for requested model."}"#, FaultKind::TooLong),
            (400, r#"{"error":"capability_rejected: prompt_too_long"}"#, FaultKind::TooLong),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens"}"#,
                FaultKind::TooLong,
            ),
            (500, r#"{"error":"the input length exceeds the context length"}"#, FaultKind::TooLong),
            (
                422,
                r#"{"detail":"Extra inputs are not permitted: 'temperature'"}"#,
                FaultKind::Unsupported("temperature".to_owned()),
            ),
            (
                400,
                r#"{"error":{"message":"You have reached your specified API usage limits."}}"#,
                FaultKind::SpendLimit,
            ),
            (403, r#"{"error":{"message":"Monthly spend limit reached"}}"#, FaultKind::SpendLimit),
            (500, r#"{"error":{"type":"overloaded_error"}}"#, FaultKind::Overloaded),
            (404, r#"{"error":{"message":"prompt is too long"}}"#, FaultKind::NotFound),
            (400, r#"[{"error":{"message":"prompt is too long"}}]"#, FaultKind::TooLong),
            (400, r#"{"error":[1]}"#, FaultKind::BadRequest),
            (400, "[]", FaultKind::BadRequest),
        ] {
            assert_eq!(fault(status, &[], body).kind, expected, "{body}");
        }
    }
}
