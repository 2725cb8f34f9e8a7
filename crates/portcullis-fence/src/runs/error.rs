//! What goes wrong with runs that are kept.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The disk refused something.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Disk {
        /// What could not be done.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{0}`")]
    Unknown(String),
    /// It is going on, or another command works on it.
    #[error("run `{0}` is going on, or another command works on it")]
    Busy(String),
    /// Nothing of it is held.
    #[error("nothing of run `{0}` is held any more")]
    NotHeld(String),
    /// No change is below a path that was named.
    #[error("run `{id}` changed nothing at `{path}`")]
    NoSuchChange {
        /// The run.
        id: String,
        /// The path.
        path: String,
    },
    /// Somebody else changed what it would change.
    #[error("{count} of its changes meet what was changed outside since, first `{first}`")]
    Conflict {
        /// How many changes.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// Somebody changed a file while the changes before it landed.
    #[error(
        "`{first}` was changed outside while the changes landed: those before it have, and the rest is held"
    )]
    Stopped {
        /// The file.
        first: String,
    },
    /// The directory that a run worked in is another one now.
    #[error("`{}` is not the directory any more that the run worked in", .0.display())]
    Replaced(PathBuf),
    /// What a fenced call was given does not hold.
    #[error("{0}")]
    Call(&'static str),
}

impl RunError {
    pub(super) fn disk(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Disk { what, path, source }
    }
}
