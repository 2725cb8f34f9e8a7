//! The proof per call: what a host says it ran is held against what ran inside (spec H4).

use std::path::Path;

use portcullis_core::ToolCall;
use portcullis_hosts::{SessionFact, SessionFactKind};

use super::ledger::ContainmentLedger;
use crate::Failure;

/// Looks whether a call that was to run inside a fence did. One that did not is an alarm, and its host gets no fence until
/// it was seen to run one.
pub(crate) fn prove(state: &Path, fact: &SessionFact) -> Result<(), Failure> {
    let SessionFactKind::Done { calls, call_id } = &fact.kind else { return Ok(()) };
    let ledger = ContainmentLedger::below(state);
    for command in calls.iter().filter_map(ToolCall::command) {
        let lost = ledger.check_done(&fact.session.id, call_id.as_deref(), command);
        let lost =
            lost.map_err(|error| Failure::internal(format!("contained calls cannot be checked: {error}")))?;
        if let Some(host) = lost {
            return Err(Failure::internal(format!(
                "a command ran without the fence that {host} was told to run it in: `{command}`. Commands of {host} are not \
                 contained any more, until `portcullis doctor --prove` has seen it work"
            )));
        }
    }
    Ok(())
}
