//! The audit trail: lines of one chain, and beside each what it is found by.
//!
//! Whoever appends locks the end of the chain, so that the daemons of a fleet write one after the other, and numbers are
//! seen in order: a reader who has seen a number has seen all before it.

mod append;
mod condition;
mod find;
mod partitions;
mod retention;
mod totals;
mod verify;

use portcullis_store::StoreError;
use portcullis_store::audit::{Position, Record, Update};
use tokio_postgres::Row;

pub(crate) use self::partitions::PreparedMonths;
use crate::error::{DatabaseFailure, broken};
use crate::pool::PooledConnection;
use crate::{PostgresStore, signed, unsigned};

/// Where the chain ends, and where it begins.
#[derive(Debug, Clone)]
pub(crate) struct ChainEnds {
    /// The number of the last record; 0 if there is none.
    pub(crate) number: u64,
    /// Its hash.
    pub(crate) hash: String,
    /// When it was made.
    pub(crate) at_ms: u64,
    /// The number of the last record that was removed.
    pub(crate) removed: u64,
    /// Its hash.
    pub(crate) removed_hash: String,
}

const READ_ENDS: &str = "SELECT number, hash, at_ms, anchor_number, anchor_hash FROM audit_head";
const LOCK_ENDS: &str = "SELECT number, hash, at_ms, anchor_number, anchor_hash FROM audit_head FOR UPDATE";

impl PostgresStore {
    pub(crate) fn read_ends(&self) -> Result<ChainEnds, StoreError> {
        self.pool.read(&async |connection| {
            let row = connection.row(READ_ENDS, &[]).await?;
            self.ends(row)
        })
    }

    /// Locks the end of the chain until the transaction ends.
    async fn lock_ends(&self, connection: &mut PooledConnection) -> Result<ChainEnds, DatabaseFailure> {
        let row = connection.row(LOCK_ENDS, &[]).await?;
        self.ends(row)
    }

    fn ends(&self, row: Option<Row>) -> Result<ChainEnds, DatabaseFailure> {
        let Some(row) = row else {
            let place = format!("{} (audit_head)", self.pool.place());
            return Err(broken(place, "nobody knows where the chain ends").into());
        };
        Ok(ChainEnds {
            number: number(&row, 0)?,
            hash: row.try_get(1)?,
            at_ms: number(&row, 2)?,
            removed: number(&row, 3)?,
            removed_hash: row.try_get(4)?,
        })
    }

    pub(crate) fn read_after(&self, position: Position, most: usize) -> Result<Update, StoreError> {
        let query = "SELECT number, line FROM audit WHERE number > $1 ORDER BY number LIMIT $2";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.pool.read(&async |connection| {
            let rows = connection.rows(query, &[&signed(position.record()), &most]).await?;
            let mut update = Update { records: Vec::with_capacity(rows.len()), position };
            for row in &rows {
                update.position = Position::after_record(number(row, 0)?);
                update.records.extend(Record::read(row.try_get(1)?));
            }
            Ok(update)
        })
    }
}

/// Reads a number that cannot be less than nothing.
fn number(row: &Row, column: usize) -> Result<u64, DatabaseFailure> {
    Ok(unsigned(row.try_get(column)?))
}
