//! What a request brings: read whole, or refused in the form of every other refusal.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::{ApiError, Shared};

/// The body, which is JSON and says so.
#[derive(Debug)]
pub(super) struct Received<T>(pub(super) T);

/// What stands after the question mark of the address.
#[derive(Debug)]
pub(super) struct Queried<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Received<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, daemon: &Shared) -> Result<Self, ApiError> {
        match Json::from_request(request, daemon).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(refused(rejection.status(), "body", &rejection.body_text())),
        }
    }
}

impl<T: DeserializeOwned> FromRequestParts<Shared> for Queried<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, ApiError> {
        match Query::from_request_parts(parts, daemon).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => Err(refused(rejection.status(), "query", &rejection.body_text())),
        }
    }
}

/// Makes the refusal. The library says in a sentence of its own what it did, and behind a colon what was wrong.
fn refused(status: StatusCode, what: &str, why: &str) -> ApiError {
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return ApiError::new(status, "bad_request", "the body is not said to be JSON")
            .with_hint("send `Content-Type: application/json`");
    }
    let why = why.split_once(": ").map_or(why, |(_, why)| why);
    ApiError::new(status, "bad_request", format!("the {what} cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_wrong_and_not_who_found_it() {
        let wrong = refused(StatusCode::UNPROCESSABLE_ENTITY, "body", "Failed to read: missing field `x`");
        assert_eq!(
            (wrong.code, wrong.message.as_str()),
            ("bad_request", "the body cannot be read: missing field `x`")
        );
        let untyped = refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "body", "Expected request with …");
        assert_eq!(untyped.hint.as_deref(), Some("send `Content-Type: application/json`"));
    }
}
