//! One record as a row.

use rusqlite::{Transaction, named_params};

use crate::audit::line::Record;
use crate::audit::read::Position;
use crate::audit::{Entry, ModelEntry};
use crate::hash::sha256;
use crate::sqlite::signed;

/// The event in which a host asks again about a call it asked about before.
pub const ASKED_AGAIN: &str = "PermissionRequest";

/// What a record is found by and counted with that is no field of its entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures<'a> {
    /// What stands for the tool and the input of the call.
    pub call: i64,
    /// Whether its event is one in which a host asks again about a call it asked about before.
    pub is_asked_again: bool,
    /// The rule that would allow such calls, if one was suggested.
    pub suggestion: Option<&'a str>,
    /// How many requests to models there were.
    pub model_calls: u64,
    /// How many of them have no known price.
    pub model_unpriced: u64,
    /// Tokens that were read afresh.
    pub tokens_in: u64,
    /// Tokens that were read from a cache.
    pub tokens_cached: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// What the requests cost, as far as that is known.
    pub cost_usd: f64,
}

impl<'a> Measures<'a> {
    /// Measures an entry.
    pub fn of(entry: &'a Entry) -> Self {
        let sum = |count: fn(&ModelEntry) -> u64| entry.models.iter().map(count).fold(0, u64::saturating_add);
        Self {
            call: call_of(entry),
            is_asked_again: entry.event.eq_ignore_ascii_case(ASKED_AGAIN),
            suggestion: suggestion(entry),
            model_calls: sum(|_| 1),
            model_unpriced: sum(|model| u64::from(model.cost_usd.is_none())),
            tokens_in: sum(|model| model.input.saturating_add(model.cache_write)),
            tokens_cached: sum(|model| model.cache_read),
            tokens_out: sum(|model| model.output),
            cost_usd: entry.models.iter().filter_map(|model| model.cost_usd).sum(),
        }
    }
}

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
    let measures = Measures::of(entry);
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
        ":suggestion": measures.suggestion,
        ":call": measures.call,
        ":is_repeat": is_repeat(transaction, entry, &measures)?,
        ":model_calls": signed(measures.model_calls),
        ":model_unpriced": signed(measures.model_unpriced),
        ":tokens_in": signed(measures.tokens_in),
        ":tokens_cached": signed(measures.tokens_cached),
        ":tokens_out": signed(measures.tokens_out),
        ":cost_usd": measures.cost_usd,
        ":micros": signed(entry.micros),
    })?;
    Ok(())
}

/// Returns the rule that would allow such calls.
fn suggestion(entry: &Entry) -> Option<&str> {
    let mut allowing = entry.suggestions.iter().filter(|suggestion| suggestion.behavior == "allow");
    allowing.find(|suggestion| suggestion.is_whole()).map(|suggestion| suggestion.rule.as_str())
}

/// Returns what stands for the tool and the input of a call.
fn call_of(entry: &Entry) -> i64 {
    let hash = sha256(format!("{}\0{}", entry.tool, entry.input));
    i64::from_str_radix(hash.get(..15).unwrap_or_default(), 16).unwrap_or_default()
}

/// Says whether the call was asked about before, in the same session and at another moment.
fn is_repeat(
    transaction: &Transaction<'_>,
    entry: &Entry,
    measures: &Measures<'_>,
) -> rusqlite::Result<bool> {
    if !measures.is_asked_again {
        return Ok(false);
    }
    let before = "SELECT EXISTS (SELECT 1 FROM records
        WHERE session = ?1 AND call = ?2 AND host = ?3 AND event <> ?4 COLLATE NOCASE)";
    let mut before = transaction.prepare_cached(before)?;
    before.query_row((&entry.session, measures.call, &entry.host, ASKED_AGAIN), |row| row.get(0))
}
