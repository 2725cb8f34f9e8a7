//! What the daemon counts, and what it tells other systems.
//!
//! ```text
//! decide, queue, server, recorder ──► Counters ──► GET /metrics (Prometheus)
//!                   │                    └───────► metrics ┐
//!                   └──► Noted ──► queues, bounded ──► traces, logs ──► collector (OTLP over HTTP, feature `otel`)
//! ```
//!
//! INVARIANT: nothing here changes a decision or waits for anybody. What comes faster than it can be told is dropped and
//! counted. No text of a call is told: neither its input nor the reason, which quotes it.

mod counters;
mod family;
mod histogram;
mod models;
#[cfg(feature = "otel")]
mod otel;
#[cfg(not(feature = "otel"))]
#[path = "without_otel.rs"]
mod otel;
mod process;
mod prometheus;
mod requests;
mod seen;
mod trace_parent;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use portcullis_store::ApprovalState;
use portcullis_store::audit::Entry;

use super::{Daemon, Shared};
use counters::Counters;
use otel::Exporter;
pub(crate) use prometheus::CONTENT_TYPE;
use seen::Seen;
pub(crate) use trace_parent::TraceParent;

/// Counts, and what is told to other systems. Copies are the same.
#[derive(Debug, Clone)]
pub(crate) struct Telemetry {
    counters: Arc<Counters>,
    exporter: Option<Arc<Exporter>>,
}

/// A connection that is counted as open until this is dropped.
#[derive(Debug)]
pub(crate) struct Connected {
    counters: Arc<Counters>,
}

impl Telemetry {
    /// Begins to count, and to tell a collector if the variables name one ([`portcullis_gate::env_vars::telemetry`]).
    pub(crate) fn start(variables: &[(&'static str, String)]) -> Self {
        let counters = Arc::new(Counters::new());
        let exporter = Exporter::start(variables, &counters).map(Arc::new);
        Self { counters, exporter }
    }

    /// Takes from now on what the daemon itself knows, such as how many questions wait.
    pub(crate) fn watch(&self, daemon: &Shared) {
        let daemon: Weak<Daemon> = Arc::downgrade(daemon);
        self.counters.watch(Box::new(move || {
            let daemon = daemon.upgrade()?;
            let (open_approvals, waiting) = daemon.queue.counts();
            let (settings_kept, settings_loaded) = daemon.settings.counts();
            Some(Seen { open_approvals, waiting, settings_kept, settings_loaded })
        }));
    }

    /// Tells the collector what it was not told yet, for a few seconds at most.
    pub(crate) fn shutdown(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.shutdown();
        }
    }

    /// Notes a decision that was made and recorded. Whoever asked for it may have said which trace it is part of.
    pub(crate) fn decided(&self, entry: &Entry, parent: Option<TraceParent>) {
        self.counters.decided(entry);
        if let Some(exporter) = &self.exporter {
            exporter.note(entry, parent);
        }
    }

    /// Notes that decisions were written to the audit trail together.
    pub(crate) fn recorded(&self, batch: usize, took: Duration) {
        self.counters.recorded(batch, took);
    }

    /// Notes that the store failed at something.
    pub(crate) fn store_failed(&self) {
        self.counters.store_errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a question was put to a person.
    pub(crate) fn approval_opened(&self) {
        self.counters.approvals.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a person answered, and after how long.
    pub(crate) fn approval_answered(&self, state: ApprovalState, waited: Duration) {
        self.counters.approvals.answered(state, waited);
    }

    /// Notes that nobody answered so many questions in time.
    pub(crate) fn approvals_expired(&self, count: u64) {
        self.counters.approvals.expired.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes a connection that was accepted, which is open until the returned value is dropped.
    pub(crate) fn connected(&self) -> Connected {
        let counters = Arc::clone(&self.counters);
        counters.connections.accepted.fetch_add(1, Ordering::Relaxed);
        counters.connections.open.fetch_add(1, Ordering::Relaxed);
        Connected { counters }
    }

    /// Notes a connection that was closed at once, because there are too many.
    pub(crate) fn connection_refused(&self) {
        self.counters.connections.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a request that was answered. The route is the router's template; `None` if there is no such route.
    pub(crate) fn requested(&self, method: &str, route: Option<&str>, status: u16) {
        self.counters.requests.add(method, route, status);
    }

    /// Returns everything in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        prometheus::text(&self.counters.families())
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.counters.connections.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts every request by the route that serves it. A layer of the whole router.
pub(crate) async fn count_request(State(daemon): State<Shared>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    daemon.telemetry.requested(method.as_str(), route.as_ref().map(MatchedPath::as_str), status);
    response
}

#[cfg(test)]
mod tests;
