//! Private files and directories: never behind a symbolic link, read whole and bounded, replaced in one step.
//!
//! A link is looked for before a file is opened, and afterwards the opened file must be the one that was looked at. What
//! is written goes to a new file that is renamed over the old one, so that a reader sees the old state or the new, and a
//! process that is killed leaves the old. Nothing is flushed to the disk itself: a state is worth no wait for the disk,
//! and one that a power cut tore is found to be broken.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::lock::FileLock;
use crate::error::StoreError;

/// How often a file that is being replaced is looked at again.
const ATTEMPTS: u32 = 64;

/// Looks at what a path names, which must not be a link; `None` if there is nothing.
pub(crate) fn look(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => Err(StoreError::Link { file: path.to_path_buf() }),
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::of_io("look at", path, &error)),
    }
}

/// Says whether a directory is there, and makes it private if it is not.
pub(crate) fn has_directory(path: &Path) -> Result<bool, StoreError> {
    let Some(metadata) = look(path)? else { return Ok(false) };
    if !metadata.is_dir() {
        return Err(StoreError::WrongKind { file: path.to_path_buf(), expected: "a directory" });
    }
    tighten(path, &metadata, 0o700, |permissions| fs::set_permissions(path, permissions))?;
    Ok(true)
}

/// Makes a private directory, and the missing ones above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), StoreError> {
    if has_directory(path)? {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| StoreError::of_io("make the directory", path, &error))?;
    // It may have been made by somebody else in the meantime, and differently.
    if has_directory(path)? { Ok(()) } else { Err(StoreError::Busy { file: path.to_path_buf() }) }
}

/// Says whether a file is there, and makes it private if it is not, without opening it.
pub(crate) fn has_file(path: &Path) -> Result<bool, StoreError> {
    let Some(metadata) = look_at_file(path)? else { return Ok(false) };
    tighten(path, &metadata, 0o600, |permissions| fs::set_permissions(path, permissions))?;
    Ok(true)
}

/// What tells a file from another one that stands at the same path later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

/// Returns what tells the file at a path from another one; `None` if there is none.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Result<Option<FileIdentity>, StoreError> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(look_at_file(path)?.map(|metadata| FileIdentity(metadata.dev(), metadata.ino())))
}

/// Where files cannot be told apart, one that is there is the one that was.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Result<Option<FileIdentity>, StoreError> {
    Ok(look_at_file(path)?.map(|_| FileIdentity(0, 0)))
}

/// Opens a file to read it; `None` if there is none.
pub(crate) fn open_existing(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    for _ in 0..ATTEMPTS {
        let Some(seen) = look_at_file(path)? else { return Ok(None) };
        if let Some(file) = open_seen(path, &options, &seen)? {
            return Ok(Some(file));
        }
    }
    Err(StoreError::Busy { file: path.to_path_buf() })
}

/// Opens a file with options that write, and makes it if it is missing.
pub(crate) fn open_or_create(path: &Path, options: &OpenOptions) -> Result<File, StoreError> {
    for _ in 0..ATTEMPTS {
        if let Some(seen) = look_at_file(path)? {
            if let Some(file) = open_seen(path, options, &seen)? {
                return Ok(file);
            }
            continue;
        }
        match create_new(path, options.clone()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map_err(|error| StoreError::of_io("make", path, &error)),
        }
    }
    Err(StoreError::Busy { file: path.to_path_buf() })
}

/// Says whether a path still names the file that was opened through it.
pub(crate) fn is_at(path: &Path, file: &File) -> Result<bool, StoreError> {
    let Some(seen) = look(path)? else { return Ok(false) };
    let opened = file.metadata().map_err(|error| StoreError::of_io("look at", path, &error))?;
    Ok(is_same(&seen, &opened))
}

/// Reads a file of at most `limit` bytes; `None` if there is none.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(file) = open_existing(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::of_io("read", path, &error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(StoreError::broken(path, &format!("it is larger than {limit} bytes")));
    }
    Ok(Some(bytes))
}

/// Replaces a file in one step. Whoever does so holds the lock of the file, so the name beside it is theirs alone.
pub(crate) fn replace(_lock: &FileLock, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    // A rename would go over a link or put a file in the place of something else; neither is ours to remove.
    look_at_file(path)?;
    let temporary = temporary_path(path);
    let outcome = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    outcome.map_err(|error| {
        // What is left is removed by the next writer if it cannot be now.
        let _ = fs::remove_file(&temporary);
        StoreError::of_io("write", path, &error)
    })
}

/// Removes a file and what a killed writer left beside it; it need not be there. The lock of the file must be held.
pub(crate) fn remove(_lock: &FileLock, path: &Path) -> Result<(), StoreError> {
    for path in [temporary_path(path).as_path(), path] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::of_io("remove", path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    let created = create_new(path, options.clone());
    let mut file = match created {
        // Left by a writer that was killed: this one holds the lock now.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create_new(path, options)?
        }
        other => other?,
    };
    file.write_all(bytes)
}

/// Makes a private file where there is none, not even a link.
fn create_new(path: &Path, mut options: OpenOptions) -> io::Result<File> {
    options.create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Looks at a regular file. The kind is known before it is opened: opening a named pipe would wait.
fn look_at_file(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match look(path)? {
        Some(metadata) if !metadata.is_file() => {
            Err(StoreError::WrongKind { file: path.to_path_buf(), expected: "a regular file" })
        }
        other => Ok(other),
    }
}

/// Opens what was seen; `None` if something else stands there by now.
fn open_seen(path: &Path, options: &OpenOptions, seen: &Metadata) -> Result<Option<File>, StoreError> {
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::of_io("open", path, &error)),
    };
    let opened = file.metadata().map_err(|error| StoreError::of_io("look at", path, &error))?;
    if !is_same(seen, &opened) {
        return Ok(None);
    }
    tighten(path, &opened, 0o600, |permissions| file.set_permissions(permissions))?;
    Ok(Some(file))
}

fn temporary_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

#[cfg(unix)]
fn is_same(left: &Metadata, right: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (left.dev(), left.ino()) == (right.dev(), right.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Takes from others what they may do. Whatever is not ours refuses the change, and is not used.
#[cfg(unix)]
fn tighten(
    path: &Path,
    metadata: &Metadata,
    mode: u32,
    set: impl FnOnce(fs::Permissions) -> io::Result<()>,
) -> Result<(), StoreError> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (for_others, writing) = (metadata.mode() & 0o077, metadata.mode() & 0o022);
    if for_others == 0 {
        return Ok(());
    }
    match set(fs::Permissions::from_mode(mode)) {
        // On a disk that cannot be written, what others can only read is as safe as it gets.
        Err(error) if error.kind() != ErrorKind::PermissionDenied && writing == 0 => Ok(()),
        Err(_) => Err(StoreError::Exposed { file: path.to_path_buf() }),
        Ok(()) => Ok(()),
    }
}

#[cfg(not(unix))]
fn tighten(
    _: &Path,
    _: &Metadata,
    _: u32,
    _: impl FnOnce(fs::Permissions) -> io::Result<()>,
) -> Result<(), StoreError> {
    Ok(())
}
