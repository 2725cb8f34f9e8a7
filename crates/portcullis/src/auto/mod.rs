//! Auto mode's judge on its way: what settings, environment, session file and store say becomes a judgement.
//!
//! ```text
//! call ──► decide ──► settled ─────────────────────────────────────────────┐
//!             └─► needs the classifier ──► approval? ──► prompt ──► judge ──┤
//!                                                                           ▼
//!                        verdict ◄── limit reached? ◄── counted in the session's store
//! ```
//!
//! What rules and proofs settle costs nothing here but one look for the session's run of denials, in auto mode. The
//! session file is read when what happened before may change the answer; the model table, the templates and the network
//! are touched only when the core says that it needs the classifier.

mod assemble;
mod explainer;
mod instructions;
mod question;
mod recipe;
mod record;
mod road;
mod session_file;
mod spending;

pub(crate) use assemble::{ClassifierArgs, Resting, assemble, has_classifier, model_table};
pub(crate) use explainer::explain_by_model;
pub(crate) use question::{keep_question, suggestions};
pub(crate) use recipe::{custom_lists, sections, templates};
pub(crate) use record::{Keeping, keep, now_ms};
pub(crate) use road::{Judged, LONGEST_KEPT_MS, Past, Road, identity, sample_prompt, show_prompt};
