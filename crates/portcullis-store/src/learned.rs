//! What models were found not to take, so that it is asked of them once.

use std::collections::{BTreeMap, BTreeSet};

use crate::Store;
use crate::cache::{CacheFile, MOST_ENTRIES, MOST_NAME};
use crate::error::StoreError;

/// The most parameters of one model.
const MOST_PARAMETERS: usize = 20;

/// What was learned of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RefusedParameters {
    /// The parameters that were refused, by the key of the model.
    pub refused: BTreeMap<String, BTreeSet<String>>,
    /// Why nothing is known, if the file could not be read.
    pub problem: Option<StoreError>,
}

impl Store {
    /// Returns what was learned. A file that cannot be read taught nothing, and the problem is named.
    pub fn learned(&self) -> RefusedParameters {
        match self.learned_file().read() {
            Ok(refused) => RefusedParameters { refused, problem: None },
            Err(problem) => RefusedParameters { refused: BTreeMap::new(), problem: Some(problem) },
        }
    }

    /// Remembers that a model does not take a parameter. Names that are very long are not remembered.
    pub fn learn(&self, model_key: &str, parameter: &str) -> Result<(), StoreError> {
        let is_known = |map: &BTreeMap<String, BTreeSet<String>>| {
            map.get(model_key).is_some_and(|refused| refused.contains(parameter))
        };
        if model_key.len().max(parameter.len()) > MOST_NAME || is_known(&self.learned().refused) {
            return Ok(());
        }
        self.learned_file().update(|map: &mut BTreeMap<String, BTreeSet<String>>| {
            // It is quickly learned again.
            if map.len() >= MOST_ENTRIES && !map.contains_key(model_key) {
                map.clear();
            }
            let refused = map.entry(model_key.to_owned()).or_default();
            if refused.len() >= MOST_PARAMETERS {
                refused.clear();
            }
            refused.insert(parameter.to_owned());
        })
    }

    const fn learned_file(&self) -> CacheFile<'_> {
        CacheFile::new(self, "learned")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_is_learned_is_known_to_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("state"));
        assert_eq!(store.learned(), RefusedParameters::default());
        assert!(!store.root().exists(), "reading made something");
        for (model, parameter) in [("b", "stop"), ("a", "temperature"), ("a", "stop"), ("a", "stop")] {
            store.learn(model, parameter).unwrap();
        }
        let learned = Store::new(store.root().to_path_buf()).learned();
        let plain: Vec<_> = learned.refused.iter().map(|(key, set)| (key.as_str(), set.len())).collect();
        assert_eq!((plain, learned.problem), (vec![("a", 2), ("b", 1)], None));
    }

    #[test]
    fn a_broken_file_is_reported_counts_as_empty_and_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        let file = directory.path().join("learned.json");
        for broken in ["", "{", "[]", r#"{"version":2,"entries":{}}"#, r#"{"version":1,"entries":{"a":1}}"#] {
            fs::write(&file, broken).unwrap();
            let learned = store.learned();
            assert!(learned.refused.is_empty(), "{broken}");
            assert!(matches!(learned.problem, Some(StoreError::Broken { .. })), "{broken}");
            store.learn("a", "stop").unwrap();
            assert_eq!((store.learned().refused.len(), store.learned().problem), (1, None), "{broken}");
        }
    }

    #[test]
    fn the_file_stays_small_whatever_is_learned() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        for model in 0..=MOST_ENTRIES {
            store.learn(&format!("model {model}"), "stop").unwrap();
        }
        for parameter in 0..=MOST_PARAMETERS {
            store.learn("one", &format!("parameter {parameter}")).unwrap();
        }
        store.learn("long", &"x".repeat(MOST_NAME + 1)).unwrap();
        let learned = store.learned();
        assert_eq!(learned.problem, None);
        assert!(learned.refused.contains_key(&format!("model {MOST_ENTRIES}")), "the newest is known");
        assert!(
            learned.refused["one"].contains(&format!("parameter {MOST_PARAMETERS}")),
            "the newest is known"
        );
        assert!(!learned.refused.contains_key("long"));
        assert!(learned.refused.len() <= MOST_ENTRIES);
        assert!(learned.refused.values().all(|refused| refused.len() <= MOST_PARAMETERS));
    }

    #[test]
    fn the_largest_file_can_be_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        let name = |number: usize| format!("{number:03}{}", "\u{1}".repeat(MOST_NAME - 3));
        let full: BTreeSet<String> = (0..MOST_PARAMETERS).map(name).collect();
        store
            .learned_file()
            .update(|map: &mut BTreeMap<String, BTreeSet<String>>| {
                map.extend((0..MOST_ENTRIES).map(|model| (name(model), full.clone())));
            })
            .unwrap();
        let learned = store.learned();
        assert_eq!((learned.refused.len(), learned.problem), (MOST_ENTRIES, None));
    }
}
