//! Follows what other processes do to the queue, applies what is left to apply, and lets questions expire.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use portcullis_store::ApprovalState;

use super::apply::apply;
use super::{Inner, MOST_OPEN};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::terminal::print_notes;

/// How often the store is looked at while somebody waits or watches.
const OFTEN: Duration = Duration::from_millis(250);
/// How often it is looked at otherwise.
const SELDOM: Duration = Duration::from_secs(3);
/// How often questions expire, and answers are applied that somebody left.
const TIDY: Duration = Duration::from_secs(2);
/// How often everything is compared, should a change have been missed.
const COMPARE: Duration = Duration::from_secs(15);
/// How long whoever answered has to apply the answer before somebody else does, in milliseconds.
const GRACE_MS: u64 = 2_000;
/// How many changes are read at once.
const BATCH: u64 = 500;

/// What the poll remembers.
#[derive(Debug, Default)]
struct Memory {
    /// The number of the last change that was seen; `None` before the first look.
    sequence: Option<u64>,
    tidied: Option<Instant>,
    compared: Option<Instant>,
    /// The last thing that went wrong, so that it is said once.
    problem: Option<String>,
}

/// Follows the store until the queue is gone.
pub(super) async fn follow(queue: Weak<Inner>) {
    let mut memory = Memory::default();
    loop {
        let Some(inner) = queue.upgrade() else { return };
        let looking = tokio::task::spawn_blocking(move || {
            let looked = inner.look(&mut memory);
            note(&mut memory, looked);
            memory
        });
        // After a panic nothing is remembered, and everything is looked at anew.
        memory = looking.await.unwrap_or_default();
        let Some(inner) = queue.upgrade() else { return };
        let is_needed = inner.waiting.count() > 0 || inner.hub.watchers() > 0;
        let pause = if is_needed { OFTEN } else { SELDOM };
        // A question that somebody begins to wait for is looked at at once.
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = inner.stir.notified(), if !is_needed => {}
        }
    }
}

fn note(memory: &mut Memory, looked: Result<(), Failure>) {
    let problem = looked.err().map(|failure| failure.message);
    if let Some(problem) = problem.as_ref().filter(|problem| memory.problem.as_ref() != Some(problem)) {
        print_notes([format!("the queue: {problem}")]);
    }
    memory.problem = problem;
}

fn is_due(last: &mut Option<Instant>, every: Duration) -> bool {
    let is_due = last.is_none_or(|last| last.elapsed() >= every);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}

impl Inner {
    fn look(self: &Arc<Self>, memory: &mut Memory) -> Result<(), Failure> {
        if memory.sequence.is_none() {
            self.begin(memory)?;
        }
        if is_due(&mut memory.tidied, TIDY) {
            let expired =
                self.store.backend().expire_approvals(now_ms()).map_err(|error| Failure::from(&error))?;
            self.telemetry.approvals_expired(expired);
            self.apply_left(GRACE_MS)?;
        }
        self.catch_up(memory)?;
        if is_due(&mut memory.compared, COMPARE) {
            self.compare()?;
        }
        Ok(())
    }

    /// Looks for the first time: applies what whoever ran before left, and learns what is open.
    fn begin(&self, memory: &mut Memory) -> Result<(), Failure> {
        self.apply_left(0)?;
        let mut sequence = 0;
        loop {
            let changed = self
                .store
                .backend()
                .approvals_after(sequence, BATCH)
                .map_err(|error| Failure::from(&error))?;
            let Some(last) = changed.last() else { break };
            sequence = last.sequence;
            let is_open = |state: ApprovalState| state == ApprovalState::Open;
            let open = changed.iter().filter(|approval| is_open(approval.state));
            self.open_ids().extend(open.map(|approval| approval.id.clone()));
        }
        memory.sequence = Some(sequence);
        // Somebody may have begun to wait before.
        self.compare()
    }

    /// Tells what changed since the last look.
    fn catch_up(&self, memory: &mut Memory) -> Result<(), Failure> {
        let mut sequence = memory.sequence.unwrap_or_default();
        loop {
            let changed = self
                .store
                .backend()
                .approvals_after(sequence, BATCH)
                .map_err(|error| Failure::from(&error))?;
            let Some(last) = changed.last() else { return Ok(()) };
            sequence = last.sequence;
            memory.sequence = Some(sequence);
            for approval in &changed {
                // What was told here needs no telling; a change that another one followed at once is not told either.
                let is_told = self.told().remove(&approval.sequence);
                if !is_told {
                    self.tell(approval);
                }
            }
            self.told().retain(|told| *told > sequence);
        }
    }

    /// Applies the answers that were given so long ago that nobody else is at it.
    fn apply_left(&self, grace_ms: u64) -> Result<(), Failure> {
        let left = self.store.backend().unapplied().map_err(|error| Failure::from(&error))?;
        let limit = now_ms().saturating_sub(grace_ms);
        let is_left = |at_ms: u64| grace_ms == 0 || at_ms <= limit;
        let mut first = Ok(());
        for approval in left.iter().filter(|one| one.answer.as_ref().is_some_and(|one| is_left(one.at_ms))) {
            // One that cannot be applied keeps no other from it.
            first = first.and(apply(&self.store, approval, false));
        }
        first
    }

    /// Looks at what is open and at what somebody waits for, without relying on the numbers of changes.
    fn compare(&self) -> Result<(), Failure> {
        let backend = self.store.backend();
        let before = self.open_ids().clone();
        let most = u64::try_from(MOST_OPEN).unwrap_or(u64::MAX);
        let open = backend.open_approval_ids(most).map_err(|error| Failure::from(&error))?;
        let open: BTreeSet<String> = open.into_iter().collect();
        {
            // What was asked or ended here since the store was looked at is known better here.
            let mut known = self.open_ids();
            known.retain(|id| open.contains(id) || !before.contains(id));
            known.extend(open.difference(&before).cloned());
        }
        for id in self.waiting.ids() {
            if !self.open_ids().contains(&id)
                && let Some(approval) = backend.approval(&id).map_err(|error| Failure::from(&error))?
            {
                self.tell(&approval);
            }
        }
        Ok(())
    }
}
