//! What the core must know from the disk, asked as values and answered by the caller.
//!
//! An unanswered question counts as the unsafe answer.

use std::collections::BTreeMap;

/// A question about the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Where does this absolute path lead, symbolic links followed?
    RealPath(String),
    /// Where do the symbolic links lead that this absolute shell pattern names or passes through?
    Pattern(String),
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Every further spelling of the path: each symbolic-link hop and the final real path. Empty if the path is
    /// already real. For a path that does not exist yet, its nearest existing parent is resolved. For a pattern, the
    /// spellings of every link it names or passes through.
    Leads(Vec<String>),
    /// It cannot be resolved: a loop, no permission, too many hops or files.
    Broken,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    paths: BTreeMap<String, Resolution>,
    patterns: BTreeMap<String, Resolution>,
}

impl Facts {
    /// Adds the answer to a question.
    pub fn insert(&mut self, question: Question, resolution: Resolution) {
        match question {
            Question::RealPath(path) => self.paths.insert(path, resolution),
            Question::Pattern(pattern) => self.patterns.insert(pattern, resolution),
        };
    }

    /// Returns where a path leads; `None` if nobody answered.
    pub(crate) fn path(&self, path: &str) -> Option<&Resolution> {
        self.paths.get(path)
    }

    /// Returns where the links behind a pattern lead; `None` if nobody answered.
    pub(crate) fn pattern(&self, pattern: &str) -> Option<&Resolution> {
        self.patterns.get(pattern)
    }
}
