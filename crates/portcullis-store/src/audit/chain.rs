//! The chain: how a decision becomes a line that follows from the one before it, and how lines are read and walked again.
//!
//! Wherever lines are kept, they are made and verified here. Their bytes must be kept as they are: the hash of a line is
//! that of its bytes.

use std::path::PathBuf;

use super::body::body;
use super::entry::Entry;
pub use super::line::{BEGINNING, MOST_LINE};
use super::line::{Header, make_id};
pub use super::verify::Walk;
use crate::error::StoreError;
use crate::hash::sha256;

/// A decision as it will be kept: secrets are blacked out, texts are cut. Making it is most of the work, and needs no lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    at_ms: u64,
    body: String,
}

/// A line of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedLine {
    /// The id of the record.
    pub id: String,
    /// The line without its end.
    pub bytes: Vec<u8>,
}

impl ChainedLine {
    /// Returns the hash that the next line names. Whoever writes one line alone needs none.
    pub fn hash(&self) -> String {
        sha256(&self.bytes)
    }
}

impl Prepared {
    /// Prepares a decision.
    pub fn new(entry: &Entry) -> Result<Self, StoreError> {
        let failed = |error: serde_json::Error| {
            StoreError::of_io("write", &PathBuf::from("audit trail"), &error.into())
        };
        Ok(Self { at_ms: entry.at_ms, body: body(entry).map_err(failed)? })
    }

    /// Returns when the decision was made, in unix milliseconds.
    pub const fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// Reads back what is kept of the decision, for whoever keeps parts of it beside the line.
    pub fn kept(&self) -> Option<Entry> {
        serde_json::from_str(&self.body).ok()
    }

    /// Makes the line with a number that follows a line with a hash; the first has number 1 and follows [`BEGINNING`].
    pub fn line(&self, number: u64, previous: &str) -> ChainedLine {
        self.line_after(number, previous, None)
    }

    /// Makes a line before which something stands that is no record and has a hash.
    pub(super) fn line_after(&self, number: u64, previous: &str, torn: Option<String>) -> ChainedLine {
        let id = make_id(self.at_ms, previous, number);
        let header = Header { n: number, id: id.clone(), prev: previous.to_owned(), torn, at_ms: self.at_ms };
        let bytes = header.line(&self.body);
        ChainedLine { id, bytes }
    }

    /// Returns how long the line will be at most.
    pub(super) fn most_bytes(&self) -> usize {
        self.body.len().saturating_add(super::line::HEADER_BYTES)
    }
}
