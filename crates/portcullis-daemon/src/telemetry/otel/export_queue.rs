//! What waits to be told: so much and no more. Whoever puts something in never waits; the oldest makes room.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A queue between those who decide and the thread that tells.
#[derive(Debug)]
pub(super) struct ExportQueue<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
    capacity: usize,
    batch: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// Until when what is left may be told, once the end has come.
    closing: Option<Instant>,
    is_done: bool,
}

impl<T> ExportQueue<T> {
    /// Makes an empty one for so many things, told so many at a time.
    pub(super) fn new(capacity: usize, batch: usize) -> Self {
        let state = State { items: VecDeque::new(), closing: None, is_done: false };
        Self { state: Mutex::new(state), bell: Condvar::new(), capacity, batch }
    }

    /// Puts something in. Says whether something had to go for it.
    pub(super) fn put(&self, item: T) -> bool {
        let (is_full, is_batch) = {
            let mut state = self.lock();
            let is_full = state.items.len() >= self.capacity;
            if is_full {
                state.items.pop_front();
            }
            state.items.push_back(item);
            (is_full, state.items.len() == self.batch)
        };
        if is_batch {
            self.bell.notify_all();
        }
        is_full
    }

    /// Takes what there is once there is a batch, the time is over, or the end has come. `None` after the end, if
    /// nothing is left.
    pub(super) fn take(&self, time: Duration) -> Option<Vec<T>> {
        let waited = self.bell.wait_timeout_while(self.lock(), time, |state| {
            state.items.len() < self.batch && state.closing.is_none()
        });
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.items.is_empty() && state.closing.is_some() {
            return None;
        }
        let count = state.items.len().min(self.batch);
        Some(state.items.drain(..count).collect())
    }

    /// Waits. Says whether the whole time passed before the end came.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let waited = self.bell.wait_timeout_while(self.lock(), time, |state| state.closing.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.closing.is_none()
    }

    /// Returns until when what is left may be told, if the end has come.
    pub(super) fn closing(&self) -> Option<Instant> {
        self.lock().closing
    }

    /// Announces the end. What is left may be told until then.
    pub(super) fn close(&self, until: Instant) {
        self.lock().closing.get_or_insert(until);
        self.bell.notify_all();
    }

    /// Notes that nobody will tell anything more, and returns how much is left.
    pub(super) fn finish(&self) -> usize {
        let left = {
            let mut state = self.lock();
            state.is_done = true;
            std::mem::take(&mut state.items).len()
        };
        self.bell.notify_all();
        left
    }

    /// Waits until nobody tells anything more. Says whether that came in time.
    pub(super) fn wait_done(&self, until: Instant) -> bool {
        let time = until.saturating_duration_since(Instant::now());
        let waited = self.bell.wait_timeout_while(self.lock(), time, |state| !state.is_done);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_done
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let queue = ExportQueue::new(3, 2);
        let dropped: Vec<bool> = (1..=5).map(|number| queue.put(number)).collect();
        assert_eq!(dropped, [false, false, false, true, true]);
        assert_eq!(queue.take(Duration::from_mins(1)), Some(vec![3, 4]));
        assert_eq!(queue.take(Duration::ZERO), Some(vec![5]));
        assert_eq!(queue.take(Duration::ZERO), Some(vec![]));
    }

    #[test]
    fn the_end_wakes_whoever_waits_and_what_is_left_is_told() {
        let queue = ExportQueue::new(3, 2);
        queue.put(1);
        queue.close(Instant::now());
        assert_eq!(queue.take(Duration::from_mins(10)), Some(vec![1]));
        assert_eq!(queue.take(Duration::from_mins(10)), None);
        assert!(!queue.wait(Duration::from_mins(10)));
        queue.put(2);
        assert_eq!(queue.finish(), 1);
        assert!(queue.wait_done(Instant::now()));
    }
}
