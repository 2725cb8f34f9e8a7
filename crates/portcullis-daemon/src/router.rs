//! Which handler serves which path.

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;

use super::telemetry::count_request;
use super::{ApiError, Shared, api, login, pages, passkeys};

/// Makes the router of everything.
pub(crate) fn router(daemon: Shared) -> Router {
    Router::new()
        .merge(api::routes())
        .merge(pages::routes())
        .merge(login::routes())
        .merge(passkeys::routes())
        .fallback(pages::nothing)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(Arc::clone(&daemon), count_request))
        .with_state(daemon)
}

async fn not_allowed(method: Method, uri: Uri) -> ApiError {
    let message = format!("`{}` does not take {method}", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}
