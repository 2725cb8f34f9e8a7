//! Everything the daemon counts. To count is a few additions that no thread waits for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portcullis_hosts::Host;
use portcullis_store::ApprovalState;
use portcullis_store::audit::Entry;

use super::family::{Family, Kind, Sample, Value};
use super::histogram::Histogram;
use super::models::Models;
use super::process;
use super::requests::Requests;
use super::seen::{Seen, Watch};

/// Bounds of the time of a decision, in microseconds.
const DECISION_MICROS: &[u64] = &[
    50,
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
];

/// Bounds of the time a person took, in milliseconds.
const WAITING_MILLIS: &[u64] = &[
    1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 14_400_000,
];

/// Bounds of how many decisions are written down at once.
const BATCHES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/// Bounds of the time it takes to write decisions down, in microseconds.
const WRITE_MICROS: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    5_000_000,
];

/// The decisions that are told apart; the last one stands for what should not be.
const DECISIONS: [&str; 5] = ["allow", "contained", "ask", "deny", "other"];

/// Who asks and is no host; the last one stands for everybody else.
const OTHER_ASKERS: [&str; 4] = ["mcp", "mcp-proxy", "api", "other"];

const ASKERS: usize = Host::ALL.len() + OTHER_ASKERS.len();

/// The counters.
#[derive(Debug)]
pub(super) struct Counters {
    started: Instant,
    started_at: SystemTime,
    decisions: [[AtomicU64; DECISIONS.len()]; ASKERS],
    decision_times: Histogram,
    pub(super) models: Models,
    pub(super) approvals: Approvals,
    pub(super) requests: Requests,
    pub(super) connections: Connections,
    batches: Histogram,
    write_times: Histogram,
    pub(super) store_errors: AtomicU64,
    seen: OnceLock<Watch>,
    pub(super) exports: [Exports; 3],
}

/// What is counted of approvals.
#[derive(Debug)]
pub(super) struct Approvals {
    pub(super) opened: AtomicU64,
    allowed: AtomicU64,
    denied: AtomicU64,
    pub(super) expired: AtomicU64,
    waiting: Histogram,
}

/// What is counted of connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pub(super) open: AtomicU64,
    pub(super) accepted: AtomicU64,
    pub(super) refused: AtomicU64,
}

/// What is counted of one signal of OpenTelemetry.
#[derive(Debug, Default)]
pub(super) struct Exports {
    /// Deliveries that arrived.
    pub(super) sent: AtomicU64,
    /// Deliveries that were given up.
    pub(super) failed: AtomicU64,
    /// Things that were dropped before anybody could send them, or with a delivery that was given up.
    pub(super) dropped: AtomicU64,
}

/// The signals of OpenTelemetry, in the order of [`Counters::exports`].
pub(super) const SIGNALS: [&str; 3] = ["traces", "metrics", "logs"];

