//! A server of bytes: each connection follows a script and knows nothing of HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What a connection does next.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Reads a request with its body.
    Read,
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes one at a time.
    Drip(Vec<u8>, Duration),
    /// Sends the same bytes until the other side has enough.
    Endless(Vec<u8>),
    /// Waits until there is something to read, and leaves it unread: closing then resets the connection.
    LeaveUnread,
    /// Waits a while.
    Pause(Duration),
    /// Waits until the other side closes, and tells so.
    Hold,
}

/// A server on this machine.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    arrivals: Receiver<()>,
    closings: Receiver<()>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// Starts a server whose first connection follows the first script, and so on. Further ones are closed at once.
    pub(crate) fn start(scripts: Vec<Vec<Act>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(Mutex::new(0));
        let (arrived, arrivals) = mpsc::channel();
        let (closed, closings) = mpsc::channel();
        let (kept, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        thread::spawn(move || {
            let mut scripts = scripts.into_iter();
            for stream in listener.incoming() {
                *counted.lock().unwrap() += 1;
                let (Ok(stream), Some(script)) = (stream, scripts.next()) else {
                    continue;
                };
                let play =
                    Play { requests: Arc::clone(&kept), arrived: arrived.clone(), closed: closed.clone() };
                thread::spawn(move || play.run(stream, script));
            }
        });
        Server { address, requests, arrivals, closings, connections }
    }

    /// Starts a server of a single answer.
    pub(crate) fn answering(bytes: impl AsRef<[u8]>) -> Server {
        Server::start(vec![vec![Act::Read, Act::Send(bytes.as_ref().to_vec())]])
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the requests read so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns how many connections were made so far.
    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// Waits until a request was read.
    pub(crate) fn wait_for_request(&self) {
        self.arrivals.recv_timeout(Duration::from_secs(30)).expect("a request arrives");
    }

    /// Waits until the other side has closed a connection that is held.
    pub(crate) fn wait_for_closing(&self) {
        self.closings.recv_timeout(Duration::from_secs(30)).expect("the connection is closed");
    }
}

struct Play {
    requests: Arc<Mutex<Vec<String>>>,
    arrived: Sender<()>,
    closed: Sender<()>,
}

impl Play {
    fn run(&self, mut stream: TcpStream, script: Vec<Act>) {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        for act in script {
            let is_done = match act {
                Act::Read => self.read(&mut stream),
                Act::Send(bytes) => stream.write_all(&bytes).is_ok(),
                Act::Drip(bytes, every) => bytes.iter().all(|byte| {
                    thread::sleep(every);
                    stream.write_all(&[*byte]).is_ok()
                }),
                Act::Endless(bytes) => {
                    while stream.write_all(&bytes).is_ok() {}
                    let _ = self.closed.send(());
                    false
                }
                Act::LeaveUnread => stream.peek(&mut [0]).is_ok(),
                Act::Pause(time) => {
                    thread::sleep(time);
                    true
                }
                Act::Hold => {
                    while matches!(stream.read(&mut [0; 1024]), Ok(length) if length > 0) {}
                    let _ = self.closed.send(());
                    true
                }
            };
            if !is_done {
                return;
            }
        }
    }

    fn read(&self, stream: &mut TcpStream) -> bool {
        let Some(request) = read_request(stream) else {
            return false;
        };
        self.requests.lock().unwrap().push(request);
        let _ = self.arrived.send(());
        true
    }
}

/// Reads one request with as much body as it announces.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).ok()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).ok()?)
}

/// Returns a response with a body of JSON.
pub(crate) fn response(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// Returns a base URL nobody listens at: the port is not one that tests, or anybody today, would be given.
pub(crate) fn deserted() -> String {
    "http://127.0.0.1:1".to_owned()
}
