//! Why something could not be done: what is wrong, whose mistake it is, what to do about it.

use std::fmt;

use portcullis_settings::EditError;
use portcullis_store::StoreError;

/// Whose mistake a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Of whoever called: the command line, its input or the settings are wrong.
    Usage,
    /// Ours, or of the machine.
    Internal,
    /// Nobody's: this program has not what is needed, and the full program of the same package has. Nothing was used up or
    /// written down.
    Elsewhere,
}

/// An error that a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whose mistake it is; commands end with an exit code that goes by it.
    pub kind: FailureKind,
    /// What is wrong: lower case, no final period; empty where nobody is left to be told.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// Makes an error in what the user gave.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into(), hint: None }
    }

    /// Makes an error that is not the user's.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Internal, message: message.into(), hint: None }
    }

    /// Says that only the full program can judge the call.
    pub fn elsewhere() -> Self {
        let message = "only the full program can ask whom this call needs".to_owned();
        Self { kind: FailureKind::Elsewhere, message, hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// An edit of settings that did not happen.
impl From<&EditError> for Failure {
    fn from(error: &EditError) -> Self {
        let failure = match error {
            EditError::Io { .. } | EditError::Changed { .. } | EditError::Locked { .. } => {
                Failure::internal(error.to_string())
            }
            EditError::NotEditable { .. }
            | EditError::Rule { .. }
            | EditError::Broken { .. }
            | EditError::Missing { .. }
            | EditError::LeavesRepository { .. } => Failure::usage(error.to_string()),
        };
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

/// A store that cannot be used.
impl From<&StoreError> for Failure {
    fn from(error: &StoreError) -> Self {
        let failure = Self::internal(error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
