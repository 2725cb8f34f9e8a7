//! Tidy: what a machine checks so that nobody has to. Each check is a function from the tracked files to problems;
//! `tests/tidy.rs` runs them on the repository, and each file tries its checks on made-up trees.

pub mod changelog;
pub mod contract;
pub mod engine;
pub mod findings;
pub mod house;
pub mod manifest;
pub mod markdown;
pub mod portability;
pub mod reference;
pub mod settings;
pub mod source;

use std::fmt;

/// Something that is not in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TidyProblem {
    /// The file, from the root.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl TidyProblem {
    /// Makes a problem of a line.
    pub fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for TidyProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.file, self.message),
            line => write!(formatter, "{}:{line}: {}", self.file, self.message),
        }
    }
}

#[cfg(test)]
pub(crate) fn messages(problems: &[TidyProblem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
