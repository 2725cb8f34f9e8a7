//! Whether a person is there. A token says whose program asks; only a terminal of their own, or a browser in which they
//! proved it, says that a person does.
//!
//! INVARIANT: no secret of a file is enough to say yes.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use portcullis_gate::clock::now_ms;
use portcullis_gate::presence::{Absence, AgentRoster, ProcessIdentity, check_process};
use portcullis_store::{AnswerScope, ApprovalRequest};

use super::{Caller, Peer};
use crate::{ApiError, Shared};

/// The word for programs when nobody is there.
pub(crate) const ABSENT: &str = "presence";

/// The agents that were seen. What is taken out of the file meanwhile stays known here.
#[derive(Debug, Default)]
pub(crate) struct KnownAgents {
    seen: Mutex<AgentRoster>,
}

impl KnownAgents {
    /// Returns the agents that the file lists now, and those it listed before.
    fn all(&self, state: &Path) -> Result<AgentRoster, ApiError> {
        let listed = AgentRoster::read(state)?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.absorb(listed);
        Ok(seen.clone())
    }
}

impl Caller {
    /// Refuses a caller who is not there in person.
    pub(crate) async fn require_presence(&self, daemon: &Shared, stakes: Stakes) -> Result<(), ApiError> {
        if self.is_signed_in() {
            return self.require_proof(stakes, now_ms());
        }
        match self.peer {
            Peer::Network(_) => Err(absent("a token alone says yes to nothing", TOKEN_HINT)),
            Peer::Local(None) => Err(refused(&Absence::Unknown)),
            Peer::Local(Some(process)) => {
                let daemon = Shared::clone(daemon);
                let looked = tokio::task::spawn_blocking(move || look(&daemon, process)).await;
                looked.unwrap_or_else(|_| Err(refused(&Absence::Unknown)))
            }
        }
    }
}

impl Caller {
    /// Says whether somebody showed a moment ago in this session of the web page that they are there.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_signed_in() && self.require_proof(Stakes::High, now_ms()).is_ok()
    }

    fn require_proof(&self, stakes: Stakes, now_ms: u64) -> Result<(), ApiError> {
        match self.proven_at_ms {
            None => Err(absent("show first that you are there", CODE_HINT)),
            Some(at) if stakes == Stakes::High && now_ms.saturating_sub(at) > FRESH_MS => {
                Err(absent("this lasts or is grave, so show again that you are there", CODE_HINT))
            }
            Some(_) => Ok(()),
        }
    }
}

/// How much an answer gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stakes {
    /// One call that is not grave, or calls of its kind for a while.
    Usual,
    /// What lasts, or what is grave: a person shows again that they are there.
    High,
}

impl Stakes {
    /// Weighs an answer to a question.
    pub(crate) fn of(asked: Option<&ApprovalRequest>, scope: AnswerScope) -> Self {
        let level = asked.and_then(|asked| asked.explanation.as_ref()).map(|told| told.level.as_str());
        if scope == AnswerScope::Always || level.is_none_or(|level| level == "HIGH") {
            Self::High
        } else {
            Self::Usual
        }
    }
}

/// How long a person counts as there for what is grave, in milliseconds.
const FRESH_MS: u64 = 5 * 60 * 1_000;

const CODE_HINT: &str = "type the code that `portcullis tokens link` prints in a terminal of yours";

const TOKEN_HINT: &str =
    "answer on the page, or in a terminal with `portcullis questions`; a token can say no";

fn look(daemon: &Shared, process: ProcessIdentity) -> Result<(), ApiError> {
    let agents = daemon.agents.all(daemon.store.root())?;
    check_process(&agents, process).map_err(|absence| refused(&absence))
}

fn refused(absence: &Absence) -> ApiError {
    let message = format!("only a person at a terminal of their own can do this: {absence}");
    absent(message, absence.remedy())
}

fn absent(message: impl Into<String>, hint: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, ABSENT, message).with_hint(hint)
}
