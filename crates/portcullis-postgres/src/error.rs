//! What the server and the way to it say, as errors of the store. Nothing in them is secret.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use portcullis_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The longest message of a server that is told.
const MOST_DETAIL: usize = 300;

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum DatabaseFailure {
    /// The library or the server said so.
    Database(Error),
    /// It took too long, and nobody knows what the server made of it.
    TimedOut,
    /// It is ready to be told.
    Told(StoreError),
}

impl From<Error> for DatabaseFailure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<StoreError> for DatabaseFailure {
    fn from(error: StoreError) -> Self {
        Self::Told(error)
    }
}

impl DatabaseFailure {
    /// Makes the error that is told, of a store at `place`.
    pub(crate) fn into_error(self, place: &str) -> StoreError {
        match self {
            Self::Told(error) => error,
            Self::TimedOut => unreachable(place, "it does not answer in time"),
            Self::Database(error) => of_database(place, &error),
        }
    }
}

/// Makes the error of a store that cannot be reached.
pub(crate) fn unreachable(place: &str, detail: impl Into<String>) -> StoreError {
    StoreError::Unreachable { place: place.to_owned(), detail: detail.into() }
}

/// Makes the error of a store that says no.
pub(crate) fn refused(place: &str, detail: impl Into<String>) -> StoreError {
    StoreError::Refused { place: place.to_owned(), detail: detail.into() }
}

/// Makes the error of something in the store that is not what was written there.
pub(crate) fn broken(place: impl Into<PathBuf>, detail: &str) -> StoreError {
    StoreError::Broken { file: place.into(), detail: detail.chars().take(MOST_DETAIL).collect() }
}

fn of_database(place: &str, error: &Error) -> StoreError {
    let Some(said) = error.as_db_error() else { return unreachable(place, way_to(error)) };
    let code = said.code();
    // The text of a statement and of a row may stand in the detail of an error, so only its first line is told.
    let message: String = said.message().chars().take(MOST_DETAIL).collect();
    if is_busy(code) {
        return StoreError::Busy { file: PathBuf::from(place) };
    }
    if *code == SqlState::QUERY_CANCELED {
        return unreachable(place, "it does not answer in time");
    }
    if is_away(code) {
        return unreachable(place, message);
    }
    refused(place, message)
}

/// Says whether somebody else stood in the way.
fn is_busy(code: &SqlState) -> bool {
    [
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(code)
}

/// Says whether the server is there but takes no work: it starts, stops, or has too many connections.
fn is_away(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ]
    .contains(code)
}

/// Says what went wrong on the way to the server.
fn way_to(error: &Error) -> String {
    let source = error.source();
    if let Some(failure) = source.and_then(|source| source.downcast_ref::<io::Error>()) {
        return match failure.kind() {
            io::ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
            io::ErrorKind::NotFound => "there is no such socket".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            io::ErrorKind::TimedOut => "it does not answer in time".to_owned(),
            _ => failure.to_string().to_lowercase(),
        };
    }
    if error.is_closed() {
        return "the connection was closed".to_owned();
    }
    // What the library says of its own names no value of ours.
    match source {
        Some(source) => format!("{error}: {source}").to_lowercase(),
        None => error.to_string().to_lowercase(),
    }
}
