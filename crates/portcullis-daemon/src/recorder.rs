//! Writes decisions down, many at a time: whoever decides waits until its own is on the trail.
//!
//! One thread writes. While it does, others queue up, and it takes all of them next: under load a lock and a write are
//! shared by many, and alone nobody waits for anybody.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use portcullis_store::audit::Entry;
use portcullis_store::{Store, StoreError};
use tokio::sync::oneshot;

use super::Telemetry;
use portcullis_gate::Failure;
use portcullis_gate::gate::unrecorded;

/// How many decisions are written at once at most.
const MOST: usize = 512;

/// Decisions that wait to be written, and who waits for them.
struct Waiting {
    entries: Vec<Entry>,
    reply: oneshot::Sender<Result<Vec<Recorded>, StoreError>>,
}

/// A decision that is on the trail.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// What it is known by.
    pub(crate) id: String,
    /// The decision.
    pub(crate) entry: Entry,
}

/// Writes decisions down.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Emptied at the end, which ends the thread.
    sender: Mutex<Option<Sender<Waiting>>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Recorder {
    /// Starts the thread that writes.
    pub(crate) fn start(store: &Store, telemetry: Telemetry) -> Result<Self, Failure> {
        let (sender, receiver) = mpsc::channel();
        let store = store.clone();
        let thread = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || write_all(&store, &telemetry, &receiver))
            .map_err(|error| Failure::internal(format!("the recorder cannot be started: {error}")))?;
        Ok(Self { sender: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Writes decisions down, all of them or none, and returns them in the same order. An error means that they are not
    /// on the trail.
    pub(crate) async fn record(&self, entries: Vec<Entry>) -> Result<Vec<Recorded>, Failure> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, written) = oneshot::channel();
        let is_taken = match &*self.sender.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(sender) => sender.send(Waiting { entries, reply }).is_ok(),
            None => false,
        };
        let stopped = || Failure::internal("the audit trail is not written any more");
        if !is_taken {
            return Err(stopped());
        }
        written.await.map_err(|_| stopped())?.map_err(|error| unrecorded(&error))
    }

    /// Writes what waits, and ends. What comes afterwards is not recorded, and so not allowed.
    pub(crate) fn stop(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A thread that panicked has told everybody who waited by dropping them.
            let _ = thread.join();
        }
    }
}

fn write_all(store: &Store, telemetry: &Telemetry, waiting: &Receiver<Waiting>) {
    while let Ok(first) = waiting.recv() {
        let mut entries = first.entries;
        let mut replies = vec![(first.reply, entries.len())];
        while entries.len() < MOST
            && let Ok(mut next) = waiting.try_recv()
        {
            replies.push((next.reply, next.entries.len()));
            entries.append(&mut next.entries);
        }
        // Whoever has gone away meanwhile is told nothing.
        let started = Instant::now();
        match store.backend().append(&entries) {
            Ok(ids) => {
                telemetry.recorded(entries.len(), started.elapsed());
                let mut recorded = ids.into_iter().zip(entries).map(|(id, entry)| Recorded { id, entry });
                for (reply, count) in replies {
                    let _ = reply.send(Ok(recorded.by_ref().take(count).collect()));
                }
            }
            Err(error) => {
                telemetry.store_failed();
                for (reply, _) in replies {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
    }
}
