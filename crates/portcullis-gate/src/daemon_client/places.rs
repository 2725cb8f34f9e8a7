//! Where the daemon's own files are, and how it is found by hooks and commands of the same user.

use std::path::{Path, PathBuf};

/// The directory of the daemon, `daemon` in the state directory: 0700.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// Names the places below a state directory. Nothing is read or made yet.
    pub fn new(state: &Path) -> Self {
        Self { root: state.join("daemon") }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the unix socket that hooks and commands of the same user connect to.
    pub fn socket(&self) -> PathBuf {
        self.root.join("socket")
    }

    /// Returns the file with the token of a person: may answer and change everything.
    pub fn person_token(&self) -> PathBuf {
        self.root.join("person.token")
    }

    /// Returns the file with the token of hooks: may have calls judged and ask questions, and answer none.
    pub fn hook_token(&self) -> PathBuf {
        self.root.join("hook.token")
    }

    /// Returns the file of the tokens that were made for others, hashed.
    pub fn tokens(&self) -> PathBuf {
        self.root.join("tokens.json")
    }

    /// Returns the file that a running daemon holds locked; it says where the daemon listens.
    pub fn lock(&self) -> PathBuf {
        self.root.join("daemon.json")
    }
}
