//! The server: listens, takes connections within limits, and lets what runs finish when it stops.

mod accept;
mod guarded;
mod headers;
mod hurried;
mod limits;
mod listen;
mod request;
mod tls;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use self::accept::{accept_local, accept_network};
use self::limits::Limits;
use self::listen::LocalListener;
use self::request::ServerState;
pub use self::tls::TlsFiles;
use super::Shared;
use portcullis_gate::Failure;

/// The ports that are tried where nobody names one: users of one machine have a daemon each.
const USUAL_PORTS: RangeInclusive<u16> = 7317..=7326;

/// The places the daemon listens at.
#[derive(Debug)]
pub struct Listeners {
    network: Option<TcpListener>,
    secure: Option<Secure>,
    local: LocalListener,
}

/// What encrypts the connections of the network.
#[derive(Clone)]
struct Secure(TlsAcceptor);

impl std::fmt::Debug for Secure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secure")
    }
}

/// Where to listen, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListenOptions {
    /// Where, besides the unix socket.
    pub address: ListenAddress,
    /// The files for encryption.
    pub tls: Option<TlsFiles>,
    /// Whether an address outside of loopback may do without encryption.
    pub is_plain_accepted: bool,
}

/// An address of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListenAddress {
    /// None: the unix socket alone.
    #[default]
    Nowhere,
    /// This one and no other.
    Fixed(SocketAddr),
    /// The port of the loopback interface that settings name, or else the first of the usual ones that is free.
    Usual {
        /// What settings name.
        port: Option<u16>,
    },
}

impl Listeners {
    /// Begins to listen. Nothing is answered yet.
    pub async fn bind(options: &ListenOptions, socket: &Path) -> Result<Self, Failure> {
        let secure = options.tls.as_ref().map(|files| tls::acceptor(files).map(Secure)).transpose()?;
        let network = match options.address {
            ListenAddress::Fixed(address) => {
                Some(listen::listen_at(address, secure.is_some(), options.is_plain_accepted).await?)
            }
            ListenAddress::Usual { port: Some(port) } => {
                Some(listen::listen_at((Ipv4Addr::LOCALHOST, port).into(), secure.is_some(), false).await?)
            }
            ListenAddress::Usual { port: None } => Some(listen::listen_at_usual(USUAL_PORTS).await?),
            ListenAddress::Nowhere => None,
        };
        Ok(Self { network, secure, local: LocalListener::bind(socket)? })
    }

    /// Returns the address that is listened at, with the port that was chosen.
    pub fn address(&self) -> Option<SocketAddr> {
        self.network.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Says whether what is said over the network is encrypted.
    pub const fn is_secure(&self) -> bool {
        self.secure.is_some()
    }

    /// Answers requests until the daemon stops, and then lets what runs finish.
    pub async fn serve(self, daemon: Shared, router: Router) {
        let stopping = daemon.stopping.clone();
        let limits = Limits::usual();
        let state = Arc::new(ServerState { daemon, router, limits });
        let room = || Arc::new(Semaphore::new(limits.connections));
        let (network_room, local_room) = (room(), room());
        let Self { network, secure, local } = self;
        let network = async {
            match network {
                Some(listener) => accept_network(&listener, secure.as_ref(), &state, &network_room).await,
                None => std::future::pending().await,
            }
        };
        let serving = async { tokio::join!(network, accept_local(&local, &state, &local_room)) };
        tokio::select! {
            _ = serving => {}
            () = stopping.wait() => {}
        }
        drop(local);
        let most = u32::try_from(limits.connections).unwrap_or(u32::MAX);
        let all_gone = async { tokio::join!(network_room.acquire_many(most), local_room.acquire_many(most)) };
        // What takes longer is cut off: its client hears no answer, which is no consent.
        let _ = tokio::time::timeout(limits.farewell, all_gone).await;
    }
}

/// Catches the signals that ask the daemon to stop, and returns what waits for one of them.
pub fn asked_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| Failure::internal(format!("signals cannot be waited for: {error}"));
    let mut terminated = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}
