//! Reading and replacing files: whole, bounded, never through a pipe, and atomically.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The largest settings file that is read.
pub const MAXIMUM_SIZE: u64 = 4 * 1024 * 1024;

/// Why a file that is there could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

impl ReadError {
    fn new(message: impl Into<String>, hint: Option<&'static str>) -> Self {
        Self { message: message.into(), hint }
    }
}

/// Reads a text file of at most `limit` bytes; `None` if there is no such file.
///
/// The kind of file is known before it is opened: opening a named pipe would wait for a writer.
pub fn read_text(path: &Path, limit: u64) -> Result<Option<String>, ReadError> {
    let Some(bytes) = read_bytes(path, limit)? else { return Ok(None) };
    let text = String::from_utf8(bytes)
        .map_err(|_| ReadError::new("the file is not valid UTF-8", Some("save it as UTF-8")))?;
    Ok(Some(text))
}

fn read_bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let found = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::new(
                    "this symbolic link leads to nothing",
                    Some("remove it or repair its target"),
                ));
            }
            other => other,
        },
        other => other,
    };
    let metadata = match found {
        Ok(metadata) => metadata,
        // A missing directory, or a file where a directory would be: there is no such file.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(cannot_read(&error)),
    };
    check_kind(&metadata)?;
    let file = File::open(path).map_err(|error| cannot_read(&error))?;
    check_kind(&file.metadata().map_err(|error| cannot_read(&error))?)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or_default() + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| cannot_read(&error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let mebibytes = limit / (1024 * 1024);
        return Err(ReadError::new(format!("the file is larger than {mebibytes} MiB"), None));
    }
    Ok(Some(bytes))
}

fn check_kind(metadata: &fs::Metadata) -> Result<(), ReadError> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "a directory" } else { "not a regular file" };
    Err(ReadError::new(format!("this is {kind}"), Some("put a JSON file in its place or remove it")))
}

fn cannot_read(error: &io::Error) -> ReadError {
    ReadError::new(format!("the file cannot be read: {}", plain(error)), None)
}

/// Lists the visible files of a directory with an extension, in alphabetical order; none if there is no such directory.
pub(crate) fn list_files(directory: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_visible = path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
        if is_visible && path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Words an error of the operating system without its number.
pub fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::NotADirectory => "part of the path is not a directory".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}

/// Why a file could not be replaced.
#[derive(Debug)]
pub enum ReplaceError {
    /// Somebody else holds the lock for too long.
    Locked,
    /// The file is not what it was when it was read.
    Changed,
    /// The operating system said no.
    Io(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How open to others a new file or directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePrivacy {
    /// As the user's habits say.
    Shared,
    /// 0600 in 0700.
    Private,
}

/// Makes a directory and its parents.
pub fn create_directory(path: &Path, privacy: FilePrivacy) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if privacy == FilePrivacy::Private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(path)
}

/// A lock on a directory, held until it is dropped: those who edit files in it take turns.
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: File,
}

impl DirectoryLock {
    const PATIENCE: u32 = 500;
    const PAUSE: Duration = Duration::from_millis(10);

    /// Waits at most five seconds for the lock. Where directories cannot be locked, the check in [`replace`] remains.
    pub fn take(path: &Path) -> Result<Self, ReplaceError> {
        let directory = File::open(path)?;
        for _ in 0..Self::PATIENCE {
            match directory.try_lock() {
                Err(TryLockError::WouldBlock) => std::thread::sleep(Self::PAUSE),
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { _directory: directory }),
            }
        }
        Err(ReplaceError::Locked)
    }
}

/// Replaces a file by new text: written beside it, flushed, checked against `before`, renamed.
///
/// `before` is what the caller read, `None` if there was no file; when that is no longer so, nothing is replaced.
pub fn replace(
    path: &Path,
    before: Option<&str>,
    after: &str,
    privacy: FilePrivacy,
) -> Result<(), ReplaceError> {
    let temporary = TemporaryFile::create(path, privacy)?;
    let mut file = &temporary.file;
    file.write_all(after.as_bytes())?;
    if let Ok(metadata) = fs::metadata(path) {
        fs::set_permissions(&temporary.path, metadata.permissions())?;
    }
    file.sync_all()?;
    let now = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if now.as_deref() != before.map(str::as_bytes) {
        return Err(ReplaceError::Changed);
    }
    temporary.rename_to(path)?;
    Ok(())
}

/// A file beside its goal, removed again unless it is renamed.
struct TemporaryFile {
    file: File,
    path: PathBuf,
}

impl TemporaryFile {
    /// How many names are tried: one may be taken by what a process that was killed left behind.
    const ATTEMPTS: u32 = 100;

    fn create(goal: &Path, privacy: FilePrivacy) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut attempts = 0;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            attempts += 1;
            match Self::create_numbered(goal, privacy, number) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < Self::ATTEMPTS => {}
                other => return other,
            }
        }
    }

    fn create_numbered(goal: &Path, privacy: FilePrivacy, number: u32) -> io::Result<Self> {
        let mut name = OsString::from(".");
        name.push(goal.file_name().unwrap_or_default());
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        let path = goal.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // What was private must not be readable for the moment between creation and `set_permissions`.
        #[cfg(unix)]
        if privacy == FilePrivacy::Private || goal.exists() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        Ok(Self { file: options.open(&path)?, path })
    }

    fn rename_to(self, goal: &Path) -> io::Result<()> {
        fs::rename(&self.path, goal)?;
        // The rename itself is durable once its directory is flushed; not every file system can, and none needs to.
        if let Some(directory) = goal.parent().and_then(|parent| File::open(parent).ok()) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_in_the_meantime_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings.json");
        for (now, before, replaced) in [
            (None, None, true),
            (Some("old"), Some("old"), true),
            (Some("theirs"), Some("old"), false),
            (Some("theirs"), None, false),
            (None, Some("old"), false),
        ] {
            let _ = fs::remove_file(&path);
            if let Some(text) = now {
                fs::write(&path, text).unwrap();
            }
            let result = replace(&path, before, "new", FilePrivacy::Shared);
            assert_eq!(result.is_ok(), replaced, "{now:?} {before:?}");
            assert_eq!(matches!(result, Err(ReplaceError::Changed)), !replaced, "{now:?} {before:?}");
            let expected = if replaced { Some("new") } else { now };
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), expected, "{now:?} {before:?}");
            let left = fs::read_dir(directory.path()).unwrap().count();
            assert_eq!(left, usize::from(expected.is_some()), "a temporary file is left behind");
        }
    }

    #[test]
    fn a_temporary_file_that_was_left_behind_is_not_in_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("left.json");
        for number in 0..50 {
            let name = format!(".left.json.{}-{number}.tmp", std::process::id());
            fs::write(directory.path().join(name), "left").unwrap();
        }
        replace(&path, None, "new", FilePrivacy::Shared).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_lock_is_held_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirectoryLock::take(directory.path()).unwrap();
        let other = File::open(directory.path()).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        assert!(other.try_lock().is_ok());
    }
}
