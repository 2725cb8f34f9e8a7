//! `/v1/stats`: what decisions add up to, in all and over time.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use portcullis_store::audit::index::{Filter, LatencyBin, Slot, Totals};
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking;
use super::decisions::moment;
use super::received::Queried;
use crate::access::Reads;
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::DOCTOR_SESSION;
use portcullis_output::calendar;
use portcullis_output::totals::totals_object;

/// How many of the most frequent calls are told.
const TOP: u64 = 10;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
/// How many slots there may be.
const MOST_SLOTS: u64 = 2_000;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/stats", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StatsQuery {
    since: String,
    until: String,
    /// How long a slot is, in seconds.
    slot: Option<u64>,
}

/// What decisions of a span add up to.
#[derive(Debug)]
pub(crate) struct Figures {
    /// In all.
    pub(crate) totals: Totals,
    /// Over time.
    pub(crate) slots: Vec<Slot>,
    /// By how long they took.
    pub(crate) latencies: Vec<LatencyBin>,
}

impl Figures {
    /// Adds up the decisions of a span. The trial calls of `doctor` are not among them.
    pub(crate) fn of(daemon: &Daemon, since_ms: u64, until_ms: u64, slot_ms: u64) -> Result<Self, ApiError> {
        let filter = Filter {
            since_ms: Some(since_ms),
            until_ms: Some(until_ms),
            other_than: Some(DOCTOR_SESSION.to_owned()),
            ..Filter::default()
        };
        let backend = daemon.store.backend();
        Ok(Self {
            totals: backend.totals(&filter, TOP)?,
            slots: backend.timeline(&filter, slot_ms)?,
            latencies: backend.latencies(&filter)?,
        })
    }
}

async fn show(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Queried(query): Queried<StatsQuery>,
) -> Result<Json<Value>, ApiError> {
    let now = now_ms();
    let since = moment("since", &query.since, calendar::since)?.unwrap_or(now.saturating_sub(DAY_MS));
    let until = moment("until", &query.until, calendar::until)?.unwrap_or(now.saturating_add(1));
    let length = until.saturating_sub(since);
    let slot = query.slot.map_or(length / 60, |seconds| seconds.saturating_mul(1_000));
    let slot = slot.max(length / MOST_SLOTS).max(MINUTE_MS);
    let figures = blocking(move || Figures::of(&daemon, since, until, slot)).await?;
    let mut object = totals_object(&figures.totals);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("sinceMs".to_owned(), json!(since));
        fields.insert("untilMs".to_owned(), json!(until));
        fields.insert("slotMs".to_owned(), json!(slot));
        fields.insert("slots".to_owned(), figures.slots.iter().map(slot_object).collect());
        fields.insert("latencies".to_owned(), figures.latencies.iter().map(bin_object).collect());
    }
    Ok(Json(object))
}

fn slot_object(slot: &Slot) -> Value {
    json!({
        "atMs": slot.at_ms,
        "allow": slot.allow,
        "ask": slot.ask,
        "deny": slot.deny,
        "modelCalls": slot.model_calls,
        "costUsd": slot.usd,
    })
}

fn bin_object(bin: &LatencyBin) -> Value {
    json!({"belowMicros": bin.below_us, "withoutModel": bin.alone, "withModel": bin.with_model})
}
