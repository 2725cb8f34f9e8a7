//! Whether somebody else changed what a layer would change.
//!
//! The kernel notes when a file was last changed, and nobody can set that note. What was changed below after the run began
//! was changed by somebody else, since the run itself writes only into its layer.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::change::{ChangeKind, ChangedEntry, LayerChange};
use super::tree::entry_names;

/// A moment as the kernel notes it for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileStamp {
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

impl FileStamp {
    /// Returns when a file was last changed in any way.
    pub fn of(metadata: &Metadata) -> Self {
        Self { seconds: metadata.ctime(), nanoseconds: metadata.ctime_nsec() }
    }

    /// Returns when the content of a file was last changed, as whoever owns it says.
    pub(super) fn of_content(metadata: &Metadata) -> Self {
        Self { seconds: metadata.mtime(), nanoseconds: metadata.mtime_nsec() }
    }
}

/// Why a change does not simply land.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeConflict {
    /// What is there now was changed, made or removed since the run began.
    ChangedOutside,
    /// The file has another name elsewhere, which would keep the old content.
    OtherNames,
}

impl LayerChange {
    /// Returns what speaks against bringing this change down onto a place, for a run that began at a stamp.
    pub fn conflict(&self, lower: &Path, began: FileStamp) -> io::Result<Option<ChangeConflict>> {
        let path = lower.join(&self.path);
        let Some(metadata) = metadata_below(lower, &self.path)? else {
            let is_lost = self.kind == ChangeKind::Modified;
            return Ok(is_lost.then_some(ChangeConflict::ChangedOutside));
        };
        let below = ChangedEntry::of(&metadata);
        if self.kind == ChangeKind::Added {
            // A directory that both made is one directory.
            let is_same = below == ChangedEntry::Directory && self.entry == ChangedEntry::Directory;
            return Ok((!is_same).then_some(ChangeConflict::ChangedOutside));
        }
        if below == ChangedEntry::Directory {
            let keeps_it = self.kind == ChangeKind::Modified && self.entry == ChangedEntry::Directory;
            let is_newer = !keeps_it && holds_newer(&path, began)?;
            return Ok(is_newer.then_some(ChangeConflict::ChangedOutside));
        }
        if FileStamp::of(&metadata) > began {
            return Ok(Some(ChangeConflict::ChangedOutside));
        }
        let is_linked = self.kind == ChangeKind::Modified && metadata.nlink() > 1;
        Ok(is_linked.then_some(ChangeConflict::OtherNames))
    }
}

/// Looks at a path without following a link on the way; nothing if it is not there.
fn metadata_below(lower: &Path, relative: &Path) -> io::Result<Option<Metadata>> {
    let mut path = lower.to_path_buf();
    let mut found = None;
    for part in relative {
        if found.as_ref().is_some_and(|above: &Metadata| !above.is_dir()) {
            return Ok(None);
        }
        path.push(part);
        found = match fs::symlink_metadata(&path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
    }
    Ok(found)
}

/// Says whether anything below a directory was changed after a stamp.
fn holds_newer(directory: &Path, began: FileStamp) -> io::Result<bool> {
    for name in entry_names(directory)? {
        let path = directory.join(name);
        let metadata = fs::symlink_metadata(&path)?;
        if FileStamp::of(&metadata) > began || metadata.is_dir() && holds_newer(&path, began)? {
            return Ok(true);
        }
    }
    Ok(false)
}
