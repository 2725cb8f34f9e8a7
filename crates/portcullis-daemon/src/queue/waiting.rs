//! Who waits for which question. Whoever waits holds a place in a map and no thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_store::ApprovalRequest;
use tokio::sync::watch;

type Ended = Option<Arc<ApprovalRequest>>;
type Places = BTreeMap<String, watch::Sender<Ended>>;

/// Everybody who waits, by the id of the question.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    places: Arc<Mutex<Places>>,
}

/// A place among those who wait, given up when it is dropped.
#[derive(Debug)]
pub(super) struct WaitingPlace {
    waiting: Waiting,
    id: String,
    receiver: watch::Receiver<Ended>,
}

impl Waiting {
    /// Begins to wait.
    pub(super) fn join(&self, id: &str) -> WaitingPlace {
        let mut places = self.places();
        let sender = places.entry(id.to_owned()).or_insert_with(|| watch::Sender::new(None));
        WaitingPlace { waiting: self.clone(), id: id.to_owned(), receiver: sender.subscribe() }
    }

    /// Wakes everybody who waits for a question that ended.
    pub(super) fn wake(&self, approval: &Arc<ApprovalRequest>) {
        if let Some(sender) = self.places().get(&approval.id) {
            sender.send_replace(Some(Arc::clone(approval)));
        }
    }

    /// Returns the questions that somebody waits for.
    pub(super) fn ids(&self) -> Vec<String> {
        self.places().keys().cloned().collect()
    }

    /// Returns how many wait.
    pub(super) fn count(&self) -> usize {
        self.places().values().map(watch::Sender::receiver_count).sum()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingPlace {
    /// Waits until the question ended.
    pub(super) async fn ended(&mut self) -> Ended {
        let ended = self.receiver.wait_for(Option::is_some).await;
        ended.ok().and_then(|ended| ended.clone())
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        let mut places = self.waiting.places();
        // This one is among those who are counted.
        if places.get(&self.id).is_some_and(|sender| sender.receiver_count() <= 1) {
            places.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_store::ApprovalRequest;
    use serde_json::json;

    use super::*;

    fn approval(id: &str) -> Arc<ApprovalRequest> {
        let entry = json!({
            "at_ms": 1, "host": "claude", "event": "e", "session": "s", "cwd": "/", "mode": "default",
            "headless": true, "tool": "Bash", "summary": "ls", "input": "{}", "decision": "deny", "said": "deny",
            "step": "A11", "kind": "headless", "reason": "r", "trace": [], "micros": 1,
        });
        let call = json!({
            "id": "abcdef-1", "at_ms": 1, "tool": "Bash", "input_hash": "sha256:0", "cwd": "/", "summary": "Bash: ls",
            "reason": "r", "kind": "asked", "code": "", "retryable": true,
        });
        let approval = json!({
            "id": id, "sequence": 1, "created_at_ms": 1, "expires_at_ms": 2, "session": "s", "denial": "abcdef-1",
            "call": call, "question": entry, "explanation": null, "state": "denied", "answer": null, "is_applied": true,
        });
        Arc::new(serde_json::from_value(approval).unwrap())
    }

    #[test]
    fn a_thousand_wait_on_one_thread_and_whoever_leaves_leaves_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let waiting = Waiting::default();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..1_000)
                .map(|number| {
                    let mut place = waiting.join(&(number % 500).to_string());
                    tokio::spawn(async move { place.ended().await.map(|ended| ended.id.clone()) })
                })
                .collect();
            assert_eq!((waiting.count(), waiting.ids().len()), (1_000, 500));
            drop(waiting.join("gone"));
            assert_eq!(waiting.count(), 1_000);
            waiting.wake(&approval("nobody"));
            for number in 0..500 {
                waiting.wake(&approval(&number.to_string()));
            }
            for (number, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap(), Some((number % 500).to_string()));
            }
        });
        assert_eq!((waiting.count(), waiting.ids().len()), (0, 0));
    }
}
