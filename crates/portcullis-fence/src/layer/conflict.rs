//! Whether somebody else changed what a layer would change.
//!
//! The kernel notes when a file was last changed, and nobody can set that note. What was changed below after the run began
//! was changed by somebody else, since the run itself writes only into its layer.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

/// What changes are held against as they land: the place, when the run began, and what landing does itself.
#[derive(Debug)]
pub(crate) struct ConflictCheck<'run> {
    lower: &'run Path,
    began: FileStamp,
    /// The directories that the run brings.
    brought: BTreeSet<&'run Path>,
    /// Files of which landing took a name away: the kernel notes that for the names that are left too.
    touched: BTreeSet<u64>,
}

impl<'run> ConflictCheck<'run> {
    /// Makes the check for changes of a run that began at a stamp.
    pub(crate) fn of(lower: &'run Path, began: FileStamp, changes: &'run [LayerChange]) -> Self {
        let is_brought = |change: &&LayerChange| {
            change.entry == ChangedEntry::Directory && change.kind != ChangeKind::Removed
        };
        let brought = changes.iter().filter(is_brought).map(|change| change.path.as_path()).collect();
        Self { lower, began, brought, touched: BTreeSet::new() }
    }

    /// Returns what speaks against bringing a change down.
    pub(crate) fn conflict(&self, change: &LayerChange) -> io::Result<Option<ChangeConflict>> {
        if !self.has_parent(change)? {
            return Ok(Some(ChangeConflict::ChangedOutside));
        }
        let Some(metadata) = metadata_below(self.lower, &change.path)? else {
            let is_lost = change.kind == ChangeKind::Modified;
            return Ok(is_lost.then_some(ChangeConflict::ChangedOutside));
        };
        let below = ChangedEntry::of(&metadata);
        if change.kind == ChangeKind::Added {
            // A directory that both made is one directory.
            let is_same = below == ChangedEntry::Directory && change.entry == ChangedEntry::Directory;
            return Ok((!is_same).then_some(ChangeConflict::ChangedOutside));
        }
        if below == ChangedEntry::Directory {
            let keeps_it = change.kind == ChangeKind::Modified && change.entry == ChangedEntry::Directory;
            let is_newer = !keeps_it && self.holds_newer(&self.lower.join(&change.path))?;
            return Ok(is_newer.then_some(ChangeConflict::ChangedOutside));
        }
        if self.is_newer(&metadata) {
            return Ok(Some(ChangeConflict::ChangedOutside));
        }
        let is_linked = change.kind == ChangeKind::Modified && metadata.nlink() > 1;
        Ok(is_linked.then_some(ChangeConflict::OtherNames))
    }

    /// Notes which files lose a name when a change lands.
    pub(crate) fn note_landing(&mut self, change: &LayerChange) -> io::Result<()> {
        match metadata_below(self.lower, &change.path)? {
            Some(found) if found.is_dir() && change.entry == ChangedEntry::Directory => {
                if change.kind == ChangeKind::Removed {
                    note_names(&self.lower.join(&change.path), &found, &mut self.touched)?;
                }
                Ok(())
            }
            Some(found) => note_names(&self.lower.join(&change.path), &found, &mut self.touched),
            None => Ok(()),
        }
    }

    /// Says whether the directory that a change goes to is the one that it was made in, or comes along with it.
    fn has_parent(&self, change: &LayerChange) -> io::Result<bool> {
        let Some(parent) = change.path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
            return Ok(true);
        };
        let found = metadata_below(self.lower, parent)?.filter(Metadata::is_dir);
        Ok(match (found, change.parent) {
            (Some(found), Some(number)) => found.ino() == number && !was_made_after(&found, self.began),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            // Whatever lies in the way of a directory that comes along is that directory's own conflict.
            (None, None) => self.brought.contains(parent),
        })
    }

    fn is_newer(&self, metadata: &Metadata) -> bool {
        let is_ours = !metadata.is_dir() && self.touched.contains(&metadata.ino());
        FileStamp::of(metadata) > self.began && !is_ours
    }

    /// Says whether anything below a directory was changed after the run began.
    fn holds_newer(&self, directory: &Path) -> io::Result<bool> {
        for name in entry_names(directory)? {
            let path = directory.join(name);
            let metadata = fs::symlink_metadata(&path)?;
            if self.is_newer(&metadata) || metadata.is_dir() && self.holds_newer(&path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Collects the files at or below a path that have other names.
fn note_names(path: &Path, found: &Metadata, touched: &mut BTreeSet<u64>) -> io::Result<()> {
    if !found.is_dir() {
        if found.nlink() > 1 {
            touched.insert(found.ino());
        }
        return Ok(());
    }
    for name in entry_names(path)? {
        let path = path.join(name);
        note_names(&path, &fs::symlink_metadata(&path)?, touched)?;
    }
    Ok(())
}

/// Says whether a file was made after a stamp; not every file system knows.
fn was_made_after(metadata: &Metadata, began: FileStamp) -> bool {
    let since = |made: SystemTime| made.duration_since(SystemTime::UNIX_EPOCH).ok();
    let made = metadata.created().ok().and_then(since).and_then(|made| {
        Some(FileStamp {
            seconds: i64::try_from(made.as_secs()).ok()?,
            nanoseconds: i64::from(made.subsec_nanos()),
        })
    });
    made.is_some_and(|made| made > began)
}

/// The number of a directory of which nobody can say that it is the one that a change was made in.
const NO_DIRECTORY: u64 = u64::MAX;

/// Notes for each change which directory it was made in, so that another one in its place is known.
pub(super) fn note_parents(
    changes: &mut [LayerChange],
    lower: &Path,
    began: Option<FileStamp>,
) -> io::Result<()> {
    let mut last: Option<(PathBuf, Option<u64>)> = None;
    for change in changes {
        let Some(parent) = change.path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
            continue;
        };
        change.parent = match &last {
            Some((path, number)) if path == parent => *number,
            _ => match metadata_below(lower, parent)?.filter(Metadata::is_dir) {
                Some(_) if began.is_some_and(|began| may_be_swapped(lower, parent, began)) => {
                    Some(NO_DIRECTORY)
                }
                found => found.map(|found| found.ino()),
            },
        };
        last = Some((parent.to_path_buf(), change.parent));
    }
    Ok(())
}

/// Says whether a directory, or one on the way to it, may have been put in the place of another one since a run began, however
/// old it is. Whoever renames a directory leaves a note of the moment at it and at the one that it lies in.
fn may_be_swapped(lower: &Path, directory: &Path, began: FileStamp) -> bool {
    let is_touched = |path: &Path| {
        fs::symlink_metadata(lower.join(path)).map_or(true, |found| FileStamp::of(&found) > began)
    };
    let parts = directory.ancestors().take_while(|part| !part.as_os_str().is_empty());
    let mut pairs = parts.filter_map(|part| Some((part, part.parent()?)));
    pairs.any(|(part, above)| is_touched(part) && is_touched(above))
}

/// Looks at a path without following a link on the way; nothing if it is not there.
pub(super) fn metadata_below(lower: &Path, relative: &Path) -> io::Result<Option<Metadata>> {
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
