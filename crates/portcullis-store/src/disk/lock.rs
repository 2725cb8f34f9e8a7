//! A lock that processes take turns with: a file of its own beside what it guards, locked while something changes.
//!
//! The kernel lets go of it when a process ends, however it ends. A lock file may be removed by whoever holds it; those
//! who waited for it then find that it is no longer the one in the directory, and begin again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super as disk;
use crate::error::StoreError;

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    file: File,
}

impl FileLock {
    /// How often a lock may be removed by its holder while it is waited for.
    const ATTEMPTS: u32 = 64;

    /// How long is waited if nobody says otherwise. A hook takes a handful of locks at most, one after the other, and
    /// must be able to say which one it did not get before its deadline of ten seconds.
    pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

    /// Waits for the lock as long as is usual. The directory must be there.
    pub(crate) fn take(path: &Path) -> Result<Self, StoreError> {
        Self::take_within(path, Self::PATIENCE)
    }

    /// Waits for the lock, but not for ever: whoever holds it might never let go. The directory must be there.
    pub(crate) fn take_within(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        if let Some(lock) = Self::try_take(path)? {
            return Ok(lock);
        }
        let begun = Instant::now();
        for _ in 0..Self::ATTEMPTS {
            let file = wait(path, Self::open(path)?, patience.saturating_sub(begun.elapsed()))?;
            if disk::is_at(path, &file)? {
                return Ok(Self { path: path.to_path_buf(), file });
            }
        }
        Err(StoreError::Busy { file: path.to_path_buf() })
    }

    /// Takes the lock if nobody has it.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::try_lock(path, Self::open(path)?)
    }

    fn open(path: &Path) -> Result<File, StoreError> {
        disk::open_or_create(path, OpenOptions::new().read(true).write(true))
    }

    fn try_lock(path: &Path, file: File) -> Result<Option<Self>, StoreError> {
        match file.try_lock() {
            Ok(()) if disk::is_at(path, &file)? => Ok(Some(Self { path: path.to_path_buf(), file })),
            // Removed by its last holder.
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::of_io("lock", path, &error)),
        }
    }

    /// Removes the lock file and lets go. Where a file cannot be told from another one, it stays.
    pub(crate) fn remove(self) -> Result<(), StoreError> {
        if cfg!(unix)
            && let Err(error) = fs::remove_file(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(StoreError::of_io("remove", &self.path, &error));
        }
        drop(self.file);
        Ok(())
    }
}

/// Waits until a file is locked. The kernel hands a lock on at once, but can wait only without a limit; so a thread waits
/// for it, and this one for the thread. A lock that comes too late is dropped with its file.
fn wait(path: &Path, file: File, patience: Duration) -> Result<File, StoreError> {
    let failed = |error: &io::Error| StoreError::of_io("lock", path, error);
    let (sender, receiver) = mpsc::channel();
    let wait_in_line = move || {
        let outcome = loop {
            match file.lock() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let _ = sender.send(outcome.map(|()| file));
    };
    thread::Builder::new().spawn(wait_in_line).map_err(|error| failed(&error))?;
    match receiver.recv_timeout(patience) {
        Ok(outcome) => outcome.map_err(|error| failed(&error)),
        Err(_) => Err(StoreError::Busy { file: path.to_path_buf() }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_mins(10);

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let lock = FileLock::take_within(&path, LONG).unwrap();
        assert!(FileLock::try_take(&path).unwrap().is_none());
        drop(lock);
        assert!(FileLock::try_take(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn whoever_waited_for_a_removed_lock_does_not_get_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let waiting = disk::open_or_create(&path, OpenOptions::new().read(true).write(true)).unwrap();
        FileLock::take_within(&path, LONG).unwrap().remove().unwrap();
        assert!(
            FileLock::try_lock(&path, waiting.try_clone().unwrap()).unwrap().is_none(),
            "there is no lock file"
        );
        let _held = FileLock::take_within(&path, LONG).unwrap();
        assert!(FileLock::try_lock(&path, waiting).unwrap().is_none(), "there is another lock file");
    }

    #[test]
    fn a_lock_that_is_never_let_go_is_an_error_and_no_endless_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let _held = FileLock::take_within(&path, LONG).unwrap();
        let refused = FileLock::take_within(&path, Duration::from_millis(20)).unwrap_err();
        assert_eq!(refused, StoreError::Busy { file: path });
    }

    #[test]
    fn a_lock_that_came_too_late_is_let_go_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let held = FileLock::take_within(&path, LONG).unwrap();
        for _ in 0..3 {
            assert!(FileLock::take_within(&path, Duration::ZERO).is_err());
        }
        drop(held);
        // Those who gave up still stand in line; each lets go at once.
        drop(FileLock::take_within(&path, LONG).unwrap());
    }

    #[test]
    fn those_who_wait_take_turns() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.lock");
        let (inside, turns) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for turn in 0..20 {
                        let lock = FileLock::take_within(&path, LONG).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        turns.fetch_add(1, Ordering::SeqCst);
                        // Sometimes the lock itself goes, and those in line begin again.
                        if turn % 5 == 0 {
                            lock.remove().unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 160);
    }
}
