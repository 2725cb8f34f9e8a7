//! Walks the whole trail, and compares what records are found by with what their lines say.

use std::path::{Path, PathBuf};

use portcullis_store::StoreError;
use portcullis_store::audit::chain::Walk;
use portcullis_store::audit::{Break, Head, Record, Verification};
use tokio_postgres::Row;

use super::number;
use crate::error::DatabaseFailure;
use crate::{PostgresStore, clean, signed};

/// How many lines are read at once.
const AT_ONCE: i64 = 1_000;

/// How many columns that were changed are told in full.
const MOST_TOLD: usize = 20;

const LINES: &str =
    "SELECT number, at_ms, line, id, decision, said, host, tool, session, kind, coalesce(code, '') FROM audit
    WHERE (number, at_ms) > ($1, $2) ORDER BY number, at_ms LIMIT $3";

impl PostgresStore {
    /// The end of the chain that is kept beside it counts as seen: lines that were cut off are missed.
    pub(crate) fn walk(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError> {
        let place = PathBuf::from(format!("{} (audit)", self.pool.place()));
        let ends = self.read_ends()?;
        let mut seen = seen.to_vec();
        if ends.number > 0 {
            seen.push(Head { number: ends.number, hash: ends.hash.clone() });
        }
        let removed = Head { number: ends.removed, hash: ends.removed_hash.clone() };
        let mut walk = Walk::new(removed, &seen, expected);
        let mut changed = Vec::new();
        // What a removal that was cut short left behind counts as removed.
        let mut last = (signed(ends.removed), i64::MAX);
        loop {
            let rows = self
                .pool
                .survey(&async |connection| connection.rows(LINES, &[&last.0, &last.1, &AT_ONCE]).await)?;
            let Some(end) = rows.last() else { break };
            last = (self.told(end.try_get(0))?, self.told(end.try_get(1))?);
            for row in &rows {
                let record = self.told(number(row, 0))?;
                let line: &[u8] = self.told(row.try_get(2))?;
                walk.line(&place, record, line);
                if self.told(is_changed(row, line))? {
                    changed.push(record);
                }
            }
        }
        let mut result = walk.finish(&place);
        tell_changed(&mut result, &place, &changed);
        Ok(result)
    }

    fn told<T>(&self, read: Result<T, impl Into<DatabaseFailure>>) -> Result<T, StoreError> {
        read.map_err(|error| error.into().into_error(self.pool.place()))
    }
}

/// Says whether a record is found by something that its line does not say. A line that is no record is told elsewhere.
fn is_changed(row: &Row, line: &[u8]) -> Result<bool, DatabaseFailure> {
    let Some(record) = Record::read(line) else { return Ok(false) };
    let entry = &record.entry;
    let texts = [
        record.id.as_str(),
        &entry.decision,
        &entry.said,
        &entry.host,
        &entry.tool,
        &entry.session,
        &entry.kind,
        entry.code.as_deref().unwrap_or_default(),
    ];
    let at_ms: i64 = row.try_get(1)?;
    let mut is_changed = number(row, 0)? != record.number || at_ms != signed(entry.at_ms);
    for (column, text) in (3..).zip(texts) {
        let kept: &str = row.try_get(column)?;
        is_changed |= kept != clean(text);
    }
    Ok(is_changed)
}

fn tell_changed(result: &mut Verification, place: &Path, changed: &[u64]) {
    for record in changed {
        result.break_count += 1;
        if result.breaks.len() < MOST_TOLD {
            let what = format!("record {record} is found by something that its line does not say");
            result.breaks.push(Break { file: place.to_path_buf(), line: *record, what, is_forged: false });
        }
    }
}
