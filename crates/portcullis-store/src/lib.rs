//! What outlives a process: sessions with their denials and approvals, model calls, what was learned of models.
//!
//! ```text
//! ~/.local/state/portcullis/            0700, made when something is first written
//!   sessions/NAME.json, NAME.lock       denials, denied calls, approvals: exact, broken is an error
//!   sessions/NAME.facts.json            what the user forbade, the plan, files the agent wrote: broken is an error
//!   grants.json, grants.lock            what a person allowed or denied for a while: exact, broken is an error
//!   audit/                              the trail of decisions, see [`audit`]
//!   approvals.db, approvals.lock        questions that wait for a person, and policies: exact, broken is an error
//!   calls.jsonl, calls.1.jsonl          one line a model call: appended, rotated
//!   learned.json                        what models do not take: a cache, broken is empty
//!   breaker.json                        which endpoints fail: a cache, broken is empty
//!   self-tests.json                     how models did in the self-test: broken is untested
//!   memory.json                         what people allowed, by shape and repository: broken is nothing
//!   warmth.json                         when servers of one's own last answered: a cache, broken is empty
//! ```
//!
//! Every tool call is a process of its own, and many run at once. What is counted is therefore changed under a file lock
//! and replaced in one step: no count is lost, and a process that is killed loses at most its own. The time reaches the
//! crate as a value, in unix milliseconds.
//!
//! ```
//! use portcullis_store::{DenialKind, NewDenial, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let session = Store::new(folder.path().join("portcullis")).session("run-17");
//! let denial = NewDenial {
//!     tool: "Bash".to_owned(),
//!     input_json: r#"{"command":"git push --force"}"#.to_owned(),
//!     cwd: "/code/app".to_owned(),
//!     summary: "Bash: git push --force".to_owned(),
//!     reason: "PC007: it overwrites commits of the remote repository".to_owned(),
//!     kind: DenialKind::Finding,
//!     code: "PC007".to_owned(),
//!     retryable: true,
//! };
//! let now_ms = 1_760_000_000_000;
//! let limits = [1, 2, 3].map(|_| session.record_denial(&denial, now_ms).map(|recorded| recorded.limit));
//! let [Ok(None), Ok(None), Ok(Some(limit))] = limits else { return Err("the third reaches a limit".into()) };
//! assert_eq!(limit.message(), "3 actions in a row were denied, so a person must look");
//! # Ok(())
//! # }
//! ```
//!
//! What is counted is never kept in memory, so threads may share a [`Store`] or have one each. A store that is kept for
//! long keeps its databases open.
//!
//! All of this is one [`Backend`]. [`Store::with_backend`] puts another in its place, which many machines share; what
//! belongs to one machine (model calls, what was learned, pauses) stays in the directory.
//!
//! INVARIANT: an error never allows. There is no approval in a file that cannot be read, an approval that cannot be
//! marked as used is not given, and a count that cannot be read is not taken for none.

mod allowed_calls;
mod approvals;
pub mod audit;
mod backend;
mod breaker;
mod cache;
mod calls;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod disk;
mod dumps;
mod error;
mod facts;
mod files;
mod grants;
mod hash;
mod learned;
mod overview;
mod policy;
mod redaction;
mod remembered;
mod self_tests;
mod session;
mod sqlite;
mod state;
mod warmth;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use allowed_calls::{AllowedCall, AllowedCalls};
pub use approvals::{
    AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalState,
    ExplanationEntry, NewApprovalRequest,
};
pub use backend::{DocumentChange, DocumentKey, DocumentUpdate, SessionExpiry, StoreBackend};
pub use breaker::BreakerState;
pub use calls::{ModelCallOutcome, ModelCallRecord, ModelCalls};
pub use dumps::DumpDirectory;
pub use error::StoreError;
pub use facts::{SeenSessionFile, SessionFactLog, SessionStart, prompt_hash};
use files::FileBackend;
pub use grants::{Grant, GrantContext, GrantScope, GrantStore, GrantUse, NewGrant};
pub use learned::RefusedParameters;
pub use overview::{ForgottenSessions, RecentDenials};
pub use policy::{PolicyVersion, SignedPolicy};
pub use redaction::{redact, redact_json, set_custom_forms};
pub use remembered::{RememberedStore, RememberedYes};
pub use self_tests::SelfTestRecord;
pub use session::SessionStore;
pub use state::{DenialKind, DeniedCall, NewDenial, RecordedDenial, TakenApproval, session_name};

/// What is kept: on this machine in the state directory of a user, and the rest where the backend keeps it.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    patience: Duration,
    backend: Arc<dyn StoreBackend>,
    /// Whether the backend is the files in the directory.
    is_local: bool,
}

impl Store {
    /// Keeps everything in a directory. Nothing is read or made yet.
    pub fn new(root: PathBuf) -> Self {
        Self::local(root, disk::FileLock::PATIENCE)
    }

    fn local(root: PathBuf, patience: Duration) -> Self {
        let backend = Arc::new(FileBackend::new(root.clone(), patience));
        Self { root, patience, backend, is_local: true }
    }

    /// Keeps what can be shared in a backend, and what belongs to this machine in a directory.
    pub fn with_backend(root: PathBuf, backend: Arc<dyn StoreBackend>) -> Self {
        Self { root, patience: disk::FileLock::PATIENCE, backend, is_local: false }
    }

    /// Sets how long another process that changes the same file is waited for; two seconds if it is not set. A change
    /// takes about a millisecond, so only many at once on a busy machine, or a process that hangs, make anybody wait.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        if self.is_local { Self::local(self.root, patience) } else { Self { patience, ..self } }
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whoever keeps what can be shared.
    pub fn backend(&self) -> &dyn StoreBackend {
        self.backend.as_ref()
    }

    /// Says whether everything is kept on this machine.
    pub const fn is_local(&self) -> bool {
        self.is_local
    }

    /// Returns the store of one session, by the id its host gave it.
    pub fn session(&self, id: &str) -> SessionStore {
        SessionStore::new(self.clone(), id)
    }

    /// Returns what a person granted for a while.
    pub fn grants(&self) -> GrantStore {
        GrantStore::new(self.clone())
    }

    /// Returns what people allowed that counts again. It is about programs and files of this machine, so it stays here.
    pub const fn remembered(&self) -> RememberedStore<'_> {
        RememberedStore::new(self)
    }

    /// Returns the audit trail.
    pub fn audit(&self) -> audit::Audit {
        audit::Audit::new(self.clone())
    }
}
