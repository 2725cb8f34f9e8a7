//! How a caller gives up a request from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a waiting thread looks whether its caller gave up.
pub(super) const SLICE: Duration = Duration::from_millis(10);

/// A flag that gives up whatever waits on it. Copies share it; once set it stays set.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag {
    flag: Arc<AtomicBool>,
}

impl CancelFlag {
    /// Returns a flag that is not set.
    pub fn new() -> CancelFlag {
        CancelFlag::default()
    }

    /// Returns a flag that is shared with the caller, who may set it where no more than that is safe, as in a signal
    /// handler.
    pub fn from_flag(flag: Arc<AtomicBool>) -> CancelFlag {
        CancelFlag { flag }
    }

    /// Gives up.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
    }

    /// Says whether somebody gave up.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Waits, unless somebody gives up. Says whether the whole time passed.
    pub fn sleep(&self, time: Duration) -> bool {
        let started = Instant::now();
        loop {
            if self.is_cancelled() {
                return false;
            }
            let left = time.saturating_sub(started.elapsed());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(SLICE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_early_when_somebody_gives_up() {
        let cancel = CancelFlag::new();
        let other = cancel.clone();
        let helper = thread::spawn(move || other.cancel());
        assert!(!cancel.sleep(Duration::from_mins(10)));
        helper.join().unwrap();
        assert!(cancel.is_cancelled());
    }

    #[test]
    fn a_sleep_nobody_gives_up_passes_whole() {
        assert!(CancelFlag::new().sleep(Duration::from_millis(15)));
    }

    #[test]
    fn a_shared_flag_is_the_callers_own() {
        let flag = Arc::new(AtomicBool::new(false));
        let cancel = CancelFlag::from_flag(Arc::clone(&flag));
        assert!(!cancel.is_cancelled());
        flag.store(true, Ordering::Release);
        assert!(cancel.is_cancelled());
    }
}
