//! All sessions together: what was denied lately, which call an id means, and forgetting the old.

use std::cmp::Reverse;

use crate::Store;
use crate::error::StoreError;
use crate::hash::sha256;
use crate::state::{DeniedCall, split_id};

/// What was denied lately, in whichever session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecentDenials {
    /// The name of the session and the call, the newest first.
    pub calls: Vec<(String, DeniedCall)>,
    /// The sessions that could not be read.
    pub problems: Vec<StoreError>,
}

/// What became of old sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgottenSessions {
    /// How many were removed.
    pub sessions: usize,
    /// Those that could not be read or removed, and are still there.
    pub problems: Vec<StoreError>,
}

impl Store {
    /// Lists what was denied lately in all sessions and that nobody let run since, at most `limit` calls.
    pub fn recently_denied(&self, limit: usize, now_ms: u64) -> Result<RecentDenials, StoreError> {
        let mut recent = RecentDenials::default();
        for name in self.backend().session_names()? {
            match self.session(&name).read() {
                Ok(None) => {}
                // Newest first before the stable sort, for calls of the same millisecond.
                Ok(Some(state)) => {
                    let calls = state.standing_denials(now_ms).rev().cloned();
                    recent.calls.extend(calls.take(limit).map(|call| (name.clone(), call)));
                    recent.calls.sort_by_key(|(_, call)| Reverse(call.at_ms));
                    recent.calls.truncate(limit);
                }
                Err(problem) => recent.problems.push(problem),
            }
        }
        Ok(recent)
    }

    /// Finds a denied call by its id, with the name of its session.
    ///
    /// Should two sessions share the id, it is an error that names longer ones, and those are understood here too.
    pub fn find_denied(&self, id: &str) -> Result<Option<(String, DeniedCall)>, StoreError> {
        let id = id.to_ascii_lowercase();
        let Some((prefix, number)) = split_id(&id) else { return Ok(None) };
        let mut found = Vec::new();
        for name in self.backend().session_names()? {
            let hash = sha256(&name);
            if !hash.starts_with(prefix) {
                continue;
            }
            if let Some(call) = self.session(&name).read()?.and_then(|state| state.find(&id).cloned()) {
                found.push((hash, (name, call)));
            }
        }
        if found.len() > 1 {
            let longer = found.iter().map(|(hash, _)| longer_id(hash, prefix.len(), number)).collect();
            return Err(StoreError::AmbiguousDenial { id, longer });
        }
        Ok(found.pop().map(|(_, call)| call))
    }

    /// Removes the sessions in which nothing happened for so long. Broken ones stay, and are named.
    pub fn forget_old_sessions(
        &self,
        now_ms: u64,
        older_than_ms: u64,
    ) -> Result<ForgottenSessions, StoreError> {
        let mut forgotten = ForgottenSessions::default();
        for name in self.backend().session_names()? {
            match self.session(&name).forget(now_ms, older_than_ms) {
                Ok(is_removed) => forgotten.sessions += usize::from(is_removed),
                Err(problem) => forgotten.problems.push(problem),
            }
        }
        Ok(forgotten)
    }
}

