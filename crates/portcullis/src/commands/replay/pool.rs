//! The workers: each takes the next file, and what comes out is added in the order of the files.
//!
//! No worker runs far ahead of the file that is added next, so what waits to be added is bounded too.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use portcullis_core::visible;

use super::arguments::ReplayArgs;
use super::file::{ReplayContext, Watch};
use super::judge::Judge;
use super::places::{Candidate, Found};
use super::tally::Tally;
use crate::commands::eval::Progress;
use portcullis_gate::Failure;

/// How many files each worker may be ahead.
const AHEAD: usize = 16;
/// The stack of a worker: that of a main thread.
const STACK: usize = 8 << 20;
/// How long the main thread waits before it shows how far the run is.
const PAUSE: Duration = Duration::from_millis(100);

/// What the workers and the main thread tell each other.
struct Board<'a> {
    files: &'a [Candidate],
    next: AtomicUsize,
    ahead: usize,
    state: Mutex<State>,
    has_changed: Condvar,
    watch: Watch,
}

#[derive(Default)]
struct State {
    done: BTreeMap<usize, Tally>,
    added: usize,
}

/// Judges every call of the files.
pub(super) fn replay(arguments: &ReplayArgs, found: &Found, usual_place: &str) -> Result<Tally, Failure> {
    let workers = arguments.workers().min(found.files.len().max(1));
    let board = Board {
        files: &found.files,
        next: AtomicUsize::new(0),
        ahead: workers * AHEAD,
        state: Mutex::default(),
        has_changed: Condvar::new(),
        watch: Watch::default(),
    };
    let mut progress = Progress::new(Some(found.bytes), arguments.json);
    let tally = thread::scope(|scope| {
        let mut running = 0;
        for _ in 0..workers {
            let work = || board.work(arguments, usual_place);
            let started = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            match started {
                Ok(_) => running += 1,
                // Fewer workers say the same, later.
                Err(_) if running > 0 => break,
                Err(error) => return Err(Failure::internal(format!("no worker could start: {error}"))),
            }
        }
        Ok(board.add_up(&mut progress))
    });
    progress.clear();
    tally
}

impl Board<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, arguments: &ReplayArgs, usual_place: &str) {
        let context = || ReplayContext {
            arguments,
            judge: Judge::new(arguments),
            usual_place,
            watch: &self.watch,
            buffer: Vec::new(),
        };
        let mut own = context();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(index) else { return };
            let is_far = |state: &mut State| index >= state.added + self.ahead;
            drop(self.has_changed.wait_while(self.lock(), is_far).unwrap_or_else(PoisonError::into_inner));
            let tally = catch_unwind(AssertUnwindSafe(|| own.replay(file))).unwrap_or_else(|_| {
                own = context();
                failed(file)
            });
            self.lock().done.insert(index, tally);
            self.has_changed.notify_all();
        }
    }

    fn add_up(&self, progress: &mut Progress) -> Tally {
        let mut all = Tally::default();
        let mut state = self.lock();
        while state.added < self.files.len() {
            let next = state.added;
            if let Some(tally) = state.done.remove(&next) {
                state.added += 1;
                drop(state);
                self.has_changed.notify_all();
                all.merge(tally);
                state = self.lock();
            } else {
                let waited = self.has_changed.wait_timeout(state, PAUSE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let (bytes, calls) = (&self.watch.bytes, &self.watch.calls);
            progress.show_calls(bytes.load(Ordering::Relaxed), calls.load(Ordering::Relaxed));
        }
        all
    }
}

/// Makes the tally of a file that could not be worked through.
fn failed(file: &Candidate) -> Tally {
    let mut tally = Tally { failed: 1, has_lost_named: file.is_named, ..Tally::default() };
    tally.complain(format!("{}: an internal failure ended it", visible(&file.path.display().to_string())));
    tally
}
