//! Why nothing was run, in words for whoever reads the one line that is printed.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Why a command was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FenceError {
    /// The policy asks for something that cannot be granted.
    #[error("the policy is wrong: {0}")]
    Policy(String),
    /// A part of the fence did not go up.
    #[error("the fence could not {what}: {reason}")]
    SetUp {
        /// What could not be done, after "could not".
        what: String,
        /// What the system said.
        reason: String,
        /// How it can be mended, if that is known.
        hint: Option<String>,
    },
    /// The program to run is missing or cannot be started.
    #[error("cannot start `{program}`: {reason}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
        /// Whether there is no such program, as against one that may not be started.
        is_missing: bool,
    },
}

impl FenceError {
    /// Returns the error of a part that did not go up.
    pub(crate) fn set_up(what: impl Into<String>, error: &io::Error) -> Self {
        Self::SetUp { what: what.into(), reason: error.to_string(), hint: None }
    }

    /// Returns the error of a part that did not go up at a path.
    pub(crate) fn set_up_at(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::set_up(format!("{what} `{}`", path.display()), error)
    }

    /// Returns the same error with a way to mend it, which only a failed part takes.
    #[must_use]
    pub(crate) fn with_hint(mut self, text: &str) -> Self {
        if let Self::SetUp { hint, .. } = &mut self {
            *hint = Some(text.to_owned());
        }
        self
    }

    /// Returns how it can be mended, if that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::SetUp { hint, .. } => hint.as_deref(),
            Self::Policy(_) | Self::Start { .. } => None,
        }
    }

    /// Returns the code that a shell would end with: 126 and 127 for a program that does not start, 125 for our own part.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Policy(_) | Self::SetUp { .. } => 125,
            Self::Start { is_missing: false, .. } => 126,
            Self::Start { is_missing: true, .. } => 127,
        }
    }
}
