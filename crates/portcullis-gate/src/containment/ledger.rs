//! The ledger of contained calls: what was given to a host, and what of it ran inside the fence.
//!
//! ```text
//! contained/<hash>-<id>.json   one call: given ──► ran | refused | failed
//! contained/off-<host>.json    a host that lost a rewrite: no fence there until it was seen to work
//! ```

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::now_ms;
use crate::{hex, new_id};

/// How long a call is remembered, in milliseconds: a day.
const LONGEST_KEPT_MS: u64 = 24 * 60 * 60 * 1_000;

/// The most calls that are looked at; with more, the oldest were forgotten long ago.
const MOST_CALLS: usize = 10_000;

/// A call that a host was told to run inside a fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainedCall {
    /// The host.
    pub host: String,
    /// Its session.
    pub session: String,
    /// Its id of the call, if it has one.
    pub call_id: Option<String>,
    /// Where it was to run.
    pub directory: PathBuf,
    /// When the host was told, in milliseconds since 1970.
    pub given_at_ms: u64,
    /// Whether a person is asked when the same command comes again after it was refused something.
    pub asks_next: bool,
    /// What came of it.
    pub state: ContainedState,
}

/// What came of a contained call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ContainedState {
    /// The host was told; nothing ran yet.
    Given,
    /// It runs, or it ran and was refused nothing.
    Ran,
    /// It ran, and the fence refused something or holds what it changed.
    Refused,
    /// The fence did not go up, and nothing ran.
    Failed,
}

/// Why a host gets no fence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchedOff {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Its session.
    pub session: String,
    /// What was seen, in one clause.
    pub reason: String,
}

/// The ledger of a user.
#[derive(Debug, Clone)]
pub struct ContainmentLedger {
    root: PathBuf,
}

impl ContainmentLedger {
    /// Returns the ledger below the state of a user.
    pub fn below(state: &Path) -> Self {
        Self { root: state.join("contained") }
    }

