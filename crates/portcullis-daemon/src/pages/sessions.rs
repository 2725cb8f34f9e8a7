//! The sessions, and one of them.

use axum::Form;
use axum::extract::{Path, State};
use axum::response::Response;
use portcullis_store::audit::index::SeenSession;
use portcullis_web::charts::figure;
use portcullis_web::pages::{SessionPage, SessionsPage};
use portcullis_web::views::{FigureTile, Property, Tone};
use portcullis_web::{VisibleText, link};
use serde::Deserialize;

use super::visitor::{Answerer, Visitor};
use super::words::{approval_row, decision_row, grant_view, moment, session_link, session_row};
use super::{PageError, respond, see_other};
use crate::Shared;
use crate::api::sessions::{SessionOverview, seen};
use crate::api::{blocking, cut};

/// How many sessions are listed.
const MOST: u64 = 200;

/// Lists the sessions.
pub(super) async fn list(State(daemon): State<Shared>, visitor: Visitor) -> Result<Response, PageError> {
    let sessions = blocking(move || seen(&daemon, MOST + 1)).await?;
    let (sessions, has_more) = cut(&sessions, MOST);
    respond(&SessionsPage {
        frame: visitor.frame("sessions", "Sessions"),
        rows: sessions.iter().map(session_row).collect(),
        cut_at: has_more.then_some(MOST),
    })
}

/// Shows one session.
pub(super) async fn show(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let named = id.clone();
    let overview = blocking(move || SessionOverview::of(&daemon, &named)).await?;
    respond(&SessionPage {
        frame: visitor.frame("sessions", format!("Session {}", VisibleText::cut(&id, 24))),
        id: VisibleText::from(id.as_str()),
        tiles: tiles(&overview),
        properties: overview.seen.as_ref().map(properties).unwrap_or_default(),
        approvals: overview.approvals.iter().map(approval_row).collect(),
        grants: overview.grants.iter().map(grant_view).collect(),
        boundaries: overview.facts.boundaries.iter().map(|one| VisibleText::from(one.as_str())).collect(),
        rows: overview.records.iter().map(decision_row).collect(),
        all: link("/decisions", &[("session", &id)]),
        here: session_link(&id),
    })
}

fn tiles(overview: &SessionOverview) -> Vec<FigureTile> {
    let (allow, ask, deny) =
        overview.seen.as_ref().map_or((0, 0, 0), |seen| (seen.allow, seen.ask, seen.deny));
    let tile = |name, count, tone| FigureTile { name, figure: figure(count), tone, ..FigureTile::default() };
    vec![
        tile("Allowed", allow, Tone::Allow),
        tile("Asked", ask, Tone::Ask),
        tile("Denied", deny, Tone::Deny),
        FigureTile {
            detail: format!("{} in a row", overview.denials_in_a_row),
            ..tile("Denied by auto mode", overview.denials, Tone::Plain)
        },
    ]
}

fn properties(seen: &SeenSession) -> Vec<Property> {
    let plain = |name, value: &str| Property { name, value: VisibleText::from(value), link: String::new() };
    vec![
        plain("host", &seen.host),
        plain("directory", &seen.cwd),
        plain("mode", &seen.mode),
        plain("first seen", &moment(seen.first_ms).utc),
        plain("last seen", &moment(seen.last_ms).utc),
    ]
}

#[derive(Debug, Deserialize)]
pub(super) struct Back {
    #[serde(default)]
    back: String,
}

/// Takes a grant back.
pub(super) async fn revoke(
    State(daemon): State<Shared>,
    Answerer(_): Answerer,
    Path(id): Path<String>,
    Form(form): Form<Back>,
) -> Result<Response, PageError> {
    blocking(move || crate::api::grants::revoke(&daemon, &id)).await?;
    // Only a page of ours is gone back to.
    let is_ours = form.back.starts_with("/sessions/") && !form.back.contains('\\');
    Ok(see_other(if is_ours { &form.back } else { "/sessions" }))
}
