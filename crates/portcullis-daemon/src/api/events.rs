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
use axum::http::StatusCode;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::access::{Caller, Reads, UsageKind, UsagePermit};
use crate::approval_object::approval_object;
use crate::{ApiError, LiveEvent, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_output::record;

/// A line without meaning goes out so often, so that whoever stands between does not close a quiet connection.
const QUIET: Duration = Duration::from_secs(15);

/// How many streams one token has at most; those who show none share as many.
const MOST_STREAMS: usize = 32;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/events", get(events))
}

async fn events(
    State(daemon): State<Shared>,
    Reads(caller): Reads,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let permit = daemon.usage.take(UsageKind::Stream, caller.token(), MOST_STREAMS).ok_or_else(too_many)?;
    let watch = EventWatch { watched: daemon.hub.watch(), daemon, caller, _permit: permit };
    let told = stream::unfold(watch, |mut watch| async {
        let event = tokio::select! {
            event = next(&mut watch.watched) => event?,
            () = watch.daemon.stopping.wait() => return None,
        };
        // Whoever was let in once is told nothing more when they would not be let in now.
        watch.caller.is_still_admitted(&watch.daemon, now_ms()).then_some((Ok(event), watch))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(QUIET)))
}

/// Somebody who watches; their place is given back when they leave.
struct EventWatch {
    watched: Receiver<LiveEvent>,
    daemon: Shared,
    caller: Caller,
    _permit: UsagePermit,
}

fn too_many() -> ApiError {
    let message = format!("this token has {MOST_STREAMS} streams of events already");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", message)
        .with_hint("close one, or use a token of its own for each program")
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
