//! The policy of one call, written by whoever judged it and read by the runner: once, for this command, in this directory.
//!
//! A command line that names a call carries no right. The record lies where only this user writes and no fenced command
//! can; it is taken away before it is read, so that two runners never have the same one.

use std::ffi::OsString;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::RunError;
use crate::hexadecimal::hexadecimal;
use crate::layer::open_regular;
use crate::policy::FencePolicy;

/// What a judged call may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// The hash of the command's words: [`command_hash`].
    pub hash: String,
    /// The directory that it was judged in.
    pub directory: PathBuf,
    /// What it may do.
    pub policy: FencePolicy,
    /// Until when the record holds, in milliseconds since 1970.
    pub expires_at_ms: u64,
}

/// Returns what a command is known by.
pub fn command_hash(words: &[OsString]) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(u64::try_from(word.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(word.as_bytes());
    }
    hexadecimal(&hash.finalize())
}

/// The records of calls that were judged and have not run.
#[derive(Debug)]
pub struct CallRecordStore {
    root: PathBuf,
}

const UNKNOWN: RunError =
    RunError::Call("no call of this id waits to be run; ask for the command itself again");

impl CallRecordStore {
    /// Returns the store in a directory.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// Keeps a record for the runner.
    pub fn put(&self, id: &str, record: &CallRecord) -> Result<(), RunError> {
        let path = self.path(id)?;
        let keep = || -> io::Result<()> {
            super::record::create_private(&self.root)?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(&serde_json::to_vec(record)?)
        };
        keep().map_err(RunError::disk("keep the call", &path))
    }

    /// Takes the record of a call, which is gone then, and returns its policy if it is for this command, here and now.
    pub fn take(
        &self,
        id: &str,
        words: &[OsString],
        directory: &Path,
        now_ms: u64,
    ) -> Result<FencePolicy, RunError> {
        let path = self.path(id)?;
        let taken = self.root.join(format!("{id}.{}.taken", std::process::id()));
        fs::rename(&path, &taken).map_err(|_| UNKNOWN)?;
        let read = read_file(&taken);
        fs::remove_file(&taken).map_err(RunError::disk("use up the call", &path))?;
        let (metadata, text) = read.map_err(|_| UNKNOWN)?;
        let is_ours =
            metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode().trailing_zeros() >= 6;
        if !is_ours {
            return Err(RunError::Call("the record of this call was written by somebody else"));
        }
        let record: CallRecord = serde_json::from_slice(&text)
            .map_err(|_| RunError::Call("the record of this call cannot be read"))?;
        if record.expires_at_ms < now_ms {
            return Err(RunError::Call("this call waited too long; ask for the command itself again"));
        }
        if record.hash != command_hash(words) {
            return Err(RunError::Call(
                "this is not the command that was judged; ask for the command itself",
            ));
        }
        if record.directory != directory {
            return Err(RunError::Call("this is not the directory that the command was judged in"));
        }
        Ok(record.policy)
    }

    /// An id is letters and digits, so that it names a file here and nowhere else.
    fn path(&self, id: &str) -> Result<PathBuf, RunError> {
        let is_plain =
            !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_plain { Ok(self.root.join(format!("{id}.json"))) } else { Err(UNKNOWN) }
    }
}

/// Reads a file and what is known of it.
fn read_file(path: &Path) -> io::Result<(Metadata, Vec<u8>)> {
    let mut file = open_regular(path)?;
    let metadata = file.metadata()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok((metadata, text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn store_with(id: &str) -> (tempfile::TempDir, CallRecordStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = CallRecordStore::at(folder.path().join("calls"));
        let policy = FencePolicy::for_workspace("/w".into());
        let hash = command_hash(&words("bash -c true"));
        let record = CallRecord { hash, directory: "/w".into(), policy, expires_at_ms: 100 };
        store.put(id, &record).expect("it is kept");
        (folder, store)
    }

    #[test]
    fn a_call_is_taken_once() {
        let (_folder, store) = store_with("a1");
        let take = || store.take("a1", &words("bash -c true"), Path::new("/w"), 50);
        assert!(take().is_ok());
        assert!(take().is_err());
    }

    #[test]
    fn another_command_directory_time_or_id_runs_nothing() {
        let line = "bash -c true";
        for (id, line, directory, now) in [
            ("a1", "bash -c false", "/w", 50),
            ("a1", "bash -ctrue", "/w", 50),
            ("a1", line, "/w/below", 50),
            ("a1", line, "/w", 101),
            ("a2", line, "/w", 50),
            ("../calls/a1", line, "/w", 50),
            ("", line, "/w", 50),
        ] {
            let (_folder, store) = store_with("a1");
            assert!(
                store.take(id, &words(line), Path::new(directory), now).is_err(),
                "{id} {line} {directory}"
            );
        }
    }

    #[test]
    fn a_record_that_others_could_write_holds_nothing() {
        let (folder, store) = store_with("a1");
        let path = folder.path().join("calls/a1.json");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
        assert!(store.take("a1", &words("bash -c true"), Path::new("/w"), 50).is_err());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_record_is_not_waited_for() {
        let (folder, store) = store_with("a1");
        let path = folder.path().join("calls/a1.json");
        fs::remove_file(&path).expect("it is removed");
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        let (said, heard) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            said.send(store.take("a1", &words("bash -c true"), Path::new("/w"), 50).is_err())
        });
        let is_refused = heard.recv_timeout(std::time::Duration::from_secs(10));
        assert_eq!(is_refused, Ok(true));
    }

    #[test]
    fn words_are_not_confused_with_each_other() {
        assert_ne!(command_hash(&words("a b")), command_hash(&words("ab")));
        assert_ne!(command_hash(&words("a b")), command_hash(&words("a b ")));
    }
}
