//! Finds records by what is in them.

use portcullis_store::StoreError;
use portcullis_store::audit::Record;
use portcullis_store::audit::index::{Filter, Found};

use super::condition::SqlCondition;
use super::number;
use crate::{PostgresStore, clean, signed};

impl PostgresStore {
    pub(crate) fn count_records(&self, filter: &Filter) -> Result<u64, StoreError> {
        let condition = SqlCondition::of(filter);
        let query = format!("SELECT count(*) FROM audit WHERE {}", condition.text());
        self.pool.survey(&async |connection| {
            let rows = connection.rows_of(&query, &condition.values()).await?;
            rows.first().map_or(Ok(0), |row| number(row, 0))
        })
    }

    pub(crate) fn find_records(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError> {
        let condition = SqlCondition::of(filter);
        let query = format!(
            "SELECT line FROM audit WHERE {} ORDER BY at_ms DESC, number DESC LIMIT {}",
            condition.text(),
            signed(most)
        );
        self.pool.survey(&async |connection| {
            let mut records = Vec::new();
            for row in connection.rows_of(&query, &condition.values()).await? {
                // A line that is no record any more is told by whoever verifies.
                records.extend(Record::read(row.try_get(0)?));
            }
            Ok(records)
        })
    }

    pub(crate) fn record(&self, id: &str) -> Result<Found, StoreError> {
        const MOST: usize = 5;
        // No digit of an id comes after `Z`.
        let query =
            "SELECT id, line FROM audit WHERE id >= $1::text AND id < $1::text || '[' ORDER BY id LIMIT 6";
        let id = id.to_ascii_uppercase();
        self.pool.survey(&async |connection| {
            let rows = connection.rows(query, &[&clean(&id)]).await?;
            match rows.as_slice() {
                [] => Ok(Found::Nothing),
                [row] => {
                    let record = Record::read(row.try_get(1)?);
                    Ok(record.map_or(Found::Nothing, |record| Found::One(Box::new(record))))
                }
                several => {
                    let ids =
                        several.iter().take(MOST).map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
                    Ok(Found::Several(ids))
                }
            }
        })
    }
}
