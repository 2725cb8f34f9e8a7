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
    /// What does this absolute file hold? Only a regular file of moderate size is read.
    Text(String),
    /// What does git's configuration say that the repository of this directory brings along? All local files of it, one
    /// after the other, and a line `[hook] NAME` for each hook that runs on a mere look. No repository: absent.
    GitSettings(String),
    /// What do the settings of cargo say that the project of this directory brings along? The same way.
    CargoSettings(String),
}

/// What the caller found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
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

/// The answers.
///
/// A question that nobody answers counts as the unsafe answer:
///
/// ```
/// use portcullis_core::{Context, Decision, Facts, Mode, Policy, Request, ToolCall, decide};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = Policy::default();
/// let request = Request::new(&policy, ToolCall::bash("cat notes.txt"), Context::new(Mode::Default, "/code/app"));
/// let answered = Facts::of_empty_disk(request.questions());
/// assert_eq!(decide(&policy, &request, &answered)?.into_verdict().decision, Decision::Allow);
/// assert_eq!(decide(&policy, &request, &Facts::default())?.into_verdict().decision, Decision::Ask);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    paths: BTreeMap<String, Resolution>,
    patterns: BTreeMap<String, Resolution>,
    texts: BTreeMap<String, Resolution>,
    settings: BTreeMap<Question, Resolution>,
}

impl Facts {
    /// Answers as if the disk held nothing: no path is a link, no file is there. For tests, and where no disk is meant;
    /// for a call that will run, it takes links on trust.
    pub fn of_empty_disk<'a>(questions: impl IntoIterator<Item = &'a Question>) -> Self {
        let mut facts = Self::default();
        for question in questions {
            let found = match question {
                Question::RealPath(_) | Question::Pattern(_) => Resolution::Leads(Vec::new()),
                Question::Text(_) | Question::GitSettings(_) | Question::CargoSettings(_) => {
                    Resolution::Absent
                }
            };
            facts.insert(question.clone(), found);
        }
        facts
    }

    /// Adds the answer to a question.
    pub fn insert(&mut self, question: Question, resolution: Resolution) {
        match question {
            Question::RealPath(path) => self.paths.insert(path, resolution),
            Question::Pattern(pattern) => self.patterns.insert(pattern, resolution),
            Question::Text(path) => self.texts.insert(path, resolution),
            Question::GitSettings(_) | Question::CargoSettings(_) => {
                self.settings.insert(question, resolution)
            }
        };
    }

    /// Returns where a path leads; `None` if nobody answered.
    pub(crate) fn path(&self, path: &str) -> Option<&Resolution> {
        self.paths.get(path)
    }

    /// Returns what a file holds; `None` if nobody answered.
    pub(crate) fn text(&self, path: &str) -> Option<&Resolution> {
        self.texts.get(path)
    }

    /// Returns what settings a directory brings along; `None` if nobody answered.
    pub(crate) fn settings(&self, question: &Question) -> Option<&Resolution> {
        self.settings.get(question)
    }

    /// Returns where the links behind a pattern lead; `None` if nobody answered.
    pub(crate) fn pattern(&self, pattern: &str) -> Option<&Resolution> {
        self.patterns.get(pattern)
    }
}
