//! Questions that a host could not put to its user, kept so that a person can answer them in a terminal.

use portcullis_core::Verdict;
use portcullis_hosts::HostDecision;
use portcullis_store::audit::SuggestionEntry;
use portcullis_store::{DenialKind, NewDenial};

use super::call_judge::{JudgedCall, new_denial};
use crate::clock::now_ms;
use crate::presence::DOCTOR_SESSION;
use crate::session_settings::SessionSettings;

/// Keeps a call whose question became a denial, and names it in the judgement. Whatever the host asks its user itself
/// costs nothing here.
pub fn keep_question(
    session: &SessionSettings,
    session_id: &str,
    judged: &mut JudgedCall,
    said: HostDecision,
) {
    if said != HostDecision::Deny
        || judged.denial.is_some()
        || session_id.is_empty()
        || session_id == DOCTOR_SESSION
        || !judged.verdict.is_answerable()
    {
        return;
    }
    let Some(store) = session.store() else { return };
    let denial = new_denial(&judged.case, &judged.verdict);
    let question = NewDenial { kind: DenialKind::Asked, retryable: true, ..denial };
    let kept = store.session(session_id).record_question(&question, &suggestions(&judged.verdict), now_ms());
    match kept {
        Ok(id) => judged.denial = Some(id),
        Err(error) => judged.problems.push(error.to_string()),
    }
}

/// Returns the rules that would settle such calls, as they are kept.
pub fn suggestions(verdict: &Verdict) -> Vec<SuggestionEntry> {
    let entry = |one: &portcullis_core::Suggestion| SuggestionEntry {
        behavior: one.behavior.to_string(),
        rule: one.rule.clone(),
    };
    verdict.suggestions.iter().map(entry).collect()
}
