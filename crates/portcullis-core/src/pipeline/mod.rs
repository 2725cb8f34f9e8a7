//! The decision pipeline: numbered steps, run in order, each leaving a line in the trace (spec A).

mod outcome;
mod run;
mod step;
mod steps;

pub use outcome::{Aborted, Answer, Gate, Need, Outcome, Pending};
pub use step::{STEPS, StepId, StepInfo};

pub(crate) use run::Run;

use crate::fact::Facts;
use crate::policy::Policy;
use crate::request::Request;

/// Decides a call.
///
/// # Errors
///
/// Only if the session was aborted (step A0): then there is no verdict at all.
pub fn decide(policy: &Policy, request: &Request, facts: &Facts) -> Result<Outcome, Aborted> {
    Run::new(policy, request, facts).decide()
}
