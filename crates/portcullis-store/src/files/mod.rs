//! The store of one machine: files in the state directory of a user, and `SQLite` where something is looked up.

mod approvals;
mod database;
mod documents;
mod index;
mod policies;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use self::database::QueueDatabase;
use self::index::OpenIndex;
use crate::StoreError;
use crate::approvals::{AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, NewApprovalRequest};
use crate::audit::chain::Prepared;
use crate::audit::index::{Filter, Found, Index, LatencyBin, SeenSession, Slot, Totals};
use crate::audit::{Entry, Head, Position, Pruned, Record, Trail, Update, Verification};
use crate::backend::{DocumentKey, DocumentUpdate, SessionExpiry, StoreBackend};
use crate::policy::{PolicyVersion, SignedPolicy};

/// A state directory. Nothing is read or made before it is needed.
#[derive(Debug)]
pub(crate) struct FileBackend {
    root: PathBuf,
    patience: Duration,
    trail: Trail,
    database: QueueDatabase,
    index: OpenIndex,
}

impl FileBackend {
    /// Names the directory.
    pub(crate) fn new(root: PathBuf, patience: Duration) -> Self {
        let trail = Trail::new(root.clone(), patience);
        Self { root, patience, trail, database: QueueDatabase::default(), index: OpenIndex::default() }
    }
}

impl StoreBackend for FileBackend {
    fn read(&self, key: &DocumentKey, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_document(key, most)
    }

    fn change(&self, key: &DocumentKey, most: u64, changing: DocumentUpdate<'_>) -> Result<(), StoreError> {
        self.change_document(key, most, changing)
    }

    fn session_names(&self) -> Result<BTreeSet<String>, StoreError> {
        self.names()
    }

    fn forget_session(&self, name: &str, is_old: SessionExpiry<'_>) -> Result<bool, StoreError> {
        self.forget(name, is_old)
    }

    fn append(&self, entries: &[Entry]) -> Result<Vec<String>, StoreError> {
        let prepared: Result<Vec<Prepared>, _> = entries.iter().map(Prepared::new).collect();
        self.trail.append(&prepared?)
    }

    fn trail_end(&self) -> Result<Position, StoreError> {
        self.trail.end()
    }

    fn trail_after(&self, position: Position, most: usize) -> Result<Update, StoreError> {
        self.trail.read_after(position, most)
    }

    fn verify_trail(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError> {
        self.trail.verify(seen, expected)
    }

    fn seen_heads(&self) -> Result<Vec<Head>, StoreError> {
        self.reading(Index::heads)
    }

    fn trail_head(&self) -> Result<Option<Head>, StoreError> {
        self.trail.head()
    }

    fn prune_trail(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError> {
        self.trail.prune(age_ms, now_ms, is_trial)
    }

    fn find(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError> {
        self.reading(|index| index.find(filter, most))
    }

    fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        self.reading(|index| index.count(filter))
    }

    fn get(&self, id: &str) -> Result<Found, StoreError> {
        self.reading(|index| index.get(id))
    }

    fn totals(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError> {
        self.reading(|index| index.totals(filter, most))
    }

    fn timeline(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError> {
        self.reading(|index| index.timeline(filter, slot_ms))
    }

    fn latencies(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError> {
        self.reading(|index| index.latencies(filter))
    }

    fn seen_sessions(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError> {
        self.reading(|index| index.seen_sessions(filter, most))
    }

    fn open_approval(&self, new: &NewApprovalRequest) -> Result<ApprovalRequest, StoreError> {
        self.ask(new)
    }

    fn approval(&self, id: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        self.one_approval(id)
    }

    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.list_approvals(filter)
    }

    fn open_approval_ids(&self, most: u64) -> Result<Vec<String>, StoreError> {
        self.list_open_ids(most)
    }

    fn answer_approval(&self, id: &str, answer: &ApprovalAnswer) -> Result<AnswerOutcome, StoreError> {
        self.answer(id, answer)
    }

    fn mark_applied(&self, id: &str) -> Result<(), StoreError> {
        self.mark(id)
    }

    fn unapplied(&self) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.list_unapplied()
    }

    fn expire_approvals(&self, now_ms: u64) -> Result<u64, StoreError> {
        self.expire_old(now_ms)
    }

    fn approvals_after(&self, sequence: u64, most: u64) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.changed_after(sequence, most)
    }

    fn prune_approvals(&self, before_ms: u64) -> Result<u64, StoreError> {
        self.prune_old(before_ms)
    }

    fn publish_policy(&self, policy: &SignedPolicy) -> Result<u64, StoreError> {
        self.publish(policy)
    }

    fn latest_policy(&self) -> Result<Option<SignedPolicy>, StoreError> {
        self.newest_policy()
    }

    fn policies(&self, most: u64) -> Result<Vec<PolicyVersion>, StoreError> {
        self.list_policies(most)
    }

    fn policy(&self, version: u64) -> Result<Option<SignedPolicy>, StoreError> {
        self.one_policy(version)
    }

    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn document_place(&self, key: &DocumentKey) -> PathBuf {
        self.document_file(key)
    }
}
