//! Takes connections within limits, and answers what they ask.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Secure;
use super::hurried::Hurried;
use super::limits::{LARGEST_HEAD, MOST_HEADERS};
use super::listen::LocalListener;
use super::request::ServerState;
use crate::Stopping;
use crate::access::{ConnectionOwner, Peer};
use portcullis_gate::presence::ProcessIdentity;

/// How long is waited when no connection can be taken: usually because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// What somebody hears who comes when all connections are taken.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n";

/// Takes the connections of the network.
pub(super) async fn accept_network(
    listener: &TcpListener,
    secure: Option<&Secure>,
    state: &Arc<ServerState>,
    room: &Arc<Semaphore>,
) {
    loop {
        let Ok((mut stream, from)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
            state.daemon.telemetry.connection_refused();
            // Whoever does not take it at once hears nothing.
            let _ = stream.try_write(FULL);
            let _ = stream.shutdown().await;
            continue;
        };
        // An answer is one write, so nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        let peer = Peer::Network(from.ip().to_canonical());
        let (state, secure) = (Arc::clone(state), secure.cloned());
        tokio::spawn(async move {
            match secure {
                Some(Secure(acceptor)) => {
                    let greeting = tokio::time::timeout(state.limits.handshake, acceptor.accept(stream));
                    if let Ok(Ok(stream)) = greeting.await {
                        talk(stream, peer, state, permit).await;
                    }
                }
                None => talk::<TcpStream>(stream, peer, state, permit).await,
            }
        });
    }
}

/// Takes the connections of this user's own programs.
pub(super) async fn accept_local(local: &LocalListener, state: &Arc<ServerState>, room: &Arc<Semaphore>) {
    loop {
        let Ok((stream, _)) = local.listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Whoever could open the socket of somebody else hears nothing at all.
        let Ok(credentials) = stream.peer_cred() else { continue };
        if !local.welcomes(credentials.uid()) {
            continue;
        }
        let process = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).and_then(ProcessIdentity::of);
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
            state.daemon.telemetry.connection_refused();
            let _ = stream.try_write(FULL);
            continue;
        };
        tokio::spawn(talk::<UnixStream>(stream, Peer::Local(process), Arc::clone(state), permit));
    }
}

/// Answers the requests of one connection.
async fn talk<S>(stream: S, peer: Peer, state: Arc<ServerState>, permit: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let _connected = state.daemon.telemetry.connected();
    let stopping: Stopping = state.daemon.stopping.clone();
    let limits = state.limits;
    let owner = Arc::new(ConnectionOwner::default());
    let service = service_fn(move |request| {
        let (state, owner) = (Arc::clone(&state), Arc::clone(&owner));
        async move { Ok::<_, Infallible>(state.answer(peer, &owner, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_header_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LARGEST_HEAD.saturating_mul(2))
        .serve_connection(TokioIo::new(Hurried::new(stream, limits.answer)), service);
    let mut connection = pin!(connection);
    // A client that breaks off has no more to hear.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stopping.wait() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(permit);
}
