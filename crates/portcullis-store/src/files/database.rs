//! The database of what waits for a person: opened when it is first needed, and kept open.
//!
//! It is opened and made under a lock of its own, because several programs that make a database at once disturb each
//! other, however long each is willing to wait. Every change is one transaction that nobody else writes beside.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::FileBackend;
use crate::StoreError;
use crate::disk::FileLock;
use crate::disk::{self, FileIdentity};
use crate::sqlite::{self, failed};

/// The version of the tables.
const VERSION: u32 = 1;

/// How long somebody else who writes is waited for at least: the library hands a lock on by trying again.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE approvals (
    id TEXT PRIMARY KEY, sequence INTEGER NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL, ended_at_ms INTEGER,
    session TEXT NOT NULL, denial TEXT NOT NULL,
    state TEXT NOT NULL, is_applied INTEGER NOT NULL, kept TEXT NOT NULL, answer TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX approvals_waiting ON approvals (session, denial) WHERE state = 'open';
CREATE INDEX approvals_by_state ON approvals (state, created_at_ms);
CREATE INDEX approvals_by_end ON approvals (state, expires_at_ms);
CREATE INDEX approvals_by_time ON approvals (created_at_ms);
CREATE TABLE counter (only INTEGER PRIMARY KEY CHECK (only = 1), value INTEGER NOT NULL);
INSERT INTO counter VALUES (1, 0);
CREATE TABLE policies (
    version INTEGER PRIMARY KEY, signed_at_ms INTEGER NOT NULL,
    settings TEXT NOT NULL, note TEXT NOT NULL, key TEXT NOT NULL, signature TEXT NOT NULL
);
";

/// The answers that were not yet done: looked for every few seconds, and hardly ever there. Databases that were made before
/// it get it when they are opened; whoever does not know it keeps it up to date all the same.
const ADDED_LATER: &str = "
CREATE INDEX IF NOT EXISTS approvals_unapplied ON approvals (sequence)
    WHERE is_applied = 0 AND answer IS NOT NULL;
";

/// A connection that is kept.
#[derive(Debug, Default)]
pub(super) struct QueueDatabase {
    kept: Mutex<Option<OpenDatabase>>,
}

#[derive(Debug)]
struct OpenDatabase {
    connection: Connection,
    /// The file it belongs to.
    identity: FileIdentity,
}

impl FileBackend {
    /// Looks something up. Where there is no database, it is not made, and there is nothing.
    pub(super) fn looking_up<T: Default>(
        &self,
        look_up: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = self.database_file();
        if !disk::has_directory(&self.root)? || !disk::has_file(&path)? {
            return Ok(T::default());
        }
        let mut kept = self.connection(&path)?;
        let Some(open) = kept.as_mut() else { return Err(gone(&path)) };
        look_up(&open.connection).map_err(|error| failed(&path, &error))
    }

    /// Changes something, in one step.
    pub(super) fn changing<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let path = self.database_file();
        let mut kept = self.connection(&path)?;
        let Some(open) = kept.as_mut() else { return Err(gone(&path)) };
        let begun = open.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|error| failed(&path, &error))?;
        // What is not committed is undone.
        let outcome = change(&transaction).map_err(|error| failed(&path, &error))??;
        transaction.commit().map_err(|error| failed(&path, &error))?;
        Ok(outcome)
    }

    /// Returns the connection, and opens it if there is none or its file was removed.
    fn connection(&self, path: &Path) -> Result<MutexGuard<'_, Option<OpenDatabase>>, StoreError> {
        let mut kept = self.database.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = disk::identity(path)?;
        if kept.as_ref().is_none_or(|open| Some(open.identity) != identity) {
            *kept = None;
            *kept = Some(self.open_database(path)?);
        }
        Ok(kept)
    }

    fn open_database(&self, path: &Path) -> Result<OpenDatabase, StoreError> {
        disk::make_directory(&self.root)?;
        let patience = self.patience.max(PATIENCE);
        let lock = FileLock::take_within(&self.root.join("approvals.lock"), patience)?;
        let connection = sqlite::open(&lock, path)?;
        let version = set_up(&connection, patience).map_err(|error| failed(path, &error))?;
        if version != VERSION {
            let detail = format!("its version is {version}, and this program knows {VERSION}");
            return Err(StoreError::broken(path, &detail));
        }
        let identity = disk::identity(path)?.ok_or_else(|| gone(path))?;
        Ok(OpenDatabase { connection, identity })
    }

    fn database_file(&self) -> PathBuf {
        self.root.join("approvals.db")
    }
}

fn gone(path: &Path) -> StoreError {
    StoreError::Busy { file: path.to_path_buf() }
}

/// Prepares a connection, makes the tables if there are none, and returns their version.
fn set_up(connection: &Connection, patience: Duration) -> rusqlite::Result<u32> {
    connection.busy_timeout(patience)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let made = match version {
        0 if tables == 0 => format!("BEGIN; {TABLES} {ADDED_LATER} PRAGMA user_version = {VERSION}; COMMIT;"),
        VERSION => ADDED_LATER.to_owned(),
        unknown => return Ok(unknown),
    };
    connection.execute_batch(&made)?;
    Ok(VERSION)
}
