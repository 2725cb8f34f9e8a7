//! The gate: one call that a program brings is judged, put into what that program can be told, and written down.

mod facade;
mod host_gate;
mod past;
mod queue;
mod withdrawal;

pub use facade::{Gate, GateDecision};
pub use host_gate::{
    AnsweredCall, HostGate, HostJudgement, KnownSession, UNATTENDED, UsedApprovals, own_session, unrecorded,
};
pub use queue::{
    PendingQuestion, QuestionReply, explanation, explanation_object, is_question, put_to_daemon,
    read_explanation,
};
pub use withdrawal::QuestionWithdrawal;
