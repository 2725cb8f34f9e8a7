//! Opens the index, makes it where there is none, and makes it anew where it is broken or of another version.
//!
//! All of it happens under a lock of the index's own: several programs that make a database at once disturb each other,
//! however long each is willing to wait.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::ingest::ingest;
use super::{Index, failed};
use crate::audit::{Audit, Head};
use crate::disk;
use crate::error::StoreError;
use crate::lock::Lock;

/// The version of the tables. An index of any other is made anew.
const VERSION: u32 = 1;

/// How long another reader is waited for, who may make the whole index.
const PATIENCE: Duration = Duration::from_mins(10);

const TABLES: &str = "
CREATE TABLE records (
    segment INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
    number INTEGER NOT NULL, id TEXT NOT NULL, at_ms INTEGER NOT NULL, micros INTEGER NOT NULL,
    call INTEGER NOT NULL, is_repeat INTEGER NOT NULL,
    model_calls INTEGER NOT NULL, model_unpriced INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd REAL NOT NULL,
    decision TEXT NOT NULL, said TEXT NOT NULL, step TEXT NOT NULL, kind TEXT NOT NULL, mode TEXT NOT NULL,
    host TEXT NOT NULL, event TEXT NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL, code TEXT,
    rule TEXT, suggestion TEXT, cwd TEXT NOT NULL, summary TEXT NOT NULL, reason TEXT NOT NULL,
    UNIQUE (segment, offset)
);
CREATE INDEX records_by_time ON records (at_ms);
CREATE INDEX records_by_id ON records (id);
CREATE INDEX records_by_session ON records (session, at_ms);
CREATE INDEX records_by_decision ON records (decision, at_ms);
CREATE INDEX records_by_code ON records (code, at_ms);
CREATE INDEX records_by_call ON records (session, call);
CREATE INDEX records_for_totals ON records
    (is_repeat, at_ms, decision, said, step, kind, mode, host, micros, model_calls);
CREATE TABLE segments (segment INTEGER PRIMARY KEY, offset INTEGER NOT NULL);
CREATE TABLE heads (number INTEGER NOT NULL, hash TEXT NOT NULL, seen_ms INTEGER NOT NULL, PRIMARY KEY (number, hash));
";

impl Audit {
    /// Opens the index and brings it up to date. A trail without records has an empty one.
    pub fn open_index(&self, now_ms: u64) -> Result<Index, StoreError> {
        disk::make_directory(self.store.root())?;
        disk::make_directory(&self.directory())?;
        let _lock = Lock::take_within(&self.file("index.lock"), self.store.patience.max(PATIENCE))?;
        match self.prepare(&[], now_ms) {
            Ok(index) => Ok(index),
            Err(Trouble::Broken { seen }) => {
                self.remove_index()?;
                self.prepare(&seen, now_ms).map_err(|trouble| trouble.into_error(&self.file("index.db")))
            }
            Err(Trouble::Other(error)) => Err(error),
        }
    }

    fn prepare(&self, seen: &[Head], now_ms: u64) -> Result<Index, Trouble> {
        let path = self.file("index.db");
        // It is made here, so that it is private from the beginning; what the library puts beside it follows it.
        drop(disk::open_or_create(&path, OpenOptions::new().read(true).write(true))?);
        let connection = Connection::open(&path).map_err(|error| trouble(&path, &error, seen))?;
        let version = set_up(&connection).map_err(|error| trouble(&path, &error, seen))?;
        if version != VERSION {
            return Err(Trouble::Broken { seen: heads(&connection).unwrap_or_default() });
        }
        let mut index = Index { audit: self.clone(), connection };
        let outcome = index.remember(seen, now_ms).and_then(|()| index.check());
        outcome.map_err(|error| trouble(&path, &error, seen))?;
        ingest(&mut index, now_ms)?;
        Ok(index)
    }

    fn remove_index(&self) -> Result<(), StoreError> {
        for name in ["index.db", "index.db-wal", "index.db-shm"] {
            let path = self.file(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::of_io("remove", &path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Index {
    /// Returns the ends that the trail had when it was looked at before.
    pub fn heads(&self) -> Result<Vec<Head>, StoreError> {
        heads(&self.connection).map_err(|error| self.failed(&error))
    }

    /// Remembers ends of the trail.
    pub(super) fn remember(&self, seen: &[Head], now_ms: u64) -> rusqlite::Result<()> {
        let statement = "INSERT OR IGNORE INTO heads (number, hash, seen_ms) VALUES (?1, ?2, ?3)";
        let mut statement = self.connection.prepare_cached(statement)?;
        for head in seen {
            statement.execute((signed(head.number), &head.hash, signed(now_ms)))?;
        }
        Ok(())
    }

    /// Touches every table, so that a damaged one is found here.
    fn check(&self) -> rusqlite::Result<()> {
        self.connection.query_row("SELECT count(*) FROM segments", (), |_| Ok(()))?;
        let newest = "SELECT max(summary) FROM records WHERE at_ms = (SELECT max(at_ms) FROM records)";
        self.connection.query_row(newest, (), |_| Ok(()))
    }
}

/// Why an index could not be prepared.
enum Trouble {
    /// It must be made anew; these ends of the trail it had seen.
    Broken { seen: Vec<Head> },
    /// Making it anew would not help.
    Other(StoreError),
}

impl Trouble {
    fn into_error(self, path: &Path) -> StoreError {
        match self {
            Self::Broken { .. } => StoreError::broken(path, "it was made anew and is broken again"),
            Self::Other(error) => error,
        }
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Broken { ref file, .. } if file.ends_with("index.db") => {
                Self::Broken { seen: Vec::new() }
            }
            other => Self::Other(other),
        }
    }
}

fn trouble(path: &Path, error: &rusqlite::Error, seen: &[Head]) -> Trouble {
    match failed(path, error) {
        StoreError::Broken { .. } => Trouble::Broken { seen: seen.to_vec() },
        other => Trouble::Other(other),
    }
}

/// Prepares a connection, makes the tables if there are none, and returns their version.
fn set_up(connection: &Connection) -> rusqlite::Result<u32> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if version != 0 || tables != 0 {
        return Ok(version);
    }
    connection.execute_batch(&format!("BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;"))?;
    Ok(VERSION)
}

fn heads(connection: &Connection) -> rusqlite::Result<Vec<Head>> {
    let mut statement = connection.prepare("SELECT number, hash FROM heads ORDER BY number, hash")?;
    let rows =
        statement.query_map((), |row| Ok(Head { number: unsigned(row.get(0)?), hash: row.get(1)? }))?;
    rows.collect()
}

/// Returns a number as the index keeps it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number that the index kept.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
