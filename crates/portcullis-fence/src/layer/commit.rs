//! Brings changes of a layer down to the place that it was over.
//!
//! Every file arrives by a rename, so that whoever reads it sees the old one or the new one. The list of changes is the
//! journal: it is on disk before the first step, each step may be done twice, and what was moved down is no longer above.
//! So a commit that was killed is finished by running it again.
//!
//! INVARIANT: no step follows a symbolic link below the place, which somebody may have put there meanwhile.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Timespec, Timestamps, fchmod, fstat, futimens, mkdirat,
    openat2, renameat, statat, unlinkat, utimensat,
};
use rustix::io::Errno;

use super::change::{ChangeKind, ChangedEntry, LayerChange};
use super::conflict::{ConflictCheck, metadata_below};
use super::tree::{open_directory_up, remove_tree, strip_marks};

/// A commit of changes from a layer to a place.
#[derive(Debug)]
pub(crate) struct LayerCommit<'run> {
    /// Where the changes are.
    pub(crate) upper: &'run Path,
    /// Where they go.
    pub(crate) lower: &'run File,
    /// A directory on the file system of the place, for copies where the layer is on another one.
    pub(crate) staging: &'run Path,
}

impl LayerCommit<'_> {
    /// Returns whether changes can be moved down; else they must be copied beside the place first.
    pub(crate) fn is_one_file_system(&self) -> io::Result<bool> {
        Ok(fs::symlink_metadata(self.upper)?.dev() == self.lower.metadata()?.dev())
    }

    /// Copies what will be renamed to the file system of the place. Nothing of the place changes, so a full disk loses
    /// nothing.
    pub(crate) fn stage(&self, changes: &[LayerChange]) -> io::Result<()> {
        if self.is_one_file_system()? {
            return Ok(());
        }
        remove_tree(self.staging)?;
        fs::create_dir(self.staging)?;
        // Git, which may be asked meanwhile or after a kill, sees nothing of it.
        fs::write(self.staging.join(".gitignore"), "*\n")?;
        let mut copied: BTreeMap<u64, PathBuf> = BTreeMap::new();
        for (index, change) in changes.iter().enumerate() {
            if change.kind == ChangeKind::Removed || change.entry == ChangedEntry::Directory {
                continue;
            }
            let from = self.upper.join(&change.path);
            let to = self.staging.join(index.to_string());
            let metadata = fs::symlink_metadata(&from)?;
            match copied.get(&metadata.ino()) {
                Some(first) => fs::hard_link(first, &to)?,
                None => copy(&from, &to, &metadata)?,
            }
            if metadata.nlink() > 1 {
                copied.insert(metadata.ino(), to);
            }
        }
        Ok(())
    }

    /// Brings the changes down; may be called again until it succeeds. Each file is looked at right before its turn: the
    /// first one that meets a change from outside is returned, and nothing after it lands.
    pub(crate) fn apply(
        &self,
        changes: &[LayerChange],
        check: Option<ConflictCheck<'_>>,
    ) -> io::Result<Option<PathBuf>> {
        let root = OwnedFd::from(self.lower.try_clone()?);
        let mut look = LastLook(check);
        for change in changes.iter().rev().filter(|change| change.kind == ChangeKind::Removed) {
            if look.meets(change)? {
                return Ok(Some(change.path.clone()));
            }
            remove(&root, &change.path)?;
        }
        let is_staged = !self.is_one_file_system()?;
        let mut parents = ParentDirectories { root: &root, last: None };
        for (index, change) in changes.iter().enumerate() {
            let from = self.source(is_staged, index, change);
            if change.kind == ChangeKind::Removed || from.as_ref().is_some_and(|from| !is_there(from)) {
                continue;
            }
            if look.meets(change)? {
                return Ok(Some(change.path.clone()));
            }
            match from {
                None => make_directory(&mut parents, &change.path)?,
                Some(from) => bring(&mut parents, &from, change)?,
            }
        }
        for change in changes.iter().rev() {
            if change.kind != ChangeKind::Removed && change.entry == ChangedEntry::Directory {
                finish_directory(&root, change)?;
            }
        }
        remove_tree(self.staging)?;
        Ok(None)
    }

    /// Returns the changes that have not landed, of a commit that was stopped. A directory counts until all have: bringing
    /// it twice changes nothing.
    pub(crate) fn left(&self, changes: &[LayerChange], place: &Path) -> io::Result<Vec<LayerChange>> {
        let is_staged = !self.is_one_file_system()?;
        let mut left = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            let is_left = match self.source(is_staged, index, change) {
                _ if change.kind == ChangeKind::Removed => metadata_below(place, &change.path)?.is_some(),
                None => true,
                Some(from) => is_there(&from),
            };
            if is_left {
                left.push(change.clone());
            }
        }
        Ok(left)
    }

    /// Returns where a change comes from; a directory is made anew. Not by what lies in the place: a command could have made
    /// a directory of the name that the copies have.
    fn source(&self, is_staged: bool, index: usize, change: &LayerChange) -> Option<PathBuf> {
        let is_file = change.entry != ChangedEntry::Directory;
        is_file.then(|| {
            if is_staged { self.staging.join(index.to_string()) } else { self.upper.join(&change.path) }
        })
    }
}

