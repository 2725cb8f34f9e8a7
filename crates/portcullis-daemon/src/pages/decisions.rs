//! The decisions of the trail, and one of them.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use portcullis_core::MODES;
use portcullis_store::audit::index::Filter;
use portcullis_store::audit::{Entry, Record};
use portcullis_web::charts::figure;
use portcullis_web::pages::{DecisionPage, DecisionsPage, TodayView};
use portcullis_web::views::{FormChoice, Property};
use portcullis_web::{VisibleText, link, segment};
use serde::Deserialize;

use super::visitor::Visitor;
use super::words::{choice, decision_row, moment, session_link};
use super::{PageError, capital, respond, verdict};
use crate::api::blocking;
use crate::api::decisions::{FilterQuery, find, try_today};
use crate::{Daemon, Shared};
use portcullis_output::calendar;
use portcullis_output::record;

/// How many decisions stand on a page.
const ON_A_PAGE: u64 = 50;

/// A filter that is a text: its name, its label, what is written there, an example.
type TextField = (&'static str, &'static str, String, &'static str);

/// Lists decisions.
pub(super) async fn list(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Query(query): Query<FilterQuery>,
) -> Result<Response, PageError> {
    let (filter, problem) = match query.filter() {
        Ok(filter) => (Some(filter), VisibleText::default()),
        Err(error) => (None, VisibleText::from(capital(&error.message))),
    };
    let (records, count) = match filter {
        Some(filter) => {
            blocking(move || {
                let backend = daemon.store.backend();
                let all = Filter { before: None, ..filter.clone() };
                Ok((backend.find(&filter, ON_A_PAGE)?, backend.count(&all)?))
            })
            .await?
        }
        None => (Vec::new(), 0),
    };
    let is_full = u64::try_from(records.len()).is_ok_and(|shown| shown >= ON_A_PAGE);
    let older = records.last().filter(|_| is_full).map(|last| address(&query, &last.id));
    let texts = texts(&query);
    respond(&DecisionsPage {
        frame: visitor.frame("decisions", "Decisions"),
        problem,
        choices: choices(&query),
        has_more_filters: texts.iter().skip(1).any(|(_, _, value, _)| !value.is_empty()),
        texts,
        rows: records.iter().map(decision_row).collect(),
        count: format!("{} in all", figure(count)),
        older: older.unwrap_or_default(),
        newest: if query.before.is_empty() { String::new() } else { address(&query, "") },
    })
}

fn texts(query: &FilterQuery) -> Vec<TextField> {
    vec![
        ("text", "Search", query.text.clone(), "in the command, the reason or the directory"),
        ("host", "Host", query.host.clone(), "claude"),
        ("tool", "Tool", query.tool.clone(), "Bash"),
        ("session", "Session", query.session.clone(), "how its id begins"),
        ("step", "Step", query.step.clone(), "A9"),
        ("kind", "Kind of reason", query.kind.clone(), "rule, finding, classifier"),
        ("rule", "Rule", query.rule.clone(), "Bash(git push:*)"),
        ("code", "Code", query.code.clone(), "PC007"),
        ("until", "Until", query.until.clone(), "2026-01-31"),
    ]
}

fn choices(query: &FilterQuery) -> Vec<(&'static str, &'static str, Vec<FormChoice>)> {
    let plain = |words: &[&str], chosen: &str| -> Vec<FormChoice> {
        let any = std::iter::once(choice("", "any", chosen));
        any.chain(words.iter().map(|word| choice(word, *word, chosen))).collect()
    };
    let modes: Vec<&str> = MODES.iter().map(|info| info.name).collect();
    let since = [
        ("", "any time"),
        ("1h", "last hour"),
        ("24h", "last day"),
        ("7d", "last week"),
        ("30d", "last month"),
    ];
    let mut times: Vec<FormChoice> =
        since.iter().map(|(value, label)| choice(value, *label, &query.since)).collect();
    if !times.iter().any(|time| time.is_chosen) {
        times.push(choice(&query.since, query.since.as_str(), &query.since));
    }
    vec![
        ("decision", "Decision", plain(&["allow", "contained", "ask", "deny"], &query.decision)),
        (
            "said",
            "Answer to the agent",
            plain(&["allow", "contained", "ask", "deny", "silence"], &query.said),
        ),
        ("mode", "Mode", plain(&modes, &query.mode)),
        ("since", "Time", times),
    ]
}

/// Makes the address of the same filter from another record on.
fn address(query: &FilterQuery, before: &str) -> String {
    link(
        "/decisions",
        &[
            ("decision", &query.decision),
            ("said", &query.said),
            ("host", &query.host),
            ("tool", &query.tool),
            ("session", &query.session),
            ("mode", &query.mode),
            ("step", &query.step),
            ("kind", &query.kind),
            ("rule", &query.rule),
            ("code", &query.code),
            ("since", &query.since),
            ("until", &query.until),
            ("text", &query.text),
            ("before", before),
        ],
    )
}

/// Whether somebody wants to know as well what today's settings say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShowQuery {
    today: String,
}

