//! What a person allowed before: recalled for a call that is asked about, learned from an answer.

use portcullis_core::{CallApproval, Decision, Outcome, Policy, Reason, RememberableCommand};

use super::call_judge::{CallJudge, Try};
use crate::Failure;
use crate::presence::DOCTOR_SESSION;
use crate::recollection::Recollection;

impl CallJudge<'_> {
    /// Decides a call again by what a person allowed before in the same shape, if that may settle it. What cannot be
    /// recalled is asked about as before.
    pub(super) fn recall_yes(
        &self,
        tried: &mut Try,
        policy: &Policy,
        problems: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let Some((memory, commands)) = self.memory_for(tried, policy) else { return Ok(()) };
        match memory.recall(&commands) {
            Ok(None) => return Ok(()),
            Ok(Some(recalled)) => tried.case.recall(recalled),
            Err(error) => {
                problems.push(error.to_string());
                return Ok(());
            }
        }
        tried.outcome = tried.decide(policy)?;
        let Outcome::Settled(verdict) = &tried.outcome else { return Ok(()) };
        if let Reason::Remembered { commands } = &verdict.reason
            && self.session_store().is_some()
            && let Err(error) = memory.note_use(commands)
        {
            problems.push(error.to_string());
        }
        Ok(())
    }

    /// Decides a call again with a person's word for it, and remembers the answer to a plain question.
    pub(super) fn decide_approved(
        &self,
        mut tried: Try,
        approval: CallApproval,
        policy: &Policy,
        problems: &mut Vec<String>,
    ) -> Result<Try, Failure> {
        let asked = if approval.answers_questions { self.memory_for(&tried, policy) } else { None };
        tried.case.approve(approval);
        tried.outcome = tried.decide(policy)?;
        let verdict = tried.outcome.verdict();
        if let Some((memory, commands)) = asked
            && verdict.decision == Decision::Allow
            && matches!(verdict.reason, Reason::Approval { .. })
            && let Err(error) = memory.learn(&commands)
        {
            problems.push(error.to_string());
        }
        Ok(tried)
    }

    /// Returns the memory with the commands that a call is asked about, if a yes to all of them may be remembered.
    fn memory_for(
        &self,
        tried: &Try,
        policy: &Policy,
    ) -> Option<(Recollection<'_>, Vec<RememberableCommand>)> {
        let is_trial = self.session_id.as_deref() == Some(DOCTOR_SESSION);
        let store = self.store.as_ref().filter(|_| !is_trial)?;
        let commands = asked_commands(tried.outcome.verdict(), &tried.case, policy)?;
        Some((Recollection::open(self.session, store)?, commands))
    }
}

/// Returns the commands that a call is asked about, if the question is only that nobody allowed such ones yet.
pub(crate) fn asked_commands(
    verdict: &portcullis_core::Verdict,
    case: &portcullis_core::Case,
    policy: &Policy,
) -> Option<Vec<RememberableCommand>> {
    let is_asked = verdict.decision != Decision::Allow && verdict.is_unsettled();
    if is_asked { case.rememberable(policy) } else { None }
}
