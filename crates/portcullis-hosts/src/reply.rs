//! What goes back to a host, and why a host's input may not be understood.

use serde::Serialize;

use crate::json::JsonError;

/// What the hook process writes and the code it ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostReply {
    /// Standard output; may be empty.
    pub stdout: String,
    /// Standard error; may be empty.
    pub stderr: String,
    /// The exit code.
    pub exit_code: i32,
}

impl HostReply {
    /// Says nothing.
    pub const fn silence() -> Self {
        Self { stdout: String::new(), stderr: String::new(), exit_code: 0 }
    }

    /// Says one JSON value. Serializing strings cannot fail; if it does, the prepared answer still blocks.
    pub(crate) fn json(wire: &impl Serialize, blocking: &str) -> Self {
        let stdout = serde_json::to_string(wire).unwrap_or_else(|_| blocking.to_owned());
        Self { stdout, ..Self::silence() }
    }
}

/// Why a host's input was not understood. Each host blocks on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The text is not JSON.
    #[error("the hook input is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// The text is JSON, but not an object.
    #[error("the hook input must be an object, but is {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// A field is missing.
    #[error("the hook input has no field `{field}`")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field has the wrong type.
    #[error("field `{field}` of the hook input must be {expected}, but is {found}")]
    WrongType {
        /// Its name.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A path is relative, and nobody knows to what.
    #[error("field `{field}` of the hook input must be an absolute path, but is `{value}`")]
    NotAbsolute {
        /// Its name.
        field: &'static str,
        /// The path, made printable.
        value: String,
    },
    /// A field has a value that means nothing here.
    #[error("field `{field}` of the hook input has the unknown value `{value}`")]
    UnknownValue {
        /// Its name.
        field: &'static str,
        /// The value, made printable.
        value: String,
    },
}
