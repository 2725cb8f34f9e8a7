//! Why a settings file was not edited. In each of these cases it is left byte for byte as it was.

use std::path::{Path, PathBuf};

use portcullis_core::Source;
use portcullis_core::rule::{Behavior, RuleProblem};

use crate::disk::{ReplaceError, plain};
use crate::problem::SettingsProblem;

/// Why a settings file was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The source has no file that may be edited.
    #[error("{source_name} settings cannot be edited from here")]
    NotEditable {
        /// The source.
        source_name: Source,
    },
    /// The rule does not compile.
    #[error("`{text}` is not a rule: {problem}")]
    Rule {
        /// Its text.
        text: String,
        /// What is wrong with it.
        problem: RuleProblem,
    },
    /// The file is broken.
    #[error("{problem}")]
    Broken {
        /// What is wrong, and where.
        problem: Box<SettingsProblem>,
    },
    /// The rule is not in the file.
    #[error("there is no {behavior} rule `{text}` in `{}`", file.display())]
    Missing {
        /// The text that was looked for.
        text: String,
        /// The list it was looked for in.
        behavior: Behavior,
        /// The file.
        file: PathBuf,
        /// Rules that are there and look like it.
        close: Vec<String>,
    },
    /// A link that leaves the repository.
    #[error("`{}` leads out of the repository, to `{}`", file.display(), target.display())]
    LeavesRepository {
        /// The file.
        file: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The file changed while it was being edited.
    #[error("`{}` was changed by somebody else in the meantime", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// Somebody else is editing.
    #[error("`{}` is being edited by another process", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// The operating system said no.
    #[error("cannot write `{}`: {detail}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What it said.
        detail: String,
    },
}

impl EditError {
    /// Says how to go on.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotEditable { .. } => Some("choose user, project or local".to_owned()),
            Self::Rule { problem, .. } => problem.hint.clone(),
            Self::Missing { close, .. } if !close.is_empty() => {
                let names: Vec<String> = close.iter().map(|rule| format!("`{rule}`")).collect();
                Some(format!("did you mean {}?", names.join(" or ")))
            }
            Self::LeavesRepository { .. } => {
                Some("edit the file it leads to, or choose another source".to_owned())
            }
            Self::Changed { .. } | Self::Locked { .. } => Some("try again".to_owned()),
            Self::Broken { .. } | Self::Missing { .. } | Self::Io { .. } => None,
        }
    }

    pub(super) fn of_refusal(file: &Path, refusal: ReplaceError) -> Self {
        let file = file.to_path_buf();
        match refusal {
            ReplaceError::Locked => Self::Locked { file },
            ReplaceError::Changed => Self::Changed { file },
            ReplaceError::Io(error) => Self::Io { file, detail: plain(&error) },
        }
    }
}
