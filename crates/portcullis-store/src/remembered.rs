//! What people allowed in a repository, by the shape of the command, so that they are not asked again.
//!
//! A file that cannot be read remembers nothing: whoever breaks it is asked once more.
//!
//! INVARIANT: nothing here counts for longer than it was used. What comes from the future was not allowed yet, and a clock
//! that is turned back lengthens nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::cache::CacheFile;
use crate::error::StoreError;

/// How many are kept, those that were used last.
const MOST_KEPT: usize = 500;
/// Clocks of processes may differ by so much, in milliseconds.
const TOLERANCE_MS: u64 = 5_000;

/// A command that a person allowed, as it is known when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RememberedYes {
    /// The top of the repository, links resolved; the project where there is none.
    pub repository: String,
    /// The address of the repository's first remote, if it has one.
    pub remote: Option<String>,
    /// The program as it is written.
    pub program: String,
    /// The file that the program is, links resolved.
    pub file: String,
    /// The hash of that file, where the user could change it.
    pub digest: Option<String>,
    /// The words that choose what the program does.
    pub subcommand: Vec<String>,
    /// The other words that count.
    pub words: Vec<String>,
    /// What it does.
    pub acts: Vec<String>,
    /// Where what it touches lies.
    pub targets: Vec<String>,
    /// The files whose text it runs, with their hashes; empty for one that was not there.
    pub scripts: BTreeMap<String, String>,
    /// The command that was allowed, secrets blacked out.
    pub example: String,
    /// When, in unix milliseconds.
    pub allowed_at_ms: u64,
    /// When it last let a command run, or was allowed.
    pub used_at_ms: u64,
    /// How many commands it let run.
    pub uses: u64,
}

impl RememberedYes {
    /// Says whether it counts at a time, if it is forgotten after so many milliseconds without a use.
    pub const fn is_good(&self, now_ms: u64, lasts_ms: u64) -> bool {
        let latest = now_ms.saturating_add(TOLERANCE_MS);
        self.allowed_at_ms <= latest
            && self.used_at_ms <= latest
            && self.allowed_at_ms <= self.used_at_ms.saturating_add(TOLERANCE_MS)
            && now_ms.saturating_sub(self.used_at_ms) < lasts_ms
    }

    /// Says whether another one is about the same command, whatever its program and scripts have become.
    fn is_same(&self, other: &Self) -> bool {
        let known = |yes: &Self| {
            let name = (yes.repository.clone(), yes.program.clone(), yes.subcommand.clone());
            (name, yes.words.clone(), yes.acts.clone(), yes.targets.clone())
        };
        known(self) == known(other)
    }
}

/// Everything that is remembered. Nothing is read or made before it is needed.
#[derive(Debug, Clone, Copy)]
pub struct RememberedStore<'a> {
    store: &'a Store,
}

impl<'a> RememberedStore<'a> {
    pub(crate) const fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Lists what is remembered with what it is known by, the latest yes last; broken is an error.
    pub fn list(&self) -> Result<Vec<(String, RememberedYes)>, StoreError> {
        let mut all: Vec<_> = self.file().read::<RememberedYes>()?.into_iter().collect();
        all.sort_by_key(|(id, yes)| (yes.allowed_at_ms, number_of(id)));
        Ok(all)
    }

    /// Remembers a yes, in the place of an earlier one to the same command, and returns what it is known by.
    pub fn keep(&self, yes: &RememberedYes) -> Result<String, StoreError> {
        self.file().update(|entries: &mut BTreeMap<String, RememberedYes>| {
            entries.retain(|_, known| !known.is_same(yes));
            let highest = entries.keys().filter_map(|id| number_of(id)).max().unwrap_or(0);
            let id = format!("m{}", highest.saturating_add(1));
            entries.insert(id.clone(), yes.clone());
            while entries.len() > MOST_KEPT {
                let oldest = entries.iter().min_by_key(|(_, known)| known.used_at_ms);
                let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { break };
                entries.remove(&oldest);
            }
            id
        })
    }

    /// Notes that some of it let a command run.
    pub fn note_use(&self, ids: &[String], now_ms: u64) -> Result<(), StoreError> {
        self.file().update(|entries: &mut BTreeMap<String, RememberedYes>| {
            for id in ids {
                if let Some(yes) = entries.get_mut(id) {
                    yes.used_at_ms = yes.used_at_ms.max(now_ms);
                    yes.uses = yes.uses.saturating_add(1);
                }
            }
        })
    }

