//! `GET /v1/events`: decisions and approvals as they come, as server-sent events.
//!
//! ```text
//! event: decision    the object of `portcullis log --json`
//! event: approval    the object of `GET /v1/approvals/{id}`
//! event: skipped     {"count": n}: so many came at once that these are not told one by one
//! ```

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::access::Reads;
use crate::approval_object::approval_object;
use crate::{LiveEvent, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_output::record;

/// A line without meaning goes out so often, so that whoever stands between does not close a quiet connection.
const QUIET: Duration = Duration::from_secs(15);

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/events", get(events))
}

async fn events(
    State(daemon): State<Shared>,
    Reads(caller): Reads,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let told = stream::unfold((daemon.hub.watch(), daemon, caller), |(mut watched, daemon, caller)| async {
        let event = tokio::select! {
            event = next(&mut watched) => event?,
            () = daemon.stopping.wait() => return None,
        };
        // Whoever was let in once is told nothing more when they would not be let in now.
        caller.is_still_admitted(&daemon, now_ms()).then_some((Ok(event), (watched, daemon, caller)))
    });
    Sse::new(told).keep_alive(KeepAlive::new().interval(QUIET))
}

/// Waits for something to tell; `None` when the daemon ends.
async fn next(watched: &mut Receiver<LiveEvent>) -> Option<Event> {
    let (name, object) = match watched.recv().await {
        Ok(LiveEvent::Decision(decided)) => ("decision", record::object(&decided)),
        Ok(LiveEvent::Approval(approval)) => ("approval", approval_object(&approval)),
        Ok(LiveEvent::Skipped(count)) | Err(RecvError::Lagged(count)) => ("skipped", json!({"count": count})),
        Err(RecvError::Closed) => return None,
    };
    Some(Event::default().event(name).data(object.to_string()))
}
