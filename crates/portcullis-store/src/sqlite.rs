//! What the databases of the store have in common: numbers, errors, and a private file.

use std::fs::OpenOptions;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;

/// Returns a number as a database keeps it.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number that a database kept.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Makes the error of a database that cannot be used.
pub(crate) fn failed(path: &Path, error: &rusqlite::Error) -> StoreError {
    if matches!(error, rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..))
    {
        return StoreError::broken(path, &error.to_string());
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::broken(path, &error.to_string())
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { file: path.to_path_buf() }
        }
        _ => {
            let detail = error.to_string().to_lowercase();
            StoreError::Io { action: "use", file: path.to_path_buf(), detail }
        }
    }
}

/// Opens a database. The file is made here, so that it is private from the beginning; what the library puts beside it
/// follows it.
///
/// One that is there is not opened by anybody but the library: to close a file lets go of all locks that this process
/// has on it, those of another connection too. For the same reason whoever opens it holds a lock beside it.
pub(crate) fn open(_lock: &FileLock, path: &Path) -> Result<Connection, StoreError> {
    if !disk::has_file(path)? {
        drop(disk::open_or_create(path, OpenOptions::new().read(true).write(true))?);
    }
    Connection::open(path).map_err(|error| failed(path, &error))
}
