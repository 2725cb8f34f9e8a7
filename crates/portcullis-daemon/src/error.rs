//! What a program is told that asked for something it cannot have: `{"error":{"code","message","hint"}}`.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use portcullis_store::StoreError;
use serde_json::json;

use portcullis_gate::Failure;

/// A refusal, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// The status of the response.
    pub(crate) status: StatusCode,
    /// A word for programs.
    pub(crate) code: &'static str,
    /// What is wrong, for people.
    pub(crate) message: String,
    /// How to go on.
    pub(crate) hint: Option<String>,
}

impl ApiError {
    /// Makes one.
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None }
    }

    /// Adds how to go on.
    #[must_use]
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Nobody knows who asks.
    pub(crate) fn unauthenticated() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "this needs a token")
            .with_hint("send `Authorization: Bearer TOKEN`; `portcullis tokens create` makes one")
    }

    /// Whoever asks may not.
    pub(crate) fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "this token may not do that")
            .with_hint("use a token with another role")
    }

    /// There is no such thing.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", what)
    }

    /// The request cannot be understood.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// Something failed here.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let is_usage = failure.kind == portcullis_gate::FailureKind::Usage;
        let error =
            if is_usage { Self::bad_request(failure.message) } else { Self::internal(failure.message) };
        Self { hint: failure.hint, ..error }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { hint, ..Self::internal(error.to_string()) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, code, message, hint } = self;
        let body = Json(json!({"error": {"code": code, "message": message, "hint": hint}}));
        if status == StatusCode::UNAUTHORIZED {
            return (status, [(header::WWW_AUTHENTICATE, "Bearer")], body).into_response();
        }
        (status, body).into_response()
    }
}
