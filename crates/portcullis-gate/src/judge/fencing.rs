//! A fence for a call that nothing settles: offered before anybody is asked.

use portcullis_core::{Decision, Policy};

use super::call_judge::{CallJudge, Try};
use crate::Failure;

impl CallJudge<'_> {
    /// Decides once more with a fence at hand, if there could be one: it comes before anybody is asked. What is allowed
    /// as it is needs none, unless settings want one for code of the project.
    pub(super) fn offer_fence(
        &self,
        tried: &mut Try,
        policy: &Policy,
        problems: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let is_allowed = tried.outcome.verdict().decision == Decision::Allow;
        if !tried.case.context().takes_fences() || (is_allowed && !policy.contains_project_code) {
            return Ok(());
        }
        let Some(fences) = self.fences else { return Ok(()) };
        let Some(offer) = fences.offer() else { return Ok(()) };
        tried.case.offer_fence(Some(offer));
        let outcome = tried.decide(policy)?;
        let decision = outcome.verdict().decision;
        let is_contained = decision == Decision::Contained;
        // What would be allowed may turn out to slip past the fence that settings want.
        let is_stricter = is_allowed && decision > Decision::Contained;
        if (is_contained || is_stricter) && fences.goes_up(&tried.case) {
            tried.outcome = outcome;
            return Ok(());
        }
        tried.case.offer_fence(None);
        if is_contained {
            // Whoever is asked now should know what it did before.
            problems.extend(fences.held_changes());
        }
        Ok(())
    }
}
