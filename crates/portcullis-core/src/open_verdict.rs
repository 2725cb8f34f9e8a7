//! What a verdict leaves open: which kind of question it is, whether a model must be tested first, and the fence that is to
//! be put up.

use crate::decision::Decision;
use crate::fence::FenceRequest;
use crate::step::StepId;
use crate::trace::{TraceLine, TraceOutcome};
use crate::verdict::{Reason, Verdict};

/// What a person runs so that a model may decide.
pub const SELF_TEST_COMMAND: &str = "portcullis auto-mode test";

impl Verdict {
    /// Says whether it is a question only because nobody has allowed such calls yet: nothing was found, and no rule, check
    /// or judge speaks against it.
    pub fn is_plain_question(&self) -> bool {
        self.decision == Decision::Ask
            && matches!(self.reason, Reason::Unsettled { .. })
            && self.findings.is_empty()
    }

    /// Says whether it was such a question, and is a denial only because nobody is there.
    pub fn is_plain_refusal(&self) -> bool {
        let is_else =
            |line: &TraceLine| line.step != StepId::A10 && matches!(line.outcome, TraceOutcome::Raise(_));
        self.decision == Decision::Deny
            && matches!(self.reason, Reason::Headless { .. })
            && self.is_unsettled()
            && !self.trace.iter().any(is_else)
    }

    /// Says whether the tool is a question to the user by itself, and nothing else is asked: whoever is to be asked would
    /// be asked whether he may be asked.
    pub fn is_own_question(&self) -> bool {
        self.decision == Decision::Ask && matches!(self.reason, Reason::Interaction)
    }

    /// Says whether all that was ever asked is that nobody has allowed such commands yet, whoever it is put to.
    pub fn is_unsettled(&self) -> bool {
        let is_raised =
            |line: &TraceLine| line.step == StepId::A10 && line.outcome == TraceOutcome::Raise(Decision::Ask);
        self.findings.is_empty() && self.trace.iter().any(is_raised)
    }

    /// Says whether the model's word does not do because it is not tested or has failed, which no time mends.
    pub fn wants_self_test(&self) -> bool {
        matches!(&self.reason, Reason::Unavailable { detail } if detail.contains(SELF_TEST_COMMAND))
    }

    /// Returns the fence that the call must run in, if it is contained.
    pub fn fence(&self) -> Option<&FenceRequest> {
        match &self.reason {
            Reason::Contained { fence } if self.decision == Decision::Contained => Some(fence),
            _ => None,
        }
    }
}
