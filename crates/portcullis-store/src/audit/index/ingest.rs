//! Takes into the index what came since it was last up to date. How far it came stands in the index with what it took in,
//! so that one that was interrupted goes on where it was.

use rusqlite::{Connection, OptionalExtension as _};

use super::Index;
use super::row::insert;
use crate::audit::Head;
use crate::audit::files::Segment;
use crate::audit::line::Record;
use crate::audit::read::{Lines, Position, Snapshot};
use crate::error::StoreError;
use crate::sqlite::{failed, signed, unsigned};

/// How many lines are taken in at once. The rest waits in the files, so that neither memory nor what the database puts
/// beside itself grows with how much there is.
const AT_ONCE: usize = 10_000;

/// Brings an index up to date. The lock of the index must be held.
pub(super) fn ingest(index: &mut Index) -> Result<(), StoreError> {
    let path = index.path();
    let Some(snapshot) = index.trail.snapshot()? else { return Ok(()) };
    let head = take_in(&mut index.connection, &snapshot).map_err(|trouble| match trouble {
        Trouble::Index(error) => failed(&path, &error),
        Trouble::Trail(error) => error,
    })?;
    match head {
        Some(head) => index.remember(&[head]).map_err(|error| failed(&path, &error)),
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
fn take_in(connection: &mut Connection, snapshot: &Snapshot) -> Result<Option<Head>, Trouble> {
    drop_removed(connection, snapshot)?;
    let mut head = None;
    for segment in &snapshot.segments {
        head = take_in_segment(connection, snapshot, segment)?.or(head);
    }
    Ok(head)
}

/// Drops what retention has removed. Mostly that is nothing, and then nothing is written.
fn drop_removed(connection: &mut Connection, snapshot: &Snapshot) -> rusqlite::Result<()> {
    let removed = (snapshot.anchor.segment, signed(snapshot.anchor.number));
    let query = "SELECT EXISTS (SELECT 1 FROM segments WHERE segment <= ?1)";
    if !connection.prepare_cached(query)?.query_row([removed.0], |row| row.get(0))? {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    transaction.execute("DELETE FROM records WHERE segment <= ?1", [removed.0])?;
    transaction.execute("DELETE FROM segments WHERE segment <= ?1", [removed.0])?;
    transaction.execute("DELETE FROM heads WHERE number <= ?1", [removed.1])?;
    transaction.commit()
}

fn take_in_segment(
    connection: &mut Connection,
    snapshot: &Snapshot,
    segment: &Segment,
) -> Result<Option<Head>, Trouble> {
    let Some((mut lines, start)) = begin(connection, snapshot, segment)? else { return Ok(None) };
    let mut end = start;
    let mut head = None;
    let mut is_over = false;
    while !is_over {
        let transaction = connection.transaction()?;
        for _ in 0..AT_ONCE {
            let line = lines.next()?.filter(|line| !segment.is_current || line.is_ended());
            is_over = line.is_none();
            let Some(line) = line else { break };
            let place = Position { segment: segment.number, offset: line.offset };
            end = line.end();
            if let Some(record) = Record::read(line.bytes) {
                insert(&transaction, place, end - line.offset, &record)?;
                head = Some(Head { number: record.number, hash: record.hash });
            }
        }
        if end > start {
            let statement = "INSERT INTO segments (segment, offset) VALUES (?1, ?2)
                ON CONFLICT DO UPDATE SET offset = ?2";
            transaction.prepare_cached(statement)?.execute((segment.number, signed(end)))?;
            transaction.commit()?;
        }
    }
    Ok(head)
}

/// Opens a file where the index left off. A file that is no longer the one it was is taken in anew.
fn begin(
    connection: &mut Connection,
    snapshot: &Snapshot,
    segment: &Segment,
) -> Result<Option<(Lines, u64)>, Trouble> {
    let known = "SELECT offset FROM segments WHERE segment = ?1";
    let known = connection.prepare_cached(known)?.query_row([segment.number], |row| row.get(0)).optional()?;
    let known = known.map_or(0, unsigned);
    if let Some(before) = known.checked_sub(1)
        && let Some(mut lines) = snapshot.lines(segment, before)?
    {
        // What stands before the place must be the end of a line.
        if lines.next()?.is_some_and(|line| line.bytes.is_empty() && line.is_ended()) {
            return Ok(Some((lines, known)));
        }
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM records WHERE segment = ?1", [segment.number])?;
        transaction.execute("DELETE FROM segments WHERE segment = ?1", [segment.number])?;
        transaction.commit()?;
    }
    Ok(snapshot.lines(segment, 0)?.map(|lines| (lines, 0)))
}
