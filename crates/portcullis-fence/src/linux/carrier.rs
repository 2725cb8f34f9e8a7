//! The supervisor's part of the network: it answers for names, connects listed hosts on behalf of the command, carries
//! the bytes, and notes every host that was tried.
//!
//! INVARIANT: nothing leaves for a host that is not listed, not even the question for its address.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::set_socket_linger;

use super::doors::{NetworkSockets, receive};
use super::name_answer::{NameQuestion, not_understood};
use super::network_plan::{Door, NetworkPlan};
use crate::command::HostResolver;
use crate::host::{AttemptResult, HostAttempt, HostTarget};

/// How many connections are carried at a time.
const MOST_CONNECTIONS: usize = 512;

/// How many different hosts are noted.
const MOST_ATTEMPTS: usize = 1_000;

/// How long a host may take to answer at an address.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// The longest question that is read.
const LONGEST_QUESTION: usize = 4_096;

/// The hosts that were tried.
#[derive(Debug, Clone, Default)]
pub(super) struct AttemptLog(Arc<Mutex<BTreeMap<TriedHost, AttemptResult>>>);

/// A host and a port.
type TriedHost = (String, Option<u16>);

impl AttemptLog {
    /// Notes what came of an attempt; once reached is reached.
    fn note(&self, host: &str, port: Option<u16>, result: AttemptResult) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() < MOST_ATTEMPTS || log.contains_key(&(host.to_owned(), port)) {
            let noted = log.entry((host.to_owned(), port)).or_insert(result);
            if *noted != AttemptResult::Reached {
                *noted = result;
            }
        }
    }

    /// Returns what was noted.
    pub(super) fn attempts(&self) -> Vec<HostAttempt> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let attempt = |((host, port), result): (&TriedHost, &AttemptResult)| HostAttempt {
            host: host.clone(),
            port: *port,
            result: *result,
        };
        log.iter().map(attempt).collect()
    }
}

/// What carries connections.
#[derive(Debug)]
struct Carrier {
    plan: NetworkPlan,
    resolver: HostResolver,
    log: AttemptLog,
    connections: AtomicUsize,
}

/// Where the sockets of a network come from.
#[derive(Debug)]
pub(super) enum NetworkSource {
    /// The fence makes them, and hands them over.
    Fence(UnixStream),
    /// Another run of the session handed them over.
    Session(NetworkSockets),
}

/// Serves the network of a fence on a thread of its own, as soon as its sockets are there. Other runs of the session are
/// given them too.
pub(super) fn serve(
    source: NetworkSource,
    session: Option<UnixListener>,
    plan: NetworkPlan,
    resolver: HostResolver,
) -> io::Result<AttemptLog> {
    let log = AttemptLog::default();
    let carrier = Arc::new(Carrier { plan, resolver, log: log.clone(), connections: AtomicUsize::new(0) });
    Builder::new().spawn(move || {
        let sockets = match source {
            NetworkSource::Fence(fence) => receive(&fence),
            NetworkSource::Session(sockets) => Ok(sockets),
        };
        // A fence that did not go up has no network; without one it reaches nobody.
        if let Ok(sockets) = sockets {
            let _ = carrier.run(&sockets, session.as_ref());
        }
    })?;
    Ok(log)
}

/// Hands the network to another run of the session.
fn share(session: &UnixListener, sockets: &NetworkSockets) {
    if let Ok((stream, _)) = session.accept() {
        // Whoever went away again makes a network of its own.
        let _ = sockets.send(&stream);
    }
}

