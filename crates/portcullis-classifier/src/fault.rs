//! Why there is no answer: what can go wrong between a question and a model's answer, from the key to the last byte.

use std::time::Duration;

use crate::tokens::TokenUsage;

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
    pub usage: TokenUsage,
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
        ModelFault { kind, message: message.into(), retry, usage: TokenUsage::default() }
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
