//! Requests of HTTP/1.1 as they come in, bounded in every direction.
//!
//! The last byte of a request is looked at but left in the socket until [`Incoming::release`]: a socket that is closed
//! with unread bytes resets its connection, and that is the only way to do so with the standard library.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// The longest head of a request.
const LONGEST_HEAD: usize = 64 * 1024;

/// The largest body: what Anthropic takes.
pub(crate) const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// How much is taken from a socket at a time.
const PIECE: usize = 16 * 1024;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether another request may follow on the connection.
    pub(crate) keeps_alive: bool,
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The client has left, or is gone for so long that it may as well have.
    Gone,
    /// The request is wrong; the status says how.
    Wrong(u16, &'static str),
}

impl From<io::Error> for RequestError {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

const fn bad(message: &'static str) -> RequestError {
    RequestError::Wrong(400, message)
}

/// A connection that requests come in on.
#[derive(Debug)]
pub(crate) struct RequestReader {
    stream: TcpStream,
    /// Bytes that were looked at and count as read, but are still in the socket.
    held: usize,
}

/// How the body of a request is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyFraming {
    Length(usize),
    Chunked,
}

impl RequestReader {
    pub(crate) const fn new(stream: TcpStream) -> Self {
        Self { stream, held: 0 }
    }

    /// Takes what was only looked at.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        while self.held > 0 {
            self.stream.read_exact(&mut [0])?;
            self.held -= 1;
        }
        Ok(())
    }

    /// Reads the next request.
    pub(crate) fn read_request(&mut self) -> Result<HttpRequest, RequestError> {
        let mut left = LONGEST_HEAD;
        let mut first = self.read_line(&mut left)?;
        // Empty lines before a request are passed over.
        while first.is_empty() {
            first = self.read_line(&mut left)?;
        }
        let (method, path, is_old) = read_first_line(&first)?;
        let headers = self.read_headers(&mut left)?;
        let framing = read_framing(&headers)?;
        let find = |name: &str| find_header(&headers, name);
        if find("host").is_none() && !is_old {
            return Err(bad("the request has no host header"));
        }
        let wishes = find("connection").unwrap_or_default().to_ascii_lowercase();
        let keeps_alive = if is_old { wishes.contains("keep-alive") } else { !wishes.contains("close") };
        if let Some(expected) = find("expect") {
            if !expected.eq_ignore_ascii_case("100-continue") {
                return Err(RequestError::Wrong(417, "only 100-continue can be expected"));
            }
            if framing != BodyFraming::Length(0) {
                self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
        }
        let body = match framing {
            BodyFraming::Length(length) => self.read_bytes(length)?,
            BodyFraming::Chunked => self.read_chunks()?,
        };
        Ok(HttpRequest { method, path, headers, body, keeps_alive })
    }

    fn read_headers(&mut self, left: &mut usize) -> Result<Vec<(String, String)>, RequestError> {
        let mut headers = Vec::new();
        loop {
            let line = self.read_line(left)?;
            if line.is_empty() {
                return Ok(headers);
            }
            let line = String::from_utf8(line).map_err(|_| bad("a header is not UTF-8"))?;
            let (name, value) = line.split_once(':').ok_or(bad("a header has no colon"))?;
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_plain) {
                return Err(bad("a header has a name that is none"));
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Reads a line without its end. Its line feed stays in the socket until the next read.
    fn read_line(&mut self, left: &mut usize) -> Result<Vec<u8>, RequestError> {
        self.release()?;
        let mut line = Vec::new();
        let mut piece = [0; 1024];
        loop {
            let seen = self.stream.peek(&mut piece)?;
            if seen == 0 {
                return Err(RequestError::Gone);
            }
            let fresh = piece.get(..seen).unwrap_or_default();
            let end = fresh.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(seen);
            if taken >= *left {
                return Err(RequestError::Wrong(431, "the head of the request is too long"));
            }
            *left -= taken + usize::from(end.is_some());
            let mut own = vec![0; taken];
            self.stream.read_exact(&mut own)?;
            line.append(&mut own);
            if end.is_some() {
                self.held = 1;
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
        }
    }

    /// Reads so many bytes. The last one stays in the socket until the next read.
    fn read_bytes(&mut self, length: usize) -> Result<Vec<u8>, RequestError> {
        let Some(most) = length.checked_sub(1) else { return Ok(Vec::new()) };
        self.release()?;
        let mut body = Vec::new();
        let mut piece = vec![0; PIECE];
        while body.len() < most {
            let wanted = (most - body.len()).min(PIECE);
            let got = self.stream.read(piece.get_mut(..wanted).unwrap_or_default())?;
            if got == 0 {
                return Err(RequestError::Gone);
            }
            body.extend_from_slice(piece.get(..got).unwrap_or_default());
        }
        let mut last = [0];
        if self.stream.peek(&mut last)? == 0 {
            return Err(RequestError::Gone);
        }
        self.held = 1;
        body.extend_from_slice(&last);
        Ok(body)
    }

    fn read_chunks(&mut self) -> Result<Vec<u8>, RequestError> {
        let mut body = Vec::new();
        // Each chunk has a head, so their heads are bounded together.
        let mut left = LARGEST_BODY;
        loop {
            let head = self.read_line(&mut left.min(1024))?;
            left = left.checked_sub(head.len() + 4).ok_or(RequestError::Wrong(413, "too many chunks"))?;
            let size = read_chunk_size(&head).ok_or(bad("a chunk has no size"))?;
            if size == 0 {
                break;
            }
            if size > LARGEST_BODY - body.len() {
                return Err(RequestError::Wrong(413, "the body is larger than 32 MiB"));
            }
            body.append(&mut self.read_bytes(size)?);
            if !self.read_line(&mut 1024)?.is_empty() {
                return Err(bad("a chunk is longer than it says"));
            }
        }
        let mut left = LONGEST_HEAD;
        while !self.read_line(&mut left)?.is_empty() {}
        Ok(body)
    }
}

/// Finds a header.
pub(crate) fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn read_first_line(line: &[u8]) -> Result<(String, String, bool), RequestError> {
    let line = str::from_utf8(line).map_err(|_| bad("the first line is not UTF-8"))?;
    let mut words = line.split(' ');
    let (Some(method), Some(path), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("the first line is not a method, a path and a version"));
    };
    let is_old = match version {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        _ => return Err(bad("the version is neither HTTP/1.0 nor HTTP/1.1")),
    };
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(bad("the method is none"));
    }
    if !path.starts_with('/') || path.contains(char::is_control) {
        return Err(bad("the path does not begin with a slash"));
    }
    Ok((method.to_owned(), path.to_owned(), is_old))
}

/// Says how the body is measured. Two measures are one too many.
fn read_framing(headers: &[(String, String)]) -> Result<BodyFraming, RequestError> {
    let all = |name: &str| {
        let values = headers.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str());
        values.collect::<Vec<_>>()
    };
    match (all("content-length").as_slice(), all("transfer-encoding").as_slice()) {
        ([], []) => Ok(BodyFraming::Length(0)),
        ([length], []) => {
            if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(bad("the content length is not a number"));
            }
            let too_large = RequestError::Wrong(413, "the body is larger than 32 MiB");
            match length.parse::<usize>() {
                Ok(length) if length <= LARGEST_BODY => Ok(BodyFraming::Length(length)),
                _ => Err(too_large),
            }
        }
        ([], [encoding]) if encoding.eq_ignore_ascii_case("chunked") => Ok(BodyFraming::Chunked),
        ([], _) => Err(RequestError::Wrong(501, "only chunked is a transfer encoding here")),
        _ => Err(bad("the body has two lengths")),
    }
}

fn read_chunk_size(head: &[u8]) -> Option<usize> {
    let head = str::from_utf8(head).ok()?;
    let digits = head.split_once(';').map_or(head, |(digits, _)| digits).trim();
    let is_hex =
        !digits.is_empty() && digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    usize::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}
