//! One call through the core: what it asks about the disk is looked up, then it decides.
//!
//! There is no classifier, hook or person behind this road yet, so what they would answer stays unanswered, which
//! never allows.

use portcullis_core::{Context, Facts, Policy, Request, ToolCall, Verdict, decide};

use crate::Failure;
use portcullis_world::World;

/// Decides one call.
pub fn judge(
    policy: &Policy,
    call: ToolCall,
    context: Context,
    world: &mut World,
) -> Result<Verdict, Failure> {
    let (request, facts) = prepare(policy, call, context, world);
    let outcome = decide(policy, &request, &facts).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(outcome.into_verdict())
}

/// Parses a call and looks up what the core asks about it.
pub fn prepare(policy: &Policy, call: ToolCall, context: Context, world: &mut World) -> (Request, Facts) {
    let request = Request::new(policy, call, context);
    let facts = world.answer(request.questions());
    (request, facts)
}
