//! The index: where records are found by what is in them, and what they add up to.
//!
//! Only those who read open it, never a hook. It is made of the files of the trail and can be made of them again at any
//! time, but for one thing: the ends of the trail that it has seen, which give away a trail that was cut or made anew.

mod charts;
mod find;
mod ingest;
mod open;
mod row;
mod totals;

pub use find::{Filter, Found};
pub use row::{ASKED_AGAIN, Measures};
pub use totals::{Asked, Cost, Counted, Day, Denied, Latency, LatencyBin, SeenSession, Slot, Totals};

use std::path::PathBuf;

use rusqlite::Connection;

use super::Trail;
use crate::disk::FileIdentity;
use crate::error::StoreError;
use crate::sqlite::failed;

/// The index of a trail, up to date when it was opened.
#[derive(Debug)]
pub(crate) struct Index {
    trail: Trail,
    connection: Connection,
    /// The file it belongs to.
    identity: FileIdentity,
}

impl Index {
    fn path(&self) -> PathBuf {
        self.trail.file("index.db")
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        failed(&self.path(), error)
    }
}
