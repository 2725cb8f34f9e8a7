//! One call through the core: what it asks about the disk is looked up, then it decides.
//!
//! There is no classifier, hook or person behind this road yet, so what they would answer stays unanswered, which
//! never allows.

use portcullis_core::{Case, Context, Policy, ToolCall, Verdict};

use crate::Failure;
use portcullis_world::World;

/// Decides one call.
pub fn judge(policy: &Policy, case: &Case) -> Result<Verdict, Failure> {
    let outcome = case.decide(policy).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(outcome.into_verdict())
}

/// Parses a call and looks up what the core asks about it.
pub fn prepare(policy: &Policy, call: ToolCall, context: Context, world: &mut World) -> Case {
    let mut case = Case::new(call, context);
    case.answer(world.answer(case.questions(policy)));
    case
}
