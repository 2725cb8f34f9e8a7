//! Finds records by what is in them.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::Index;
use crate::audit::Record;
use crate::audit::read::Position;
use crate::error::StoreError;
use crate::sqlite::{signed, unsigned};

/// What records must have. What is not given is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The verdict.
    pub decision: Option<String>,
    /// What the host was told.
    pub said: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The session, or how its id begins.
    pub session: Option<String>,
    /// A session whose records are left out.
    pub other_than: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The step that settled it.
    pub step: Option<String>,
    /// The kind of reason.
    pub kind: Option<String>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The code of the finding or the category that decided.
    pub code: Option<String>,
    /// The earliest time, in unix milliseconds.
    pub since_ms: Option<u64>,
    /// The time before which it was, in unix milliseconds.
    pub until_ms: Option<u64>,
    /// A text in the summary, the reason or the directory, in upper or lower case.
    pub text: Option<String>,
    /// The id of a record: only older ones are wanted. Where it is no longer known, neither is anything older.
    pub before: Option<String>,
}

/// What an id, or the beginning of one, stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// No record.
    Nothing,
    /// This record.
    One(Box<Record>),
    /// Several records; the first of their ids.
    Several(Vec<String>),
}

/// A condition and its values.
#[derive(Debug, Default)]
pub(super) struct Condition {
    clauses: Vec<String>,
    pub(super) values: Vec<Value>,
}

impl Condition {
    fn add(&mut self, clause: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.clauses.push(clause.replace('?', &format!("?{}", self.values.len())));
    }

    /// Returns what stands after `WHERE`.
    pub(super) fn text(&self) -> String {
        if self.clauses.is_empty() { "1".to_owned() } else { self.clauses.join(" AND ") }
    }
}

impl Filter {
    pub(super) fn condition(&self) -> Condition {
        let mut condition = Condition::default();
        let equal = [
            ("decision = ?", &self.decision),
            ("said = ?", &self.said),
            ("host = ?", &self.host),
            ("tool = ?", &self.tool),
            ("session <> ?", &self.other_than),
            ("mode = ?", &self.mode),
            ("step = ?", &self.step),
            ("kind = ?", &self.kind),
            ("rule = ?", &self.rule),
            ("code = ?", &self.code),
        ];
        for (clause, value) in equal {
            if let Some(value) = value {
                condition.add(clause, value.clone());
            }
        }
        if let Some(session) = &self.session {
            condition.add("session >= ? AND session < ? || char(1114111)", session.clone());
        }
        if let Some(since) = self.since_ms {
            condition.add("at_ms >= ?", signed(since));
        }
        if let Some(until) = self.until_ms {
            condition.add("at_ms < ?", signed(until));
        }
        if let Some(text) = &self.text {
            let clause = r"(summary LIKE ? ESCAPE '\' OR reason LIKE ? ESCAPE '\' OR cwd LIKE ? ESCAPE '\')";
            condition.add(clause, format!("%{}%", escaped(text)));
        }
        if let Some(before) = &self.before {
            let clause = "(at_ms, number) < (SELECT at_ms, number FROM records WHERE id = ?)";
            condition.add(clause, before.clone());
        }
        condition
    }

    /// Says whether a record has all that is wanted.
    pub fn has(&self, record: &Record) -> bool {
        let entry = &record.entry;
        let is = |wanted: &Option<String>, value: &str| wanted.as_ref().is_none_or(|wanted| wanted == value);
        let holds = |wanted: &str| {
            let wanted = wanted.to_lowercase();
            [&entry.summary, &entry.reason, &entry.cwd]
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
        };
        is(&self.decision, &entry.decision)
            && is(&self.said, &entry.said)
            && is(&self.host, &entry.host)
            && is(&self.tool, &entry.tool)
            && is(&self.mode, &entry.mode)
            && is(&self.step, &entry.step)
            && is(&self.kind, &entry.kind)
            && is(&self.rule, entry.rule.as_ref().map_or("", |rule| &rule.text))
            && is(&self.code, entry.code.as_deref().unwrap_or_default())
            && self.session.as_ref().is_none_or(|session| entry.session.starts_with(session))
            && self.other_than.as_ref().is_none_or(|other| entry.session != *other)
            && self.since_ms.is_none_or(|since| entry.at_ms >= since)
            && self.until_ms.is_none_or(|until| entry.at_ms < until)
            && self.text.as_deref().is_none_or(holds)
            && self.before.as_ref().is_none_or(|before| record.id < *before)
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

impl Index {
    /// Returns how many records have what is wanted.
    pub(crate) fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        let condition = filter.condition();
        let query = format!("SELECT count(*) FROM records WHERE {}", condition.text());
        let counted = self.connection.query_row(&query, params_from_iter(condition.values), |row| row.get(0));
        counted.map(unsigned).map_err(|error| self.failed(&error))
    }

    /// Returns the newest records that have what is wanted, the newest first.
    pub(crate) fn find(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError> {
        let condition = filter.condition();
        let query = format!(
            "SELECT segment, offset, length FROM records WHERE {}
             ORDER BY at_ms DESC, number DESC LIMIT {}",
            condition.text(),
            signed(most)
        );
        let places = self.places(&query, condition.values).map_err(|error| self.failed(&error))?;
        let mut records = Vec::with_capacity(places.len());
        for (place, length) in places {
            // A record that was removed in the meantime is no longer there to be found.
            records.extend(self.trail.read_at(place, length)?);
        }
        Ok(records)
    }

    /// Returns the record with this id, or with an id that begins so.
    pub(crate) fn get(&self, id: &str) -> Result<Found, StoreError> {
        const MOST: usize = 5;
        // No digit comes after `Z`.
        let id = id.to_ascii_uppercase();
        let query =
            "SELECT id, segment, offset, length FROM records WHERE id >= ?1 AND id < ?1 || '[' LIMIT 6";
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, place_of(row, 1)?));
        let found: rusqlite::Result<Vec<_>> = self
            .connection
            .prepare_cached(query)
            .and_then(|mut statement| statement.query_map([&id], read)?.collect());
        let found = found.map_err(|error| self.failed(&error))?;
        match found.as_slice() {
            [] => Ok(Found::Nothing),
            [(_, (place, length))] => {
                let record = self.trail.read_at(*place, *length)?;
                Ok(record.map_or(Found::Nothing, |record| Found::One(Box::new(record))))
            }
            several => Ok(Found::Several(several.iter().take(MOST).map(|(id, _)| id.clone()).collect())),
        }
    }

    fn places(&self, query: &str, values: Vec<Value>) -> rusqlite::Result<Vec<(Position, u64)>> {
        let mut statement = self.connection.prepare(query)?;
        let rows = statement.query_map(params_from_iter(values), |row| place_of(row, 0))?;
        rows.collect()
    }
}

fn place_of(row: &Row<'_>, first: usize) -> rusqlite::Result<(Position, u64)> {
    let place = Position { segment: row.get(first)?, offset: unsigned(row.get(first + 1)?) };
    Ok((place, unsigned(row.get(first + 2)?)))
}
