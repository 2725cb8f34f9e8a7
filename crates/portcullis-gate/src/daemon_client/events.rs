//! Server-sent events, one by one.

use std::io::{BufRead, BufReader, Read};

use super::wire::{Body, lost};
use crate::Failure;

/// The longest line of an event, in bytes.
const LONGEST_LINE: u64 = 8 << 20;

/// Something the daemon told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerEvent {
    /// What it is: `decision`, `approval`, `skipped`.
    pub name: String,
    /// What it says, as JSON text.
    pub data: String,
}

/// What the daemon tells, until it ends.
#[derive(Debug)]
pub struct Events {
    lines: BufReader<Body>,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self { lines: BufReader::new(body) }
    }

    /// Reads the next event; `None` at the end. An event that is cut off is none.
    fn read(&mut self) -> Result<Option<ServerEvent>, Failure> {
        let mut event = ServerEvent::default();
        let mut has_data = false;
        loop {
            let mut line = Vec::new();
            let read = (&mut self.lines).take(LONGEST_LINE).read_until(b'\n', &mut line);
            read.map_err(|error| lost(&error))?;
            let Some(line) = line.strip_suffix(b"\n") else { return Ok(None) };
            let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
            if line.is_empty() {
                if !has_data {
                    event = ServerEvent::default();
                    continue;
                }
                if event.name.is_empty() {
                    event.name.push_str("message");
                }
                return Ok(Some(event));
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut event.name),
                "data" => {
                    if has_data {
                        event.data.push('\n');
                    }
                    event.data.push_str(value);
                    has_data = true;
                }
                // A comment, or what nobody here needs.
                _ => {}
            }
        }
    }
}

impl Iterator for Events {
    type Item = Result<ServerEvent, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
