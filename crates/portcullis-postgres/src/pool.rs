//! Connections: few, shared, and each used by one piece of work at a time.
//!
//! Everything is bounded in time on this side too, so that a server that hangs is an error and not a wait: for a free
//! connection, for the way to the server, and for the work. A connection whose work was cut short is not used again, and
//! one that died is replaced, so that work goes on when the server is back.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use portcullis_store::StoreError;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::ServerAddress;
use crate::error::{DatabaseFailure, unreachable};
use crate::{PostgresOptions, tls};

/// How much longer than the server itself is waited for work to be given up.
const GRACE: Duration = Duration::from_secs(5);

/// How long a process that was stopped in the middle of a change may hold up the others.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A value of a statement.
pub(crate) type SqlValue<'a> = &'a (dyn ToSql + Sync);

/// The connections to a server.
pub(crate) struct ConnectionPool {
    address: ServerAddress,
    connector: Option<MakeRustlsConnect>,
    options: PostgresOptions,
    permits: Semaphore,
    /// How many of the connections may be used for what takes long.
    surveys: Semaphore,
    idle: Mutex<Vec<PooledConnection>>,
    /// What drives the connections; taken only when the pool is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ConnectionPool").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ConnectionPool {
    /// Prepares connections. None is made yet.
    pub(crate) fn new(address: ServerAddress, options: PostgresOptions) -> Result<Self, StoreError> {
        let connector = tls::connector(&address)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("portcullis-store")
            .enable_all()
            .build()
            .map_err(|error| unreachable(&address.place, error.to_string()))?;
        let permits = Semaphore::new(options.connections.max(1));
        let surveys = Semaphore::new((options.connections / 2).max(1));
        let idle = Mutex::new(Vec::new());
        Ok(Self { address, connector, options, permits, surveys, idle, runtime: Some(runtime) })
    }

    /// Names the server and the database.
    pub(crate) fn place(&self) -> &str {
        &self.address.place
    }

