//! `/v1/grants`: what a person granted for a while, and taking it back.

use axum::extract::{Path, State};
use axum::routing::{delete, get};
use axum::{Json, Router};
use portcullis_store::Grant;
use serde_json::{Value, json};

use super::blocking;
use crate::access::{Present, Reads};
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_output::grant::grant_json;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/grants", get(list)).route("/v1/grants/{id}", delete(remove))
}

async fn list(State(daemon): State<Shared>, Reads(_): Reads) -> Result<Json<Value>, ApiError> {
    let grants = blocking(move || Ok(daemon.store.grants().list(now_ms())?)).await?;
    Ok(Json(json!({"grants": grants.iter().map(grant_json).collect::<Vec<_>>()})))
}

async fn remove(
    State(daemon): State<Shared>,
    _: Present,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let grant = blocking(move || revoke(&daemon, &id)).await?;
    Ok(Json(json!({"revoked": [grant_json(&grant)]})))
}

/// Takes a grant back. One that is not there is not found.
pub(crate) fn revoke(daemon: &Daemon, id: &str) -> Result<Grant, ApiError> {
    let revoked = daemon.store.grants().revoke(|grant| grant.id == id, now_ms())?;
    revoked.into_iter().next().ok_or_else(|| ApiError::not_found("there is no such grant"))
}
