//! How a response reaches the client: whole, or in one of the ways that go wrong.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::script::ServerFault;

/// The longest time a client may go on sending after it was told that its request is wrong.
const LONGEST_DRAIN: Duration = Duration::from_secs(2);

/// How often a silent connection looks whether its client has left.
const LOOK: Duration = Duration::from_millis(20);

/// A response, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptedResponse {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl ScriptedResponse {
    /// Writes the head. Without a length the body comes in chunks.
    fn head(&self, length: Option<u64>, keeps_alive: bool) -> Vec<u8> {
        let mut lines = vec![format!("HTTP/1.1 {} {}", self.status, reason(self.status))];
        let has_type = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !has_type {
            lines.push(format!("content-type: {}", self.content_type));
        }
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.push(match length {
            Some(length) => format!("content-length: {length}"),
            None => "transfer-encoding: chunked".to_owned(),
        });
        lines.push(format!("connection: {}\r\n\r\n", if keeps_alive { "keep-alive" } else { "close" }));
        lines.join("\r\n").into_bytes()
    }

    /// Sends it whole.
    pub(crate) fn send(&self, stream: &mut TcpStream, keeps_alive: bool) -> io::Result<()> {
        let mut bytes = self.head(Some(length_of(&self.body)), keeps_alive);
        bytes.extend_from_slice(&self.body);
        stream.write_all(&bytes)
    }
}

fn length_of(body: &[u8]) -> u64 {
    u64::try_from(body.len()).unwrap_or(u64::MAX)
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    }
}

/// Whether the server is to end, for those who wait.
#[derive(Debug, Default)]
pub(crate) struct ShutdownSignal {
    is_over: Mutex<bool>,
    bell: Condvar,
}

impl ShutdownSignal {
    pub(crate) fn announce(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, and says whether the server is to end.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let guard = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(guard, time, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Sends a response the way a fault has it. The connection is of no use afterwards.
pub(crate) fn misbehave(
    stream: &mut TcpStream,
    response: &ScriptedResponse,
    fault: ServerFault,
    ending: &ShutdownSignal,
) -> io::Result<()> {
    match fault {
        // The caller closes: with a byte unread for the reset, without for the other.
        ServerFault::Close | ServerFault::Reset => Ok(()),
        ServerFault::Silent => {
            keep_silent(stream, ending);
            Ok(())
        }
        ServerFault::HeadersThenSilent => {
            stream.write_all(&response.head(Some(length_of(&response.body)), true))?;
            keep_silent(stream, ending);
            Ok(())
        }
        ServerFault::SlowDrip { every } => {
            stream.write_all(&response.head(Some(length_of(&response.body)), false))?;
            for byte in &response.body {
                if ending.wait(every) {
                    return Ok(());
                }
                stream.write_all(&[*byte])?;
            }
            Ok(())
        }
        ServerFault::TruncatedJson => {
            let half = response.body.get(..response.body.len() / 2).unwrap_or_default().to_vec();
            ScriptedResponse { body: half, ..response.clone() }.send(stream, false)
        }
        ServerFault::WrongContentType => {
            ScriptedResponse { content_type: "text/html; charset=utf-8", ..response.clone() }
                .send(stream, false)
        }
        ServerFault::HugeBody { bytes: Some(bytes) } => send_padded(stream, response, bytes, ending),
        ServerFault::HugeBody { bytes: None } => send_without_end(stream, response, ending),
        ServerFault::Garbage => {
            stream.write_all(b"\x00\xff\xfe not a response \x07\r\n\r\n<block>no</block>\r\n")
        }
        ServerFault::EmptyBody => {
            ScriptedResponse { body: Vec::new(), ..response.clone() }.send(stream, false)
        }
        ServerFault::TwoVerdicts | ServerFault::VerdictInThinking => response.send(stream, false),
    }
}

fn send_padded(
    stream: &mut TcpStream,
    response: &ScriptedResponse,
    bytes: u64,
    ending: &ShutdownSignal,
) -> io::Result<()> {
    let own = length_of(&response.body);
    let mut left = bytes.saturating_sub(own);
    stream.write_all(&response.head(Some(own.saturating_add(left)), false))?;
    stream.write_all(&response.body)?;
    let spaces = [b' '; 16 * 1024];
    while left > 0 && !ending.is_over() {
        let piece = spaces.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(&spaces);
        stream.write_all(piece)?;
        left -= length_of(piece);
    }
    Ok(())
}

fn send_without_end(
    stream: &mut TcpStream,
    response: &ScriptedResponse,
    ending: &ShutdownSignal,
) -> io::Result<()> {
    stream.write_all(&response.head(None, false))?;
    let chunk = |bytes: &[u8]| {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        chunk
    };
    stream.write_all(&chunk(&response.body))?;
    let spaces = chunk(&[b' '; 16 * 1024]);
    while !ending.is_over() {
        stream.write_all(&spaces)?;
    }
    Ok(())
}

/// Says nothing until the client leaves or the server ends.
fn keep_silent(stream: &TcpStream, ending: &ShutdownSignal) {
    if stream.set_read_timeout(Some(LOOK)).is_err() {
        return;
    }
    while !ending.is_over() {
        match stream.peek(&mut [0]) {
            Ok(0) => return,
            // It talks on; nobody listens.
            Ok(_) => {
                ending.wait(LOOK);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}

/// Waits before an answer, and says whether it is still wanted.
pub(crate) fn wait_before(time: Duration, ending: &ShutdownSignal) -> bool {
    time.is_zero() || !ending.wait(time)
}

/// Reads off what a client still sends, for a while: closing at once would reset the connection, and the client would
/// lose what it was told.
pub(crate) fn drain(stream: &mut TcpStream, ending: &ShutdownSignal) {
    let start = Instant::now();
    if stream.shutdown(Shutdown::Write).is_err() || stream.set_read_timeout(Some(LOOK)).is_err() {
        return;
    }
    let mut piece = [0; 16 * 1024];
    while start.elapsed() < LONGEST_DRAIN && !ending.is_over() {
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}
