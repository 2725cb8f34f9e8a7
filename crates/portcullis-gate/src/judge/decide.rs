//! One call through the core: what it asks about the disk is looked up, then it decides.
//!
//! No classifier, hook or person is asked here, so what they would answer stays unanswered, which never allows.

use portcullis_core::{Case, Context, Need, Outcome, Policy, ToolCall, Verdict};

use crate::Failure;
use portcullis_world::World;

/// A verdict that was reached with nobody asked.
#[derive(Debug)]
pub struct LocalVerdict {
    /// The verdict, which takes it that nobody answers.
    pub verdict: Verdict,
    /// Whether a model would have been asked.
    pub needs_model: bool,
}

/// Decides one call with nobody asked.
pub fn judge(policy: &Policy, case: &Case) -> Result<Verdict, Failure> {
    Ok(judge_locally(policy, case)?.verdict)
}

/// Decides one call with nobody asked, and says whether a model would have been.
pub fn judge_locally(policy: &Policy, case: &Case) -> Result<LocalVerdict, Failure> {
    let outcome = case.decide(policy).map_err(|error| Failure::internal(error.to_string()))?;
    let needs_model = matches!(&outcome, Outcome::Needs(pending) if pending.need() == Need::Classifier);
    Ok(LocalVerdict { verdict: outcome.into_verdict(), needs_model })
}

/// Parses a call and looks up what the core asks about it.
pub fn prepare(policy: &Policy, call: ToolCall, context: Context, world: &mut World) -> Case {
    let mut case = Case::new(call, context);
    case.look_up(policy, |questions| world.answer(questions));
    case
}
