//! When an endpoint last answered: a server of one's own that has not for a while must load its model first.

use std::collections::BTreeMap;

use crate::Store;
use crate::cache::{CacheFile, MOST_ENTRIES, MOST_NAME};
use crate::error::StoreError;
use crate::hash::kept;

/// How exact the time of an answer is kept, in milliseconds: a file need not be written for every one.
const GRAIN_MS: u64 = 60_000;

impl Store {
    /// Returns when an endpoint last answered, in unix milliseconds. What cannot be read is never.
    pub fn last_answer(&self, key: &str) -> Option<u64> {
        let entries = self.warmth_file().read::<u64>().unwrap_or_default();
        entries.get(&kept(key, MOST_NAME)).copied()
    }

    /// Notes that an endpoint answered, to the minute.
    pub fn note_answer(&self, key: &str, now_ms: u64) -> Result<(), StoreError> {
        let is_new = |last: u64| now_ms < last || now_ms - last >= GRAIN_MS;
        if !self.last_answer(key).is_none_or(is_new) {
            return Ok(());
        }
        self.warmth_file().update(|entries: &mut BTreeMap<String, u64>| {
            // It is quickly known again.
            if entries.len() >= MOST_ENTRIES {
                entries.clear();
            }
            entries.insert(kept(key, MOST_NAME), now_ms);
        })
    }

    const fn warmth_file(&self) -> CacheFile<'_> {
        CacheFile::new(self, "warmth")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_answer_is_known_to_the_next_process_to_the_minute() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("state"));
        assert_eq!(store.last_answer("a"), None);
        assert!(!store.root().exists(), "reading made something");
        for (now, kept) in [(1_000, 1_000), (50_000, 1_000), (61_000, 61_000), (10, 10)] {
            store.note_answer("a", now).unwrap();
            assert_eq!(Store::new(store.root().to_path_buf()).last_answer("a"), Some(kept), "{now}");
        }
        assert_eq!(store.last_answer("b"), None);
    }

    #[test]
    fn a_broken_file_counts_as_empty_and_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        fs::write(directory.path().join("warmth.json"), "nonsense").unwrap();
        assert_eq!(store.last_answer("a"), None);
        store.note_answer("a", 7).unwrap();
        assert_eq!(store.last_answer("a"), Some(7));
    }

    #[test]
    fn the_file_stays_small() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        for number in 0..=MOST_ENTRIES {
            store.note_answer(&format!("{number}"), 1).unwrap();
        }
        assert_eq!(store.last_answer(&format!("{MOST_ENTRIES}")), Some(1));
        assert!(store.warmth_file().read::<u64>().unwrap().len() <= MOST_ENTRIES);
    }
}
