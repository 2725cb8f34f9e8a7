//! What can go wrong with what is kept, and how to go on.

use std::io;
use std::path::{Path, PathBuf};

use portcullis_core::visible;

/// Why something could not be kept or read. What was kept before is still there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A file does not hold what was written there.
    #[error("the state file `{}` is broken: {detail}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A symbolic link stands where a file or a directory of ours belongs.
    #[error("`{}` is a symbolic link, and state is never kept behind one", file.display())]
    Link {
        /// The link.
        file: PathBuf,
    },
    /// Something else stands where a file or a directory of ours belongs.
    #[error("`{}` is not {expected}", file.display())]
    WrongKind {
        /// What stands there.
        file: PathBuf,
        /// What belongs there.
        expected: &'static str,
    },
    /// Others can reach it, and that cannot be changed.
    #[error("`{}` is open to others and cannot be made private", file.display())]
    Exposed {
        /// The file or directory.
        file: PathBuf,
    },
    /// Another process does not let go of it.
    #[error("`{}` is held by another process for too long", file.display())]
    Busy {
        /// The file that is fought over.
        file: PathBuf,
    },
    /// The operating system said no.
    #[error("cannot {action} `{}`: {detail}", file.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        file: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// No denied call has this id.
    #[error("no denied call has the id `{}`", visible(id))]
    UnknownDenial {
        /// The id.
        id: String,
    },
    /// Denied calls of several sessions have this id.
    #[error("several denied calls have the id `{}`: {}", visible(id), longer.join(", "))]
    AmbiguousDenial {
        /// The id.
        id: String,
        /// Longer ids of the same calls, each of one call alone.
        longer: Vec<String>,
    },
    /// The call was denied for good.
    #[error("the denied call `{}` cannot be allowed: nothing lifts it", visible(id))]
    NotRetryable {
        /// Its id.
        id: String,
    },
    /// There is no room for another grant.
    #[error("there are {most} grants already, or the rule is too long")]
    TooManyGrants {
        /// How many there may be.
        most: usize,
    },
    /// The server that keeps the store does not answer.
    #[error("the store at `{}` cannot be reached: {}", visible(place), visible(detail))]
    Unreachable {
        /// The server and the database, without anything secret.
        place: String,
        /// What went wrong.
        detail: String,
    },
    /// The server that keeps the store answered, and said no.
    #[error("the store at `{}` refused: {}", visible(place), visible(detail))]
    Refused {
        /// The server and the database, without anything secret.
        place: String,
        /// What it said.
        detail: String,
    },
    /// This kind of store does not keep that.
    #[error("this store does not keep {what}")]
    Unsupported {
        /// What it does not keep.
        what: &'static str,
    },
    /// Another question has this id.
    #[error("`{}` is the id of another question", visible(id))]
    TakenId {
        /// The id.
        id: String,
    },
    /// A policy was published in the meantime, or one was left out.
    #[error("the policy has version {version}, and the next one is {next}")]
    WrongVersion {
        /// The version it has.
        version: u64,
        /// The version it must have.
        next: u64,
    },
}

impl StoreError {
    /// Says how to go on.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Broken { .. } => Some("look at it, then remove it: what it held is forgotten"),
            Self::Link { .. } => Some("find out who made it, then remove it"),
            Self::WrongKind { .. } => Some("move it away"),
            Self::Exposed { .. } => Some("find out whose it is, then move it away"),
            Self::Busy { .. } => Some("try again, or end the process that holds it"),
            Self::Io { .. } => Some("see that the directory can be written and has space left"),
            Self::UnknownDenial { .. } => Some("only the last denied calls of each session are kept"),
            Self::AmbiguousDenial { .. } => Some("give one of the longer ids"),
            Self::NotRetryable { .. } => Some("run it yourself if it must run"),
            Self::TooManyGrants { .. } => {
                Some("revoke some with `portcullis grants revoke ID`, or write a rule")
            }
            Self::Unreachable { .. } => Some("see that the server runs and that `store.url` leads to it"),
            Self::Refused { .. } => Some("see what the server's log says, and what its account may do"),
            Self::Unsupported { .. } => Some("use a store that does"),
            Self::TakenId { .. } => Some("ask with an id of its own"),
            Self::WrongVersion { .. } => Some("sign it again with the next version"),
        }
    }

    pub(crate) fn of_io(action: &'static str, file: &Path, error: &io::Error) -> Self {
        let detail = match error.kind() {
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            io::ErrorKind::NotADirectory => "part of the path is not a directory".to_owned(),
            io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "no space left".to_owned(),
            _ => error.to_string().to_lowercase(),
        };
        Self::Io { action, file: file.to_path_buf(), detail }
    }

    pub(crate) fn broken(file: &Path, detail: &str) -> Self {
        // A parser may quote what it read, and that may be anything.
        let shown: String = visible(detail).chars().take(200).collect();
        Self::Broken { file: file.to_path_buf(), detail: shown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_names_its_place_and_a_cure() {
        let file = PathBuf::from("/state/sessions/a.json");
        let errors = [
            StoreError::broken(&file, "it is empty"),
            StoreError::Link { file: file.clone() },
            StoreError::WrongKind { file: file.clone(), expected: "a regular file" },
            StoreError::Exposed { file: file.clone() },
            StoreError::Busy { file: file.clone() },
            StoreError::of_io("write", &file, &io::Error::from(io::ErrorKind::StorageFull)),
        ];
        for error in errors {
            let message = error.to_string();
            assert!(message.contains("`/state/sessions/a.json`"), "{message}");
            assert!(!message.ends_with('.'), "{message}");
            assert!(error.hint().is_some(), "{message}");
        }
    }

    #[test]
    fn what_a_message_quotes_is_shown_and_short() {
        let error = StoreError::broken(Path::new("a"), &format!("\u{1b}[2J{}", "x".repeat(5_000)));
        let message = error.to_string();
        assert!(message.contains("\\u{1b}[2J"), "{message}");
        assert!(message.len() < 300, "{}", message.len());
        let unknown = StoreError::UnknownDenial { id: "\u{1b}]0;".to_owned() };
        assert_eq!(unknown.to_string(), "no denied call has the id `\\u{1b}]0;`");
    }
}
