//! The tables, made and changed in numbered steps.
//!
//! Each step is one transaction under a lock, so that daemons that start at once do not collide, and it is written down
//! with its checksum. A database that has a step this program does not know, or another one under the same number, is
//! refused: nobody knows what a newer program keeps there.

use std::fmt::Write as _;
use std::time::Duration;

use portcullis_store::StoreError;
use sha2::{Digest as _, Sha256};

use crate::PostgresStore;
use crate::error::{DatabaseFailure, refused};
use crate::pool::PooledConnection;

/// How long a step may take, or waiting for somebody else's.
const LONGEST: Duration = Duration::from_mins(30);

/// The lock that is held while the tables change: any number that is nobody else's.
const LOCK: i64 = 0x504f_5254_4355_4c4c;

/// A step.
struct Migration {
    name: &'static str,
    text: &'static str,
}

/// All steps in order. One that was released is never changed.
const MIGRATIONS: &[Migration] =
    &[Migration { name: "0001_tables", text: include_str!("../migrations/0001_tables.sql") }];

/// A step that was taken in a database.
struct AppliedMigration {
    number: usize,
    checksum: String,
}

/// Where a database stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaState {
    /// How many steps it has taken; 0 if it is empty.
    pub applied: usize,
    /// How many this program knows.
    pub known: usize,
}

impl SchemaState {
    /// Says whether the database is as this program needs it.
    pub const fn is_current(self) -> bool {
        self.applied == self.known
    }
}

impl PostgresStore {
    /// Brings the tables up to date, and returns the names of the steps that were taken.
    pub fn migrate(&self) -> Result<Vec<&'static str>, StoreError> {
        let mut taken = Vec::new();
        while let Some(name) =
            self.pool.write_within(LONGEST, async |connection| self.take_step(connection).await)?
        {
            taken.push(name);
        }
        Ok(taken)
    }

    /// Fails unless the tables are as this program needs them. Nothing is changed.
    pub fn check(&self) -> Result<(), StoreError> {
        let schema = self.schema()?;
        if schema.is_current() {
            return Ok(());
        }
        let detail = match schema.applied {
            0 => "it has no tables yet: run `portcullis store migrate`".to_owned(),
            _ => "its tables are older than this program: run `portcullis store migrate`".to_owned(),
        };
        Err(refused(self.pool.place(), detail))
    }

    /// Returns where the database stands; fails if it is newer than this program, or was tampered with.
    pub fn schema(&self) -> Result<SchemaState, StoreError> {
        let applied = self.pool.read(&async |connection| {
            let known =
                connection.row("SELECT to_regclass('portcullis.migrations') IS NOT NULL", &[]).await?;
            match known {
                Some(row) if row.try_get(0)? => list(connection).await,
                _ => Ok(Vec::new()),
            }
        })?;
        self.compare(&applied)?;
        Ok(SchemaState { applied: applied.len(), known: MIGRATIONS.len() })
    }

    /// Takes the next step, if there is one, and returns its name.
    async fn take_step(
        &self,
        connection: &mut PooledConnection,
    ) -> Result<Option<&'static str>, DatabaseFailure> {
        connection.run("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0").await?;
        connection.rows("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
        self.check_encoding(connection).await?;
        // Looked for first: making what is there needs rights that are not needed otherwise.
        let known = connection.row("SELECT to_regclass('portcullis.migrations') IS NOT NULL", &[]).await?;
        if !known.map_or(Ok(false), |row| row.try_get(0))? {
            connection
                .run(
                    "CREATE SCHEMA IF NOT EXISTS portcullis;
                     CREATE TABLE migrations (number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
                         applied_at timestamptz NOT NULL DEFAULT now())",
                )
                .await?;
        }
        let applied = list(connection).await?;
        self.compare(&applied)?;
        let Some(next) = MIGRATIONS.get(applied.len()) else { return Ok(None) };
        connection.run(next.text).await?;
        let number = i32::try_from(applied.len() + 1).unwrap_or(i32::MAX);
        let statement = "INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)";
        connection.change(statement, &[&number, &next.name, &checksum(next.text)]).await?;
        Ok(Some(next.name))
    }

    async fn check_encoding(&self, connection: &mut PooledConnection) -> Result<(), DatabaseFailure> {
        let row = connection.row("SELECT current_setting('server_encoding')", &[]).await?;
        let encoding: String = row.map_or(Ok(String::new()), |row| row.try_get(0))?;
        if encoding == "UTF8" {
            return Ok(());
        }
        Err(refused(self.pool.place(), format!("its encoding is {encoding}, and must be UTF8")).into())
    }

    /// Compares the steps that were taken with those that are known.
    fn compare(&self, applied: &[AppliedMigration]) -> Result<(), StoreError> {
        for (place, step) in applied.iter().enumerate() {
            let number = step.number;
            let Some(known) = MIGRATIONS.get(number.wrapping_sub(1)) else {
                let newest = MIGRATIONS.len();
                let detail = format!(
                    "a newer version of portcullis made it: it has step {number} of its tables, and this one knows {newest}"
                );
                return Err(refused(self.pool.place(), detail));
            };
            if number != place + 1 || step.checksum != checksum(known.text) {
                let detail = format!("step {number} of its tables is not the one that this program knows");
                return Err(refused(self.pool.place(), detail));
            }
        }
        Ok(())
    }
}

async fn list(connection: &mut PooledConnection) -> Result<Vec<AppliedMigration>, DatabaseFailure> {
    let rows = connection.rows("SELECT number, checksum FROM migrations ORDER BY number", &[]).await?;
    let read = |row: &tokio_postgres::Row| {
        let number: i32 = row.try_get(0)?;
        Ok(AppliedMigration {
            number: usize::try_from(number).unwrap_or_default(),
            checksum: row.try_get(1)?,
        })
    };
    rows.iter().map(read).collect()
}

fn checksum(text: &str) -> String {
    let mut checksum = String::new();
    for byte in Sha256::digest(text) {
        // Writing to a `String` cannot fail.
        let _ = write!(checksum, "{byte:02x}");
    }
    checksum
}
