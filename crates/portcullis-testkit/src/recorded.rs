//! What requests came: kept in order, bounded, and written to a file if one is given.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::time::Instant;

use serde_json::{Value, json};

use crate::http::{HttpRequest, find_header};
use crate::wire::{ModelRequest, WireProtocol};

/// How many requests are kept.
const MOST_REQUESTS: usize = 10_000;

/// How many bytes of bodies are kept.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Headers that hold keys.
const SECRETS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// Its place in the order of arrival, from 0.
    pub number: usize,
    /// When it had arrived whole.
    pub arrived: Instant,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, decoded if it was chunked.
    pub body: Vec<u8>,
    /// The body as JSON, if it is.
    pub json: Option<Value>,
}

impl RecordedRequest {
    /// Returns the value of a header; the case of its name does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    /// Returns the wire the path belongs to.
    pub fn wire(&self) -> Option<WireProtocol> {
        WireProtocol::of_path(&self.path)
    }

    /// Returns what the request asks for, if its path is known and its body is JSON.
    pub fn inquiry(&self) -> Option<ModelRequest> {
        Some(ModelRequest::read(self.wire()?, &self.path, self.json.as_ref()?))
    }

    /// Writes it as a line of JSON, without keys.
    fn line(&self) -> String {
        let headers: Vec<(&str, String)> = self
            .headers
            .iter()
            .map(|(name, value)| {
                let is_secret = SECRETS.contains(&name.as_str());
                let shown = if is_secret { "(left out)".to_owned() } else { value.clone() };
                (name.as_str(), shown)
            })
            .collect();
        let body = match &self.json {
            Some(json) => json.clone(),
            None => json!(String::from_utf8_lossy(&self.body)),
        };
        let path = self.path.split_once('?').map_or(self.path.as_str(), |(path, _)| path);
        let line = json!({
            "number": self.number,
            "method": self.method,
            "path": path,
            "headers": headers,
            "body": body,
        });
        format!("{line}\n")
    }
}

/// All requests so far.
pub(crate) struct RequestLog {
    kept: VecDeque<RecordedRequest>,
    bytes: usize,
    arrived: usize,
    file: Option<Box<dyn Write + Send>>,
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RequestLog");
        out.field("arrived", &self.arrived).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl RequestLog {
    pub(crate) fn new(file: Option<Box<dyn Write + Send>>) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, arrived: 0, file }
    }

    /// Adds a request and returns it with its number.
    pub(crate) fn add(&mut self, request: &HttpRequest) -> RecordedRequest {
        let recorded = RecordedRequest {
            number: self.arrived,
            arrived: Instant::now(),
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            json: serde_json::from_slice(&request.body).ok(),
        };
        self.arrived += 1;
        self.bytes += recorded.body.len();
        self.kept.push_back(recorded.clone());
        while self.kept.len() > MOST_REQUESTS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.body.len();
        }
        recorded
    }

    /// Writes a request to the file, if there is one.
    pub(crate) fn write(&mut self, recorded: &RecordedRequest) -> io::Result<()> {
        match &mut self.file {
            None => Ok(()),
            Some(file) => {
                file.write_all(recorded.line().as_bytes())?;
                file.flush()
            }
        }
    }

    pub(crate) const fn arrived(&self) -> usize {
        self.arrived
    }

    pub(crate) fn kept(&self) -> Vec<RecordedRequest> {
        self.kept.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_the_latest_requests_are_kept_but_all_are_counted() {
        let mut log = RequestLog::new(None);
        let request = HttpRequest {
            method: "POST".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: b"{}".to_vec(),
            keeps_alive: true,
        };
        for _ in 0..MOST_REQUESTS + 3 {
            log.add(&request);
        }
        assert_eq!((log.arrived(), log.kept().len()), (MOST_REQUESTS + 3, MOST_REQUESTS));
        assert_eq!(log.kept()[0].number, 3);
    }

    #[test]
    fn a_line_of_the_record_has_no_key_in_it() {
        let recorded = RecordedRequest {
            number: 0,
            arrived: Instant::now(),
            method: "POST".into(),
            path: "/v1/messages?key=secret-1".into(),
            headers: vec![("x-api-key".into(), "secret-2".into()), ("host".into(), "h".into())],
            body: b"{\"a\":1}".to_vec(),
            json: Some(json!({"a": 1})),
        };
        let line = recorded.line();
        assert!(!line.contains("secret"), "{line}");
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["headers"], json!([["x-api-key", "(left out)"], ["host", "h"]]));
        assert_eq!(read["body"], json!({"a": 1}));
    }
}
