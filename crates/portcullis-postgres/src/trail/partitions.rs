//! The partitions of the trail: one a month, made ahead.
//!
//! What has none goes to the partition for everything else, so nothing is refused because one could not be made: making
//! one is tried, and what comes of it is no matter for whoever appends.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use portcullis_store::StoreError;
use tokio_postgres::Row;

use super::number;
use crate::PostgresStore;
use crate::error::DatabaseFailure;
use crate::pool::PooledConnection;

/// The times that may have a month of their own: 2020 to 2199. A clock that is far off makes no partitions.
const SENSIBLE: Range<u64> = 1_577_836_800_000..7_258_118_400_000;

/// How many months one batch may need.
const MOST_MONTHS: usize = 3;

/// The month of a time and the one after it, with the name of the partition and whether there is one.
const MONTHS: &str = "SELECT (extract(epoch FROM begins) * 1000)::bigint,
        (extract(epoch FROM begins + interval '1 month') * 1000)::bigint,
        to_char(begins, '\"audit_\"YYYY_MM'),
        to_regclass(to_char(begins, '\"portcullis.audit_\"YYYY_MM')) IS NOT NULL
    FROM (
        SELECT date_trunc('month', to_timestamp($1::bigint / 1000.0) AT TIME ZONE 'UTC') + n * interval '1 month'
            AS begins
        FROM generate_series(0, 1) AS n
    ) AS months ORDER BY begins";

/// The months that were seen to, so that most batches ask nothing.
#[derive(Debug, Default)]
pub(crate) struct PreparedMonths(Mutex<Vec<Range<u64>>>);

impl PreparedMonths {
    fn has(&self, at_ms: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|month| month.contains(&at_ms))
    }

    /// Forgets them, after some were removed.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn add(&self, month: Range<u64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(month);
    }
}

/// A month, as the server counts.
struct TrailMonth {
    range: Range<u64>,
    name: String,
    is_there: bool,
}

impl TrailMonth {
    fn read(row: &Row) -> Result<Self, DatabaseFailure> {
        let range = number(row, 0)?..number(row, 1)?;
        Ok(Self { range, name: row.try_get(2)?, is_there: row.try_get(3)? })
    }
}

impl PostgresStore {
    /// Sees to it that decisions of these times have partitions, and those of the next month too.
    pub(super) fn make_partitions(&self, times: &BTreeSet<u64>) {
        let mut made = 0;
        for at_ms in times {
            if made == MOST_MONTHS || !SENSIBLE.contains(at_ms) || self.months.has(*at_ms) {
                continue;
            }
            made += 1;
            // What is no error of this month is told by the append that follows.
            let Ok(months) = self.months_from(*at_ms) else { return };
            for (place, month) in months.into_iter().enumerate() {
                let is_settled = month.is_there || self.make_partition(&month);
                if place == 0 && is_settled {
                    self.months.add(month.range);
                }
            }
        }
    }

    fn months_from(&self, at_ms: u64) -> Result<Vec<TrailMonth>, StoreError> {
        self.pool.read(&async |connection| {
            let rows = connection.rows(MONTHS, &[&crate::signed(at_ms)]).await?;
            rows.iter().map(TrailMonth::read).collect()
        })
    }

    /// Makes a partition, and says whether to leave it at that. If the account may make no tables, or decisions of the
    /// month are elsewhere already, as they will be when somebody stood in the way, it will not work the next time either.
    fn make_partition(&self, month: &TrailMonth) -> bool {
        let statement = format!(
            "SET LOCAL lock_timeout = 1000;
             CREATE TABLE IF NOT EXISTS {} PARTITION OF audit FOR VALUES FROM ({}) TO ({})",
            month.name, month.range.start, month.range.end
        );
        let made =
            self.pool.write(async |connection: &mut PooledConnection| connection.run(&statement).await);
        matches!(made, Ok(()) | Err(StoreError::Refused { .. } | StoreError::Busy { .. }))
    }
}
