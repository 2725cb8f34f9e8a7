//! Small steps on trees of files that no library does quite so.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, lgetxattr, llistxattr, lremovexattr};
use rustix::io::Errno;

/// Returns the names in a directory, in order.
pub(super) fn entry_names(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names: Vec<OsString> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<Result<_, _>>()?;
    names.sort();
    Ok(names)
}

/// Opens a file for reading. A pipe or device that stands in its place is neither waited for nor read, and a link is not
/// followed.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
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
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied || is_too_deep(&error) => {
            remove_by_steps(path)
        }
        other => other,
    }
}

/// Says whether a path is too long, or a tree is deeper than a process may open directories.
fn is_too_deep(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(number, Some(Errno::NAMETOOLONG | Errno::MFILE | Errno::NFILE))
}

/// Removes a tree however deep it is and whatever modes are in it: what lies in its directories is moved up to the top, so
/// that no path gets longer than two names.
fn remove_by_steps(top: &Path) -> io::Result<()> {
    open_directory_up(top)?;
    let mut moved = 0_u64;
    loop {
        let names = entry_names(top)?;
        if names.is_empty() {
            return fs::remove_dir(top);
        }
        for path in names.iter().map(|name| top.join(name)) {
            if !fs::symlink_metadata(&path)?.is_dir() {
                fs::remove_file(&path)?;
                continue;
            }
            open_directory_up(&path)?;
            for inner in entry_names(&path)?.iter().map(|name| path.join(name)) {
                if fs::symlink_metadata(&inner)?.is_dir() {
                    open_directory_up(&inner)?;
                    fs::rename(&inner, free_name(top, &mut moved))?;
                } else {
                    fs::remove_file(&inner)?;
                }
            }
            fs::remove_dir(&path)?;
        }
    }
}

/// Returns a path in a directory where nothing is.
fn free_name(directory: &Path, last: &mut u64) -> PathBuf {
    loop {
        *last += 1;
        let path = directory.join(format!("moved-{last}"));
        if fs::symlink_metadata(&path).is_err() {
            return path;
        }
    }
}

/// Gives the owner every right on a directory.
pub(super) fn open_directory_up(directory: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(directory)?.permissions().mode();
    fs::set_permissions(directory, fs::Permissions::from_mode(mode | 0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_too_deep_for_a_path_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("moved-1/moved-2")).expect("directories");
        fs::write(top.join("moved-1/file"), "").expect("a file");
        let line = "import os,sys; os.chdir(sys.argv[1])\nfor n in range(1500): os.mkdir('deeper'); os.chdir('deeper')\nopen('end', 'w')";
        let made = std::process::Command::new("python3").args(["-c", line]).arg(&top).status();
        assert!(made.expect("python3 runs").success());
        remove_tree(&top).expect("it is removed");
        assert!(!top.exists());
        fs::create_dir_all(top.join("closed/inner")).expect("directories");
        fs::write(top.join("closed/inner/file"), "").expect("a file");
        for name in ["closed/inner", "closed"] {
            fs::set_permissions(top.join(name), fs::Permissions::from_mode(0o000)).expect("a mode");
        }
        remove_by_steps(&top).expect("it is removed");
        assert!(!top.exists());
    }
}
