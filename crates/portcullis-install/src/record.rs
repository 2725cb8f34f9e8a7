//! What was written for an agent, kept so that it can be undone.
//!
//! ```text
//! ~/.local/state/portcullis/installs/
//!   HOST.json         the files with their text before and after, links, keys
//!   HOST.NAME.backup  the bytes that the last change replaced, for people
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_hosts::Host;
use portcullis_settings::SettingsLocations;
use portcullis_settings::disk::{
    DirectoryLock, FilePrivacy, MAXIMUM_SIZE, ReplaceError, create_directory, plain, read_text, replace,
};
use serde::{Deserialize, Serialize};

use super::text_kind::TextKind;
use portcullis_gate::Failure;

/// The version of the form.
const VERSION: u32 = 1;

/// What was written for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The program that was registered.
    pub(super) program: String,
    /// The files, in the order they were first written.
    pub(super) files: Vec<FileRecord>,
    /// The names of our program that were made.
    pub(super) links: Vec<PathBuf>,
    /// The directories that were made, the outermost first.
    pub(super) directories: Vec<PathBuf>,
}

/// What was written into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    pub(super) path: PathBuf,
    pub(super) kind: TextKind,
    /// The text without us; `None` if there was no file.
    pub(super) before: Option<String>,
    /// The text with us.
    pub(super) after: String,
    /// The keys of ours in a TOML file.
    #[serde(default)]
    pub(super) keys: Vec<String>,
}

impl Record {
    pub(super) fn new(program: &str) -> Self {
        Self {
            version: VERSION,
            program: program.to_owned(),
            files: Vec::new(),
            links: Vec::new(),
            directories: Vec::new(),
        }
    }

    /// Finds what was written into a file.
    pub(super) fn file(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Remembers what was written into a file.
    pub(super) fn set_file(&mut self, new: FileRecord) {
        match self.files.iter_mut().find(|file| file.path == new.path) {
            Some(file) => *file = new,
            None => self.files.push(new),
        }
    }
}

/// The records of all agents.
#[derive(Debug, Clone)]
pub(super) struct Records {
    directory: PathBuf,
}

impl Records {
    pub(super) fn of(locations: &SettingsLocations) -> Result<Self, Failure> {
        let state = locations.state.as_deref();
        let state = state.ok_or_else(|| {
            Failure::usage("there is no place for backups: the home directory is not known")
                .with_hint("set HOME")
        })?;
        Ok(Self { directory: state.join("installs") })
    }

    /// Takes turns with others who register or undo it.
    pub(super) fn lock(&self) -> Result<DirectoryLock, Failure> {
        let made = create_directory(&self.directory, FilePrivacy::Private);
        made.map_err(|error| refused(&self.directory, ReplaceError::Io(error)))?;
        DirectoryLock::take(&self.directory).map_err(|refusal| match refusal {
            ReplaceError::Locked => Failure::usage("another `portcullis init` or `uninstall` is at work")
                .with_hint("wait for it and try again"),
            other => refused(&self.directory, other),
        })
    }

    /// Reads the record of an agent. One that is broken is as good as none: what is ours can still be told.
    pub(super) fn read(&self, host: Host) -> Option<Record> {
        let text = read_text(&self.path(host), 4 * MAXIMUM_SIZE).ok().flatten()?;
        serde_json::from_str(&text).ok().filter(|record: &Record| record.version == VERSION)
    }

    /// Keeps the record of an agent.
    pub(super) fn write(&self, host: Host, record: &Record) -> Result<(), Failure> {
        let path = self.path(host);
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Failure::internal(format!("the record cannot be written: {error}")))?;
        overwrite(&path, &format!("{text}\n"))
    }

    /// Keeps the bytes that are about to be replaced, for people, and returns where.
    pub(super) fn back_up(&self, host: Host, path: &Path, text: &str) -> Result<PathBuf, Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let backup = self.directory.join(format!("{}.{name}.backup", host.name()));
        overwrite(&backup, text)?;
        Ok(backup)
    }

    /// Forgets an agent.
    pub(super) fn remove(&self, host: Host) {
        // A record that stays names files that no longer have anything of ours: undoing again does nothing.
        let _ = fs::remove_file(self.path(host));
    }

    pub(super) fn path(&self, host: Host) -> PathBuf {
        self.directory.join(format!("{}.json", host.name()))
    }
}

/// Replaces a private file, whatever it holds.
fn overwrite(path: &Path, text: &str) -> Result<(), Failure> {
    let before = read_text(path, 4 * MAXIMUM_SIZE).ok().flatten();
    if before.is_none() {
        // What cannot be read is in the way, and nothing of value.
        let _ = fs::remove_file(path);
    }
    replace(path, before.as_deref(), text, FilePrivacy::Private).map_err(|refusal| refused(path, refusal))
}

/// Makes the failure of a file that was not written.
pub(super) fn refused(path: &Path, refusal: ReplaceError) -> Failure {
    let path = path.display();
    match refusal {
        ReplaceError::Locked => {
            Failure::usage(format!("`{path}` is being edited by another process")).with_hint("try again")
        }
        ReplaceError::Changed => Failure::usage(format!(
            "`{path}` was changed by somebody else in the meantime, and left as it is"
        ))
        .with_hint("try again"),
        ReplaceError::Io(error) => Failure::usage(format!("`{path}` cannot be written: {}", plain(&error)))
            .with_hint("nothing of it was changed; give yourself the right to write there and try again"),
    }
}
