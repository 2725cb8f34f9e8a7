//! Why a command could not do what it was asked to.

use std::fmt;

use crate::exit_code::ExitCode;

/// An error with an exit code: the user's, or ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The code the process ends with.
    pub(crate) exit_code: ExitCode,
    /// What is wrong: lower case, no final period; empty where nobody is left to be told.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Makes an error in what the user gave.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit_code: ExitCode::Usage, message: message.into(), hint: None }
    }

    /// Makes an error that is not the user's.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { exit_code: ExitCode::Internal, message: message.into(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
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
