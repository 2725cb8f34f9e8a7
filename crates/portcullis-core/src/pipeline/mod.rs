//! The decision pipeline: numbered steps, run in order, each leaving a line in the trace (spec A).
//!
//! The steps read a case under a policy and change neither, so that deciding again costs no parse and no look at the
//! disk. [`Outcome::Needs`] says who must be asked where the steps cannot settle it themselves.

mod outcome;
mod run;
mod steps;

pub use outcome::{Aborted, FailureAction, Need, Outcome, Pending, PendingAnswer};

use crate::case::{Case, CaseView};
use crate::policy::Policy;
use run::PipelineRun;

impl Case {
    /// Decides the call by a policy.
    ///
    /// # Errors
    ///
    /// Only if the session was aborted (step A0): then there is no verdict at all.
    pub fn decide(&self, policy: &Policy) -> Result<Outcome, Aborted> {
        PipelineRun::new(CaseView::new(self, policy)).decide()
    }
}
