//! The index: where records are found by what is in them, and what they add up to.
//!
//! Only those who read open it, never a hook. It is made of the files of the trail and can be made of them again at any
//! time, but for one thing: the ends of the trail that it has seen, which give away a trail that was cut or made anew.

mod find;
mod ingest;
mod open;
mod row;
mod totals;

pub use find::{Filter, Found};
pub use totals::{Asked, Cost, Counted, Day, Denied, Latency, Totals};

use std::path::PathBuf;

use rusqlite::{Connection, ErrorCode};

use super::Audit;
use crate::error::StoreError;

/// The index of a trail, up to date when it was opened.
#[derive(Debug)]
pub struct Index {
    audit: Audit,
    connection: Connection,
}

impl Index {
    fn path(&self) -> PathBuf {
        self.audit.file("index.db")
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        failed(&self.path(), error)
    }
}

/// Makes the error of an index that cannot be used.
fn failed(path: &std::path::Path, error: &rusqlite::Error) -> StoreError {
    if is_broken(error) {
        return StoreError::broken(path, &error.to_string());
    }
    StoreError::Io { action: "use", file: path.to_path_buf(), detail: error.to_string().to_lowercase() }
}

/// Says whether the file is no index or a damaged one.
fn is_broken(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