    /// Forgets what passes a test, and returns it.
    pub fn forget(
        &self,
        is_meant: impl Fn(&str, &RememberedYes) -> bool,
    ) -> Result<Vec<(String, RememberedYes)>, StoreError> {
        self.file().update(|entries: &mut BTreeMap<String, RememberedYes>| {
            entries.extract_if(.., |id, yes| is_meant(id, yes)).collect()
        })
    }

    const fn file(self) -> CacheFile<'a> {
        CacheFile::new(self.store, "memory")
    }
}

fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix('m')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    fn yes(program: &str, at_ms: u64) -> RememberedYes {
        RememberedYes {
            repository: "/code/app".to_owned(),
            remote: None,
            program: program.to_owned(),
            file: format!("/opt/{program}"),
            digest: None,
            subcommand: vec!["update".to_owned()],
            words: Vec::new(),
            acts: vec!["unknown".to_owned()],
            targets: Vec::new(),
            scripts: BTreeMap::new(),
            example: format!("{program} update"),
            allowed_at_ms: at_ms,
            used_at_ms: at_ms,
            uses: 0,
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("state"));
        (directory, store)
    }

    #[test]
    fn a_later_yes_to_the_same_command_takes_the_place_of_the_earlier() {
        let (_directory, store) = store();
        assert_eq!(store.remembered().list().unwrap(), []);
        assert!(!store.root().exists(), "reading made something");
        store.remembered().keep(&yes("bd", 1)).unwrap();
        store.remembered().keep(&yes("acme", 2)).unwrap();
        let id =
            store.remembered().keep(&RememberedYes { digest: Some("d".to_owned()), ..yes("bd", 3) }).unwrap();
        let kept = store.remembered().list().unwrap();
        assert_eq!(kept.iter().map(|(_, yes)| yes.program.as_str()).collect::<Vec<_>>(), ["acme", "bd"]);
        store.remembered().note_use(&[id.clone(), "m99".to_owned()], 9).unwrap();
        let (_, used) = store.remembered().list().unwrap().pop().unwrap();
        assert_eq!((used.uses, used.used_at_ms, used.allowed_at_ms), (1, 9, 3));
        assert_eq!(store.remembered().forget(|known, _| known == id).unwrap().len(), 1);
        assert_eq!(store.remembered().list().unwrap().len(), 1);
    }

    #[test]
    fn what_is_not_used_is_over_and_what_comes_from_the_future_is_not_there_yet() {
        let kept = yes("bd", 10_000);
        assert!(kept.is_good(10_000, 100_000) && kept.is_good(109_999, 100_000));
        assert!(!kept.is_good(110_000, 100_000), "unused for too long");
        assert!(!kept.is_good(4_999, 100_000), "the clock was turned back");
        let forged = RememberedYes { used_at_ms: u64::MAX, ..kept.clone() };
        assert!(!forged.is_good(20_000, 100_000), "used in the future");
        assert!(
            !RememberedYes { used_at_ms: 0, ..kept }.is_good(20_000, 100_000),
            "used before it was allowed"
        );
    }

    #[test]
    fn a_broken_file_remembers_nothing_and_is_begun_anew() {
        let (_directory, store) = store();
        store.remembered().keep(&yes("bd", 1)).unwrap();
        let file = store.root().join("memory.json");
        for broken in
            ["", "{", r#"{"version":2,"entries":{}}"#, r#"{"version":1,"entries":{"m1":{"program":"bd"}}}"#]
        {
            fs::write(&file, broken).unwrap();
            assert!(store.remembered().list().is_err(), "{broken}");
        }
        store.remembered().keep(&yes("bd", 2)).unwrap();
        assert_eq!(store.remembered().list().unwrap().len(), 1);
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let (_directory, store) = store();
        for number in 0..=MOST_KEPT {
            let at_ms = u64::try_from(number).unwrap();
            store.remembered().keep(&yes(&format!("p{number}"), at_ms)).unwrap();
        }
        let kept = store.remembered().list().unwrap();
        assert_eq!(kept.len(), MOST_KEPT);
        assert!(!kept.iter().any(|(_, yes)| yes.program == "p0"));
    }
}
