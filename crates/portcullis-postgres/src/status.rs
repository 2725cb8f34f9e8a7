//! How a store is, for people who look after it.

use portcullis_store::StoreError;
use tokio_postgres::Row;

use crate::error::DatabaseFailure;
use crate::{PostgresStore, SchemaState, unsigned};

/// How a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresStatus {
    /// The server and the database, without anything secret.
    pub place: String,
    /// The version of the server.
    pub server: String,
    /// How far its tables are.
    pub schema: SchemaState,
    /// The partitions of the trail, in order; none if there are no tables yet.
    pub partitions: Vec<TrailPartition>,
}

/// A part of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailPartition {
    /// Its name: `audit_YYYY_MM`, or `audit_other` for what has no month.
    pub name: String,
    /// About how many records there are.
    pub records: u64,
    /// How many bytes it takes with what it is found by.
    pub bytes: u64,
}

const PARTITIONS: &str = "SELECT child.relname::text, greatest(child.reltuples, 0)::bigint,
        pg_total_relation_size(child.oid)::bigint
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = to_regclass('portcullis.audit') ORDER BY child.relname";

impl PostgresStore {
    /// Says how the store is. Nothing is changed.
    pub fn status(&self) -> Result<PostgresStatus, StoreError> {
        let schema = self.schema()?;
        let (server, partitions) = self.pool.survey(&async |connection| {
            let row = connection.row("SELECT current_setting('server_version')", &[]).await?;
            let server: String = row.map_or(Ok(String::new()), |row| row.try_get(0))?;
            let rows = connection.rows(PARTITIONS, &[]).await?;
            let partitions: Vec<TrailPartition> =
                rows.iter().map(TrailPartition::read).collect::<Result<_, _>>()?;
            Ok((server, partitions))
        })?;
        Ok(PostgresStatus { place: self.pool.place().to_owned(), server, schema, partitions })
    }
}

impl TrailPartition {
    fn read(row: &Row) -> Result<Self, DatabaseFailure> {
        let (records, bytes): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        Ok(Self { name: row.try_get(0)?, records: unsigned(records), bytes: unsigned(bytes) })
    }
}
