//! The proof per call: what a host says it ran is held against what ran inside (spec H4).

use std::path::Path;

use portcullis_classifier::transcript::encode;
use portcullis_core::{Decision, ToolCall};
use portcullis_hosts::json::write_input;
use portcullis_hosts::{SessionFact, SessionFactKind};
use portcullis_store::Store;
use portcullis_store::audit::Entry;

use super::ledger::ContainmentLedger;
use crate::Failure;
use crate::clock::now_ms;
use crate::session_settings::{SessionSettings, SettingsFlags};

/// Looks whether a call that was to run inside a fence did. One that did not is an alarm, which is recorded, and its host
/// gets no fence until it was seen to run one.
pub(crate) fn prove(state: &Path, store: &Store, fact: &SessionFact) -> Result<(), Failure> {
    let SessionFactKind::Done { calls, call_id } = &fact.kind else { return Ok(()) };
    let ledger = ContainmentLedger::below(state);
    for call in calls {
        let Some(command) = call.command() else { continue };
        let lost = ledger.check_done(&fact.session.id, call_id.as_deref(), command);
        let lost =
            lost.map_err(|error| Failure::internal(format!("contained calls cannot be checked: {error}")))?;
        if let Some(host) = lost {
            let reason = format!("it ran without the fence that {host} was told to run it in");
            let recorded = record(store, fact, &lost_call(fact, call_id.as_deref(), &host, call, &reason));
            let unrecorded = recorded
                .err()
                .map(|failure| format!(". The alarm could not be recorded: {}", failure.message));
            return Err(Failure::internal(format!(
                "a command ran without the fence that {host} was told to run it in: `{command}`. Commands of {host} are not \
                 contained any more, until `portcullis doctor --prove {host}` has seen it work{}",
                unrecorded.unwrap_or_default()
            )));
        }
    }
    Ok(())
}

/// The kind of reason that an alarm is recorded by.
const LOST_FENCE: &str = "lost-fence";

/// Writes the alarm down beside the decision that was not heeded.
fn lost_call(fact: &SessionFact, call_id: Option<&str>, host: &str, call: &ToolCall, reason: &str) -> Entry {
    let mut input = String::new();
    write_input(&mut input, call.input());
    Entry {
        at_ms: now_ms(),
        host: host.to_owned(),
        event: "after".to_owned(),
        session: fact.session.id.clone(),
        agent: fact.session.agent.clone(),
        call_id: call_id.map(str::to_owned),
        cwd: fact.session.cwd.clone(),
        mode: fact.mode.map(|mode| mode.as_str().to_owned()).unwrap_or_default(),
        headless: false,
        tool: call.tool().to_owned(),
        summary: encode(call),
        input,
        decision: Decision::Contained.as_str().to_owned(),
        said: Decision::Contained.as_str().to_owned(),
        step: String::new(),
        kind: LOST_FENCE.to_owned(),
        reason: reason.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Entry::default()
    }
}

/// Adds an alarm to the audit trail, if settings want one.
fn record(store: &Store, fact: &SessionFact, entry: &Entry) -> Result<(), Failure> {
    let session = SessionSettings::open_for_hook(&SettingsFlags::default(), &fact.session.cwd, None)?;
    if session.loaded.audit.is_enabled {
        store.audit().append(entry).map_err(|error| Failure::internal(error.to_string()))?;
    }
    Ok(())
}
