//! What the core must know from the disk, asked as values and answered by the caller.
//!
//! An unanswered question counts as the unsafe answer.

use std::collections::BTreeMap;

/// A question about the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Where does this absolute path lead, symbolic links followed?
    RealPath(String),
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Every further spelling of the path: each symbolic-link hop and the final real path. Empty if the path is
    /// already real. For a path that does not exist yet, its nearest existing parent is resolved.
    Leads(Vec<String>),
    /// It cannot be resolved: a loop, no permission, too many hops.
    Broken,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    paths: BTreeMap<String, Resolution>,
}

impl Facts {
    /// Adds the answer to [`Question::RealPath`].
    pub fn insert_path(&mut self, path: String, resolution: Resolution) {
        self.paths.insert(path, resolution);
    }

    /// Returns where a path leads; `None` if nobody answered.
    pub fn path(&self, path: &str) -> Option<&Resolution> {
        self.paths.get(path)
    }
}
