//! Dumps of what was sent to a model and what it answered: redacted, private, and never more than so many bytes.
//!
//! Dumps are for a person who looks for a mistake, so the oldest go first when there are too many. A directory that
//! holds anything else is refused: files of somebody else must not be taken for old dumps.

use std::fs::{self, DirEntry, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;
use crate::redaction::redact;

/// The file that a directory of dumps is known by.
const LOCK: &str = ".portcullis-dumps.lock";

/// How long a name may be.
const LONGEST_NAME: usize = 120;

/// How many dumps of the same name are told apart.
const MOST_NAMESAKES: u32 = 1_000;

/// How many dumps are kept, however small they are.
const MOST_FILES: usize = 2_000;

/// A directory of dumps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpDirectory {
    directory: PathBuf,
    cap_bytes: u64,
}

impl DumpDirectory {
    /// How many bytes all dumps take, unless somebody says otherwise.
    pub const DEFAULT_CAP_BYTES: u64 = 32 * 1024 * 1024;

    /// How many bytes one dump takes at most. What is longer loses its middle.
    pub const MOST_BYTES: usize = 1024 * 1024;

    /// Names the directory and how many bytes all dumps in it may take. Nothing is made yet.
    pub const fn new(directory: PathBuf, cap_bytes: u64) -> Self {
        Self { directory, cap_bytes }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a text without its secrets to a new file and returns where. Old dumps make room for it, in the order of
    /// their names, so a name begins with a time. What cannot stand in a file name is replaced, and a name that is taken
    /// gets a number.
    ///
    /// A dump that cannot be written is an error to report, and no reason to decide anything differently.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, StoreError> {
        let redacted = redact(text);
        let most = usize::try_from(self.cap_bytes).unwrap_or(usize::MAX).min(Self::MOST_BYTES);
        let text = cut(&redacted, most);
        if text.is_empty() && !redacted.is_empty() {
            return Err(self.error("the cap on dumps leaves no room, raise it"));
        }
        disk::make_directory(&self.directory)?;
        self.check_that_it_is_ours()?;
        let lock = self.directory.join(LOCK);
        let _lock = FileLock::take(&lock)?;
        self.check_owner(&lock)?;
        self.make_room(text.len())?;
        self.create(&file_name(name), text.as_bytes())
    }

    fn error(&self, detail: &str) -> StoreError {
        StoreError::Io { action: "write a dump to", file: self.directory.clone(), detail: detail.to_owned() }
    }

    /// Refuses a directory in which something lies but no lock of ours. The lock is made before any dump.
    fn check_that_it_is_ours(&self) -> Result<(), StoreError> {
        let io = |error| StoreError::of_io("list", &self.directory, &error);
        let is_empty = fs::read_dir(&self.directory).map_err(io)?.next().is_none();
        if is_empty || disk::look(&self.directory.join(LOCK))?.is_some() {
            return Ok(());
        }
        let expected = "a directory of dumps or an empty one";
        Err(StoreError::WrongKind { file: self.directory.clone(), expected })
    }

    /// Refuses a directory or a lock of somebody else, who could change what lies there.
    #[cfg(unix)]
    fn check_owner(&self, lock: &Path) -> Result<(), StoreError> {
        use std::os::unix::fs::MetadataExt as _;
        let owner = |path: &Path| disk::look(path).map(|metadata| metadata.map(|metadata| metadata.uid()));
        let ours = self.own_id()?;
        for path in [self.directory.as_path(), lock] {
            if owner(path)? != Some(ours) {
                return Err(StoreError::Exposed { file: path.to_path_buf() });
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "only some systems have owners")]
    fn check_owner(&self, _: &Path) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns whose files this process makes, as a file that it makes says.
    #[cfg(unix)]
    fn own_id(&self) -> Result<u32, StoreError> {
        use std::os::unix::fs::MetadataExt as _;
        let path = self.directory.join(".portcullis-dumps.probe");
        let io = |error| StoreError::of_io("make", &path, &error);
        remove(&path)?;
        let file = create_new(&path).map_err(io)?;
        let id = file.metadata().map_err(io)?.uid();
        remove(&path)?;
        Ok(id)
    }

    /// Removes the oldest dumps until another one fits.
    fn make_room(&self, needed: usize) -> Result<(), StoreError> {
        let mut dumps = self.list()?;
        dumps.sort_by(|left, right| left.0.cmp(&right.0));
        let mut total = dumps.iter().fold(bytes(needed), |total, (_, length)| total.saturating_add(*length));
        let mut count = dumps.len();
        for (path, length) in dumps {
            if total <= self.cap_bytes && count < MOST_FILES {
                break;
            }
            remove(&path)?;
            total = total.saturating_sub(length);
            count -= 1;
        }
        if total > self.cap_bytes { Err(self.error("there is no room under the cap")) } else { Ok(()) }
    }

    /// Lists the dumps and their lengths. Links, directories and hidden files are none.
    fn list(&self) -> Result<Vec<(PathBuf, u64)>, StoreError> {
        let io = |error| StoreError::of_io("list", &self.directory, &error);
        let mut dumps = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(io)? {
            dumps.extend(length_of(&entry.map_err(io)?));
        }
        Ok(dumps)
    }

    fn create(&self, name: &str, text: &[u8]) -> Result<PathBuf, StoreError> {
        for number in 1..=MOST_NAMESAKES {
            let path = self.directory.join(numbered(name, number));
            let mut file = match create_new(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made.map_err(|error| StoreError::of_io("make", &path, &error))?,
            };
            return match file.write_all(text) {
                Ok(()) => Ok(path),
                Err(error) => {
                    // Half a dump is worth nothing. If it stays, it is the oldest one day.
                    let _ = fs::remove_file(&path);
                    Err(StoreError::of_io("write", &path, &error))
                }
            };
        }
        Err(StoreError::Busy { file: self.directory.join(name) })
    }
}

/// Makes a private file where there is none, not even a link.
fn create_new(path: &Path) -> std::io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::of_io("remove", path, &error)),
        _ => Ok(()),
    }
}

fn length_of(entry: &DirEntry) -> Option<(PathBuf, u64)> {
    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    // The metadata of an entry is never that of what a link leads to.
    let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
    (!is_hidden).then(|| (entry.path(), metadata.len()))
}

/// Returns a name that is one file, in the directory, and not hidden.
fn file_name(name: &str) -> String {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let replaced: String =
        name.chars().take(LONGEST_NAME).map(|c| if is_fine(c) { c } else { '_' }).collect();
    let trimmed = replaced.trim_start_matches(['.', '_', '-']).trim_end_matches('.');
    if trimmed.is_empty() { "dump".to_owned() } else { trimmed.to_owned() }
}

/// Puts a number before the ending of a name.
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, ending))) => format!("{stem}-{number}.{ending}"),
        (_, None) => format!("{name}-{number}"),
    }
}

/// Takes as much out of the middle as must go, and says how much.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let note = |bytes: usize| format!("\n[{bytes} bytes are cut out here]\n");
    let kept = most.saturating_sub(note(text.len()).len());
    if kept == 0 {
        return String::new();
    }
    let head = text.floor_char_boundary(kept / 2);
    let tail = text.ceil_char_boundary(text.len() - kept / 2);
    let (first, last) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{first}{}{last}", note(tail - head))
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