/// Shows one decision as it was recorded.
pub(super) async fn show(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(query): Query<ShowQuery>,
) -> Result<Response, PageError> {
    let (record, today) = blocking(move || {
        let record = find(&daemon, &id)?;
        let today = (!query.today.is_empty()).then(|| today(&daemon, &record.entry));
        Ok((record, today))
    })
    .await?;
    let entry = &record.entry;
    respond(&DecisionPage {
        frame: visitor.frame("decisions", format!("{} {}", entry.decision, short(&entry.summary))),
        id: VisibleText::from(record.id.as_str()),
        when: moment(entry.at_ms),
        told: (entry.said != entry.decision).then(|| VisibleText::from(record::answered(entry))),
        verdict: verdict::of_entry(entry),
        today,
        properties: properties(&record),
        cwd: entry.cwd.clone(),
        raw: VisibleText::from(format!("{:#}", record::object(&record))),
        hash: VisibleText::from(record.hash.as_str()),
        previous: VisibleText::from(record.previous.as_str()),
    })
}

/// Judges the recorded call by the settings and files of now.
fn today(daemon: &Daemon, entry: &Entry) -> TodayView {
    match try_today(daemon, entry) {
        Ok((_, trial)) => {
            TodayView { verdict: Some(verdict::of_trial(&trial)), problem: VisibleText::default() }
        }
        Err(error) => TodayView { verdict: None, problem: VisibleText::from(capital(&error.message)) },
    }
}

fn short(summary: &str) -> String {
    portcullis_output::shorten::shorten(summary, 40).into_owned()
}

fn properties(record: &Record) -> Vec<Property> {
    let entry = &record.entry;
    let mut all = call_properties(entry);
    all.insert(0, plain("record", &format!("{} (number {})", record.id, record.number)));
    all.push(plain("took", &calendar::span(entry.micros)));
    if entry.has_grounds() {
        all.push(plain("version", &entry.version));
    }
    all
}

/// Words what is known of a call beside its verdict.
pub(super) fn call_properties(entry: &Entry) -> Vec<Property> {
    let who = if entry.headless { ", nobody could be asked" } else { "" };
    let mut all = vec![
        plain("at", &moment(entry.at_ms).utc),
        plain("host", &format!("{}, {}", entry.host, entry.event)),
        plain("mode", &format!("{}{who}", entry.mode)),
        plain("tool", &entry.tool),
        plain("directory", &entry.cwd),
    ];
    if !entry.session.is_empty() {
        all.push(Property { link: session_link(&entry.session), ..plain("session", &entry.session) });
    }
    let named = [("agent", &entry.agent), ("call", &entry.call_id), ("denial", &entry.denial)];
    all.extend(named.into_iter().filter_map(|(name, value)| Some(plain(name, value.as_ref()?))));
    if let Some(code) = &entry.code {
        let is_ours = code.starts_with("PC") || code.starts_with("PA");
        let link = if is_ours { format!("/findings/{}", segment(code)) } else { String::new() };
        all.push(Property { link, ..plain("code", code) });
    }
    all.push(plain("reason", &entry.kind));
    all
}

fn plain(name: &'static str, value: &str) -> Property {
    Property { name, value: VisibleText::from(value), link: String::new() }
}
