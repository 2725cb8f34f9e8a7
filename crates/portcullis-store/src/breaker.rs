//! How often an endpoint failed lately, so that one that is down is not waited for by every call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::cache::{CacheFile, MOST_ENTRIES, MOST_NAME};
use crate::error::StoreError;
use crate::hash::kept;

/// The circuit breaker of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakerState {
    /// How many requests failed since one last succeeded.
    pub failures: u32,
    /// Until when the endpoint is not asked, in unix milliseconds.
    pub open_until_ms: u64,
}

impl Store {
    /// Returns the breaker of an endpoint. One that cannot be read is closed: the endpoint is asked.
    pub fn breaker(&self, key: &str) -> BreakerState {
        let entries = self.breaker_file().read::<BreakerState>().unwrap_or_default();
        entries.get(&kept(key, MOST_NAME)).copied().unwrap_or_default()
    }

    /// Changes the breaker of an endpoint while nobody else does, and returns what it is then.
    pub fn update_breaker(
        &self,
        key: &str,
        change: impl FnOnce(&mut BreakerState),
    ) -> Result<BreakerState, StoreError> {
        let key = kept(key, MOST_NAME);
        self.breaker_file().update(|entries: &mut BTreeMap<String, BreakerState>| {
            let mut state = entries.remove(&key).unwrap_or_default();
            change(&mut state);
            if state != BreakerState::default() {
                make_room(entries);
                entries.insert(key, state);
            }
            state
        })
    }

    const fn breaker_file(&self) -> CacheFile<'_> {
        CacheFile::new(self, "breaker")
    }
}

/// Drops the endpoints that are open for the shortest time.
fn make_room(entries: &mut BTreeMap<String, BreakerState>) {
    while entries.len() >= MOST_ENTRIES {
        let least = entries.iter().min_by_key(|(_, state)| state.open_until_ms).map(|(key, _)| key.clone());
        let Some(key) = least else { return };
        entries.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    fn failing(failures: u32, open_until_ms: u64) -> BreakerState {
        BreakerState { failures, open_until_ms }
    }

    #[test]
    fn a_breaker_is_counted_per_endpoint_and_closes_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("state"));
        assert_eq!(store.breaker("a"), BreakerState::default());
        assert!(!store.root().exists(), "reading made something");
        for failures in 1..=3 {
            let state = store.update_breaker("a", |state| state.failures += 1).unwrap();
            assert_eq!(state, failing(failures, 0));
        }
        store.update_breaker("b", |state| *state = failing(1, 900)).unwrap();
        assert_eq!((store.breaker("a"), store.breaker("b")), (failing(3, 0), failing(1, 900)));
        store.update_breaker("a", |state| *state = BreakerState::default()).unwrap();
        assert_eq!((store.breaker("a"), store.breaker("b")), (failing(0, 0), failing(1, 900)));
    }

    #[test]
    fn a_broken_file_counts_as_empty_and_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        for broken in ["", "nonsense", r#"{"version":9,"entries":{}}"#] {
            fs::write(directory.path().join("breaker.json"), broken).unwrap();
            assert_eq!(store.breaker("a"), BreakerState::default(), "{broken}");
            store.update_breaker("a", |state| state.failures += 1).unwrap();
            assert_eq!(store.breaker("a"), failing(1, 0), "{broken}");
        }
    }

    #[test]
    fn threads_that_count_at_once_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf()).with_patience(Duration::from_mins(10));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        store.update_breaker("a", |state| state.failures += 1).unwrap();
                    }
                });
            }
        });
        assert_eq!(store.breaker("a"), failing(200, 0));
    }

    #[test]
    fn the_endpoints_that_are_open_longest_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        let long = "x".repeat(5_000);
        store.update_breaker(&long, |state| *state = failing(1, 5_000)).unwrap();
        for number in 1..=150 {
            store.update_breaker(&format!("{number}"), |state| *state = failing(1, number)).unwrap();
        }
        assert_eq!(store.breaker(&long), failing(1, 5_000));
        assert_eq!(store.breaker("150"), failing(1, 150));
        assert_eq!(store.breaker("1"), BreakerState::default());
        let entries = store.breaker_file().read::<BreakerState>().unwrap();
        assert_eq!(entries.len(), MOST_ENTRIES);
    }
}
