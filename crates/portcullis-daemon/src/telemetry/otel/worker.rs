//! The thread of one signal: takes what waits, writes it as a request, has it delivered.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portcullis_classifier::transport::CancelFlag;
use serde_json::Value;

use super::export_queue::ExportQueue;
use super::exporter::OtlpExporter;
use super::noted::Noted;
use crate::telemetry::counters::{Counters, SIGNALS};
use portcullis_output::terminal::print_notes;

/// How many decisions wait at most.
const CAPACITY: usize = 4_096;

/// How many decisions are told at once.
const BATCH: usize = 256;

/// Writes decisions as a request.
pub(super) type Writer = Box<dyn Fn(&[Arc<Noted>]) -> Value + Send>;

/// When a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rhythm {
    /// When something waits for so long, or a batch is full.
    Batches(Duration),
    /// Every so often, whether something waits or not.
    Ticks(Duration),
}

/// What a thread works with.
struct Work {
    queue: Arc<ExportQueue<Arc<Noted>>>,
    counters: Arc<Counters>,
    signal: usize,
    rhythm: Rhythm,
    exporter: OtlpExporter,
    writer: Writer,
}

/// The thread of one signal, seen from outside.
pub(super) struct Worker {
    queue: Arc<ExportQueue<Arc<Noted>>>,
    counters: Arc<Counters>,
    signal: usize,
    cancel: CancelFlag,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker").field("signal", &SIGNALS.get(self.signal)).finish_non_exhaustive()
    }
}

impl Worker {
    /// Starts the thread of a signal, by its place among [`SIGNALS`]. Without a thread nothing is told.
    pub(super) fn start(
        signal: usize,
        rhythm: Rhythm,
        exporter: impl FnOnce(CancelFlag) -> OtlpExporter,
        counters: &Arc<Counters>,
        writer: Writer,
    ) -> Option<Self> {
        let queue = Arc::new(ExportQueue::new(CAPACITY, BATCH));
        let cancel = CancelFlag::new();
        let work = Work {
            queue: Arc::clone(&queue),
            counters: Arc::clone(counters),
            signal,
            rhythm,
            exporter: exporter(cancel.clone()),
            writer,
        };
        let name = SIGNALS.get(signal).copied().unwrap_or_default();
        let thread = thread::Builder::new().name(format!("otel-{name}")).spawn(move || work.run());
        match thread {
            Ok(thread) => {
                let counters = Arc::clone(counters);
                Some(Self { queue, counters, signal, cancel, thread: Mutex::new(Some(thread)) })
            }
            Err(error) => {
                print_notes([format!("no thread for OpenTelemetry {name}: {}", error.kind())]);
                None
            }
        }
    }

    /// Puts a decision where the thread finds it.
    pub(super) fn put(&self, noted: Arc<Noted>) {
        if self.queue.put(noted) {
            drop_some(&self.counters, self.signal, 1);
        }
    }

    /// Announces the end.
    pub(super) fn close(&self, until: Instant) {
        self.queue.close(until);
    }

    /// Waits for the end of the thread. What it is at when the time is over is given up.
    pub(super) fn join(&self, until: Instant) {
        if !self.queue.wait_done(until) {
            self.cancel.cancel();
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A thread that panicked has nothing left to tell.
            let _ = thread.join();
        }
    }
}

impl Work {
    fn run(self) {
        let (mut has_complained, mut is_last_told) = (false, false);
        while let Some(batch) = self.next(&mut is_last_told) {
            let is_silent = batch.is_empty() && matches!(self.rhythm, Rhythm::Batches(_));
            if !is_silent && self.has_time() {
                self.tell(&batch, &mut has_complained);
            } else {
                drop_some(&self.counters, self.signal, batch.len());
            }
        }
        let left = self.queue.finish();
        drop_some(&self.counters, self.signal, left);
    }

    /// Waits for what is to be told next. `None` if nothing is, and never will be.
    fn next(&self, is_last_told: &mut bool) -> Option<Vec<Arc<Noted>>> {
        match self.rhythm {
            Rhythm::Batches(time) => self.queue.take(time),
            Rhythm::Ticks(_) if *is_last_told => None,
            // What happened since the last time is told once more at the end, however soon that comes.
            Rhythm::Ticks(time) => {
                self.queue.wait(time);
                *is_last_told = self.queue.closing().is_some();
                Some(Vec::new())
            }
        }
    }

    fn has_time(&self) -> bool {
        self.queue.closing().is_none_or(|end| Instant::now() < end)
    }

    fn tell(&self, batch: &[Arc<Noted>], has_complained: &mut bool) {
        let body = (self.writer)(batch);
        let delivered = self.exporter.deliver(body, &|time| self.queue.wait(time), &|| self.queue.closing());
        let Some(counts) = self.counters.exports.get(self.signal) else { return };
        match delivered {
            Ok(()) => {
                counts.sent.fetch_add(1, Ordering::Relaxed);
                *has_complained = false;
            }
            Err(message) => {
                counts.failed.fetch_add(1, Ordering::Relaxed);
                drop_some(&self.counters, self.signal, batch.len());
                // Once for as long as it lasts.
                if !std::mem::replace(has_complained, true) {
                    let name = SIGNALS.get(self.signal).copied().unwrap_or_default();
                    print_notes([format!("OpenTelemetry {name} were not delivered: {message}")]);
                }
            }
        }
    }
}

fn drop_some(counters: &Counters, signal: usize, count: usize) {
    if let Some(counts) = counters.exports.get(signal) {
        counts.dropped.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
