//! What a store is made of, whoever keeps it: documents, the audit trail, approvals, policies.
//!
//! Files with `SQLite` are one backend, for a machine of one's own; PostgreSQL is another, for many daemons. Everything that
//! gives these things a meaning (which denial counts, which grant holds, what a line of the trail says) stands above this
//! trait and is written once.
//!
//! INVARIANT: an error changes nothing. What a method returned `Ok` for outlives the process, however it ends.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Display};
use std::path::PathBuf;

use crate::StoreError;
use crate::approvals::{AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, NewApprovalRequest};
use crate::audit::index::{Filter, Found, LatencyBin, SeenSession, Slot, Totals};
use crate::audit::{Entry, Head, Position, Pruned, Record, Update, Verification};
use crate::policy::{PolicyVersion, SignedPolicy};

/// A small document that is replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentKey {
    /// The denials and approvals of a session, by its name.
    Session(String),
    /// The facts of a session, by its name.
    Facts(String),
    /// What a person granted for a while.
    Grants,
}

impl Display for DocumentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(name) => write!(formatter, "session {name}"),
            Self::Facts(name) => write!(formatter, "facts of session {name}"),
            Self::Grants => formatter.write_str("grants"),
        }
    }
}

/// What becomes of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentChange {
    /// It stays as it is.
    Keep,
    /// This stands in its place.
    Write(Vec<u8>),
    /// It goes.
    Remove,
}

/// Changes a document: given what stands there, says what becomes of it.
pub type DocumentUpdate<'a> = &'a mut dyn FnMut(Option<Vec<u8>>) -> Result<DocumentChange, StoreError>;

/// Changes a document and returns what that led to.
pub(crate) fn change_with<T>(
    backend: &dyn StoreBackend,
    key: &DocumentKey,
    most: u64,
    mut changing: impl FnMut(Option<Vec<u8>>) -> Result<(DocumentChange, T), StoreError>,
) -> Result<T, StoreError> {
    let mut outcome = None;
    backend.change(key, most, &mut |bytes| {
        let (change, value) = changing(bytes)?;
        outcome = Some(value);
        Ok(change)
    })?;
    outcome.ok_or_else(|| StoreError::broken(&backend.document_place(key), "nobody looked at it"))
}

