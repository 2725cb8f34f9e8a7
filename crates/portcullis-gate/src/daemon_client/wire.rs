//! HTTP/1.1 as a daemon of ours speaks it: a status, headers, and a body that is measured, cut into chunks, or ends with
//! the connection. Everything has a limit, and what does not fit is a failure.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Failure, FailureKind};

/// The longest head of an answer, in bytes.
const LONGEST_HEAD: u64 = 64 << 10;
/// The longest body of an answer, in bytes.
const LONGEST_BODY: u64 = 64 << 20;

/// What the daemon said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns a header, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Reads the body as JSON.
    pub fn value(&self) -> Result<Value, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Failure::internal(format!("the daemon said something that is not JSON: {error}"))
        })
    }

    /// Reads the body of a success as JSON; a refusal becomes the failure it tells.
    pub fn success(&self) -> Result<Value, Failure> {
        match self.failure() {
            Some(failure) => Err(failure),
            None => self.value(),
        }
    }

    /// Returns the failure that a refusal tells; `None` if it is none.
    pub fn failure(&self) -> Option<Failure> {
        if (200..300).contains(&self.status) {
            return None;
        }
        let told = self.value().unwrap_or_default();
        let text = |name: &str| told.pointer(&format!("/error/{name}")).and_then(Value::as_str);
        let message = text("message")
            .map_or_else(|| format!("the daemon answered with status {}", self.status), str::to_owned);
        let is_callers = (400..500).contains(&self.status);
        let kind = if is_callers { FailureKind::Usage } else { FailureKind::Internal };
        Some(Failure { kind, message, hint: text("hint").map(str::to_owned) })
    }
}

/// The head of an answer.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
}

/// How the end of a body is known.
#[derive(Debug)]
enum Framing {
    Length(u64),
    /// What is left of the chunk; before the first and after the last there is nothing.
    Chunked {
        left: u64,
        is_first: bool,
        is_over: bool,
    },
    Close,
}

/// The body of an answer, read as it comes.
#[derive(Debug)]
pub(super) struct Body {
    stream: BufReader<Timed>,
    framing: Framing,
}

/// A stream that is read until a time and no longer.
#[derive(Debug)]
struct Timed {
    stream: UnixStream,
    deadline: Option<Instant>,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            // A time of nothing would mean no limit.
            if left < Duration::from_millis(1) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
        }
        self.stream.read(buffer)
    }
}

/// Makes the failure of a connection that did not hold.
pub(super) fn lost(error: &io::Error) -> Failure {
    let detail = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "it took too long".to_owned(),
        io::ErrorKind::UnexpectedEof => "it ended in the middle of its answer".to_owned(),
        io::ErrorKind::InvalidData => "it said something that is no answer".to_owned(),
        _ => error.to_string().to_lowercase(),
    };
    Failure::internal(format!("the daemon could not be asked: {detail}"))
}

/// Reads the head of an answer, and says how its body is to be read.
pub(super) fn begin(stream: UnixStream, deadline: Instant) -> Result<(Head, Body), Failure> {
    let mut stream = BufReader::new(Timed { stream, deadline: Some(deadline) });
    let head = read_head(&mut stream).map_err(|error| lost(&error))?;
    let header =
        |name: &str| head.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    let framing = match (header("transfer-encoding"), header("content-length")) {
        (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => {
            Framing::Chunked { left: 0, is_first: true, is_over: false }
        }
        (Some(_), _) => return Err(lost(&io::ErrorKind::InvalidData.into())),
        (None, Some(length)) => {
            let length = length.parse().ok().filter(|length| *length <= LONGEST_BODY);
            Framing::Length(length.ok_or_else(|| lost(&io::ErrorKind::InvalidData.into()))?)
        }
        (None, None) => Framing::Close,
    };
    Ok((head, Body { stream, framing }))
}

/// Reads the whole body of an answer.
pub(super) fn finish(head: Head, body: Body) -> Result<Response, Failure> {
    let mut bytes = Vec::new();
    let read = body.take(LONGEST_BODY + 1).read_to_end(&mut bytes);
    read.map_err(|error| lost(&error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LONGEST_BODY {
        return Err(Failure::internal("the daemon's answer is too long"));
    }
    Ok(Response { status: head.status, headers: head.headers, body: bytes })
}

fn read_head(stream: &mut BufReader<Timed>) -> io::Result<Head> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut limited = stream.take(LONGEST_HEAD);
    let mut next = || {
        let mut line = Vec::new();
        limited.read_until(b'\n', &mut line)?;
        let line = String::from_utf8(line).map_err(|_| invalid())?;
        // One that does not end is torn, or too long.
        let line = line.strip_suffix('\n').ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok::<String, io::Error>(line.strip_suffix('\r').unwrap_or(line).to_owned())
    };
    let first = next()?;
    let mut words = first.splitn(3, ' ');
    let (version, status) = (words.next(), words.next());
    if !version.is_some_and(|version| version.starts_with("HTTP/1.")) {
        return Err(invalid());
    }
    let status = status.and_then(|status| status.parse().ok()).ok_or_else(invalid)?;
    let mut headers = Vec::new();
    loop {
        let line = next()?;
        if line.is_empty() {
            return Ok(Head { status, headers });
        }
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
}

impl Body {
    /// Lets it be read for as long as it comes.
    pub(super) fn without_deadline(mut self) -> Result<Self, Failure> {
        let timed = self.stream.get_mut();
        timed.deadline = None;
        timed.stream.set_read_timeout(None).map_err(|error| lost(&error))?;
        Ok(self)
    }

    /// Reads the size of the next chunk.
    fn next_chunk(&mut self, is_first: bool) -> io::Result<u64> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let mut line = || {
            let mut line = Vec::new();
            (&mut self.stream).take(1024).read_until(b'\n', &mut line)?;
            let line = String::from_utf8(line).map_err(|_| invalid())?;
            let line = line.strip_suffix('\n').ok_or(io::ErrorKind::UnexpectedEof)?;
            Ok::<String, io::Error>(line.trim_end().to_owned())
        };
        // Every chunk but the first comes after the line break of the one before it.
        if !is_first && !line()?.is_empty() {
            return Err(invalid());
        }
        let size = line()?;
        let size = size.split_once(';').map_or(size.as_str(), |(size, _)| size).trim();
        u64::from_str_radix(size, 16).map_err(|_| invalid())
    }

    fn read_some(&mut self, buffer: &mut [u8], left: u64) -> io::Result<usize> {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        match self.stream.read(buffer)? {
            0 if most > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        match self.framing {
            Framing::Close => self.stream.read(buffer),
            Framing::Length(left) => {
                let length = self.read_some(buffer, left)?;
                self.framing = Framing::Length(left.saturating_sub(taken(length)));
                Ok(length)
            }
            Framing::Chunked { is_over: true, .. } => Ok(0),
            Framing::Chunked { left: 0, is_first, .. } => {
                let left = self.next_chunk(is_first)?;
                self.framing = Framing::Chunked { left, is_first: false, is_over: left == 0 };
                self.read(buffer)
            }
            Framing::Chunked { left, .. } => {
                let length = self.read_some(buffer, left)?;
                let left = left.saturating_sub(taken(length));
                self.framing = Framing::Chunked { left, is_first: false, is_over: false };
                Ok(length)
            }
        }
    }
}
