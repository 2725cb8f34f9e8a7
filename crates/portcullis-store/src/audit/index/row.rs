//! One record as a row.

use rusqlite::{Transaction, named_params};

use super::open::signed;
use crate::audit::line::Record;
use crate::audit::read::Position;
use crate::audit::{Entry, ModelEntry};
use crate::hash::sha256;
use crate::redaction::MARK;

/// The event in which a host asks again about a call it asked about before.
const ASKED_AGAIN: &str = "PermissionRequest";

const INSERT: &str = "INSERT OR REPLACE INTO records VALUES (
    :segment, :offset, :length, :number, :id, :at_ms, :micros, :call, :is_repeat, :model_calls, :model_unpriced,
    :tokens_in, :tokens_cached, :tokens_out, :cost_usd, :decision, :said, :step, :kind, :mode, :host, :event, :tool,
    :session, :code, :rule, :suggestion, :cwd, :summary, :reason)";

/// Takes in a record.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    place: Position,
    length: u64,
    record: &Record,
) -> rusqlite::Result<()> {
    let entry = &record.entry;
    let call = call_of(entry);
    let models =
        |count: fn(&ModelEntry) -> u64| signed(entry.models.iter().map(count).fold(0, u64::saturating_add));
    transaction.prepare_cached(INSERT)?.execute(named_params! {
        ":segment": place.segment,
        ":offset": signed(place.offset),
        ":length": signed(length),
        ":number": signed(record.number),
        ":id": record.id,
        ":at_ms": signed(entry.at_ms),
        ":host": entry.host,
        ":event": entry.event,
        ":session": entry.session,
        ":cwd": entry.cwd,
        ":mode": entry.mode,
        ":tool": entry.tool,
        ":summary": entry.summary,
        ":decision": entry.decision,
        ":said": entry.said,
        ":step": entry.step,
        ":kind": entry.kind,
        ":reason": entry.reason,
        ":rule": entry.rule.as_ref().map(|rule| &rule.text),
        ":code": entry.code,
        ":suggestion": suggestion(entry),
        ":call": call,
        ":is_repeat": is_repeat(transaction, entry, call)?,
        ":model_calls": signed(u64::try_from(entry.models.len()).unwrap_or(u64::MAX)),
        ":model_unpriced": models(|model| u64::from(model.cost_usd.is_none())),
        ":tokens_in": models(|model| model.input.saturating_add(model.cache_write)),
        ":tokens_cached": models(|model| model.cache_read),
        ":tokens_out": models(|model| model.output),
        ":cost_usd": entry.models.iter().filter_map(|model| model.cost_usd).sum::<f64>(),
        ":micros": signed(entry.micros),
    })?;
    Ok(())
}

/// Returns the rule that would allow such calls. One in which a secret was blacked out would allow none.
fn suggestion(entry: &Entry) -> Option<&str> {
    let mut allowing = entry.suggestions.iter().filter(|suggestion| suggestion.behavior == "allow");
    let allows = allowing.find(|suggestion| !suggestion.rule.contains(MARK));
    allows.map(|suggestion| suggestion.rule.as_str())
}

/// Returns what stands for the tool and the input of a call.
fn call_of(entry: &Entry) -> i64 {
    let hash = sha256(format!("{}\0{}", entry.tool, entry.input));
    i64::from_str_radix(hash.get(..15).unwrap_or_default(), 16).unwrap_or_default()
}

/// Says whether the call was asked about before, in the same session and at another moment.
fn is_repeat(transaction: &Transaction<'_>, entry: &Entry, call: i64) -> rusqlite::Result<bool> {
    if !entry.event.eq_ignore_ascii_case(ASKED_AGAIN) {
        return Ok(false);
    }
    let before = "SELECT EXISTS (SELECT 1 FROM records
        WHERE session = ?1 AND call = ?2 AND host = ?3 AND event <> ?4 COLLATE NOCASE)";
    let mut before = transaction.prepare_cached(before)?;
    before.query_row((&entry.session, call, &entry.host, ASKED_AGAIN), |row| row.get(0))
}
