//! Opens the index, makes it where there is none, and makes it anew where it is broken or of another version.
//!
//! All of it happens under a lock of the index's own: several programs that make a database at once disturb each other,
//! however long each is willing to wait.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Index;
use super::ingest::ingest;
use crate::audit::{Head, Trail};
use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;
use crate::sqlite::{self, failed, signed, unsigned};

/// The version of the tables. An index of any other is made anew.
const VERSION: u32 = 2;

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
CREATE INDEX records_by_session ON records (session, at_ms, decision, is_repeat);
CREATE INDEX records_by_decision ON records (decision, at_ms);
CREATE INDEX records_by_code ON records (code, at_ms) WHERE code IS NOT NULL;
CREATE INDEX records_by_call ON records (session, call);
CREATE INDEX records_for_totals ON records
    (is_repeat, at_ms, decision, said, step, kind, mode, host, micros, model_calls);
CREATE TABLE segments (segment INTEGER PRIMARY KEY, offset INTEGER NOT NULL);
CREATE TABLE heads (number INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (number, hash));
";

impl Trail {
    /// Opens the index and brings it up to date. A trail without records has an empty one.
    pub(crate) fn open_index(&self) -> Result<Index, StoreError> {
        disk::make_directory(&self.root)?;
        disk::make_directory(&self.directory())?;
        let lock = FileLock::take_within(&self.file("index.lock"), self.patience.max(PATIENCE))?;
        match self.prepare(&lock, &[]) {
            Ok(index) => Ok(index),
            Err(Trouble::Broken { seen }) => {
                self.remove_index()?;
                self.prepare(&lock, &seen).map_err(|trouble| trouble.into_error(&self.file("index.db")))
            }
            Err(Trouble::Other(error)) => Err(error),
        }
    }

    /// Brings an index up to date that is kept open; `false` if it must be opened anew, because its file was removed or is
    /// broken.
    pub(crate) fn update_index(&self, index: &mut Index) -> Result<bool, StoreError> {
        let path = self.file("index.db");
        if !self.exists()? || disk::identity(&path)? != Some(index.identity) {
            return Ok(false);
        }
        let _lock = FileLock::take_within(&self.file("index.lock"), self.patience.max(PATIENCE))?;
        // Whoever held the lock may have made it anew.
        if disk::identity(&path)? != Some(index.identity) {
            return Ok(false);
        }
        match ingest(index) {
            Err(StoreError::Broken { file, .. }) if file == path => Ok(false),
            other => other.map(|()| true),
        }
    }

    fn prepare(&self, lock: &FileLock, seen: &[Head]) -> Result<Index, Trouble> {
        let path = self.file("index.db");
        let connection = sqlite::open(lock, &path)?;
        let version = set_up(&connection).map_err(|error| trouble(&path, &error, seen))?;
        if version != VERSION {
            return Err(Trouble::Broken { seen: heads(&connection).unwrap_or_default() });
        }
        let identity = disk::identity(&path)?.ok_or_else(|| StoreError::Busy { file: path.clone() })?;
        let mut index = Index { trail: self.clone(), connection, identity };
        let outcome = index.remember(seen).and_then(|()| index.check());
        outcome.map_err(|error| trouble(&path, &error, seen))?;
        ingest(&mut index)?;
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
    pub(crate) fn heads(&self) -> Result<Vec<Head>, StoreError> {
        heads(&self.connection).map_err(|error| self.failed(&error))
    }

    /// Remembers ends of the trail.
    pub(super) fn remember(&self, seen: &[Head]) -> rusqlite::Result<()> {
        let statement = "INSERT OR IGNORE INTO heads (number, hash) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(statement)?;
        for head in seen {
            statement.execute((signed(head.number), &head.hash))?;
        }
        Ok(())
    }

    /// Opens another connection to the same file, which only reads.
    pub(crate) fn reader(&self) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(self.path(), flags)
            .and_then(|connection| connection.busy_timeout(PATIENCE).map(|()| connection));
        let connection = opened.map_err(|error| self.failed(&error))?;
        Ok(Self { trail: self.trail.clone(), connection, identity: self.identity })
    }

    /// Says whether another connection is to the same file.
    pub(crate) fn is_of_same_file(&self, other: &Self) -> bool {
        self.identity == other.identity
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