impl Counters {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            started_at: SystemTime::now(),
            decisions: [const { [const { AtomicU64::new(0) }; DECISIONS.len()] }; ASKERS],
            decision_times: Histogram::new(DECISION_MICROS, 1e6),
            models: Models::default(),
            approvals: Approvals {
                opened: AtomicU64::new(0),
                allowed: AtomicU64::new(0),
                denied: AtomicU64::new(0),
                expired: AtomicU64::new(0),
                waiting: Histogram::new(WAITING_MILLIS, 1e3),
            },
            requests: Requests::new(),
            connections: Connections::default(),
            batches: Histogram::new(BATCHES, 1.0),
            write_times: Histogram::new(WRITE_MICROS, 1e6),
            store_errors: AtomicU64::new(0),
            seen: OnceLock::new(),
            exports: <[Exports; 3]>::default(),
        }
    }

    /// Counts a decision.
    pub(super) fn decided(&self, entry: &Entry) {
        let decision = DECISIONS.iter().position(|known| *known == entry.decision);
        let decision = decision.unwrap_or(DECISIONS.len() - 1);
        let asker = askers().position(|known| known == entry.host).unwrap_or(ASKERS - 1);
        if let Some(count) = self.decisions.get(asker).and_then(|counts| counts.get(decision)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.decision_times.add(entry.micros);
        for model in &entry.models {
            self.models.add(model);
        }
    }

    /// Counts decisions that were written down together.
    pub(super) fn recorded(&self, batch: usize, took: Duration) {
        self.batches.add(u64::try_from(batch).unwrap_or(u64::MAX));
        self.write_times.add(micros(took));
    }

    /// Returns when counting began, in nanoseconds since 1970.
    #[cfg(feature = "otel")]
    pub(super) fn started_at_nanos(&self) -> u64 {
        let since = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sets where to look for what is known elsewhere; the first one counts.
    pub(super) fn watch(&self, look: Box<dyn Fn() -> Option<Seen> + Send + Sync>) {
        // Only a second daemon in the process would come here twice.
        let _ = self.seen.set(Watch(look));
    }

    /// Returns everything.
    pub(super) fn families(&self) -> Vec<Family> {
        let mut families = vec![self.decision_family()];
        families.push(Family::histogram(
            "portcullis_decision_seconds",
            "How long decisions took, including the time of models and people.",
            vec![Sample::spread(Vec::new(), self.decision_times.distribution())],
        ));
        families.extend(self.models.families());
        families.extend(self.approvals.families());
        families.extend(self.seen.get().and_then(Watch::look).iter().flat_map(Seen::families));
        families.extend(self.server_families());
        families.extend(self.store_families());
        families.extend(self.export_families());
        families.extend(self.life_families());
        families.extend(process::families());
        families
    }

    fn decision_family(&self) -> Family {
        let rows = askers().zip(&self.decisions);
        let samples = rows.flat_map(|(asker, counts)| {
            let counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
            DECISIONS.into_iter().zip(counts).filter(|(_, count)| *count > 0).map(move |(decision, count)| {
                Sample::count(vec![("decision", decision.to_owned()), ("host", asker.to_owned())], count)
            })
        });
        let help = "Decisions that were made and recorded, by verdict and by who asked.";
        Family::counter("portcullis_decisions_total", help, samples.collect())
    }

    fn server_families(&self) -> Vec<Family> {
        let Connections { open, accepted, refused } = &self.connections;
        vec![
            Family::counter(
                "portcullis_http_requests_total",
                "Requests that were answered, by the route that served them.",
                self.requests.samples(),
            ),
            Family::gauge("portcullis_connections_open", "Connections that are open.", load(open)),
            Family::single("portcullis_connections_total", "Connections that were accepted.", now(accepted)),
            Family::single(
                "portcullis_connections_refused_total",
                "Connections that were closed because there are too many.",
                now(refused),
            ),
        ]
    }

    fn store_families(&self) -> Vec<Family> {
        vec![
            Family::histogram(
                "portcullis_audit_batch_size",
                "How many decisions were written to the audit trail at once.",
                vec![Sample::spread(Vec::new(), self.batches.distribution())],
            ),
            Family::histogram(
                "portcullis_audit_write_seconds",
                "How long it took to write decisions to the audit trail.",
                vec![Sample::spread(Vec::new(), self.write_times.distribution())],
            ),
            Family::single(
                "portcullis_store_errors_total",
                "What the store failed at.",
                now(&self.store_errors),
            ),
        ]
    }

    fn export_families(&self) -> Vec<Family> {
        let named = || SIGNALS.into_iter().zip(&self.exports);
        let exports = named().flat_map(|(signal, exports)| {
            [("sent", &exports.sent), ("failed", &exports.failed)].map(|(outcome, count)| {
                let labels = vec![("signal", signal.to_owned()), ("outcome", outcome.to_owned())];
                Sample::count(labels, now(count))
            })
        });
        let dropped = named().map(|(signal, exports)| {
            Sample::count(vec![("signal", signal.to_owned())], now(&exports.dropped))
        });
        vec![
            Family::counter(
                "portcullis_otel_exports_total",
                "Deliveries to an OpenTelemetry collector.",
                exports.collect(),
            ),
            Family::counter(
                "portcullis_otel_dropped_total",
                "What no OpenTelemetry collector received, because it came too fast or could not be delivered.",
                dropped.collect(),
            ),
        ]
    }

    fn life_families(&self) -> Vec<Family> {
        let since = self.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        let uptime = Value::Amount(self.started.elapsed().as_secs_f64());
        vec![
            Family {
                name: "portcullis_build_info",
                help: "The version that runs.",
                kind: Kind::Gauge,
                samples: vec![Sample::count(version, 1)],
            },
            Family::gauge("portcullis_uptime_seconds", "How long the daemon has been running.", uptime),
            Family::gauge(
                "process_start_time_seconds",
                "When the process was started, in seconds since 1970.",
                Value::Amount(since.as_secs_f64()),
            ),
        ]
    }
}

impl Approvals {
    /// Counts an answer, and how long it took.
    pub(super) fn answered(&self, state: ApprovalState, waited: Duration) {
        let counter = match state {
            ApprovalState::Allowed => &self.allowed,
            ApprovalState::Denied => &self.denied,
            ApprovalState::Open | ApprovalState::Expired => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.waiting.add(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
    }

    fn families(&self) -> Vec<Family> {
        let ended = |outcome: &str, count| Sample::count(vec![("outcome", outcome.to_owned())], now(count));
        let outcomes = vec![
            ended("allowed", &self.allowed),
            ended("denied", &self.denied),
            ended("expired", &self.expired),
        ];
        vec![
            Family::single(
                "portcullis_approvals_opened_total",
                "Questions put to a person.",
                now(&self.opened),
            ),
            Family::counter(
                "portcullis_approvals_ended_total",
                "Questions that are over, and how.",
                outcomes,
            ),
            Family::histogram(
                "portcullis_approval_wait_seconds",
                "How long questions waited until a person answered.",
                vec![Sample::spread(Vec::new(), self.waiting.distribution())],
            ),
        ]
    }
}

fn askers() -> impl Iterator<Item = &'static str> {
    Host::ALL.into_iter().map(Host::name).chain(OTHER_ASKERS)
}

fn now(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn load(counter: &AtomicU64) -> Value {
    Value::Count(now(counter))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
