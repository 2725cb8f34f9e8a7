//! Sending a request and waiting for its answer: deadlines, retries, proxies, certificates, and what can go wrong.
//!
//! ```text
//! WireRequest ──► Connection::send ──► RawResponse ──► provider
//!                   │ deadline, Cancel     or Fault ──► next_delay ──► again?
//!                   └ BaseUrl, Proxy, certificates         Breaker ──► at all?
//! ```
//!
//! INVARIANT: a request ends by its deadline, or when its caller gives up, whatever the other side does. Its key goes to
//! the address it is meant for and nowhere else: no redirect is followed, no message holds it.

mod address;
mod breaker;
mod cancel;
mod certificates;
mod connection;
mod failure;
mod proxy;
mod retry;

use std::time::Duration;

pub use address::BaseUrl;
pub use breaker::{CircuitBreaker, OUTAGES_TO_OPEN};
pub use cancel::CancelFlag;
pub use connection::{ExchangeLimits, KeyPresentation, ProviderConnection, RawResponse};
pub use proxy::TunnelProxy;
pub use retry::{MOST_RETRIES, next_delay};

/// Why there is no answer. None of these ever allows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFault {
    /// What kind of failure it is.
    pub kind: FaultKind,
    /// What happened: lower case, no final period, no secret in it.
    pub message: String,
    /// Whether trying again may help.
    pub retry: RetryAdvice,
    /// What the answer cost nevertheless.
    pub usage: crate::provider::TokenUsage,
}

/// The kinds of failure, as people and statistics tell them apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// There is no key, or its command failed.
    NoKey,
    /// The request is wrong (400).
    BadRequest,
    /// The request names something the model does not take (400); the parameter is named.
    Unsupported(String),
    /// The key is not accepted (401).
    Unauthorized,
    /// The key may not do this (403).
    Forbidden,
    /// There is no such model or address (404).
    NotFound,
    /// The prompt is longer than the model takes.
    TooLong,
    /// Too many requests (429).
    RateLimited,
    /// The money is used up; waiting does not help.
    SpendLimit,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// The provider failed (5xx).
    Server,
    /// It took too long.
    Timeout,
    /// No connection, or it broke.
    Connection,
    /// What came back is not an answer: wrong type, cut off, too large, not JSON.
    Malformed,
    /// The model refused to answer.
    Refused,
    /// The answer was cut off at its limit.
    Truncated,
    /// The model answered nothing.
    Empty,
    /// The model answered more than once.
    Ambiguous,
    /// The caller gave up.
    Aborted,
    /// The provider failed so often lately that it is not asked.
    BreakerOpen,
}

/// Whether a failed request is worth repeating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAdvice {
    /// No.
    No,
    /// Yes, after a while that grows.
    Backoff,
    /// Yes, after the time the provider named.
    After(Duration),
}

impl ModelFault {
    /// Returns a failure that cost nothing.
    pub fn new(kind: FaultKind, message: impl Into<String>, retry: RetryAdvice) -> ModelFault {
        ModelFault { kind, message: message.into(), retry, usage: crate::provider::TokenUsage::default() }
    }
}

impl FaultKind {
    /// Says whether the provider, or the way to it, is down: what a circuit breaker counts.
    pub fn is_outage(&self) -> bool {
        match self {
            FaultKind::RateLimited
            | FaultKind::Overloaded
            | FaultKind::Server
            | FaultKind::Timeout
            | FaultKind::Connection => true,
            FaultKind::NoKey
            | FaultKind::BadRequest
            | FaultKind::Unsupported(_)
            | FaultKind::Unauthorized
            | FaultKind::Forbidden
            | FaultKind::NotFound
            | FaultKind::TooLong
            | FaultKind::SpendLimit
            | FaultKind::Malformed
            | FaultKind::Refused
            | FaultKind::Truncated
            | FaultKind::Empty
            | FaultKind::Ambiguous
            | FaultKind::Aborted
            | FaultKind::BreakerOpen => false,
        }
    }

    /// Returns it in a few words for people.
    pub fn phrase(&self) -> &'static str {
        match self {
            FaultKind::NoKey => "no key",
            FaultKind::BadRequest => "request refused",
            FaultKind::Unsupported(_) => "parameter not supported",
            FaultKind::Unauthorized => "key not accepted",
            FaultKind::Forbidden => "not permitted",
            FaultKind::NotFound => "model or address not found",
            FaultKind::TooLong => "prompt too long",
            FaultKind::RateLimited => "rate-limited",
            FaultKind::SpendLimit => "spend limit reached",
            FaultKind::Overloaded => "overloaded",
            FaultKind::Server => "server error",
            FaultKind::Timeout => "timed out",
            FaultKind::Connection => "connection failed",
            FaultKind::Malformed => "answer not understood",
            FaultKind::Refused => "model refused to answer",
            FaultKind::Truncated => "answer cut off",
            FaultKind::Empty => "empty answer",
            FaultKind::Ambiguous => "more than one answer",
            FaultKind::Aborted => "given up by the caller",
            FaultKind::BreakerOpen => "paused after repeated failures",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all_kinds() -> Vec<FaultKind> {
        use FaultKind as K;
        vec![
            K::NoKey,
            K::BadRequest,
            K::Unsupported("temperature".to_owned()),
            K::Unauthorized,
            K::Forbidden,
            K::NotFound,
            K::TooLong,
            K::RateLimited,
            K::SpendLimit,
            K::Overloaded,
            K::Server,
            K::Timeout,
            K::Connection,
            K::Malformed,
            K::Refused,
            K::Truncated,
            K::Empty,
            K::Ambiguous,
            K::Aborted,
            K::BreakerOpen,
        ]
    }

    #[test]
    fn every_kind_has_a_short_phrase_of_its_own() {
        let kinds = all_kinds();
        let phrases: BTreeSet<&str> = kinds.iter().map(FaultKind::phrase).collect();
        assert_eq!(phrases.len(), kinds.len());
        for phrase in phrases {
            assert!((1..=32).contains(&phrase.len()) && !phrase.ends_with('.'), "{phrase}");
            assert_eq!(phrase, phrase.to_lowercase());
        }
    }

    #[test]
    fn only_what_time_may_mend_is_an_outage() {
        use FaultKind as K;
        let outages: Vec<FaultKind> = all_kinds().into_iter().filter(FaultKind::is_outage).collect();
        assert_eq!(outages, [K::RateLimited, K::Overloaded, K::Server, K::Timeout, K::Connection]);
    }
}
