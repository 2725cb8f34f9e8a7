//! The HTTP API, version 1. `openapi.json` beside this file says what it takes and gives.

pub(crate) mod approvals;
mod decide;
pub(crate) mod decisions;
mod events;
pub(crate) mod grants;
pub(super) mod hook;
mod metrics;
mod policy;
mod received;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod stats;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use super::{ApiError, Shared};

/// What the API takes and gives.
const DOCUMENT: &str = include_str!("openapi.json");

/// Makes the routes of the API.
pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .merge(approvals::routes())
        .merge(decide::routes())
        .merge(hook::routes())
        .merge(events::routes())
        .merge(metrics::routes())
        .route("/v1/openapi.json", get(show_document))
        .merge(policy::routes())
        .merge(decisions::routes())
        .merge(sessions::routes())
        .merge(stats::routes())
        .merge(rules::routes())
        .merge(grants::routes())
}

/// Shows the document. It says nothing that is not in the source, so anybody may read it.
async fn show_document() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT)
}

/// Does what may wait for the disk or a server on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ApiError::internal("this could not be done because of an internal failure")))
}

/// Cuts a list of which one more was looked for than is told, and says whether there are more.
pub(crate) fn cut<T>(all: &[T], most: u64) -> (&[T], bool) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    all.get(..most).map_or((all, false), |told| (told, all.len() > most))
}
