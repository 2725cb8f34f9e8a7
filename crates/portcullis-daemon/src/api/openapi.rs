//! `GET /v1/openapi.json`: what the API takes and gives. It says nothing that is not in the source, so anybody may read it.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::Shared;

/// The document.
const DOCUMENT: &str = include_str!("openapi.json");

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/openapi.json", get(show))
}

async fn show() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT)
}
