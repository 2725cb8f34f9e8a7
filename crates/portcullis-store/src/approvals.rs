//! Approvals: questions that wait for a person, and what the person said.
//!
//! ```text
//! open ──► allowed | denied     the first answer wins
//!   └────► expired              nobody answered in time
//! ```
//!
//! An answer is written down first and done afterwards (a call approved, a grant given, a rule written), so that a process
//! that is killed between both leaves an answer that is not applied, and whoever starts next does it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::audit::{Entry, kept};
use crate::error::StoreError;
use crate::redaction::redact;
use crate::state::{DeniedCall, cut, session_name};

/// A question that waits, or waited, for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// What it is known by.
    pub id: String,
    /// The number of its last change; no two changes of a store have the same.
    pub sequence: u64,
    /// When it was asked, in unix milliseconds.
    pub created_at_ms: u64,
    /// When nobody can answer it any more.
    pub expires_at_ms: u64,
    /// The name of the session, as the store spells it.
    pub session: String,
    /// The id of the denied call that an answer lifts.
    pub denial: String,
    /// What that call is known by, as the session kept it when the question was put. An answer is applied to this one, with
    /// [`crate::SessionStore::approve_question`], because the session itself keeps only its last denied calls. What it says
    /// stands in the question, and here are no words of it.
    pub call: DeniedCall,
    /// What is asked: the decision that was not made, with its trace, findings and suggested rules. Redacted.
    pub question: Entry,
    /// The explanation of the call for people, if there is one.
    pub explanation: Option<ExplanationEntry>,
    /// What became of it.
    pub state: ApprovalState,
    /// The answer, if somebody answered.
    pub answer: Option<ApprovalAnswer>,
    /// Whether what the answer says was done.
    pub is_applied: bool,
}

impl ApprovalRequest {
    /// Makes what is kept of a new question: without secrets, and cut as the audit trail cuts.
    ///
    /// Fails if its id is none: whoever asks chooses it, and it becomes part of addresses.
    pub fn open(new: &NewApprovalRequest, sequence: u64) -> Result<Self, StoreError> {
        let place = || PathBuf::from("approvals");
        if session_name(&new.id) != new.id {
            let detail = "an id of an approval has 1 to 64 letters, digits, `_` and `-`";
            return Err(StoreError::broken(&place(), detail));
        }
        let (question, _) =
            kept(&new.question).map_err(|error| StoreError::broken(&place(), &error.to_string()))?;
        Ok(Self {
            id: new.id.clone(),
            sequence,
            created_at_ms: new.created_at_ms,
            expires_at_ms: new.expires_at_ms,
            session: session_name(&new.session),
            denial: new.call.id.clone(),
            call: new.call.without_words(),
            question,
            explanation: new.explanation.as_ref().map(ExplanationEntry::cleaned),
            state: ApprovalState::Open,
            answer: None,
            is_applied: false,
        })
    }
}

/// A question that is about to wait.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApprovalRequest {
    /// What it shall be known by: chosen by whoever asks, so that asking again after a lost answer is no second question.
    pub id: String,
    /// When it is asked, in unix milliseconds.
    pub created_at_ms: u64,
    /// When nobody can answer it any more.
    pub expires_at_ms: u64,
    /// The session, by its id or name.
    pub session: String,
    /// The denied call that an answer lifts, as the session keeps it: see [`crate::SessionStore::denied`].
    pub call: DeniedCall,
    /// What is asked.
    pub question: Entry,
    /// The explanation of the call for people, if there is one.
    pub explanation: Option<ExplanationEntry>,
}

/// What a call does, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationEntry {
    /// What it does.
    pub explanation: String,
    /// Why it would be run.
    pub reasoning: String,
    /// What may go wrong.
    pub risk: String,
    /// `LOW`, `MEDIUM` or `HIGH`.
    pub level: String,
}

impl ExplanationEntry {
    fn cleaned(&self) -> Self {
        let [explanation, reasoning, risk, level] =
            [&self.explanation, &self.reasoning, &self.risk, &self.level].map(|text| cut(&redact(text)));
        Self { explanation, reasoning, risk, level }
    }
}

/// What became of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// It waits.
    Open,
    /// A person allowed it.
    Allowed,
    /// A person denied it.
    Denied,
    /// Nobody answered in time.
    Expired,
}

impl ApprovalState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Allowed, Self::Denied, Self::Expired];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAnswer {
    /// Whether the call may run.
    pub is_allowed: bool,
    /// For how long.
    pub scope: AnswerScope,
    /// The rule, if it is to hold beyond this very call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Who said it: the name of a token or of an account.
    pub by: String,
    /// Where: `web`, `terminal`, `webhook`, `desktop`, `api`.
    pub via: String,
    /// When, in unix milliseconds.
    pub at_ms: u64,
}

/// For how long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerScope {
    /// For this very call.
    Once,
    /// For calls of the kind, until the session ends.
    Session,
    /// For calls of the kind, from now on: a rule of the user's settings.
    Always,
}

/// What came of answering.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerOutcome {
    /// The answer counts.
    First(Box<ApprovalRequest>),
    /// Somebody was faster, or its time is over.
    Late(Box<ApprovalRequest>),
    /// There is no such approval.
    Unknown,
}

/// Which approvals are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// What became of them; any if it is not given.
    pub state: Option<ApprovalState>,
    /// The session, by its id or name.
    pub session: Option<String>,
    /// How many at most.
    pub most: u64,
}
