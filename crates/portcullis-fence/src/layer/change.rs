//! The changes of a layer, as a list of paths.
//!
//! The kernel writes a removed file as a device 0:0, and marks a directory that stands for itself alone as opaque: then
//! everything below it that the layer does not have is gone too.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::conflict::{FileStamp, note_parents};
use super::tree::{entry_names, has_attribute, open_directory_up};
use crate::protection::is_strange_to_git;
use crate::usual_places::names_of_git;

/// The mark of a directory that hides what is below it.
const OPAQUE: &str = "user.overlay.opaque";

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerChange {
    /// The path, from the place that the layer is over.
    #[serde(with = "wire_path")]
    pub path: PathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it is now, or was if it is gone.
    pub entry: ChangedEntry,
    /// Its size in bytes, if it is a file that is there.
    pub bytes: u64,
    /// Its mode, or what it was if it is gone.
    pub mode: u32,
    /// When its content was changed, or had been if it is gone. A directory of the layer forgets it as it is emptied.
    pub modified: FileStamp,
    /// The number of the directory that it lies in; none if that is the place itself or new.
    #[serde(default)]
    pub parent: Option<u64>,
}

impl LayerChange {
    /// Says whether it is a program that runs as its owner or group, whoever starts it.
    pub fn changes_user(&self) -> bool {
        self.entry == ChangedEntry::File && self.kind != ChangeKind::Removed && self.mode & 0o6000 != 0
    }

    /// Says whether it puts something into a `.git` directory that git would not: it writes through a link wherever that
    /// leads, and some files tell it what to run.
    pub(crate) fn is_planted_in_git(&self) -> bool {
        let is_inside = self.path.parent().is_some_and(|parent| parent.iter().any(|part| part == ".git"));
        if !is_inside || self.kind == ChangeKind::Removed {
            return false;
        }
        match self.entry {
            ChangedEntry::Directory => false,
            ChangedEntry::Link | ChangedEntry::Special => true,
            ChangedEntry::File => is_strange_to_git(names_of_git(), &self.path),
        }
    }
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It has other content, another mode or other times.
    Modified,
    /// It is gone.
    Removed,
}

/// What a changed path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangedEntry {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe or something else that holds nothing.
    Special,
}

impl ChangedEntry {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let kind = metadata.file_type();
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}

/// Returns what a layer changed of the place below it, by path. A directory that may have been put there since the run began
/// is not taken for the one that changes were made in; without that moment all are.
pub fn find_changes(upper: &Path, lower: &Path, began: Option<FileStamp>) -> io::Result<Vec<LayerChange>> {
    let mut scan = LayerScan { upper, lower, changes: Vec::new() };
    scan.directory(Path::new(""), Below::Merged)?;
    scan.changes.sort_by(|one, other| one.path.cmp(&other.path));
    note_parents(&mut scan.changes, lower, began)?;
    Ok(scan.changes)
}

/// What is below a directory of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// A directory that shows through.
    Merged,
    /// A directory that is hidden.
    Hidden,
    /// Nothing, or something that is no directory: a link there leads elsewhere and is not followed.
    Nothing,
}

struct LayerScan<'place> {
    upper: &'place Path,
    lower: &'place Path,
    changes: Vec<LayerChange>,
}

impl LayerScan<'_> {
    fn directory(&mut self, relative: &Path, below: Below) -> io::Result<()> {
        let upper = self.upper.join(relative);
        let names: BTreeSet<_> = entry_names(&upper)?.into_iter().collect();
        for name in &names {
            self.entry(&relative.join(name), below)?;
        }
        if below == Below::Hidden {
            for name in entry_names(&self.lower.join(relative))? {
                if !names.contains(&name) {
                    self.removed(&relative.join(name), below);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, relative: &Path, around: Below) -> io::Result<()> {
        let path = self.upper.join(relative);
        let metadata = fs::symlink_metadata(&path)?;
        let kind = metadata.file_type();
        if kind.is_char_device() && metadata.rdev() == 0 {
            self.removed(relative, around);
            return Ok(());
        }
        // A socket is of no use without whoever listened on it.
        if kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
            return Ok(());
        }
        let lower = self.lower_metadata(relative, around);
        if !kind.is_dir() {
            let happened = lower.map_or(ChangeKind::Added, |_| ChangeKind::Modified);
            self.push(relative, happened, &metadata);
            return Ok(());
        }
        // The command may have taken the right to look from its owner, who takes it back.
        if metadata.permissions().mode() & 0o500 != 0o500 {
            open_directory_up(&path)?;
        }
        let below = match &lower {
            Some(lower) if !lower.is_dir() => Below::Nothing,
            None => Below::Nothing,
            Some(_) if around == Below::Hidden || has_attribute(&path, OPAQUE)? => Below::Hidden,
            Some(_) => Below::Merged,
        };
        match lower {
            None => self.push(relative, ChangeKind::Added, &metadata),
            // A directory that is as it was counts only by what is in it.
            Some(lower) if lower.is_dir() && lower.permissions().mode() == metadata.permissions().mode() => {}
            Some(_) => self.push(relative, ChangeKind::Modified, &metadata),
        }
        self.directory(relative, below)
    }

    /// What is gone above and below is no change.
    fn removed(&mut self, relative: &Path, around: Below) {
        if let Some(metadata) = self.lower_metadata(relative, around) {
            self.push(relative, ChangeKind::Removed, &metadata);
        }
    }

    fn push(&mut self, relative: &Path, kind: ChangeKind, metadata: &Metadata) {
        let entry = ChangedEntry::of(metadata);
        let is_there = entry == ChangedEntry::File && kind != ChangeKind::Removed;
        self.changes.push(LayerChange {
            path: relative.to_path_buf(),
            kind,
            entry,
            bytes: if is_there { metadata.len() } else { 0 },
            mode: metadata.permissions().mode(),
            modified: FileStamp::of_content(metadata),
            parent: None,
        });
    }

    fn lower_metadata(&self, relative: &Path, around: Below) -> Option<Metadata> {
        if around == Below::Nothing {
            return None;
        }
        fs::symlink_metadata(self.lower.join(relative)).ok()
    }
}

/// A path as text, also where it is none: the bytes in hexadecimal behind a null character, which no path has.
mod wire_path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::hexadecimal::hexadecimal;

    #[expect(clippy::ptr_arg, reason = "serde hands the field itself")]
    pub(super) fn serialize<S: Serializer>(path: &PathBuf, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_text(&text).ok_or_else(|| D::Error::custom("no path"))
    }

    pub(super) fn to_text(path: &Path) -> String {
        path.to_str()
            .map_or_else(|| format!("\0{}", hexadecimal(path.as_os_str().as_bytes())), ToOwned::to_owned)
    }

    pub(super) fn from_text(text: &str) -> Option<PathBuf> {
        let Some(digits) = text.strip_prefix('\0') else {
            return Some(PathBuf::from(text));
        };
        let digits: Vec<u8> =
            digits.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
        let bytes = digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit));
        Some(PathBuf::from(OsString::from_vec(bytes.collect())))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_path_that_is_no_text_comes_back_as_it_was() {
        for bytes in [b"plain/path".as_slice(), b"not \xff text", "öl".as_bytes()] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(wire_path::from_text(&wire_path::to_text(path)).as_deref(), Some(path));
        }
    }
}
