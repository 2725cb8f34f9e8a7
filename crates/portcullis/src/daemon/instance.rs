//! One daemon for one state directory: a file that the running one holds locked, and that says where it listens.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use portcullis_settings::disk::plain;
use serde::{Deserialize, Serialize};

use super::places::Places;
use crate::failure::Failure;

/// The longest file that is read.
const LONGEST: u64 = 64 * 1024;

/// A daemon that runs, as others find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    /// Its process.
    pub(crate) pid: u32,
    /// Where its pages and its API are; `None` if it listens at its socket alone.
    pub(crate) url: Option<String>,
    /// The address it listens at.
    pub(crate) address: Option<String>,
    /// Its unix socket.
    pub(crate) socket: PathBuf,
    /// When it started, in unix milliseconds.
    pub(crate) started_at_ms: u64,
}

impl Running {
    /// Finds the daemon of a state directory; `None` if none runs.
    pub(crate) fn find(places: &Places) -> Option<Self> {
        let file = File::open(places.lock()).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Self::read(&file),
            // Nobody holds it: whoever wrote it is gone.
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    fn read(file: &File) -> Option<Self> {
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// The right to be the daemon of a state directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    file: File,
}

impl Instance {
    /// Takes the right, unless another process has it.
    pub(crate) fn take(places: &Places) -> Result<Self, Failure> {
        let path = places.lock();
        let failed = |error: &std::io::Error| {
            Failure::internal(format!("`{}` cannot be used: {}", path.display(), plain(error)))
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(Self::taken(places)),
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    fn taken(places: &Places) -> Failure {
        let (who, how) = match Running::find(places) {
            Some(running) => {
                let place = running.url.unwrap_or_else(|| running.socket.display().to_string());
                (
                    format!(": process {} listens at {place}", running.pid),
                    format!("stop process {} first", running.pid),
                )
            }
            None => (String::new(), "wait until it listens, or stop it first".to_owned()),
        };
        Failure::usage(format!("a daemon runs already{who}"))
            .with_hint(format!("use that one, or {how}; `portcullis tokens link` prints a link to its page"))
    }

    /// Says where the daemon listens.
    pub(crate) fn announce(&mut self, running: &Running) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::internal(format!("where the daemon listens cannot be written: {error}"))
        };
        let text = serde_json::to_string(running).map_err(|error| failed(&error))?;
        self.clear().map_err(|error| failed(&error))?;
        self.file.write_all(format!("{text}\n").as_bytes()).map_err(|error| failed(&error))
    }

    fn clear(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The lock says that nobody runs; an old text is no harm.
        let _ = self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_found_by_others() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(folder.path());
        crate::daemon::tokens::prepare(&places).unwrap();
        std::fs::write(places.lock(), "left by a process that was killed").unwrap();
        assert_eq!(Running::find(&places), None);
        let mut instance = Instance::take(&places).unwrap();
        let running = Running {
            pid: 7,
            url: Some("http://127.0.0.1:7317".to_owned()),
            address: Some("127.0.0.1:7317".to_owned()),
            socket: places.socket(),
            started_at_ms: 1,
        };
        instance.announce(&running).unwrap();
        assert_eq!(Running::find(&places), Some(running));
        let refused = Instance::take(&places).unwrap_err();
        assert!(refused.message.contains("process 7 listens at http://127.0.0.1:7317"), "{refused}");
        drop(instance);
        assert_eq!(Running::find(&places), None);
        assert!(Instance::take(&places).is_ok());
    }
}
