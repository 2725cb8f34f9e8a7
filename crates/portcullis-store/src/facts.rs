//! What happened in a session beside calls, as far as later calls depend on it. No file is touched here.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::hash::sha256;

/// The form of the file.
const VERSION: u32 = 1;
/// How many files are kept that the agent wrote, the newest.
const MOST_FILES: usize = 200;
/// How many prompts are known by their hashes, the newest.
const MOST_PROMPTS: usize = 512;
/// A longer path is not kept.
const LONGEST_PATH: usize = 1024;

/// Whether we were there when a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStart {
    /// Nobody has said.
    #[default]
    Unknown,
    /// The session's own agent said so, before anything was written: what is kept is all that happened.
    Seen,
    /// Something happened before anybody said so, or where nobody tells us.
    Missed,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionFactLog {
    /// When something was last added, in unix milliseconds.
    pub changed_at_ms: u64,
    /// Sentences in which the user forbade something or permitted it again, oldest first.
    pub boundaries: Vec<String>,
    /// Whether the user's words came to us as they were said, so that the host's file need not be asked for them.
    #[serde(default)]
    pub heard: bool,
    /// The hashes of what the user said, oldest first, as far as it came from the very agent whose session it is. The words
    /// themselves stand in the host's file, and this says which of them are the user's.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// The host's session file as it was last looked at, where it is all that tells of the user's words.
    #[serde(default)]
    pub file: Option<SeenSessionFile>,
    /// How many plans were carried out or begun.
    pub plan: u64,
    /// Whether its calls are known from the first on.
    #[serde(default)]
    pub start: SessionStart,
    /// Files the agent wrote, absolute.
    pub written: Vec<String>,
    /// Directories that the agent filled from elsewhere, absolute.
    #[serde(default)]
    pub filled: Vec<String>,
    /// Whether a call read a secret.
    #[serde(default)]
    pub reads_secrets: bool,
    /// Whether more happened than can be told: the host has shortened its file, or files were written that are not kept.
    pub is_partial: bool,
}

/// A host's session file as it was seen, by which it is known later whether it only grew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenSessionFile {
    /// Its path.
    pub path: String,
    /// The device it lies on, and its number there.
    pub file: (u64, u64),
    /// The part of it that the hash is of, in bytes; it ends where the file ended.
    pub part: (u64, u64),
    /// The hash of that part.
    pub hash: String,
}

/// Returns what a prompt is known by. A host may write blanks down in another way than they were typed.
pub fn prompt_hash(prompt: &str) -> String {
    sha256(prompt.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryDocument<T> {
    version: u32,
    /// The name of the session: a file that was copied from another one is not believed.
    session: String,
    facts: T,
}

impl SessionFactLog {
    /// More than everything at its longest, every character escaped.
    pub(crate) const MAXIMUM_SIZE: u64 = 4 * 1024 * 1024;

    /// Reads the file.
    pub(crate) fn read(file: &Path, session: &str, bytes: &[u8]) -> Result<Self, StoreError> {
        let document: HistoryDocument<Self> =
            serde_json::from_slice(bytes).map_err(|error| StoreError::broken(file, &error.to_string()))?;
        if document.version != VERSION {
            let detail = format!("its version is {}, and this program knows {VERSION}", document.version);
            return Err(StoreError::broken(file, &detail));
        }
        if document.session != session {
            return Err(StoreError::broken(file, "it is of another session"));
        }
        Ok(document.facts)
    }

    /// Returns the file's new content.
    pub(crate) fn to_bytes(&self, file: &Path, session: &str, now_ms: u64) -> Result<Vec<u8>, StoreError> {
        let facts = Self { changed_at_ms: self.changed_at_ms.max(now_ms), ..self.clone() };
        let document = HistoryDocument { version: VERSION, session: session.to_owned(), facts };
        serde_json::to_vec(&document).map_err(|error| StoreError::broken(file, &error.to_string()))
    }

    /// Adds what the user said.
    pub fn hear(&mut self, prompt: &str) {
        self.prompts.push(prompt_hash(prompt));
        self.prompts.drain(..self.prompts.len().saturating_sub(MOST_PROMPTS));
    }

    /// Adds a file the agent wrote; says whether that changed anything. Once one is not kept, any may be the agent's.
    pub fn write(&mut self, path: &str) -> bool {
        add_path(&mut self.written, &mut self.is_partial, path)
    }

    /// Adds a directory that the agent filled from elsewhere; says whether that changed anything.
    pub fn fill(&mut self, path: &str) -> bool {
        add_path(&mut self.filled, &mut self.is_partial, path)
    }
}

fn add_path(known: &mut Vec<String>, is_partial: &mut bool, path: &str) -> bool {
    if known.iter().any(|known| known == path) {
        return false;
    }
    if path.len() > LONGEST_PATH {
        return !std::mem::replace(is_partial, true);
    }
    known.push(path.to_owned());
    let dropped = known.drain(..known.len().saturating_sub(MOST_FILES)).count();
    *is_partial |= dropped > 0;
    true
}