/// Where everything that outlives a process is kept.
pub trait StoreBackend: Debug + Send + Sync {
    /// Reads a document of at most `most` bytes without waiting for anybody who changes it; `None` if there is none.
    fn read(&self, key: &DocumentKey, most: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Changes a document while nobody else does. A session and its facts are changed one at a time. Where a try is lost
    /// to somebody else, `changing` is called again with what stands there by then.
    fn change(&self, key: &DocumentKey, most: u64, changing: DocumentUpdate<'_>) -> Result<(), StoreError>;

    /// Lists the names of the sessions that a document is kept of, in order.
    fn session_names(&self) -> Result<BTreeSet<String>, StoreError>;

    /// Removes a session with its facts if `is_old` says so of both documents while nobody changes them. Says whether
    /// there was one to remove.
    fn forget_session(&self, name: &str, is_old: SessionExpiry<'_>) -> Result<bool, StoreError>;

    /// Appends decisions in order, all of them or none, and returns their ids.
    fn append(&self, entries: &[Entry]) -> Result<Vec<String>, StoreError>;

    /// Returns where the trail ends now.
    fn trail_end(&self) -> Result<Position, StoreError>;

    /// Reads what came after a place, but no more than so many records.
    fn trail_after(&self, position: Position, most: usize) -> Result<Update, StoreError>;

    /// Walks the whole trail. `seen` are ends it had before, and `expected` is a hash that must be in it.
    fn verify_trail(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError>;

    /// Returns the ends that the trail had when it was looked at before, as far as they are remembered.
    fn seen_heads(&self) -> Result<Vec<Head>, StoreError>;

    /// Returns the last record of the trail.
    fn trail_head(&self) -> Result<Option<Head>, StoreError>;

    /// Removes what is older than `age_ms`; with `is_trial` it only says what.
    fn prune_trail(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError>;

    /// Returns the newest records that have what is wanted, the newest first.
    fn find(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError>;

    /// Returns how many records have what is wanted.
    fn count(&self, filter: &Filter) -> Result<u64, StoreError>;

    /// Returns the record with this id, or with an id that begins so.
    fn get(&self, id: &str) -> Result<Found, StoreError>;

    /// Adds up the records that have what is wanted; `most` is how many of the most frequent ones are told.
    fn totals(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError>;

    /// Counts the records that have what is wanted in slots of time, the oldest first; empty slots are left out.
    fn timeline(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError>;

    /// Counts how long the decisions that have what is wanted took, in bins that double; empty bins are left out.
    fn latencies(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError>;

    /// Lists the sessions of the records that have what is wanted, the latest first.
    fn seen_sessions(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError>;

    /// Puts a question into the queue, as [`Approval::open`] makes it. One with the same id and the same call is returned
    /// instead, whatever became of it; so is one that is open for the same session and denied call when it is asked.
    fn open_approval(&self, new: &NewApprovalRequest) -> Result<ApprovalRequest, StoreError>;

    /// Returns an approval; `None` if there is none.
    fn approval(&self, id: &str) -> Result<Option<ApprovalRequest>, StoreError>;

    /// Lists approvals by when they were asked: the oldest first if only open ones are wanted, else the newest first.
    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRequest>, StoreError>;

    /// Lists what the open approvals are known by, the oldest first. None of them is read for that.
    fn open_approval_ids(&self, most: u64) -> Result<Vec<String>, StoreError>;

    /// Answers an open approval whose time is not over when it is answered. However many answer at once, one does.
    fn answer_approval(&self, id: &str, answer: &ApprovalAnswer) -> Result<AnswerOutcome, StoreError>;

    /// Notes that what an answer says was done. That is a change with a number of its own, once.
    fn mark_applied(&self, id: &str) -> Result<(), StoreError>;

    /// Lists the answered approvals whose answer was not yet done, the oldest first.
    fn unapplied(&self) -> Result<Vec<ApprovalRequest>, StoreError>;

    /// Ends the open approvals whose time is over, and returns how many.
    fn expire_approvals(&self, now_ms: u64) -> Result<u64, StoreError>;

    /// Lists the approvals that changed after a number, in the order they changed. Every change has a number of its own,
    /// and no number is ever used twice.
    fn approvals_after(&self, sequence: u64, most: u64) -> Result<Vec<ApprovalRequest>, StoreError>;

    /// Removes approvals that ended before a time, and returns how many. An answer that was not yet done stays.
    fn prune_approvals(&self, before_ms: u64) -> Result<u64, StoreError>;

    /// Publishes a policy and returns its version, or refuses if its version is not the next one.
    fn publish_policy(&self, policy: &SignedPolicy) -> Result<u64, StoreError>;

    /// Returns the policy with the highest version; `None` if none was ever published.
    fn latest_policy(&self) -> Result<Option<SignedPolicy>, StoreError>;

    /// Lists the policies that were published, the newest first.
    fn policies(&self, most: u64) -> Result<Vec<PolicyVersion>, StoreError>;

    /// Returns one version of the policy.
    fn policy(&self, version: u64) -> Result<Option<SignedPolicy>, StoreError>;

    /// Names the place for people, without anything secret: a directory, or the server and the database.
    fn place(&self) -> String;

    /// Names where a document is kept, for messages.
    fn document_place(&self, key: &DocumentKey) -> PathBuf {
        PathBuf::from(format!("{} ({key})", self.place()))
    }
}

/// Says of a session's two documents whether they are old.
pub type SessionExpiry<'a> = &'a dyn Fn(Option<&[u8]>, Option<&[u8]>) -> Result<bool, StoreError>;
