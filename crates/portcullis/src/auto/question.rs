//! Questions that a host could not put to its user, kept so that a person can answer them in a terminal.

use portcullis_core::{ToolCall, Verdict};
use portcullis_hosts::Said;
use portcullis_store::audit::SuggestionEntry;
use portcullis_store::{DenialKind, NewDenial};

use super::record::now_ms;
use super::road::{Judged, new_denial};
use crate::audit::DOCTOR_SESSION;
use crate::judge::prepare;
use crate::session::Session;
use portcullis_world::World;

/// Keeps a call whose question became a denial, and names it in the judgement. Whatever the host asks its user itself
/// costs nothing here.
pub(crate) fn keep_question(
    session: &Session,
    session_id: &str,
    call: &ToolCall,
    judged: &mut Judged,
    said: Said,
) {
    if said != Said::Deny
        || judged.denial.is_some()
        || session_id.is_empty()
        || session_id == DOCTOR_SESSION
        || !judged.verdict.is_answerable()
    {
        return;
    }
    let Some(store) = session.store() else { return };
    let context = judged.context.clone();
    let (request, facts) = prepare(session.policy(), call.clone(), context, &mut World::default());
    let denial = new_denial(&request, &facts, &judged.verdict);
    let question = NewDenial { kind: DenialKind::Asked, retryable: true, ..denial };
    let kept = store.session(session_id).record_question(&question, &suggestions(&judged.verdict), now_ms());
    match kept {
        Ok(id) => judged.denial = Some(id),
        Err(error) => judged.problems.push(error.to_string()),
    }
}

/// Returns the rules that would settle such calls, as they are kept.
pub(crate) fn suggestions(verdict: &Verdict) -> Vec<SuggestionEntry> {
    let entry = |one: &portcullis_core::Suggestion| SuggestionEntry {
        behavior: one.behavior.to_string(),
        rule: one.rule.clone(),
    };
    verdict.suggestions.iter().map(entry).collect()
}
