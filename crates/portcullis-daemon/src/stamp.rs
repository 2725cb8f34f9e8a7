//! What a place on the disk looked like when it was read, to see whether it may say something else now.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What a file was: another inode, size or time of change means another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Looks at a file, or at a link itself; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().as_ref().map(Self::new)
    }

    fn new(seen: &Metadata) -> Self {
        let changed = (seen.ctime(), seen.ctime_nsec());
        Self { device: seen.dev(), inode: seen.ino(), size: seen.size(), changed }
    }

    /// Says whether it had been like this since a while before a time. One that changed so shortly before it was read may
    /// change again and look the same.
    fn is_settled(self, time: SystemTime) -> bool {
        /// The clock of a file system may stand still for so long.
        const RACY: Duration = Duration::from_millis(200);
        let (seconds, nanoseconds) = self.changed;
        let parts = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        let limit = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_sub(RACY);
        parts.is_some_and(|(seconds, nanoseconds)| Duration::new(seconds, nanoseconds) < limit)
    }
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Missing,
    /// A file or a directory.
    Plain(Stamp),
    /// A link, and what it leads to; a link that leads to nothing is not the same as nothing.
    Link(Stamp, Option<Stamp>),
    /// Something that cannot be looked at, so that nobody knows whether it changed.
    Hidden,
}

impl Standing {
    /// Looks at a place.
    pub(super) fn of(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Ok(seen) if seen.is_symlink() => {
                Self::Link(Stamp::new(&seen), fs::metadata(path).ok().as_ref().map(Stamp::new))
            }
            Ok(seen) => Self::Plain(Stamp::new(&seen)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Self::Missing
            }
            Err(_) => Self::Hidden,
        }
    }

    /// Says whether it may be relied on: it can be looked at, and had been like this since a while before a time.
    pub(super) fn is_settled(self, time: SystemTime) -> bool {
        match self {
            Self::Missing => true,
            Self::Plain(stamp) => stamp.is_settled(time),
            Self::Link(link, target) => {
                link.is_settled(time) && target.is_none_or(|target| target.is_settled(time))
            }
            Self::Hidden => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_leads_to_nothing_is_not_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        assert_eq!(Standing::of(&path), Standing::Missing);
        symlink("nowhere", &path).unwrap();
        let dangling = Standing::of(&path);
        assert!(matches!(dangling, Standing::Link(_, None)), "{dangling:?}");
        fs::write(folder.path().join("nowhere"), "{}").unwrap();
        assert_ne!(Standing::of(&path), dangling);
        assert!(matches!(Standing::of(&path), Standing::Link(_, Some(_))));
    }

    #[test]
    fn what_was_just_written_is_not_relied_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        let standing = Standing::of(&path);
        assert!(!standing.is_settled(SystemTime::now()));
        assert!(standing.is_settled(SystemTime::now() + Duration::from_mins(1)));
        assert!(!Standing::Hidden.is_settled(SystemTime::now() + Duration::from_mins(1)));
    }
}
