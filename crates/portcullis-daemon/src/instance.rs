//! One daemon for one state directory: a file that the running one holds locked, and that says where it listens.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use portcullis_settings::disk::plain;

use portcullis_gate::Failure;
use portcullis_gate::daemon_client::{Places, Running};

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
        crate::tokens::prepare(&places).unwrap();
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