    /// Notes that a host was told to run a call, and forgets old ones.
    pub(super) fn give(&self, id: &str, words: &[OsString], call: &ContainedCall) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.root)?;
        self.forget_before(call.given_at_ms.saturating_sub(LONGEST_KEPT_MS));
        replace(&self.path(id, words), call)
    }

    /// Returns a call by its id and its words.
    pub fn find(&self, id: &str, words: &[OsString]) -> Option<ContainedCall> {
        is_plain(id).then(|| read(&self.path(id, words))).flatten()
    }

    /// Notes what came of a call. One that nobody was told of is not noted.
    pub fn note(&self, id: &str, words: &[OsString], state: ContainedState) -> io::Result<()> {
        let Some(call) = self.find(id, words) else { return Ok(()) };
        replace(&self.path(id, words), &ContainedCall { state, ..call })
    }

    /// Says whether a command of a session did not run inside as it should, so that a person should say about it now.
    pub(super) fn is_doubtful(&self, words: &[OsString], session: &str, has_person: bool) -> bool {
        self.calls(words).any(|call| {
            call.session == session
                && match call.state {
                    ContainedState::Given | ContainedState::Failed => true,
                    ContainedState::Refused => has_person,
                    ContainedState::Ran => false,
                }
        })
    }

    /// Looks whether a call that a host says it ran went through the fence. If not, the host gets no fence any more, and its
    /// name is returned. What went through is forgotten.
    pub(super) fn check_done(
        &self,
        session: &str,
        call_id: Option<&str>,
        command: &str,
    ) -> io::Result<Option<String>> {
        let beginning = format!("{}-", key(&super::wrapped_command::words(command)));
        let of_session = self.files().filter_map(|path| Some((read::<ContainedCall>(&path)?, path)));
        let done = of_session.filter(|(call, _)| call.session == session).find(|(call, path)| {
            let is_same = || {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(|name| name.starts_with(&beginning))
            };
            // A host may tell of the command that it was given instead, so that its id of the call counts first.
            match (call_id, call.call_id.as_deref()) {
                (Some(told), Some(given)) => told == given,
                _ => is_same(),
            }
        });
        let Some((call, path)) = done else { return Ok(None) };
        if call.state != ContainedState::Given {
            if call.state == ContainedState::Ran {
                fs::remove_file(path)?;
            }
            return Ok(None);
        }
        let off = SwitchedOff {
            at_ms: now_ms(),
            session: session.to_owned(),
            reason: "it ran a command without the fence that it was told to run it in".to_owned(),
        };
        replace(&self.off_path(&call.host), &off)?;
        Ok(Some(call.host))
    }

    /// Returns why a host gets no fence.
    pub fn off(&self, host: &str) -> Option<SwitchedOff> {
        let path = self.off_path(host);
        // What cannot be read was written for a reason.
        let unread = || SwitchedOff {
            at_ms: 0,
            session: String::new(),
            reason: "the note of it cannot be read".to_owned(),
        };
        path.exists().then(|| read(&path).unwrap_or_else(unread))
    }

    /// Lets a host have fences again that was seen to run one.
    pub fn switch_on(&self, host: &str) -> io::Result<()> {
        match fs::remove_file(self.off_path(host)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn off_path(&self, host: &str) -> PathBuf {
        self.root.join(format!("off-{host}.json"))
    }

    fn path(&self, id: &str, words: &[OsString]) -> PathBuf {
        self.root.join(format!("{}-{id}.json", key(words)))
    }

    /// Returns the calls of the same words.
    fn calls(&self, words: &[OsString]) -> impl Iterator<Item = ContainedCall> {
        let beginning = format!("{}-", key(words));
        self.files().filter_map(move |path| {
            let name = path.file_name()?.to_str()?;
            name.starts_with(&beginning).then(|| read(&path)).flatten()
        })
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().take(MOST_CALLS);
        entries.filter_map(|entry| Some(entry.ok()?.path()))
    }

    /// Forgets calls that were given before a time. What cannot be removed now is removed another time.
    fn forget_before(&self, time_ms: u64) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(time_ms);
        let is_call = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| !name.starts_with("off-"))
        };
        for path in self.files().filter(is_call) {
            let changed = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
            if changed.is_ok_and(|changed| changed < time) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns what a command is known by in a file's name.
fn key(words: &[OsString]) -> String {
    let mut text = Vec::new();
    for word in words {
        text.extend_from_slice(word.as_encoded_bytes());
        text.push(0);
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, &text);
    hex(digest.as_ref().get(..16).unwrap_or_default())
}

/// An id is letters and digits, so that it names a file here and nowhere else.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Replaces a file in one step.
fn replace(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let unique = new_id().ok_or_else(|| io::Error::other("the system gives no random numbers"))?;
    let new = path.with_extension(format!("{unique}.new"));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::super::wrapped_command::words;
    use super::*;

    fn call(session: &str, call_id: Option<&str>) -> ContainedCall {
        ContainedCall {
            host: "claude".to_owned(),
            session: session.to_owned(),
            call_id: call_id.map(str::to_owned),
            directory: "/w".into(),
            given_at_ms: now_ms(),
            asks_next: true,
            state: ContainedState::Given,
        }
    }

    fn ledger() -> (tempfile::TempDir, ContainmentLedger) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ContainmentLedger::below(folder.path());
        (folder, ledger)
    }

    #[test]
    fn a_call_that_never_ran_inside_switches_its_host_off() {
        let (_folder, ledger) = ledger();
        ledger.give("a1", &words("make"), &call("s", Some("c1"))).unwrap();
        for (session, id, command) in
            [("t", Some("c1"), "make"), ("s", Some("c2"), "make"), ("s", None, "make x")]
        {
            assert_eq!(ledger.check_done(session, id, command).unwrap(), None, "{session} {command}");
            assert_eq!(ledger.off("claude"), None, "{session} {command}");
        }
        // A host may tell of the command that it was given.
        assert_eq!(ledger.check_done("s", Some("c1"), "portcullis run").unwrap().as_deref(), Some("claude"));
        assert!(ledger.off("claude").is_some());
        assert_eq!(ledger.off("codex"), None);
        ledger.switch_on("claude").unwrap();
        assert_eq!(ledger.off("claude"), None);
    }

    #[test]
    fn a_call_that_ran_inside_is_no_alarm() {
        for state in [ContainedState::Ran, ContainedState::Refused, ContainedState::Failed] {
            let (_folder, ledger) = ledger();
            ledger.give("a1", &words("make"), &call("s", None)).unwrap();
            ledger.note("a1", &words("make"), state).unwrap();
            assert_eq!(ledger.check_done("s", None, "make").unwrap(), None);
            assert_eq!(ledger.off("claude"), None, "{state:?}");
        }
    }

    #[test]
    fn what_was_refused_is_a_persons_question_the_next_time() {
        for (state, with, without) in [
            (ContainedState::Given, true, true),
            (ContainedState::Failed, true, true),
            (ContainedState::Refused, true, false),
            (ContainedState::Ran, false, false),
        ] {
            let (_folder, ledger) = ledger();
            ledger.give("a1", &words("make"), &call("s", None)).unwrap();
            ledger.note("a1", &words("make"), state).unwrap();
            assert_eq!(ledger.is_doubtful(&words("make"), "s", true), with, "{state:?}");
            assert_eq!(ledger.is_doubtful(&words("make"), "s", false), without, "{state:?}");
            assert!(!ledger.is_doubtful(&words("make"), "t", true), "{state:?}");
            assert!(!ledger.is_doubtful(&words("make all"), "s", true), "{state:?}");
        }
    }

    #[test]
    fn an_id_is_no_path_and_what_nobody_was_told_of_is_not_noted() {
        let (folder, ledger) = ledger();
        ledger.note("../x", &words("make"), ContainedState::Ran).unwrap();
        ledger.note("a1", &words("make"), ContainedState::Ran).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_note_that_cannot_be_read_keeps_its_host_off() {
        let (folder, ledger) = ledger();
        fs::create_dir_all(folder.path().join("contained")).unwrap();
        fs::write(folder.path().join("contained/off-claude.json"), "{").unwrap();
        assert!(ledger.off("claude").is_some());
    }
}
