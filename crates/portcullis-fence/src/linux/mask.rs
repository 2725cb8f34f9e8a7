//! What the command must not see or reach: secrets, and sockets through which others would act for it.
//!
//! INVARIANT: a mask that cannot be placed is an error, unless there is nothing to mask or no way to it. A mask that is
//! skipped in silence shows what it should hide.

use std::fs;
use std::io::{self, BufRead as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use libc::MOUNT_ATTR_RDONLY;

use super::device::is_replaced;
use super::kernel::MountDepth;
use super::mount::DetachedMount;
use crate::error::FenceError;

/// Hides files and directories.
pub(super) fn mask(paths: &[PathBuf]) -> Result<(), FenceError> {
    for path in paths {
        let placed = match fs::canonicalize(path) {
            Ok(place) => match mask_one(&place) {
                // It went away just now, as sockets do.
                Err(error) if is_out_of_reach(&error) && fs::canonicalize(path).is_err() => Ok(()),
                other => other,
            },
            Err(error) if is_out_of_reach(&error) => Ok(()),
            Err(error) => Err(error),
        };
        placed.map_err(|error| FenceError::set_up_at("mask", path, &error))?;
    }
    Ok(())
}

fn mask_one(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        let mount = DetachedMount::empty(&[("mode", "0000"), ("size", "4k")])?;
        mount.restrict(MOUNT_ATTR_RDONLY, MountDepth::One)?;
        mount.attach(path)
    } else {
        DetachedMount::copy_of(Path::new("/dev/null"))?.attach(path)
    }
}

/// What does not exist, or lies where this user cannot go, is hidden as it is.
fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

/// Returns the sockets with a path that somebody listens on now, but for those in places that the fence replaces.
pub(super) fn sockets_in_use() -> io::Result<Vec<PathBuf>> {
    let file = io::BufReader::new(fs::File::open("/proc/net/unix")?);
    let mut paths = Vec::new();
    for line in file.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let Some(start) = line.find(" /") else {
            continue;
        };
        let path = PathBuf::from(line.split_at(start + 1).1);
        let is_socket =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
        if !is_replaced(&path) && !paths.contains(&path) && is_socket(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}
