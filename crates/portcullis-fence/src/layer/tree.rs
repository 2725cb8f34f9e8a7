//! Small steps on trees of files that no library does quite so.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{lgetxattr, llistxattr, lremovexattr};
use rustix::io::Errno;

/// Returns the names in a directory, in order.
pub(super) fn entry_names(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names: Vec<OsString> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<Result<_, _>>()?;
    names.sort();
    Ok(names)
}

/// Says whether a file has an attribute of that name, set to yes.
pub(super) fn has_attribute(path: &Path, name: &str) -> io::Result<bool> {
    let mut value = [0_u8; 8];
    match lgetxattr(path, name, &mut value) {
        Ok(_) => Ok(value.first() == Some(&b'y')),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The longest list of names of attributes that the kernel gives.
const LONGEST_LIST: usize = 64 << 10;

/// Takes the marks away that the kernel left on a file of a layer. Says whether its owner was given the right to write for
/// that, and has it now.
pub(super) fn strip_marks(path: &Path) -> io::Result<bool> {
    let mut room = vec![0_u8; 4096];
    let length = loop {
        match llistxattr(path, &mut room) {
            Ok(length) => break length,
            Err(Errno::OPNOTSUPP) => return Ok(false),
            // Some file systems keep more names than one block holds.
            Err(Errno::RANGE) if room.len() < LONGEST_LIST => room.resize(LONGEST_LIST, 0),
            Err(error) => return Err(error.into()),
        }
    };
    let names = room.get(..length).unwrap_or_default();
    let mut is_opened = false;
    for name in names.split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.overlay.")) {
        match lremovexattr(path, name) {
            Err(Errno::ACCESS) => {
                let mode = fs::symlink_metadata(path)?.permissions().mode();
                fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o200))?;
                lremovexattr(path, name)?;
                is_opened = true;
            }
            other => other?,
        }
    }
    Ok(is_opened)
}

/// Removes a file, or a directory with all that is in it, whatever its mode is. What is not there is removed already.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let is_directory = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !is_directory {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

/// Gives the owner every right on a directory.
pub(super) fn open_directory_up(directory: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(directory)?.permissions().mode();
    fs::set_permissions(directory, fs::Permissions::from_mode(mode | 0o700))
}

/// Gives the owner every right on all directories of a tree.
fn open_up(directory: &Path) -> io::Result<()> {
    open_directory_up(directory)?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}
