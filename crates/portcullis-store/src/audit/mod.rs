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
//! writer left: the next writer ends it with a line break and names its hash in `torn`, so that such a rest is told from
//! a line that somebody added. A record is whatever line can be read as one, so that writers and readers agree even where
//! a writer was killed after its last byte but one.
//!
//! Nothing is flushed to the disk: a power cut may lose the last lines, and a kill of the process may not.
//!
//! What the chain proves: no line was changed, removed, added or moved between two lines that are kept. It cannot show
//! that the last lines were cut off or changed before the next was written; for that the index remembers the ends it has
//! seen, and a person can keep the head elsewhere. Whoever may write the files can make all of it anew, index included.

mod append;
mod body;
mod entry;
mod files;
pub mod index;
mod line;
mod read;
mod retention;
mod verify;

pub use entry::{Entry, FindingEntry, ModelEntry, RuleEntry, SuggestionEntry, TraceEntry};
pub use line::Record;
pub use read::{Position, Update};
pub use retention::Pruned;
pub use verify::{Break, Head, TornLine, Verification};

use crate::Store;

/// The audit trail of a user.
#[derive(Debug, Clone)]
pub struct Audit {
    store: Store,
}

impl Audit {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }
}
