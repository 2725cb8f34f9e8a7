//! `/v1/decisions`: what was decided, by what is in it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use portcullis_core::Mode;
use portcullis_store::audit::index::{Filter, Found};
use portcullis_store::audit::{Entry, Record};
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking;
use super::received::Queried;
use super::rules::open;
use crate::access::Reads;
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::SessionSettings;
use portcullis_gate::clock::now_ms;
use portcullis_gate::judge::Trial;
use portcullis_output::calendar;
use portcullis_output::{record, trial};

/// How many records are returned if nobody says how many, and at most.
const USUAL: u64 = 50;
const MOST: u64 = 500;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/v1/decisions", get(list))
        .route("/v1/decisions/{id}", get(show))
        .route("/v1/decisions/{id}/today", get(show_today))
}

/// What records must have, as it stands in an address. What is empty is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct FilterQuery {
    pub(crate) decision: String,
    pub(crate) said: String,
    pub(crate) host: String,
    pub(crate) tool: String,
    pub(crate) session: String,
    pub(crate) mode: String,
    pub(crate) step: String,
    pub(crate) kind: String,
    pub(crate) rule: String,
    pub(crate) code: String,
    pub(crate) since: String,
    pub(crate) until: String,
    pub(crate) text: String,
    pub(crate) before: String,
    pub(crate) limit: String,
}

impl FilterQuery {
    /// Returns what records must have.
    pub(crate) fn filter(&self) -> Result<Filter, ApiError> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let one_of = |name: &str, text: &str, known: &[&str]| match text {
            "" => Ok(None),
            word if known.contains(&word) => Ok(Some(word.to_owned())),
            _ => Err(ApiError::bad_request(format!("`{name}` must be one of {}", known.join(", ")))),
        };
        let mode = match self.mode.as_str() {
            "" => None,
            name => Some(Mode::find(name).ok_or_else(|| ApiError::bad_request("there is no such mode"))?),
        };
        Ok(Filter {
            decision: one_of("decision", &self.decision, &["allow", "contained", "ask", "deny"])?,
            said: one_of("said", &self.said, &["allow", "contained", "ask", "deny", "silence"])?,
            host: given(&self.host),
            tool: given(&self.tool),
            session: given(&self.session),
            other_than: None,
            mode: mode.map(|mode| mode.as_str().to_owned()),
            step: given(&self.step.to_ascii_uppercase()),
            kind: given(&self.kind),
            rule: given(&self.rule),
            code: given(&self.code),
            since_ms: moment("since", &self.since, calendar::since)?,
            until_ms: moment("until", &self.until, calendar::until)?,
            text: given(&self.text),
            before: given(&self.before),
        })
    }

    fn limit(&self) -> Result<u64, ApiError> {
        if self.limit.is_empty() {
            return Ok(USUAL);
        }
        let wrong = |_| ApiError::bad_request("`limit` must be a number");
        self.limit.parse::<u64>().map(|limit| limit.clamp(1, MOST)).map_err(wrong)
    }
}

/// Reads a time: unix milliseconds, or what the command line takes.
pub(super) fn moment(
    name: &str,
    text: &str,
    read: fn(&str, u64) -> Result<u64, String>,
) -> Result<Option<u64>, ApiError> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(at_ms) = text.parse::<u64>() {
        return Ok(Some(at_ms));
    }
    read(text, now_ms()).map(Some).map_err(|wrong| ApiError::bad_request(format!("`{name}`: {wrong}")))
}

async fn list(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Queried(query): Queried<FilterQuery>,
) -> Result<Json<Value>, ApiError> {
    let (filter, limit) = (query.filter()?, query.limit()?);
    let records = blocking(move || Ok(daemon.store.backend().find(&filter, limit)?)).await?;
    let is_full = u64::try_from(records.len()).is_ok_and(|count| count >= limit);
    let next = records.last().filter(|_| is_full).map(|record| record.id.clone());
    let objects: Vec<Value> = records.iter().map(record::object).collect();
    Ok(Json(json!({"records": objects, "next": next})))
}

async fn show(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let record = blocking(move || find(&daemon, &id)).await?;
    Ok(Json(record::object(&record)))
}

/// Says what today's settings would answer to the call of a record.
async fn show_today(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let object = blocking(move || {
        let record = find(&daemon, &id)?;
        let (session, trial) = try_today(&daemon, &record.entry)?;
        Ok(trial::object(&trial, &session))
    });
    Ok(Json(object.await?))
}

/// Judges the call of a record by the settings of its directory and session as they are now.
pub(crate) fn try_today(daemon: &Daemon, entry: &Entry) -> Result<(Arc<SessionSettings>, Trial), ApiError> {
    let session = open(daemon, &entry.cwd, &entry.session)?;
    let trial = Trial::of_record(&session, entry)?;
    Ok((session, trial))
}

/// Finds one decision by its id, or by how that begins.
pub(crate) fn find(daemon: &Daemon, id: &str) -> Result<Box<Record>, ApiError> {
    match daemon.store.backend().get(id)? {
        Found::One(record) => Ok(record),
        Found::Nothing => Err(ApiError::not_found("no decision has this id")
            .with_hint("records that are older than the settings say are removed")),
        Found::Several(ids) => Err(ApiError::not_found("several decisions have an id that begins so")
            .with_hint(format!("give more of it: {}", ids.join(", ")))),
    }
}
