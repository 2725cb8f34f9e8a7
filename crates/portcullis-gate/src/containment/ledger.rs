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

/// How long a host may take between asking about several calls at once and running them, in milliseconds.
const AT_ONCE_MS: u64 = 10_000;

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
    /// Whether the host said that it is done.
    #[serde(default)]
    pub is_done: bool,
    /// The run whose changes are held for a person.
    #[serde(default)]
    pub held_run: Option<String>,
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
    /// A workspace in which it gets fences nevertheless, because `doctor` looks there whether it runs them.
    #[serde(default)]
    pub trial: Option<PathBuf>,
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

    /// Notes that what a call changed is held in a run.
    pub fn note_held(&self, id: &str, words: &[OsString], run: &str) -> io::Result<()> {
        let Some(call) = self.find(id, words) else { return Ok(()) };
        let held_run = Some(run.to_owned());
        replace(&self.path(id, words), &ContainedCall { state: ContainedState::Refused, held_run, ..call })
    }

    /// Returns the runs of a command of a session whose changes were held.
    pub(super) fn held_runs(&self, words: &[OsString], session: &str) -> Vec<String> {
        self.calls(words).filter(|call| call.session == session).filter_map(|call| call.held_run).collect()
    }

    /// Says whether a command of a session did not run inside as it should, so that a person should say about it now. One
    /// that was given just now may be about to run: hosts run the same command several times at once.
    pub(super) fn is_doubtful(&self, words: &[OsString], session: &str, has_person: bool) -> bool {
        let now = now_ms();
        self.calls(words).any(|call| {
            call.session == session
                && match call.state {
                    ContainedState::Given => now.saturating_sub(call.given_at_ms) > AT_ONCE_MS,
                    ContainedState::Failed => true,
                    ContainedState::Refused => has_person,
                    ContainedState::Ran => false,
                }
        })
    }

    /// Says whether a fence did not go up in a session, so that none is tried there any more.
    pub(super) fn has_failed_in(&self, session: &str) -> bool {
        let mut calls = self.files().filter_map(|path| read::<ContainedCall>(&path));
        calls.any(|call| call.session == session && call.state == ContainedState::Failed)
    }

    /// Expects no end any more of calls that did not run and that a host knows by their words alone: what it tells of next is
    /// the same command, asked about anew.
    pub(super) fn give_up(&self, words: &[OsString], session: &str) -> io::Result<()> {
        let beginning = format!("{}-", key(words));
        for path in self.files().filter(|path| has_beginning(path, &beginning)) {
            let Some(call) = read::<ContainedCall>(&path) else { continue };
            let is_open = call.state == ContainedState::Given && call.call_id.is_none() && !call.is_done;
            if is_open && call.session == session {
                replace(&path, &ContainedCall { is_done: true, ..call })?;
            }
        }
        Ok(())
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
        let open = self.files().filter_map(|path| Some((read::<ContainedCall>(&path)?, path)));
        let open = open.filter(|(call, _)| call.session == session && !call.is_done);
        // A host may tell of the command that it was given instead, so that its id of the call counts first.
        let done = open.filter(|(call, path)| match (call_id, call.call_id.as_deref()) {
            (Some(told), Some(given)) => told == given,
            _ => has_beginning(path, &beginning),
        });
        // Of calls that nothing tells apart, those that ran are told of first: each of them once.
        let Some((call, path)) = done.min_by_key(|(call, _)| call.state == ContainedState::Given) else {
            return Ok(None);
        };
        match call.state {
            // The host ran our line, which could not do its part, as in a sandbox of the host's own.
            ContainedState::Given if is_line_of(&path, command) => {
                let failed = ContainedCall { state: ContainedState::Failed, is_done: true, ..call };
                return replace(&path, &failed).map(|()| None);
            }
            ContainedState::Given => {}
            ContainedState::Ran => return fs::remove_file(path).map(|()| None),
            ContainedState::Refused | ContainedState::Failed => {
                return replace(&path, &ContainedCall { is_done: true, ..call }).map(|()| None);
            }
        }
        let off = SwitchedOff {
            at_ms: now_ms(),
            session: session.to_owned(),
            reason: "it ran a command without the fence that it was told to run it in".to_owned(),
            trial: None,
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
            trial: None,
        };
        path.exists().then(|| read(&path).unwrap_or_else(unread))
    }

    /// Lets a host that is off have fences in one workspace, or ends that.
    pub fn set_trial(&self, host: &str, workspace: Option<&Path>) -> io::Result<()> {
        match self.off(host) {
            Some(off) => {
                let trial = workspace.map(Path::to_path_buf);
                replace(&self.off_path(host), &SwitchedOff { trial, ..off })
            }
            None => Ok(()),
        }
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
        self.files().filter(move |path| has_beginning(path, &beginning)).filter_map(|path| read(&path))
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().take(MOST_CALLS);
        entries.filter_map(|entry| Some(entry.ok()?.path()))
    }

    /// Forgets calls that were given before a time. What cannot be removed now is removed another time.
    fn forget_before(&self, time_ms: u64) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(time_ms);
        for path in self.files().filter(|path| !has_beginning(path, "off-")) {
            let changed = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
            if changed.is_ok_and(|changed| changed < time) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Says whether a command is the line that a host was given for a call. Nobody else knows the id in it.
fn is_line_of(path: &Path, command: &str) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let id = name.rsplit_once('-').map(|(_, id)| id);
    id.is_some_and(|id| command.contains(&format!(" run --call {id} -- bash -c ")))
}

