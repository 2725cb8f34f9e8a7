//! What the core must know of the disk: asked as values, answered by the caller.
//!
//! INVARIANT: a question that nobody answers counts as the unsafe answer, and the first answer to a question stands, so
//! that one case never mixes two states of the disk.

use std::collections::BTreeMap;

/// A question about the disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskQuestion {
    /// Where does this absolute path lead, symbolic links followed?
    RealPath(String),
    /// Where do the symbolic links lead that this absolute shell pattern names or passes through?
    Pattern(String),
    /// What does this absolute file hold? Only a regular file of moderate size is read.
    Text(String),
    /// What does git's configuration say that the repository of this directory brings along? All local files of it, one
    /// after the other, and a line `[hook] NAME` for each hook that runs on a mere look. No repository: absent.
    GitSettings(String),
    /// Which files that this absolute path or shell pattern names, or that lie below it, could git not bring back as they
    /// are: unknown to it or changed? What builds make again is left out. Nothing there: absent.
    Unheld(String),
    /// What do the settings of cargo say that the project of this directory brings along? The same way.
    CargoSettings(String),
    /// In which directory does the process of this number work, if it is the user's and an agent started it? Any other
    /// process: absent.
    AgentProcess(String),
}

/// What the caller found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskAnswer {
    /// Every further spelling of the path: each symbolic-link hop and the final real path. Empty if the path is
    /// already real. For a path that does not exist yet, its nearest existing parent is resolved. For a pattern, the
    /// spellings of every link it names or passes through.
    Leads(Vec<String>),
    /// The text of a file.
    Text(String),
    /// There is no such file.
    Absent,
    /// It cannot be resolved or read: a loop, no permission, too many hops or files, too long, no text.
    Broken,
}

impl DiskQuestion {
    /// Answers as if nobody could look: no path is a link, no file can be read, no directory brings settings along. For
    /// tests, and where no disk is meant; for a call that will run, it takes links on trust.
    pub fn on_empty_disk(&self) -> DiskAnswer {
        match self {
            Self::RealPath(_) | Self::Pattern(_) | Self::Unheld(_) => DiskAnswer::Leads(Vec::new()),
            Self::Text(_) => DiskAnswer::Broken,
            Self::GitSettings(_) | Self::CargoSettings(_) | Self::AgentProcess(_) => DiskAnswer::Absent,
        }
    }
}

/// The answers a case was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiskAnswers {
    paths: BTreeMap<String, DiskAnswer>,
    patterns: BTreeMap<String, DiskAnswer>,
    texts: BTreeMap<String, DiskAnswer>,
    settings: BTreeMap<DiskQuestion, DiskAnswer>,
}

impl DiskAnswers {
    /// Adds the answer to a question that has none yet.
    pub(crate) fn insert(&mut self, question: DiskQuestion, answer: DiskAnswer) {
        match question {
            DiskQuestion::RealPath(path) => self.paths.entry(path).or_insert(answer),
            DiskQuestion::Pattern(pattern) => self.patterns.entry(pattern).or_insert(answer),
            DiskQuestion::Text(path) => self.texts.entry(path).or_insert(answer),
            DiskQuestion::GitSettings(_)
            | DiskQuestion::CargoSettings(_)
            | DiskQuestion::Unheld(_)
            | DiskQuestion::AgentProcess(_) => self.settings.entry(question).or_insert(answer),
        };
    }

    /// Says whether a question was answered.
    pub(crate) fn contain(&self, question: &DiskQuestion) -> bool {
        match question {
            DiskQuestion::RealPath(path) => self.paths.contains_key(path),
            DiskQuestion::Pattern(pattern) => self.patterns.contains_key(pattern),
            DiskQuestion::Text(path) => self.texts.contains_key(path),
            DiskQuestion::GitSettings(_)
            | DiskQuestion::CargoSettings(_)
            | DiskQuestion::Unheld(_)
            | DiskQuestion::AgentProcess(_) => self.settings.contains_key(question),
        }
    }

    /// Returns where a path leads; `None` if nobody answered.
    pub(crate) fn path(&self, path: &str) -> Option<&DiskAnswer> {
        self.paths.get(path)
    }

    /// Returns where the links behind a pattern lead; `None` if nobody answered.
    pub(crate) fn pattern(&self, pattern: &str) -> Option<&DiskAnswer> {
        self.patterns.get(pattern)
    }

    /// Returns what was found of a file; `None` if nobody answered.
    pub(crate) fn text_answer(&self, path: &str) -> Option<&DiskAnswer> {
        self.texts.get(path)
    }

    /// Returns the text of a file; `None` if there is none or nobody looked.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        match self.texts.get(path)? {
            DiskAnswer::Text(text) => Some(text),
            DiskAnswer::Leads(_) | DiskAnswer::Absent | DiskAnswer::Broken => None,
        }
    }

    /// Says whether somebody looked for a file and found one, readable or not.
    pub(crate) fn is_present(&self, path: &str) -> bool {
        self.texts.get(path).is_some_and(|answer| *answer != DiskAnswer::Absent)
    }

    /// Says whether somebody looked for a file and there is none.
    pub(crate) fn is_absent(&self, path: &str) -> bool {
        matches!(self.texts.get(path), Some(DiskAnswer::Absent))
    }

    /// Says whether anybody looked for the text of a file.
    pub(crate) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns what settings a directory brings along; `None` if nobody answered.
    pub(crate) fn settings(&self, question: &DiskQuestion) -> Option<&DiskAnswer> {
        self.settings.get(question)
    }
}
