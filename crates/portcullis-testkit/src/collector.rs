//! A collector on loopback: takes whatever is posted to it, remembers it, and answers by a list of statuses.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::delivery::ScriptedResponse;
use crate::http::HttpRequest;
use crate::listening::{HttpService, ListeningService, ServedConnection, lock};

/// How long [`Collector::wait_for`] waits.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// How many deliveries are remembered.
const MOST_DELIVERIES: usize = 1_000;

/// A collector on loopback. It ends when it is dropped.
#[derive(Debug)]
pub struct OtlpCollector {
    listening: ListeningService<CollectorService>,
}

/// Something that was posted.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedPost {
    /// The path with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The status it was answered with.
    pub status: u16,
}

#[derive(Debug)]
struct CollectorService {
    state: Mutex<CollectorState>,
    arrival: Condvar,
}

#[derive(Debug)]
struct CollectorState {
    statuses: VecDeque<u16>,
    taken: Vec<CollectedPost>,
}

impl CollectedPost {
    /// Returns the first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl OtlpCollector {
    /// Starts one on a free port of 127.0.0.1 that answers the first deliveries with these statuses and the rest with 200.
    ///
    /// # Panics
    ///
    /// Panics if loopback has no port left, because then there is nothing to test with.
    #[expect(clippy::panic, reason = "a test without its server has nothing to go on with")]
    pub fn start(statuses: &[u16]) -> Self {
        let state = CollectorState { statuses: statuses.iter().copied().collect(), taken: Vec::new() };
        let taking = CollectorService { state: Mutex::new(state), arrival: Condvar::new() };
        match ListeningService::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), taking) {
            Ok(listening) => Self { listening },
            Err(error) => panic!("the collector does not start: {error}"),
        }
    }

    /// Returns its address, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.listening.address())
    }

    /// Returns what was delivered so far.
    pub fn deliveries(&self) -> Vec<CollectedPost> {
        lock(&self.listening.service().state).taken.clone()
    }

    /// Waits until what was delivered is enough, at most twenty seconds, and says whether it is.
    pub fn wait_for(&self, is_enough: impl Fn(&[CollectedPost]) -> bool) -> bool {
        let taking = self.listening.service();
        let waited = taking
            .arrival
            .wait_timeout_while(lock(&taking.state), LONGEST_WAIT, |state| !is_enough(&state.taken));
        is_enough(&waited.unwrap_or_else(PoisonError::into_inner).0.taken)
    }
}

impl HttpService for CollectorService {
    fn answer(&self, request: &HttpRequest, connection: &mut ServedConnection<'_>) -> io::Result<bool> {
        let status = {
            let mut state = lock(&self.state);
            let status = state.statuses.pop_front().unwrap_or(200);
            if state.taken.len() < MOST_DELIVERIES {
                state.taken.push(CollectedPost {
                    path: request.path.clone(),
                    headers: request.headers.clone(),
                    body: serde_json::from_slice(&request.body).unwrap_or_default(),
                    status,
                });
            }
            status
        };
        self.arrival.notify_all();
        connection.incoming.release()?;
        respond(status).send(connection.stream, request.keeps_alive)?;
        Ok(request.keeps_alive)
    }

    fn refuse(&self, status: u16, _: &str) -> ScriptedResponse {
        respond(status)
    }
}

fn respond(status: u16) -> ScriptedResponse {
    ScriptedResponse { status, content_type: "application/json", headers: Vec::new(), body: b"{}".to_vec() }
}
