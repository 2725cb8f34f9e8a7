//! One call judged: what settings, disk, session file, store, model and hooks say becomes a judgement.
//!
//! ```text
//! call ──► decide ──► settled ─────────────────────────────────────────────┐
//!             └─► needs the classifier ──► approval? ──► prompt ──► judge ──┤
//!                                                                           ▼
//!                        verdict ◄── limit reached? ◄── counted in the session's store
//! ```
//!
//! What rules and proofs decide costs nothing here but one look for the session's run of denials, in auto mode. The
//! session file is read when what happened before may change the answer; the model table, the templates and the network
//! are touched only when the core says that it needs the classifier.

mod call_judge;
mod change_judge;
mod consult;
mod decide;
mod fencing;
mod kept_question;
mod recalling;
mod session_file;
mod session_growth;
mod spending;
mod trial;
mod whose_words;

pub use call_judge::{CallJudge, JudgedCall, LONGEST_KEPT_MS, SessionHistory, identity, show_prompt};
pub use change_judge::ChangeJudge;
pub(crate) use consult::Nobody;
pub use consult::{
    ConfiguredConsultants, Consultants, ConsultedCall, TriedConsultants, consultants_of_command,
};
pub use decide::{LocalVerdict, judge, judge_locally, prepare};
pub use kept_question::{keep_question, suggestions};
pub use trial::{Trial, recorded_call};
pub(crate) use whose_words::forbid_only;
