//! The whole trait on one page; each part has a file of its own.

use std::collections::BTreeSet;

use portcullis_store::audit::index::{Filter, Found, LatencyBin, SeenSession, Slot, Totals};
use portcullis_store::audit::{Entry, Head, Position, Pruned, Record, Update, Verification};
use portcullis_store::{
    AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, DocumentKey, DocumentUpdate,
    NewApprovalRequest, PolicyVersion, SessionExpiry, SignedPolicy, StoreBackend, StoreError,
};

use crate::PostgresStore;

impl StoreBackend for PostgresStore {
    fn read(&self, key: &DocumentKey, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_document(key, most)
    }

    fn change(&self, key: &DocumentKey, most: u64, changing: DocumentUpdate<'_>) -> Result<(), StoreError> {
        self.change_document(key, most, changing)
    }

    fn session_names(&self) -> Result<BTreeSet<String>, StoreError> {
        self.list_sessions()
    }

    fn forget_session(&self, name: &str, is_old: SessionExpiry<'_>) -> Result<bool, StoreError> {
        self.forget(name, is_old)
    }

    fn append(&self, entries: &[Entry]) -> Result<Vec<String>, StoreError> {
        self.append_lines(entries)
    }

    fn trail_end(&self) -> Result<Position, StoreError> {
        Ok(Position::after_record(self.read_ends()?.number))
    }

    fn trail_after(&self, position: Position, most: usize) -> Result<Update, StoreError> {
        self.read_after(position, most)
    }

    fn verify_trail(&self, seen: &[Head], expected: Option<&str>) -> Result<Verification, StoreError> {
        self.walk(seen, expected)
    }

    fn seen_heads(&self) -> Result<Vec<Head>, StoreError> {
        Ok(self.trail_head()?.into_iter().collect())
    }

    fn trail_head(&self) -> Result<Option<Head>, StoreError> {
        let head = self.read_ends()?;
        Ok((head.number > 0).then_some(Head { number: head.number, hash: head.hash }))
    }

    fn prune_trail(&self, age_ms: u64, now_ms: u64, is_trial: bool) -> Result<Pruned, StoreError> {
        self.prune(age_ms, now_ms, is_trial)
    }

    fn find(&self, filter: &Filter, most: u64) -> Result<Vec<Record>, StoreError> {
        self.find_records(filter, most)
    }

    fn count(&self, filter: &Filter) -> Result<u64, StoreError> {
        self.count_records(filter)
    }

    fn get(&self, id: &str) -> Result<Found, StoreError> {
        self.record(id)
    }

    fn totals(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError> {
        self.add_up(filter, most)
    }

    fn timeline(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError> {
        self.slots(filter, slot_ms)
    }

    fn latencies(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError> {
        self.latency_bins(filter)
    }

    fn seen_sessions(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError> {
        self.sessions_of(filter, most)
    }

    fn open_approval(&self, new: &NewApprovalRequest) -> Result<ApprovalRequest, StoreError> {
        self.open_question(new)
    }

    fn approval(&self, id: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        self.question(id)
    }

    fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.questions(filter)
    }

    fn open_approval_ids(&self, most: u64) -> Result<Vec<String>, StoreError> {
        self.open_question_ids(most)
    }

    fn answer_approval(&self, id: &str, answer: &ApprovalAnswer) -> Result<AnswerOutcome, StoreError> {
        self.answer_question(id, answer)
    }

    fn mark_applied(&self, id: &str) -> Result<(), StoreError> {
        self.mark_done(id)
    }

    fn unapplied(&self) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.undone()
    }

    fn expire_approvals(&self, now_ms: u64) -> Result<u64, StoreError> {
        self.end_late_questions(now_ms)
    }

    fn approvals_after(&self, sequence: u64, most: u64) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.changed_questions(sequence, most)
    }

    fn prune_approvals(&self, before_ms: u64) -> Result<u64, StoreError> {
        self.remove_questions(before_ms)
    }

    fn publish_policy(&self, policy: &SignedPolicy) -> Result<u64, StoreError> {
        self.add_policy(policy)
    }

    fn latest_policy(&self) -> Result<Option<SignedPolicy>, StoreError> {
        self.newest_policy()
    }

    fn policies(&self, most: u64) -> Result<Vec<PolicyVersion>, StoreError> {
        self.list_policies(most)
    }

    fn policy(&self, version: u64) -> Result<Option<SignedPolicy>, StoreError> {
        self.policy_of_version(version)
    }

    fn place(&self) -> String {
        self.pool.place().to_owned()
    }
}
