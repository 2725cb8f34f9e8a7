//! The trace: what each step said on the way to a verdict.

use crate::decision::Decision;
use crate::step::StepId;

/// One line of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// The step that speaks.
    pub step: StepId,
    /// Whether it passed, raised a question or settled the call.
    pub outcome: TraceOutcome,
    /// Why, in one clause; may be empty.
    pub detail: String,
}

/// What a step said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOutcome {
    /// It has nothing to say.
    Pass,
    /// It raised a question, which a later step may lift or turn.
    Raise(Decision),
    /// It settled the call.
    Settle(Decision),
    /// It did not run, because an earlier step settled the call or asked what only the mode may turn.
    Skip,
}

impl TraceOutcome {
    /// Returns the word for it in records and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Raise(Decision::Allow) => "raise-allow",
            Self::Raise(Decision::Contained) => "raise-contained",
            Self::Raise(Decision::Ask) => "raise-ask",
            Self::Raise(Decision::Deny) => "raise-deny",
            Self::Settle(Decision::Allow) => "settle-allow",
            Self::Settle(Decision::Contained) => "settle-contained",
            Self::Settle(Decision::Ask) => "settle-ask",
            Self::Settle(Decision::Deny) => "settle-deny",
        }
    }
}