fn has_beginning(path: &Path, beginning: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(beginning))
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
            is_done: false,
            held_run: None,
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
        // A host may tell of a command that another hook gave it.
        for other in ["portcullis run", "portcullis run --call a2 -- bash -c make"] {
            assert_eq!(
                ledger.check_done("s", Some("c1"), other).unwrap().as_deref(),
                Some("claude"),
                "{other}"
            );
        }
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
            let given_at_ms = now_ms() - AT_ONCE_MS - 1;
            ledger.give("a1", &words("make"), &ContainedCall { given_at_ms, ..call("s", None) }).unwrap();
            ledger.note("a1", &words("make"), state).unwrap();
            assert_eq!(ledger.is_doubtful(&words("make"), "s", true), with, "{state:?}");
            assert_eq!(ledger.is_doubtful(&words("make"), "s", false), without, "{state:?}");
            assert!(!ledger.is_doubtful(&words("make"), "t", true), "{state:?}");
            assert!(!ledger.is_doubtful(&words("make all"), "s", true), "{state:?}");
        }
    }

    /// Hosts that have no ids of calls run the same command several times at once.
    #[test]
    fn each_of_several_equal_calls_has_its_own_proof() {
        use ContainedState::{Failed, Given, Ran, Refused};
        let ids = ["a1", "a2", "a3"];
        // What came of each of the three.
        for states in
            [[Ran, Ran, Ran], [Refused, Ran, Failed], [Given, Ran, Refused], [Refused, Given, Given]]
        {
            let (_folder, ledger) = ledger();
            for id in ids {
                ledger.give(id, &words("make"), &call("s", None)).unwrap();
                assert!(!ledger.is_doubtful(&words("make"), "s", true), "{id}");
            }
            for (id, state) in ids.into_iter().zip(states) {
                ledger.note(id, &words("make"), state).unwrap();
            }
            let told: Vec<_> = ids.map(|_| ledger.check_done("s", None, "make").unwrap().is_some()).to_vec();
            let lost = states.iter().filter(|state| **state == Given).count();
            let expected: Vec<bool> = (0..ids.len()).map(|at| at >= ids.len() - lost).collect();
            assert_eq!(told, expected, "{states:?}");
        }
    }

    #[test]
    fn a_line_of_ours_that_did_nothing_is_no_alarm_and_ends_fences_for_its_session() {
        let (_folder, ledger) = ledger();
        ledger.give("a1", &words("make"), &call("s", Some("c1"))).unwrap();
        let line = super::super::wrapped_command::wrapped("/usr/bin/portcullis", "a1", "make", None);
        assert!(!ledger.has_failed_in("s"));
        assert_eq!(ledger.check_done("s", Some("c1"), &line).unwrap(), None);
        assert_eq!(ledger.off("claude"), None);
        assert!(ledger.has_failed_in("s") && !ledger.has_failed_in("t"));
    }

    #[test]
    fn a_command_that_is_asked_about_anew_is_no_alarm() {
        let (_folder, ledger) = ledger();
        ledger.give("a1", &words("make"), &call("s", None)).unwrap();
        ledger.give("a2", &words("make"), &call("s", Some("c2"))).unwrap();
        ledger.give_up(&words("make"), "s").unwrap();
        assert_eq!(ledger.check_done("s", Some("c3"), "make").unwrap(), None);
        // What has an id is known by it.
        assert_eq!(ledger.check_done("s", Some("c2"), "make").unwrap().as_deref(), Some("claude"));
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
