//! `/v1/policy`: which policy of the store is in force on this machine, and what keeps a later one from being it.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::Shared;
use crate::access::Reads;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/policy", get(show))
}

async fn show(State(daemon): State<Shared>, Reads(_): Reads) -> Json<Value> {
    let report = daemon.policy.report();
    Json(json!({"version": report.version, "trouble": report.trouble}))
}
