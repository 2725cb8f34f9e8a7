//! What a file was when it was read, to see whether it is another one now.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What a file was when it was read: another inode, size or time means another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Looks at a file; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let seen = fs::symlink_metadata(path).ok()?;
        let changed = (seen.ctime(), seen.ctime_nsec());
        Some(Self { device: seen.dev(), inode: seen.ino(), size: seen.size(), changed })
    }
}