impl Carrier {
    fn run(self: &Arc<Self>, sockets: &NetworkSockets, session: Option<&UnixListener>) -> io::Result<()> {
        sockets.names.set_nonblocking(true)?;
        for door in &sockets.doors {
            door.set_nonblocking(true)?;
        }
        loop {
            let mut ready = vec![PollFd::new(&sockets.names, PollFlags::IN)];
            ready.extend(sockets.doors.iter().map(|door| PollFd::new(door, PollFlags::IN)));
            ready.extend(session.map(|session| PollFd::new(session, PollFlags::IN)));
            match poll(&mut ready, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_ready: Vec<bool> = ready.iter().map(|one| !one.revents().is_empty()).collect();
            let (names, doors) = is_ready.split_first().ok_or(io::ErrorKind::InvalidData)?;
            if *names {
                self.answer(&sockets.names);
            }
            if let (Some(session), Some(true)) = (session, doors.last()) {
                share(session, sockets);
            }
            for ((listener, door), _) in
                sockets.doors.iter().zip(&self.plan.doors).zip(doors).filter(|(_, is_ready)| **is_ready)
            {
                self.accept(listener, door);
            }
        }
    }

    /// Answers one question for a name. Whoever asks is inside, and asks again if something goes wrong.
    fn answer(&self, names: &UdpSocket) {
        let mut room = [0_u8; LONGEST_QUESTION];
        let Ok((length, who)) = names.recv_from(&mut room) else {
            return;
        };
        let message = room.get(..length).unwrap_or_default();
        let answer = NameQuestion::read(message).map(|asked| self.answer_for(&asked));
        if let Some(answer) = answer.or_else(|| not_understood(message)) {
            let _ = names.send_to(&answer, who);
        }
    }

    fn answer_for(&self, asked: &NameQuestion<'_>) -> Vec<u8> {
        if let Some(name) = &asked.name {
            if name.is_localhost() {
                return asked.address(std::net::Ipv4Addr::LOCALHOST);
            }
            if let Some(address) = self.plan.address_of(name) {
                return asked.address(address);
            }
        }
        if !asked.is_reverse() {
            let text = asked.name.as_ref().map_or(asked.text.as_str(), |name| name.as_str());
            self.log.note(text, None, AttemptResult::NotListed);
        }
        asked.no_such_name()
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener, door: &Door) {
        let Ok((inside, _)) = listener.accept() else {
            return;
        };
        let carrier = Arc::clone(self);
        let door = door.clone();
        if self.connections.fetch_add(1, Ordering::SeqCst) < MOST_CONNECTIONS {
            let thread = Builder::new().spawn(move || {
                carrier.carry(&inside, &door);
                carrier.connections.fetch_sub(1, Ordering::SeqCst);
            });
            if thread.is_ok() {
                return;
            }
        }
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    fn carry(&self, inside: &TcpStream, door: &Door) {
        let host = match &door.target {
            HostTarget::Name(name) => name.as_str().to_owned(),
            HostTarget::Address(address) => address.to_string(),
        };
        // Noted first: the command may end before the host has answered.
        self.log.note(&host, Some(door.port), AttemptResult::Unreachable);
        match self.connect(door) {
            Ok(outside) => {
                self.log.note(&host, Some(door.port), AttemptResult::Reached);
                pass_bytes(inside, &outside);
            }
            Err(result) => {
                self.log.note(&host, Some(door.port), result);
                // Whoever waits inside is told at once, by a reset and not by an empty answer.
                let _ = set_socket_linger(inside, Some(Duration::ZERO));
            }
        }
    }

    fn connect(&self, door: &Door) -> Result<TcpStream, AttemptResult> {
        let found = match &door.target {
            HostTarget::Address(address) => vec![IpAddr::V4(*address)],
            HostTarget::Name(name) => {
                self.resolver.resolve(name.as_str(), door.port).map_err(|_| AttemptResult::Unreachable)?
            }
        };
        let mut result = AttemptResult::Unreachable;
        for address in found {
            if !self.plan.may_lead_to(address, door.port) {
                result = AttemptResult::PrivateAddress;
                continue;
            }
            if let Ok(outside) =
                TcpStream::connect_timeout(&SocketAddr::new(address, door.port), CONNECT_PATIENCE)
            {
                return Ok(outside);
            }
        }
        Err(result)
    }
}

impl HostResolver {
    /// Looks a listed name up, outside the fence.
    fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<IpAddr>> {
        match self {
            Self::System => Ok((name, port).to_socket_addrs()?.map(|address| address.ip()).collect()),
            Self::Table(table) => {
                let found = table.iter().filter(|(known, _)| known == name);
                Ok(found.map(|(_, address)| *address).collect())
            }
        }
    }
}

/// Passes bytes both ways until both sides have said all.
fn pass_bytes(inside: &TcpStream, outside: &TcpStream) {
    std::thread::scope(|scope| {
        let up = Builder::new().spawn_scoped(scope, || pass(inside, outside));
        if up.is_ok() {
            pass(outside, inside);
        }
    });
}

/// Passes bytes one way; what fails ends both ways, as a broken line would.
fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    if io::copy(&mut from, &mut to).is_ok() {
        let _ = to.shutdown(Shutdown::Write);
    } else {
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
