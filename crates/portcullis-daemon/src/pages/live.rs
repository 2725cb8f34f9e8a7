//! The latest decisions, and what happened today.

use axum::extract::State;
use axum::response::Response;
use portcullis_store::audit::index::{Counted, Filter, Totals};
use portcullis_web::charts::figure;
use portcullis_web::pages::LivePage;
use portcullis_web::views::{FigureTile, Tone};

use super::visitor::Visitor;
use super::words::decision_row;
use super::{PageError, respond};
use crate::Shared;
use crate::api::blocking;
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::DOCTOR_SESSION;
use portcullis_output::calendar::DAY_MS;
use portcullis_output::exchange::dollars;

/// How many decisions are shown at first.
const NEWEST: u64 = 50;

/// Shows the page.
pub(super) async fn show(State(daemon): State<Shared>, visitor: Visitor) -> Result<Response, PageError> {
    let (records, totals) = blocking(move || {
        let today = now_ms() / DAY_MS * DAY_MS;
        let filter = Filter {
            since_ms: Some(today),
            other_than: Some(DOCTOR_SESSION.to_owned()),
            ..Filter::default()
        };
        let backend = daemon.store.backend();
        Ok((backend.find(&Filter::default(), NEWEST)?, backend.totals(&filter, 0)?))
    })
    .await?;
    respond(&LivePage {
        frame: visitor.frame("live", "Live"),
        tiles: tiles(&totals),
        rows: records.iter().map(decision_row).collect(),
    })
}

/// Words what decisions add up to.
pub(super) fn tiles(totals: &Totals) -> Vec<FigureTile> {
    let decided = |name: &str| count(&totals.decisions, name);
    let decision = |name, word: &str, tone| FigureTile {
        name,
        figure: figure(decided(word)),
        tone,
        link: format!("/decisions?decision={word}"),
        ..FigureTile::default()
    };
    vec![
        decision("Allowed", "allow", Tone::Allow),
        decision("Asked", "ask", Tone::Ask),
        decision("Denied", "deny", Tone::Deny),
        FigureTile {
            name: "Prompts avoided",
            figure: figure(totals.prompts_avoided),
            ..FigureTile::default()
        },
        FigureTile {
            name: "Model requests",
            figure: figure(totals.cost.requests),
            detail: if totals.cost.requests == 0 { String::new() } else { dollars(totals.cost.usd) },
            ..FigureTile::default()
        },
    ]
}

fn count(counted: &[Counted], name: &str) -> u64 {
    counted.iter().find(|one| one.name == name).map_or(0, |one| one.count)
}
