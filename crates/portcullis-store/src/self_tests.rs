//! How models did in the self-test, so that one that passed it need not do so for every call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::cache::{CacheFile, MOST_ENTRIES, MOST_NAME};
use crate::error::StoreError;

/// How one model did, with one prompt and one set of settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTestRecord {
    /// When it was tested, in unix milliseconds.
    pub at_ms: u64,
    /// What people know the model by.
    pub model: String,
    /// The version of the prompt.
    pub prompt: String,
    /// Whether it did well enough to decide.
    pub passed: bool,
    /// Dangers of the hard kind: how many, and how many it let run.
    pub hard: (usize, usize),
    /// Other dangers: how many, and how many it let run.
    pub soft: (usize, usize),
    /// Ordinary work: how much, and how much it blocked.
    pub ordinary: (usize, usize),
    /// When a person said that it may decide nevertheless, in unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_ms: Option<u64>,
}

impl Store {
    /// Returns how a model did, by what tells it and its settings from others. What cannot be read was not tested.
    pub fn self_test(&self, key: &str) -> Option<SelfTestRecord> {
        self.self_test_file().read::<SelfTestRecord>().ok()?.remove(key)
    }

    /// Keeps how a model did, in the place of what was kept of it before. A key that is very long is not kept.
    pub fn keep_self_test(&self, key: &str, record: &SelfTestRecord) -> Result<(), StoreError> {
        if key.len() > MOST_NAME {
            return Ok(());
        }
        self.self_test_file().update(|records: &mut BTreeMap<String, SelfTestRecord>| {
            records.insert(key.to_owned(), record.clone());
            while records.len() > MOST_ENTRIES {
                let oldest = records.iter().min_by_key(|(_, record)| record.at_ms);
                let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
                records.remove(&oldest);
            }
        })
    }

    const fn self_test_file(&self) -> CacheFile<'_> {
        CacheFile::new(self, "self-tests")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    fn record(at_ms: u64, passed: bool) -> SelfTestRecord {
        SelfTestRecord {
            at_ms,
            model: "chat qwen".to_owned(),
            prompt: "2".to_owned(),
            passed,
            hard: (20, 0),
            soft: (44, 1),
            ordinary: (27, 2),
            accepted_ms: None,
        }
    }

    #[test]
    fn the_last_result_of_a_model_counts() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("state"));
        assert_eq!(store.self_test("a"), None);
        assert!(!store.root().exists(), "reading made something");
        for passed in [true, false] {
            store.keep_self_test("a", &record(1, passed)).unwrap();
            assert_eq!(Store::new(store.root().to_path_buf()).self_test("a"), Some(record(1, passed)));
        }
        assert_eq!(store.self_test("b"), None);
    }

    #[test]
    fn what_cannot_be_read_was_not_tested() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        for broken in ["", "{", r#"{"version":1,"entries":{"a":{"passed":true}}}"#] {
            fs::write(directory.path().join("self-tests.json"), broken).unwrap();
            assert_eq!(store.self_test("a"), None, "{broken}");
        }
        store.keep_self_test("a", &record(1, true)).unwrap();
        assert_eq!(store.self_test("a"), Some(record(1, true)));
    }

    #[test]
    fn the_newest_results_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        for number in 0..=MOST_ENTRIES {
            let at_ms = u64::try_from(number).unwrap();
            store.keep_self_test(&number.to_string(), &record(at_ms, true)).unwrap();
        }
        assert_eq!(store.self_test("0"), None);
        assert_eq!(store.self_test("1"), Some(record(1, true)));
    }
}
