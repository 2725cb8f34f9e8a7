//! OpenTelemetry: traces, metrics and logs, told to a collector over OTLP, which is JSON over HTTP.
//!
//! ```text
//! decided ──► sampler ──► Noted ──► queue of traces ──► worker ──► traces::request ┐
//!                           └─────► queue of logs ────► worker ──► logs::request   ├► exporter ──► collector
//!                                   Counters ─────────► worker ──► metrics::request┘
//! ```
//!
//! Each signal has a thread and an address of its own, so that one that is stuck does not keep the others. Without an
//! address there is no thread.

mod config;
mod export_queue;
mod exporter;
mod ids;
mod logs;
mod metrics;
mod noted;
mod sampler;
mod traces;
mod wire;
mod worker;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portcullis_store::audit::Entry;
use serde_json::{Value, json};

use super::TraceParent;
use super::counters::Counters;
use config::{Config, Target};
use exporter::OtlpExporter;
use ids::{Ids, hex};
use noted::{Noted, Place};
use portcullis_output::terminal::print_notes;
use sampler::Sampler;
use wire::Attributes;
use worker::{Rhythm, Worker, Writer};

/// How long a span waits until it is told, if there is no batch before.
const TRACES_DELAY: Duration = Duration::from_secs(5);
/// How long a log record waits.
const LOGS_DELAY: Duration = Duration::from_secs(1);
/// How long the end may take.
const FAREWELL: Duration = Duration::from_secs(3);

/// The places of the signals among [`super::counters::SIGNALS`].
const TRACES: usize = 0;
const METRICS: usize = 1;
const LOGS: usize = 2;

/// Tells a collector.
#[derive(Debug)]
pub(super) struct Exporter {
    ids: Arc<Ids>,
    sampler: Sampler,
    traces: Option<Worker>,
    metrics: Option<Worker>,
    logs: Option<Worker>,
}

impl Exporter {
    /// Starts what the variables ask for; `None` if that is nothing.
    pub(super) fn start(variables: &[(&'static str, String)], counters: &Arc<Counters>) -> Option<Self> {
        let config = Config::parse(variables)?;
        print_notes(&config.notes);
        let ids = Arc::new(Ids::new());
        let resource = Arc::new(resource(&config, &ids));
        let begin = |signal, rhythm, target: &Option<Target>, writer: Writer| {
            let target = target.as_ref()?;
            Worker::start(
                signal,
                rhythm,
                |cancel| OtlpExporter::new(target, &config, cancel),
                counters,
                writer,
            )
        };
        let write_traces: Writer = {
            let (resource, ids) = (Arc::clone(&resource), Arc::clone(&ids));
            Box::new(move |batch| traces::request(&resource, batch, &ids))
        };
        let write_metrics: Writer = {
            let (resource, counters) = (Arc::clone(&resource), Arc::clone(counters));
            Box::new(move |_| metrics::request(&resource, &counters, now_nanos()))
        };
        let write_logs: Writer = Box::new(move |batch| logs::request(&resource, batch, now_nanos()));
        let traces = begin(TRACES, Rhythm::Batches(TRACES_DELAY), &config.traces, write_traces);
        let metrics = begin(METRICS, Rhythm::Ticks(config.interval), &config.metrics, write_metrics);
        let logs = begin(LOGS, Rhythm::Batches(LOGS_DELAY), &config.logs, write_logs);
        let has_any = traces.is_some() || metrics.is_some() || logs.is_some();
        has_any.then_some(Self { ids, sampler: config.sampler, traces, metrics, logs })
    }

    /// Notes a decision for whom it concerns.
    pub(super) fn note(&self, entry: &Entry, parent: Option<TraceParent>) {
        let trace = parent.map_or_else(|| self.ids.trace(), |parent| parent.trace);
        let is_sampled = self.traces.is_some() && self.sampler.keeps(trace, parent);
        let traces = self.traces.as_ref().filter(|_| is_sampled);
        let logs = self.logs.as_ref().filter(|_| logs::is_told(&entry.decision));
        if traces.is_none() && logs.is_none() {
            return;
        }
        let place = Place::new(trace, self.ids.span(), parent, is_sampled);
        let noted = Arc::new(Noted::new(entry, place));
        for worker in [traces, logs].into_iter().flatten() {
            worker.put(Arc::clone(&noted));
        }
    }

    /// Tells what is left, for a few seconds at most.
    pub(super) fn shutdown(&self) {
        let until = Instant::now() + FAREWELL;
        let workers = || [&self.traces, &self.metrics, &self.logs].into_iter().flatten();
        workers().for_each(|worker| worker.close(until));
        workers().for_each(|worker| worker.join(until));
    }
}

/// Says who tells: what the variables say counts for more than what we say.
fn resource(config: &Config, ids: &Ids) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let own = [
        ("service.name", "portcullis".to_owned()),
        ("service.version", version.to_owned()),
        ("service.instance.id", hex(&ids.trace())),
        ("telemetry.sdk.name", "portcullis".to_owned()),
        ("telemetry.sdk.language", "rust".to_owned()),
        ("telemetry.sdk.version", version.to_owned()),
    ];
    let mut told: Vec<(String, String)> = Vec::new();
    let given = config.resource.iter().cloned();
    let service = config.service.iter().map(|name| ("service.name".to_owned(), name.clone()));
    let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
    for (key, value) in own.chain(given).chain(service) {
        told.retain(|(known, _)| *known != key);
        told.push((key, value));
    }
    let attributes = told
        .into_iter()
        .fold(Attributes::default(), |attributes, (key, value)| attributes.text(&key, value))
        .number("process.pid", u64::from(std::process::id()));
    json!({"attributes": attributes.json()})
}

fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
