//! `/v1/sessions`: the sessions that were seen, and what is kept of one.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router};
use portcullis_store::audit::Record;
use portcullis_store::audit::index::{Filter, SeenSession};
use portcullis_store::{
    ApprovalFilter, ApprovalRequest, ApprovalState, Grant, GrantContext, GrantScope, SessionFactLog,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::received::Queried;
use super::{blocking, cut};
use crate::access::Reads;
use crate::approval_object::approval_object;
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::DOCTOR_SESSION;
use portcullis_output::grant::grant_json;
use portcullis_output::record;

/// How many sessions are listed if nobody says how many, and at most.
const USUAL: u64 = 100;
const MOST: u64 = 1_000;

/// How many of its newest decisions are told with a session.
const NEWEST: u64 = 100;

/// How many times as many are looked at where other sessions have an id that begins the same.
const AMONG_OTHERS: u64 = 10;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/sessions", get(list)).route("/v1/sessions/{id}", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    limit: Option<u64>,
}

async fn list(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Queried(query): Queried<ListQuery>,
) -> Result<Json<Value>, ApiError> {
    let most = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let sessions = blocking(move || seen(&daemon, most + 1)).await?;
    let (told, has_more) = cut(&sessions, most);
    Ok(Json(json!({"sessions": told.iter().map(seen_object).collect::<Vec<_>>(), "hasMore": has_more})))
}

async fn show(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let overview = blocking(move || SessionOverview::of(&daemon, &id)).await?;
    Ok(Json(json!({
        "session": overview.seen.as_ref().map(seen_object),
        "denials": {"inARow": overview.denials_in_a_row, "total": overview.denials},
        "boundaries": overview.facts.boundaries,
        "grants": overview.grants.iter().map(grant_json).collect::<Vec<_>>(),
        "approvals": overview.approvals.iter().map(approval_object).collect::<Vec<_>>(),
        "records": overview.records.iter().map(record::object).collect::<Vec<_>>(),
    })))
}

/// Lists the sessions that were seen, the latest first.
pub(crate) fn seen(daemon: &Daemon, most: u64) -> Result<Vec<SeenSession>, ApiError> {
    let filter = Filter { other_than: Some(DOCTOR_SESSION.to_owned()), ..Filter::default() };
    Ok(daemon.store.backend().seen_sessions(&filter, most)?)
}

fn seen_object(seen: &SeenSession) -> Value {
    json!({
        "session": seen.session,
        "host": seen.host,
        "cwd": seen.cwd,
        "mode": seen.mode,
        "firstMs": seen.first_ms,
        "lastMs": seen.last_ms,
        "allow": seen.allow,
        "ask": seen.ask,
        "deny": seen.deny,
    })
}

/// What is kept of one session.
#[derive(Debug)]
pub(crate) struct SessionOverview {
    /// What its decisions tell; `None` if none is on the trail.
    pub(crate) seen: Option<SeenSession>,
    /// How many of its last calls were denied.
    pub(crate) denials_in_a_row: u64,
    /// How many calls auto mode denied.
    pub(crate) denials: u64,
    /// What happened in it beside calls.
    pub(crate) facts: SessionFactLog,
    /// What a person granted that holds in it.
    pub(crate) grants: Vec<Grant>,
    /// The questions that wait.
    pub(crate) approvals: Vec<ApprovalRequest>,
    /// Its newest decisions.
    pub(crate) records: Vec<Record>,
}

impl SessionOverview {
    /// Looks up a session by the id its host gave it. One that nothing is known of is not found.
    pub(crate) fn of(daemon: &Daemon, id: &str) -> Result<Self, ApiError> {
        let backend = daemon.store.backend();
        let filter = Filter { session: Some(id.to_owned()), ..Filter::default() };
        // A filter takes sessions whose id begins so; only this very one is meant.
        let alike = backend.seen_sessions(&filter, MOST)?;
        let most = if alike.len() > 1 { NEWEST.saturating_mul(AMONG_OTHERS) } else { NEWEST };
        let seen = alike.into_iter().find(|seen| seen.session == id);
        let mut records = if seen.is_some() { backend.find(&filter, most)? } else { Vec::new() };
        records.retain(|record| record.entry.session == id);
        records.truncate(usize::try_from(NEWEST).unwrap_or(usize::MAX));
        let session = daemon.store.session(id);
        let (facts, denials) = (session.facts()?, session.denials()?);
        let waiting =
            ApprovalFilter { state: Some(ApprovalState::Open), session: Some(id.to_owned()), most: NEWEST };
        let approvals = backend.approvals(&waiting)?;
        let overview = Self {
            grants: granted(daemon, id, seen.as_ref())?,
            denials_in_a_row: u64::from(denials.in_a_row),
            denials: u64::from(denials.in_total),
            seen,
            facts,
            approvals,
            records,
        };
        let is_known = overview.seen.is_some() || !overview.approvals.is_empty() || overview.denials > 0;
        if is_known { Ok(overview) } else { Err(ApiError::not_found("nothing is known of such a session")) }
    }
}

/// Lists what holds in a session: what was granted for it, and for the directory it works in.
fn granted(daemon: &Daemon, id: &str, seen: Option<&SeenSession>) -> Result<Vec<Grant>, ApiError> {
    let grants = daemon.store.grants();
    let workspace = seen.map(|seen| seen.cwd.clone()).unwrap_or_default();
    let place = GrantContext { session: id, workspace: &workspace, now_ms: now_ms() };
    let mut holding = grants.holding(&place)?;
    // The workspace of a directory may lie above it, which only its settings would tell.
    for grant in grants.list(now_ms())? {
        let is_above = match &grant.scope {
            GrantScope::Workspace(directory) => std::path::Path::new(&workspace).starts_with(directory),
            GrantScope::Session(_) => false,
        };
        if is_above && !holding.contains(&grant) {
            holding.push(grant);
        }
    }
    Ok(holding)
}
