//! A listener on loopback: one thread accepts, each connection has one of its own, and all of them end with it.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::delivery::{ScriptedResponse, ShutdownSignal, drain};
use crate::http::{HttpRequest, RequestError, RequestReader};

/// How long a connection may be idle.
const LONGEST_IDLE: Duration = Duration::from_mins(1);

/// How many connections there may be at once.
const MOST_CONNECTIONS: usize = 512;

/// What answers requests.
pub(crate) trait HttpService: Send + Sync + 'static {
    /// Answers a request, and says whether another may follow on the connection.
    fn answer(&self, request: &HttpRequest, connection: &mut ServedConnection<'_>) -> io::Result<bool>;

    /// Makes the response to a request that is none.
    fn refuse(&self, status: u16, message: &str) -> ScriptedResponse;
}

/// A connection on which a request has come in.
pub(crate) struct ServedConnection<'a> {
    /// What requests come in on; the last byte of this one is not taken yet.
    pub(crate) incoming: &'a mut RequestReader,
    /// What the response goes out on.
    pub(crate) stream: &'a mut TcpStream,
    /// Whether the server is to end.
    pub(crate) ending: &'a ShutdownSignal,
}

/// A service that listens. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct ListeningService<S: HttpService> {
    address: SocketAddr,
    shared: Arc<SharedService<S>>,
    acceptor: Option<JoinHandle<()>>,
}

/// What all threads share.
#[derive(Debug)]
struct SharedService<S> {
    service: S,
    ending: ShutdownSignal,
    connections: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    open: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

/// Locks, also after a thread that held the lock has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: HttpService> ListeningService<S> {
    /// Starts to listen on an address, which must be one of loopback.
    pub(crate) fn start(address: SocketAddr, service: S) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let message = format!("{address} is not an address of loopback; use 127.0.0.1 or [::1]");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let connections = Mutex::new(OpenConnections::default());
        let shared = Arc::new(SharedService { service, ending: ShutdownSignal::default(), connections });
        let own = Arc::clone(&shared);
        let acceptor =
            thread::Builder::new().name("scripted-model".into()).spawn(move || own.accept(&listener))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn service(&self) -> &S {
        &self.shared.service
    }
}

impl<S: HttpService> Drop for ListeningService<S> {
    fn drop(&mut self) {
        self.shared.ending.announce();
        // The acceptor sleeps until somebody comes.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let (Some(acceptor), Ok(_)) = (self.acceptor.take(), &woken) {
            let _ = acceptor.join();
        }
        let threads = {
            let mut connections = lock(&self.shared.connections);
            for stream in connections.open.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut connections.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl<S: HttpService> SharedService<S> {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.ending.is_over() {
                return;
            }
            match accepted {
                Ok((stream, _)) => self.begin(stream),
                // No descriptor left, or the client is gone already.
                Err(_) => {
                    self.ending.wait(Duration::from_millis(10));
                }
            }
        }
    }

    /// Gives a connection its thread. One too many is closed.
    fn begin(self: &Arc<Self>, stream: TcpStream) {
        let mut connections = lock(&self.connections);
        connections.threads.retain(|thread| !thread.is_finished());
        let Ok(second) = stream.try_clone() else { return };
        if connections.open.len() >= MOST_CONNECTIONS {
            return;
        }
        let number = connections.next;
        connections.next += 1;
        connections.open.insert(number, second);
        let own = Arc::clone(self);
        let spawned = thread::Builder::new().name("scripted-connection".into()).spawn(move || {
            // Errors of the connection concern nobody but the client.
            let _ = own.serve(stream);
            lock(&own.connections).open.remove(&number);
        });
        match spawned {
            Ok(thread) => connections.threads.push(thread),
            Err(_) => {
                connections.open.remove(&number);
            }
        }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(LONGEST_IDLE))?;
        stream.set_read_timeout(Some(LONGEST_IDLE))?;
        let mut incoming = RequestReader::new(stream.try_clone()?);
        while !self.ending.is_over() {
            let request = match incoming.read_request() {
                Ok(request) => request,
                Err(RequestError::Gone) => return Ok(()),
                Err(RequestError::Wrong(status, message)) => {
                    self.service.refuse(status, message).send(&mut stream, false)?;
                    drain(&mut stream, &self.ending);
                    return Ok(());
                }
            };
            let mut connection =
                ServedConnection { incoming: &mut incoming, stream: &mut stream, ending: &self.ending };
            if !self.service.answer(&request, &mut connection)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
