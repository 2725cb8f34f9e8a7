//! Removes old records: the beginning of the chain moves first, then what stands before it goes, whole months at once.
//!
//! A clock that is set far ahead makes everything look old. So the time counts only as far as a day after the last
//! record. Records are removed from the beginning of the chain only, as far as all of them are old.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_store::StoreError;
use portcullis_store::audit::{Pruned, Record};

use super::{ChainEnds, number};
use crate::error::{DatabaseFailure, broken};
use crate::pool::PooledConnection;
use crate::{PostgresStore, signed};

/// So long after the last record the clock is believed.
const LONGEST_QUIET_MS: u64 = 24 * 60 * 60 * 1000;

/// How long looking for what is old may take: there may be very much of it.
const LONGEST: Duration = Duration::from_mins(30);

/// How many rows are removed at once where a month stays.
const AT_ONCE: i64 = 10_000;

const MOVE_BEGINNING: &str =
    "UPDATE audit_head SET anchor_number = $1, anchor_hash = $2, pruned_at = now() WHERE anchor_number < $1";

/// The months of the trail.
const PARTITIONS: &str = "SELECT child.relname::text
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'portcullis.audit'::regclass AND child.relname ~ '^audit_[0-9]{4}_[0-9]{2}$'
    ORDER BY child.relname";

const REMOVE: &str = "DELETE FROM audit WHERE (number, at_ms) IN (
    SELECT number, at_ms FROM audit WHERE number <= $1 ORDER BY number LIMIT $2)";

/// What is removed: everything up to a record.
struct ExpiredPart {
    number: u64,
    hash: String,
    pruned: Pruned,
}

impl PostgresStore {
    pub(crate) fn prune(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError> {
        let ends = self.read_ends()?;
        let believed_ms = now_ms.min(ends.at_ms.saturating_add(LONGEST_QUIET_MS));
        let before_ms = believed_ms.saturating_sub(age_ms);
        let old = self.pool.write_within(LONGEST, async |connection| {
            connection.run("SET LOCAL statement_timeout = 0").await?;
            self.find_old(connection, &ends, before_ms).await
        })?;
        let Some(old) = old else {
            if !is_trial {
                // What was left behind the last time.
                self.remove_until(ends.removed)?;
            }
            return Ok(Pruned::default());
        };
        if !is_trial {
            self.pool.write(async |connection| {
                connection.change(MOVE_BEGINNING, &[&signed(old.number), &old.hash]).await
            })?;
            self.remove_until(old.number)?;
        }
        Ok(old.pruned)
    }

    async fn find_old(
        &self,
        connection: &mut PooledConnection,
        ends: &ChainEnds,
        before_ms: u64,
    ) -> Result<Option<ExpiredPart>, DatabaseFailure> {
        let query = "SELECT min(number) FROM audit WHERE at_ms >= $1 AND number > $2";
        let young = connection.row(query, &[&signed(before_ms), &signed(ends.removed)]).await?;
        let young: Option<i64> = young.map_or(Ok(None), |row| row.try_get(0))?;
        let last = young.map_or(ends.number, |number| crate::unsigned(number).saturating_sub(1));
        if last <= ends.removed {
            return Ok(None);
        }
        let place = || PathBuf::from(format!("{} (audit)", self.pool.place()));
        let row = connection.row("SELECT line FROM audit WHERE number = $1", &[&signed(last)]).await?;
        let line: Option<&[u8]> = row.as_ref().map(|row| row.try_get(0)).transpose()?;
        let Some(record) = line.and_then(Record::read) else {
            return Err(
                broken(place(), &format!("record {last} is missing, and the chain would end there")).into()
            );
        };
        let query = "SELECT count(*), coalesce(sum(octet_length(line)), 0)::bigint FROM audit
            WHERE number > $1 AND number <= $2";
        let row = connection.row(query, &[&signed(ends.removed), &signed(last)]).await?;
        let (records, bytes) =
            row.map_or(Ok::<_, DatabaseFailure>((0, 0)), |row| Ok((number(&row, 0)?, number(&row, 1)?)))?;
        let files = u64::try_from(old_partitions(connection, last).await?.len()).unwrap_or(u64::MAX);
        Ok(Some(ExpiredPart { number: last, hash: record.hash, pruned: Pruned { files, records, bytes } }))
    }

    /// Removes what stands before the beginning of the chain.
    fn remove_until(&self, last: u64) -> Result<(), StoreError> {
        if last == 0 {
            return Ok(());
        }
        let months = self.pool.survey(&async |connection| old_partitions(connection, last).await)?;
        for month in months {
            self.pool.write(async |connection| remove_partition(connection, &month, last).await)?;
        }
        self.months.forget();
        loop {
            let removed = self
                .pool
                .write(async |connection| connection.change(REMOVE, &[&signed(last), &AT_ONCE]).await)?;
            if removed == 0 {
                return Ok(());
            }
        }
    }
}

/// Removes a month, unless a late decision came into it in the meantime: nobody appends while this is looked at.
async fn remove_partition(
    connection: &mut PooledConnection,
    month: &str,
    last: u64,
) -> Result<(), DatabaseFailure> {
    connection.run("SET LOCAL lock_timeout = 1000; LOCK TABLE ONLY audit IN ACCESS EXCLUSIVE MODE").await?;
    if old_partitions(connection, last).await?.iter().any(|old| old == month) {
        connection.run(&format!("DROP TABLE {month}")).await?;
    }
    Ok(())
}

/// Lists the months in which there is something, and nothing after a record. An empty one was made ahead.
async fn old_partitions(
    connection: &mut PooledConnection,
    last: u64,
) -> Result<Vec<String>, DatabaseFailure> {
    let mut old = Vec::new();
    for row in connection.rows(PARTITIONS, &[]).await? {
        let name: String = row.try_get(0)?;
        let query = format!("SELECT max(number) FROM {name}");
        let rows = connection.rows_of(&query, &[]).await?;
        let newest: Option<i64> = rows.first().map_or(Ok(None), |row| row.try_get(0))?;
        if newest.is_some_and(|newest| newest <= signed(last)) {
            old.push(name);
        }
    }
    Ok(old)
}