    /// Reads something. What a connection that turns out to be dead could not do is done once more on a new one.
    pub(crate) fn read<T>(
        &self,
        work: &impl AsyncFn(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, StoreError> {
        self.wait(self.look(work))
    }

    /// Reads something that may take long. However many do, connections are left for those who decide.
    pub(crate) fn survey<T>(
        &self,
        work: &impl AsyncFn(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, StoreError> {
        self.wait(async {
            let _survey = self.permit(&self.surveys).await?;
            self.look(work).await
        })
    }

    /// Changes something, all of it or nothing, and returns when it is on the server's disk.
    pub(crate) fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, StoreError> {
        self.write_within(self.options.statement.saturating_add(GRACE), work)
    }

    /// Changes something that may take so long.
    pub(crate) fn write_within<T>(
        &self,
        longest: Duration,
        work: impl AsyncFnOnce(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, StoreError> {
        self.wait(async {
            let _permit = self.permit(&self.permits).await?;
            let mut connection = self.begin().await?;
            let changing = async {
                let value = work(&mut connection).await?;
                connection.run("COMMIT").await?;
                Ok(value)
            };
            let outcome = timeout(longest, changing).await.unwrap_or(Err(DatabaseFailure::TimedOut));
            if outcome.is_err() && !self.is_undone(&connection).await {
                // Closing the connection undoes it too.
                drop(connection);
                return outcome;
            }
            self.give_back(connection, &outcome);
            outcome
        })
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T, StoreError> {
        let Some(runtime) = &self.runtime else { return Err(unreachable(self.place(), "it is closed")) };
        // The runtime's own way of waiting refuses a thread that waits already, and a change may look something up.
        let _entered = runtime.enter();
        wait_for(work).map_err(|failure| failure.into_error(self.place()))
    }

    async fn look<T>(
        &self,
        work: &impl AsyncFn(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, DatabaseFailure> {
        let _permit = self.permit(&self.permits).await?;
        let mut connection = self.connection().await?;
        let outcome = match self.bounded(&mut connection, work).await {
            Err(DatabaseFailure::Database(error)) if error.is_closed() => {
                connection = self.connect().await?;
                self.bounded(&mut connection, work).await
            }
            other => other,
        };
        self.give_back(connection, &outcome);
        outcome
    }

    async fn bounded<T>(
        &self,
        connection: &mut PooledConnection,
        work: &impl AsyncFn(&mut PooledConnection) -> Result<T, DatabaseFailure>,
    ) -> Result<T, DatabaseFailure> {
        let longest = self.options.statement.saturating_add(GRACE);
        timeout(longest, work(connection)).await.unwrap_or(Err(DatabaseFailure::TimedOut))
    }

    async fn permit<'a>(&self, permits: &'a Semaphore) -> Result<SemaphorePermit<'a>, DatabaseFailure> {
        match timeout(self.options.patience, permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(unreachable(self.place(), "all connections are in use for too long").into()),
        }
    }

    /// Begins a change. That a connection died is noticed here, where nothing was done yet.
    async fn begin(&self) -> Result<PooledConnection, DatabaseFailure> {
        let begun = async |connection: &PooledConnection| {
            timeout(self.options.connect, connection.run("BEGIN"))
                .await
                .unwrap_or(Err(DatabaseFailure::TimedOut))
        };
        let connection = self.connection().await?;
        match begun(&connection).await {
            Ok(()) => return Ok(connection),
            Err(DatabaseFailure::Database(error)) if error.is_closed() => {}
            Err(failure) => return Err(failure),
        }
        let connection = self.connect().await?;
        begun(&connection).await?;
        Ok(connection)
    }

    async fn is_undone(&self, connection: &PooledConnection) -> bool {
        !connection.client.is_closed()
            && matches!(timeout(self.options.connect, connection.run("ROLLBACK")).await, Ok(Ok(())))
    }

    async fn connection(&self) -> Result<PooledConnection, DatabaseFailure> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connection) if connection.client.is_closed() => {}
                Some(connection) => return Ok(connection),
                None => return self.connect().await,
            }
        }
    }

    /// Keeps a connection for the next one, unless nobody knows what it is doing.
    fn give_back<T>(&self, connection: PooledConnection, outcome: &Result<T, DatabaseFailure>) {
        if !matches!(outcome, Err(DatabaseFailure::TimedOut)) && !connection.client.is_closed() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }

    async fn connect(&self) -> Result<PooledConnection, DatabaseFailure> {
        let hosts = u32::try_from(self.address.config.get_hosts().len()).unwrap_or(u32::MAX).max(1);
        let longest = self.options.connect.saturating_mul(hosts);
        let connected = async {
            let client = self.client().await?;
            client.batch_execute(&self.session_settings()).await?;
            Ok(PooledConnection { client, statements: BTreeMap::new() })
        };
        timeout(longest, connected).await.unwrap_or(Err(DatabaseFailure::TimedOut))
    }

    async fn client(&self) -> Result<Client, DatabaseFailure> {
        let mut config = self.address.config.clone();
        config.connect_timeout(self.options.connect).tcp_user_timeout(self.options.statement);
        config.keepalives(true).keepalives_idle(Duration::from_secs(30));
        // What drives a connection ends when the connection does, and its error reaches whoever waits for an answer.
        match &self.connector {
            None => {
                let (client, driving) = config.connect(NoTls).await?;
                tokio::spawn(driving);
                Ok(client)
            }
            Some(connector) => {
                let (client, driving) = config.connect(connector.clone()).await?;
                tokio::spawn(driving);
                Ok(client)
            }
        }
    }

    /// Says what holds for a connection. Whatever the server's settings are, what is acknowledged is on its disk.
    fn session_settings(&self) -> String {
        let milliseconds = |duration: Duration| duration.as_millis();
        format!(
            "SET search_path TO portcullis;
             SET statement_timeout = {};
             SET lock_timeout = {};
             SET idle_in_transaction_session_timeout = {};
             SET default_transaction_isolation = 'read committed';
             SET client_min_messages = warning;
             SET TimeZone = 'UTC';
             SELECT set_config('synchronous_commit', 'on', false)
                 WHERE current_setting('synchronous_commit') = 'off'",
            milliseconds(self.options.statement),
            milliseconds(self.options.patience),
            milliseconds(LONGEST_PAUSE),
        )
    }
}

impl Drop for ConnectionPool {
    /// A runtime must not be dropped where somebody else's runs, but it can be left to end by itself.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Wakes a thread that waits.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits until some work is done, which others drive.
fn wait_for<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = work.as_mut().poll(&mut context) {
            return value;
        }
        thread::park();
    }
}

/// A connection, with the statements it has prepared.
pub(crate) struct PooledConnection {
    client: Client,
    statements: BTreeMap<&'static str, Statement>,
}

impl PooledConnection {
    /// Runs statements that have no values and whose answers do not matter.
    pub(crate) async fn run(&self, statements: &str) -> Result<(), DatabaseFailure> {
        Ok(self.client.batch_execute(statements).await?)
    }

    /// Runs a statement, which is prepared once, and returns its rows.
    pub(crate) async fn rows(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Vec<Row>, DatabaseFailure> {
        let prepared = self.prepared(statement).await?;
        Ok(self.client.query(&prepared, values).await?)
    }

    /// Runs a statement and returns its first row, if it has one.
    pub(crate) async fn row(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Option<Row>, DatabaseFailure> {
        Ok(self.rows(statement, values).await?.into_iter().next())
    }

    /// Runs a statement and returns how many rows it changed.
    pub(crate) async fn change(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<u64, DatabaseFailure> {
        let prepared = self.prepared(statement).await?;
        Ok(self.client.execute(&prepared, values).await?)
    }

    /// Runs a statement that is made for the occasion and returns its rows.
    pub(crate) async fn rows_of(
        &self,
        statement: &str,
        values: &[SqlValue<'_>],
    ) -> Result<Vec<Row>, DatabaseFailure> {
        Ok(self.client.query(statement, values).await?)
    }

    async fn prepared(&mut self, statement: &'static str) -> Result<Statement, DatabaseFailure> {
        if let Some(prepared) = self.statements.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(statement).await?;
        self.statements.insert(statement, prepared.clone());
        Ok(prepared)
    }
}
