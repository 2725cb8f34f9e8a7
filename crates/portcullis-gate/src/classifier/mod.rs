//! The model that judges, as settings, flags and environment choose it: the prompt it is given, and what is kept of talks
//! with it.
//!
//! The model table, the templates and the network are touched only when a call needs the classifier.

mod assemble;
mod explainer;
mod git_index;
mod instructions;
mod recipe;
mod record;
mod self_test;
mod vote;

pub use assemble::{ClassifierFlags, Resting, Setup, assemble, has_classifier, model_table};
pub use explainer::explain_by_model;
pub use recipe::{Recipe, custom_lists, sections, templates};
pub use record::{Keeping, ModelUse, keep};
pub use self_test::{JudgingEstimate, SelfTest, SelfTestReport, SelfTestRow, accept_risk};
pub(crate) use vote::cast;
pub use vote::{VoteStanding, judge_key, keep_self_test};
