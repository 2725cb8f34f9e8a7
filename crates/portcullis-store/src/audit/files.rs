//! The files of the trail: where they are, in which order, and where the chain begins.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Trail;
use super::line::BEGINNING;
use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;

/// The largest anchor that is one of ours.
const MOST_ANCHOR: u64 = 4 * 1024;

/// Where the chain begins: after the last record that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Anchor {
    /// The number of that record; 0 if none was removed.
    pub(super) number: u64,
    /// Its hash.
    pub(super) hash: String,
    /// The file that it stood in.
    pub(super) segment: u32,
    /// When it was removed, in unix milliseconds.
    pub(super) removed_ms: u64,
}

impl Default for Anchor {
    fn default() -> Self {
        Self { number: 0, hash: BEGINNING.to_owned(), segment: 0, removed_ms: 0 }
    }
}

/// A file of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// Its number. The current file has the one that it will be put aside under.
    pub(super) number: u32,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Whether lines are still added to it.
    pub(super) is_current: bool,
}

impl Trail {
    pub(super) fn directory(&self) -> PathBuf {
        self.root.join("audit")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    pub(super) fn current(&self) -> PathBuf {
        self.file("current.jsonl")
    }

    /// Says whether anything was ever recorded.
    pub(super) fn exists(&self) -> Result<bool, StoreError> {
        Ok(disk::has_directory(&self.root)? && disk::has_directory(&self.directory())?)
    }

    /// Waits for the lock of the trail, whose directory must be there.
    pub(super) fn lock(&self) -> Result<FileLock, StoreError> {
        FileLock::take_within(&self.file("lock"), self.patience)
    }

    /// Returns the full files, the oldest first.
    pub(super) fn sealed(&self) -> Result<Vec<Segment>, StoreError> {
        let directory = self.directory();
        let failed = |error: &_| StoreError::of_io("list", &directory, error);
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| failed(&error))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| failed(&error))?.path();
            found.extend(number_of(&path).map(|number| Segment { number, path, is_current: false }));
        }
        found.sort_by_key(|segment| segment.number);
        Ok(found)
    }

    /// Returns all files, the oldest first and the current one last. Whoever wants them all takes the lock before.
    pub(super) fn segments(&self, _lock: &FileLock) -> Result<Vec<Segment>, StoreError> {
        let mut segments = self.sealed()?;
        let number = self.next_number(&segments)?;
        segments.push(Segment { number, path: self.current(), is_current: true });
        Ok(segments)
    }

    /// Returns the number under which the current file will be put aside. No number is used twice.
    pub(super) fn next_number(&self, sealed: &[Segment]) -> Result<u32, StoreError> {
        let newest = sealed.last().map_or(0, |segment| segment.number);
        Ok(newest.max(self.anchor()?.segment).saturating_add(1))
    }

    /// Returns the name of a full file.
    pub(super) fn sealed_file(&self, number: u32) -> PathBuf {
        self.file(&format!("{number:06}.jsonl"))
    }

    /// Reads where the chain begins. One that cannot be read is an error: without it no chain can be proven.
    pub(super) fn anchor(&self) -> Result<Anchor, StoreError> {
        let path = self.file("anchor.json");
        let Some(bytes) = disk::read(&path, MOST_ANCHOR)? else { return Ok(Anchor::default()) };
        serde_json::from_slice(&bytes).map_err(|error| StoreError::broken(&path, &error.to_string()))
    }

    pub(super) fn set_anchor(&self, lock: &FileLock, anchor: &Anchor) -> Result<(), StoreError> {
        let path = self.file("anchor.json");
        let bytes =
            serde_json::to_vec(anchor).map_err(|error| StoreError::broken(&path, &error.to_string()))?;
        disk::replace(lock, &path, &bytes)
    }
}

fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let is_number = name.len() >= 6 && name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number > 0)
}
