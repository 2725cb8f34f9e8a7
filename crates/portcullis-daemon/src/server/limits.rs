//! How much and how slowly one client may send, and how slowly it may read.

use std::time::Duration;

/// What a client must keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How long a request's head may take, and how long a connection may be idle.
    pub(super) head: Duration,
    /// How long a request's body may take.
    pub(super) body: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub(super) answer: Duration,
    /// How long the first words of an encrypted connection may take.
    pub(super) handshake: Duration,
    /// How long what runs may take to finish when the daemon stops.
    pub(super) farewell: Duration,
    /// How many connections there are at most, of the network and of the unix socket each.
    pub(super) connections: usize,
    /// How many of them one token has at most, so that others still get in.
    pub(super) connections_of_token: usize,
}

/// The largest head of a request.
pub(super) const LARGEST_HEAD: usize = 32 * 1024;
/// The largest number of headers.
pub(super) const MOST_HEADERS: usize = 64;
/// The largest call that is judged, with what the host says around it.
const LARGEST_CALL: usize = 8 * 1024 * 1024;
/// The largest body of anything else.
const LARGEST_BODY: usize = 64 * 1024;

impl Limits {
    /// Returns the usual ones.
    pub(crate) fn usual() -> Self {
        let limits = Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            farewell: Duration::from_secs(5),
            connections: 2_048,
            connections_of_token: 1_536,
        };
        #[cfg(debug_assertions)]
        if let Some(patience) = crate::fault::patience() {
            let (head, body, answer, handshake) = (patience, patience, patience, patience);
            return Self {
                head,
                body,
                answer,
                handshake,
                connections: 16,
                connections_of_token: 12,
                ..limits
            };
        }
        limits
    }
}

/// Returns the largest body for a path. Whoever has not said who they are sends little.
pub(super) fn largest_body(path: &str, is_known: bool) -> usize {
    let is_call = path == "/v1/decide" || path == "/v1/approvals" || path.starts_with("/v1/hook/");
    if is_call && is_known { LARGEST_CALL } else { LARGEST_BODY }
}