/// Spells an id with so much of the hash that no other session has it.
fn longer_id(hash: &str, at_least: usize, number: &str) -> String {
    let prefix = hash.get(..(at_least * 2).clamp(16, 64)).unwrap_or(hash);
    format!("{prefix}-{number}")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::state::{DenialKind, NewDenial};

    fn denial(summary: &str) -> NewDenial {
        NewDenial {
            tool: "Bash".to_owned(),
            input_json: format!("{{\"command\":\"{summary}\"}}"),
            cwd: "/code".to_owned(),
            summary: summary.to_owned(),
            reason: "a reason".to_owned(),
            kind: DenialKind::Classifier,
            code: "a category".to_owned(),
            retryable: true,
        }
    }

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        // With so much patience that a slow machine is no failure.
        let store = Store::new(directory.path().to_path_buf()).with_patience(Duration::from_mins(10));
        (directory, store)
    }

    fn sessions(store: &Store) -> PathBuf {
        store.root().join("sessions")
    }

    fn files(store: &Store) -> BTreeSet<String> {
        let entries = fs::read_dir(sessions(store)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Two names of sessions whose ids begin alike.
    fn twins() -> (String, String) {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for number in 0_u32.. {
            let name = format!("s{number}");
            if let Some(twin) = seen.insert(sha256(&name).chars().take(6).collect(), name.clone()) {
                return (twin, name);
            }
        }
        panic!("there are no twins");
    }

    #[test]
    fn the_newest_denials_come_first_whichever_session_they_are_of() {
        let (_directory, store) = store();
        for (session, at_ms, summary) in
            [("a", 10, "one"), ("b/c", 20, "two"), ("a", 30, "three"), ("a", 30, "four"), ("b/c", 5, "late")]
        {
            store.session(session).record_denial(&denial(summary), at_ms).unwrap();
        }
        let list = |limit| {
            let recent = store.recently_denied(limit, 1).unwrap();
            assert_eq!(recent.problems, []);
            recent.calls.into_iter().map(|(name, call)| (name, call.summary)).collect::<Vec<_>>()
        };
        let (a, hashed) = ("a".to_owned(), sha256("b/c"));
        let expected = [(&a, "four"), (&a, "three"), (&hashed, "two"), (&a, "one"), (&hashed, "late")];
        let expected = expected.map(|(name, summary)| (name.clone(), summary.to_owned()));
        assert_eq!(list(10), expected);
        assert_eq!(list(2), expected[..2]);
        assert_eq!(list(0), []);
    }

    #[test]
    fn a_broken_session_hides_no_other_one_and_is_named() {
        let (_directory, store) = store();
        store.session("a").record_denial(&denial("one"), 1).unwrap();
        fs::write(sessions(&store).join("b.json"), "{").unwrap();
        fs::write(sessions(&store).join("not a session.json"), "{").unwrap();
        let recent = store.recently_denied(10, 1).unwrap();
        assert_eq!((recent.calls.len(), recent.problems.len()), (1, 1));
        assert!(recent.problems[0].to_string().contains("b.json"), "{}", recent.problems[0]);
    }

    #[test]
    fn a_denied_call_is_found_by_its_id_and_approved_through_the_name_of_its_session() {
        let (_directory, store) = store();
        store.session("a").record_denial(&denial("other"), 1).unwrap();
        store.session("b/c").record_denial(&denial("first"), 1).unwrap();
        let id = store.session("b/c").record_denial(&denial("second"), 2).unwrap().id;
        let (name, call) = store.find_denied(&id.to_ascii_uppercase()).unwrap().unwrap();
        assert_eq!((call.summary.as_str(), call.id.as_str(), call.at_ms), ("second", id.as_str(), 2));
        assert_eq!(store.session(&name).name(), store.session("b/c").name());
        store.session(&name).approve(&id, 3, 10).unwrap();
        let taken =
            store.session("b/c").take_approval("Bash", &denial("second").input_json, "/code", 4).unwrap();
        assert_eq!(taken, Some(id));
    }

    #[test]
    fn what_is_no_id_finds_nothing() {
        let (_directory, store) = store();
        let id = store.session("a").record_denial(&denial("one"), 1).unwrap().id;
        let (prefix, _) = id.split_once('-').unwrap();
        for wrong in ["", "-", "1", "-1", prefix, "zzzzzz-1", "../../x-1", "aé-1"] {
            assert_eq!(store.find_denied(wrong).unwrap(), None, "{wrong}");
        }
        for wrong in ["-", "-0", "-01", "-2", "- 1", "-1 ", "-+1"] {
            assert_eq!(store.find_denied(&format!("{prefix}{wrong}")).unwrap(), None, "{wrong}");
        }
        assert_eq!(
            store.find_denied(&format!("{}-1", prefix.chars().take(5).collect::<String>())).unwrap(),
            None
        );
        assert_eq!(store.find_denied(&format!("{prefix}-1")).unwrap().unwrap().1.id, id);
    }

    #[test]
    fn an_id_that_two_sessions_share_is_refused_and_a_longer_one_is_understood() {
        let (_directory, store) = store();
        let (left, right) = twins();
        let id = store.session(&left).record_denial(&denial("left"), 1).unwrap().id;
        assert_eq!(store.session(&right).record_denial(&denial("right"), 2).unwrap().id, id);
        let Err(StoreError::AmbiguousDenial { longer, .. }) = store.find_denied(&id) else {
            panic!("one of two calls was chosen");
        };
        let found: BTreeSet<String> = longer
            .iter()
            .map(|id| {
                let (name, call) = store.find_denied(id).unwrap().unwrap();
                let other = if name == left { &right } else { &left };
                assert!(store.session(other).approve(id, 3, 10).is_err(), "the other session took it");
                store.session(&name).approve(id, 3, 10).unwrap();
                call.summary
            })
            .collect();
        assert_eq!(found, BTreeSet::from(["left".to_owned(), "right".to_owned()]));
    }

    #[test]
    fn only_old_sessions_are_forgotten_with_their_locks() {
        let (_directory, store) = store();
        store.session("old").record_denial(&denial("one"), 1_000).unwrap();
        store.session("new").record_denial(&denial("one"), 5_000).unwrap();
        let id = store.session("waiting").record_denial(&denial("one"), 1_000).unwrap().id;
        store.session("waiting").approve(&id, 1_000, 8_000).unwrap();
        fs::write(sessions(&store).join("broken.json"), "{").unwrap();
        fs::write(sessions(&store).join("orphan.lock"), "").unwrap();
        let forgotten = store.forget_old_sessions(6_000, 3_000).unwrap();
        assert_eq!((forgotten.sessions, forgotten.problems.len()), (1, 1));
        let left = files(&store);
        let expected = ["broken.json", "broken.lock", "new.json", "new.lock", "waiting.json", "waiting.lock"];
        assert_eq!(left, expected.map(str::to_owned).into());
        assert_eq!(store.session("old").record_denial(&denial("two"), 7_000).unwrap().denials.in_total, 1);
    }

    #[test]
    fn a_session_that_is_in_use_is_not_forgotten() {
        let (_directory, store) = store();
        store.session("a").record_denial(&denial("one"), 1).unwrap();
        let lock = crate::disk::FileLock::try_take(&sessions(&store).join("a.lock")).unwrap().unwrap();
        assert_eq!(store.forget_old_sessions(u64::MAX, 0).unwrap(), ForgottenSessions::default());
        drop(lock);
        assert_eq!(store.forget_old_sessions(u64::MAX, 0).unwrap().sessions, 1);
    }

    #[test]
    fn forgetting_and_counting_at_once_never_fail() {
        let (_directory, store) = store();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let recorded = store.session("a").record_denial(&denial("one"), 1).unwrap();
                        assert!(recorded.denials.in_a_row > 0);
                        store.session("a").record_allow().unwrap();
                    }
                });
            }
            for _ in 0..100 {
                assert_eq!(store.forget_old_sessions(u64::MAX, 0).unwrap().problems, []);
            }
        });
        store.session("a").record_denial(&denial("one"), 1).unwrap();
        assert_eq!(store.recently_denied(1, 1).unwrap().calls.len(), 1);
    }
}