/// The look at what a change meets, right before it lands; none where it lands over whatever is there.
struct LastLook<'run>(Option<ConflictCheck<'run>>);

impl LastLook<'_> {
    fn meets(&mut self, change: &LayerChange) -> io::Result<bool> {
        let Some(check) = &mut self.0 else { return Ok(false) };
        if check.conflict(change)?.is_some() {
            return Ok(true);
        }
        check.note_landing(change)?;
        Ok(false)
    }
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn remove(root: &OwnedFd, path: &Path) -> io::Result<()> {
    match open_parent(root, path) {
        Ok((parent, name)) => with_rights(&parent, || remove_at(&parent, name)),
        // What it lay in is gone already.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves a file down; one that is no longer above is below already.
fn bring(parents: &mut ParentDirectories<'_>, from: &Path, change: &LayerChange) -> io::Result<()> {
    let found = match fs::symlink_metadata(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let is_opened = strip_marks(from)?;
    // A commit that was killed may have opened it already.
    if found.is_file() && (is_opened || found.permissions().mode() != change.mode) {
        fs::set_permissions(from, Permissions::from_mode(change.mode & 0o7777))?;
    }
    let (parent, name) = parents.open(&change.path)?;
    with_rights(parent, || {
        match renameat(rustix::fs::CWD, from, parent, name) {
            Err(Errno::ISDIR) => remove_at(parent, name)?,
            // The directory of the layer may be closed to its owner; it goes away anyway.
            Err(Errno::ACCESS) => from.parent().map_or(Ok(()), open_directory_up)?,
            other => return Ok(other?),
        }
        Ok(renameat(rustix::fs::CWD, from, parent, name)?)
    })
}

fn make_directory(parents: &mut ParentDirectories<'_>, path: &Path) -> io::Result<()> {
    let (parent, name) = parents.open(path)?;
    if is_directory_at(parent, name)? {
        return Ok(());
    }
    with_rights(parent, || {
        remove_at(parent, name)?;
        Ok(mkdirat(parent, name, Mode::RWXU)?)
    })
}

/// Gives a directory its mode and times, after everything in it is there.
fn finish_directory(root: &OwnedFd, change: &LayerChange) -> io::Result<()> {
    let directory = File::from(open_directory(root, &change.path)?);
    directory.set_permissions(Permissions::from_mode(change.mode & 0o7777))?;
    let time = Timespec { tv_sec: change.modified.seconds, tv_nsec: change.modified.nanoseconds };
    Ok(futimens(&directory, &Timestamps { last_access: time, last_modification: time })?)
}

/// Does something in a directory; where its owner took the right for that away, it is given for the moment.
fn with_rights(directory: &OwnedFd, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    match act() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = Mode::from_raw_mode(fstat(directory)?.st_mode & 0o7777);
            fchmod(directory, mode | Mode::RWXU)?;
            let done = act();
            fchmod(directory, mode)?;
            done
        }
        other => other,
    }
}

/// The directories that changes go to. Changes come in the order of their paths, so that the last one is often the next.
struct ParentDirectories<'commit> {
    root: &'commit OwnedFd,
    last: Option<(PathBuf, OwnedFd)>,
}

impl ParentDirectories<'_> {
    fn open<'path>(&mut self, path: &'path Path) -> io::Result<(&OwnedFd, &'path OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let known = self.last.take().filter(|(last, _)| last == directory);
        let (_, parent) = match known {
            Some(known) => self.last.insert(known),
            None => self.last.insert((directory.to_path_buf(), open_directory(self.root, directory)?)),
        };
        Ok((parent, name))
    }
}

/// Opens the directory that a path lies in, without following a link.
fn open_parent<'path>(root: &OwnedFd, path: &'path Path) -> io::Result<(OwnedFd, &'path OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((open_directory(root, path.parent().unwrap_or(Path::new("")))?, name))
}

fn open_directory(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(root, path, flags, Mode::empty(), resolve)?)
}

fn is_directory_at(parent: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode).is_dir()),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes whatever has a name in a directory.
fn remove_at(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    if is_directory_at(parent, name)? {
        return remove_tree(&Path::new("/proc/self/fd").join(parent.as_raw_fd().to_string()).join(name));
    }
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Copies a file, a link or a pipe with its mode and times.
fn copy(from: &Path, to: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    match ChangedEntry::of(metadata) {
        ChangedEntry::Link => std::os::unix::fs::symlink(fs::read_link(from)?, to)?,
        ChangedEntry::File => {
            fs::copy(from, to)?;
        }
        ChangedEntry::Directory | ChangedEntry::Special => {
            let mode = Mode::from_raw_mode(metadata.permissions().mode() & 0o777);
            rustix::fs::mkfifoat(rustix::fs::CWD, to, mode)?;
        }
    }
    let time = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps {
        last_access: time(metadata.atime(), metadata.atime_nsec()),
        last_modification: time(metadata.mtime(), metadata.mtime_nsec()),
    };
    Ok(utimensat(rustix::fs::CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
