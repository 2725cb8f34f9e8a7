//! The audit trail: one line for every decision, each with the hash of the one before it.
//!
//! ```text
//! audit/                    0700, made with the first decision
//!   lock                    held while a line is added or a file put aside
//!   current.jsonl           where lines are added
//!   000001.jsonl …          full files, never changed again
//!   anchor.json             where the chain begins once old files were removed
//!   index.db, index.lock    what readers look things up in; made of the files, and can be made again
//! ```
//!
//! A line is `{"n":7,"id":"…","prev":"…",…}`: its number, its id, the SHA-256 of the line before it, then the entry. The
//! chain spans the files, and its first line has 64 zeros. What is between two records and is no record is what a killed
//! writer left: the next writer ends it with a line break and names its hash in `torn`. Such a rest is the beginning of the
//! next record, cut short; any other line is forged, whatever names it. A record is whatever line can be read as one, so that writers and readers agree even where
//! a writer was killed after its last byte but one.
//!
//! Nothing is flushed to the disk: a power cut may lose the last lines, and a kill of the process may not.
//!
//! What the chain proves: no line was changed, removed, added or moved between two lines that are kept. It cannot show
//! that the last lines were cut off or changed before the next was written; for that the index remembers the ends it has
//! seen, and a person can keep the head elsewhere. Whoever may write the files can make all of it anew, index included.

mod append;
mod body;
pub mod chain;
mod entry;
mod files;
pub mod index;
mod line;
mod moved_words;
mod read;
mod retention;
mod verify;

pub(crate) use body::kept;
pub use entry::{
    EffectEntry, Entry, FindingEntry, JudgeEntry, ModelEntry, OriginEntry, RuleEntry, SpanEntry,
    SuggestionEntry, TraceEntry,
};
pub use line::{Record, number_of_id};
pub use read::{Position, Update};
pub use retention::Pruned;
pub use verify::{Break, Head, TornLine, Verification};

use std::path::PathBuf;
use std::time::Duration;

use crate::Store;
use crate::error::StoreError;
use index::{Filter, Found, LatencyBin, SeenSession, Slot, Totals};

/// The audit trail of a user or, where the store is shared, of a fleet.
#[derive(Debug, Clone)]
pub struct Audit {
    store: Store,
}

impl Audit {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Appends a decision and returns its id. If there is an error, nothing was appended.
    pub fn append(&self, entry: &Entry) -> Result<String, StoreError> {
        let ids = self.append_all(std::slice::from_ref(entry))?;
        Ok(ids.into_iter().next().unwrap_or_default())
    }

    /// Appends decisions in order, all of them or none, and returns their ids.
    pub fn append_all(&self, entries: &[Entry]) -> Result<Vec<String>, StoreError> {
        self.store.backend().append(entries)
    }

    /// Returns where the trail ends now, to begin there with [`Self::read_after`].
    pub fn end(&self) -> Result<Position, StoreError> {
        self.store.backend().trail_end()
    }

    /// Reads what came after a place, but no more than so many records.
    pub fn read_after(&self, position: Position, most: usize) -> Result<Update, StoreError> {
        self.store.backend().trail_after(position, most)
    }

    /// Walks the whole trail. `seen` are ends it had before, and `expected` is a hash that must be in it.
    pub fn verify(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError> {
        self.store.backend().verify_trail(seen, expected)
    }

    /// Returns the ends that the trail had when it was looked at before, as far as they are remembered.
    pub fn seen_heads(&self) -> Result<Vec<Head>, StoreError> {
        self.store.backend().seen_heads()
    }

    /// Returns the end of the trail without walking it; `None` if there is no record.
    pub fn head(&self) -> Result<Option<Head>, StoreError> {
        self.store.backend().trail_head()
    }

    /// Removes what is older than `age_ms`, now or a day after the last record of all, whichever comes first; with
    /// `is_trial` it only says what.
    pub fn prune(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError> {
        self.store.backend().prune_trail(age_ms, now_ms, is_trial)
    }

    /// Returns the newest records that have what is wanted, the newest first.
    pub fn find(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError> {
        self.store.backend().find(filter, most)
    }

    /// Returns how many records have what is wanted.
    pub fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        self.store.backend().count(filter)
    }

    /// Returns the record with this id, or with an id that begins so.
    pub fn get(&self, id: &str) -> Result<Found, StoreError> {
        self.store.backend().get(id)
    }

    /// Adds up the records that have what is wanted; `most` is how many of the most frequent ones are told.
    pub fn totals(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError> {
        self.store.backend().totals(filter, most)
    }

    /// Counts the records that have what is wanted in slots of time, the oldest first; empty slots are left out.
    pub fn timeline(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError> {
        self.store.backend().timeline(filter, slot_ms)
    }

    /// Counts how long the decisions that have what is wanted took, in bins that double; empty bins are left out.
    pub fn latencies(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError> {
        self.store.backend().latencies(filter)
    }

    /// Lists the sessions of the records that have what is wanted, the latest first.
    pub fn seen_sessions(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError> {
        self.store.backend().seen_sessions(filter, most)
    }
}

/// The trail as files in the state directory of a user.
#[derive(Debug, Clone)]
pub(crate) struct Trail {
    root: PathBuf,
    patience: Duration,
}

impl Trail {
    /// Names the state directory. Nothing is read or made yet.
    pub(crate) const fn new(root: PathBuf, patience: Duration) -> Self {
        Self { root, patience }
    }
}
