//! What is told to those who watch: decisions and approvals, as they come.

use std::sync::{Arc, Weak};
use std::time::Duration;

use portcullis_store::audit::{Position, Record, Update};
use portcullis_store::{ApprovalRequest, Store, StoreError};
use tokio::sync::broadcast;

use super::Daemon;

/// How many events a slow watcher may be behind before it misses some.
const BACKLOG: usize = 1_024;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum LiveEvent {
    /// A decision was recorded, here or by another process.
    Decision(Arc<Record>),
    /// An approval was asked, answered or is over.
    Approval(Arc<ApprovalRequest>),
    /// So many decisions came at once that these are not told one by one.
    Skipped(u64),
}

/// Tells everybody who watches.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    sender: broadcast::Sender<LiveEvent>,
}

impl Hub {
    /// Makes one that nobody watches.
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }

    /// Begins to watch.
    pub(crate) fn watch(&self) -> broadcast::Receiver<LiveEvent> {
        self.sender.subscribe()
    }

    /// Returns how many watch.
    pub(crate) fn watchers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Tells something.
    pub(crate) fn tell(&self, event: LiveEvent) {
        // Nobody watching is no failure.
        let _ = self.sender.send(event);
    }
}

/// How often the trail is looked at while somebody watches.
const GLANCE: Duration = Duration::from_millis(250);

/// How many decisions of one glance are told one by one.
const MOST_TOLD: usize = 100;

/// Tells the decisions that are added to the trail, by whomever, while somebody watches. Ends with its daemon.
///
/// While nobody watches, the end of the trail is looked up and nothing is read, so that whoever begins to watch misses
/// nothing that is added from then on.
pub(crate) async fn follow_trail(daemon: Weak<Daemon>) {
    let mut position = None;
    loop {
        tokio::time::sleep(GLANCE).await;
        let Some(daemon) = daemon.upgrade() else { return };
        let from = position.filter(|_| daemon.hub.watchers() > 0);
        let store = daemon.store.clone();
        let read = tokio::task::spawn_blocking(move || added(&store, from)).await;
        // What cannot be read now is read at the next glance.
        let Ok(Ok(added)) = read else { continue };
        position = Some(added.position);
        let skipped = added.records.len().saturating_sub(MOST_TOLD);
        if skipped > 0 {
            daemon.hub.tell(LiveEvent::Skipped(u64::try_from(skipped).unwrap_or(u64::MAX)));
        }
        for record in added.records.into_iter().skip(skipped) {
            daemon.hub.tell(LiveEvent::Decision(Arc::new(record)));
        }
    }
}

/// Reads what was added after a place; without one, nothing yet, and where the trail ends.
fn added(store: &Store, from: Option<Position>) -> Result<Update, StoreError> {
    /// How many records one glance reads at most.
    const MOST_READ: usize = 5_000;
    match from {
        Some(position) => store.backend().trail_after(position, MOST_READ),
        None => Ok(Update { records: Vec::new(), position: store.backend().trail_end()? }),
    }
}
