//! Takes into the index what came since it was last up to date: all of it or nothing.

use rusqlite::{OptionalExtension as _, Transaction};

use super::open::{signed, unsigned};
use super::row::insert;
use super::{Index, failed};
use crate::audit::Head;
use crate::audit::files::Segment;
use crate::audit::line::Record;
use crate::audit::read::{Lines, Position, Snapshot};
use crate::error::StoreError;

/// Brings an index up to date. The lock of the index must be held.
pub(super) fn ingest(index: &mut Index, now_ms: u64) -> Result<(), StoreError> {
    let path = index.path();
    let Some(snapshot) = index.audit.snapshot()? else { return Ok(()) };
    let transaction = index.connection.transaction().map_err(|error| failed(&path, &error))?;
    let outcome = take_in(&transaction, &snapshot);
    let head = outcome.map_err(|trouble| match trouble {
        Trouble::Index(error) => failed(&path, &error),
        Trouble::Trail(error) => error,
    })?;
    transaction.commit().map_err(|error| failed(&path, &error))?;
    match head {
        Some(head) => index.remember(&[head], now_ms).map_err(|error| failed(&path, &error)),
        None => Ok(()),
    }
}

/// What failed: the index or the trail.
enum Trouble {
    Index(rusqlite::Error),
    Trail(StoreError),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Index(error)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Trail(error)
    }
}

/// Takes in what is new and returns the last record, if there is a new one.
fn take_in(transaction: &Transaction<'_>, snapshot: &Snapshot) -> Result<Option<Head>, Trouble> {
    let removed = (snapshot.anchor.segment, signed(snapshot.anchor.number));
    transaction.execute("DELETE FROM records WHERE segment <= ?1", [removed.0])?;
    transaction.execute("DELETE FROM segments WHERE segment <= ?1", [removed.0])?;
    transaction.execute("DELETE FROM heads WHERE number <= ?1", [removed.1])?;
    let mut head = None;
    for segment in &snapshot.segments {
        head = take_in_segment(transaction, snapshot, segment)?.or(head);
    }
    Ok(head)
}

fn take_in_segment(
    transaction: &Transaction<'_>,
    snapshot: &Snapshot,
    segment: &Segment,
) -> Result<Option<Head>, Trouble> {
    let Some((mut lines, start)) = begin(transaction, snapshot, segment)? else { return Ok(None) };
    let mut end = start;
    let mut head = None;
    while let Some(line) = lines.next()? {
        if segment.is_current && !line.is_ended() {
            break;
        }
        let place = Position { segment: segment.number, offset: line.offset };
        end = line.end();
        if let Some(record) = Record::read(line.bytes) {
            insert(transaction, place, end - line.offset, &record)?;
            head = Some(Head { number: record.number, hash: record.hash });
        }
    }
    let statement =
        "INSERT INTO segments (segment, offset) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET offset = ?2";
    transaction.prepare_cached(statement)?.execute((segment.number, signed(end)))?;
    Ok(head)
}

/// Opens a file where the index left off. A file that is no longer the one it was is taken in anew.
fn begin(
    transaction: &Transaction<'_>,
    snapshot: &Snapshot,
    segment: &Segment,
) -> Result<Option<(Lines, u64)>, Trouble> {
    let known = "SELECT offset FROM segments WHERE segment = ?1";
    let known = transaction.query_row(known, [segment.number], |row| row.get(0)).optional()?;
    let known = known.map_or(0, unsigned);
    if let Some(before) = known.checked_sub(1)
        && let Some(mut lines) = snapshot.lines(segment, before)?
    {
        // What stands before the place must be the end of a line.
        if lines.next()?.is_some_and(|line| line.bytes.is_empty() && line.is_ended()) {
            return Ok(Some((lines, known)));
        }
        transaction.execute("DELETE FROM records WHERE segment = ?1", [segment.number])?;
    }
    Ok(snapshot.lines(segment, 0)?.map(|lines| (lines, 0)))
}
