//! The store of a fleet: what many daemons share, in PostgreSQL.
//!
//! ```text
//! Store (portcullis-store) ──► dyn Backend ──► Fleet ──► pool ──► server
//!                                               ├─ documents     sessions, facts, grants
//!                                               ├─ trail         one chain of lines over all daemons
//!                                               ├─ approvals     the first answer wins
//!                                               └─ policies      signed, by version
//! ```
//!
//! What the things mean is written once, above the trait; here they are only kept. Whatever fails is an error, and an
//! error allows nothing.
//!
//! Every method blocks its thread until the server has answered or a limit is reached. In a program with a runtime they
//! are therefore called where blocking is allowed.

mod address;
mod approvals;
mod backend;
mod documents;
mod error;
mod migrations;
mod policies;
mod pool;
mod status;
mod tls;
mod trail;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

pub use migrations::SchemaState;
use portcullis_store::StoreError;
pub use status::{PostgresStatus, TrailPartition};

use address::ServerAddress;
use pool::ConnectionPool;
use trail::PreparedMonths;

/// How a store is used.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The password, if the URL has none.
    pub password: Option<String>,
    /// How many connections there are at most.
    pub connections: usize,
    /// How long is waited for a free connection, and for somebody else who changes the same thing.
    pub patience: Duration,
    /// How long connecting may take.
    pub connect: Duration,
    /// How long one statement may take.
    pub statement: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            password: None,
            connections: 8,
            patience: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            statement: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = self.password.as_ref().map(|_| "…");
        formatter
            .debug_struct("PostgresOptions")
            .field("password", &password)
            .field("connections", &self.connections)
            .field("patience", &self.patience)
            .field("connect", &self.connect)
            .field("statement", &self.statement)
            .finish()
    }
}

/// A store in PostgreSQL that many daemons share.
#[derive(Debug)]
pub struct PostgresStore {
    pool: ConnectionPool,
    /// The months whose partitions of the trail were seen to.
    months: PreparedMonths,
}

impl PostgresStore {
    /// Connects to a store and brings its tables up to date.
    pub fn connect(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let fleet = Self::open(url, options)?;
        fleet.migrate()?;
        Ok(fleet)
    }

    /// Names a store. Nothing is connected yet, and nothing is said about its tables: see [`Self::check`].
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let address = ServerAddress::read(url, options.password.as_deref())?;
        Ok(Self { pool: ConnectionPool::new(address, options)?, months: PreparedMonths::default() })
    }
}

/// Returns a text as a column can have it: PostgreSQL knows every character but one.
fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{2400}")) } else { Cow::Borrowed(text) }
}

/// Returns a number as a column has it.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number that a column has.
fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
