//! `GET /metrics` for Prometheus, and `GET /healthz` for whoever restarts what does not answer.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use crate::Shared;
use crate::access::Reads;
use crate::telemetry;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/metrics", get(metrics)).route("/healthz", get(health))
}

async fn metrics(State(daemon): State<Shared>, _: Reads) -> impl IntoResponse {
    let headers = [(CONTENT_TYPE, telemetry::CONTENT_TYPE), (CACHE_CONTROL, "no-store")];
    (headers, daemon.telemetry.metrics())
}

/// Says that requests are answered, and nothing about whom or what: nobody has said who they are.
async fn health() -> impl IntoResponse {
    ([(CACHE_CONTROL, "no-store")], Json(json!({"status": "ok"})))
}
