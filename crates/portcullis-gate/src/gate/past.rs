//! Where the past of a call's session is found, and what the call leaves for it.
//!
//! A host's session file tells both. Of a host that has none that we can read, our own record does, from the start of the
//! session on.

use std::path::PathBuf;

use portcullis_classifier::transcript::TranscriptFormat;
use portcullis_core::Case;
use portcullis_hosts::{HookCall, HookSession, Host, HostAdapter, HostDecision, SessionFormat};
use portcullis_store::SessionStart;

use super::host_gate::{HostGate, HostJudgement};
use crate::judge::SessionHistory;
use crate::session_settings::SessionSettings;
use crate::session_traces::{CallTraces, SessionTeller};

impl HostGate<'_> {
    /// Says where the past of a call's session is found. Of a session that was followed from its start our own record tells
    /// everything.
    pub(super) fn past(&self, session: &SessionSettings, asked: &HookCall) -> SessionHistory {
        let place = &asked.session;
        let facts = || session.store()?.session(&place.id).facts().ok();
        let is_followed = self.is_untold(place)
            && !place.id.is_empty()
            && facts().is_some_and(|facts| facts.start == SessionStart::Seen);
        SessionHistory {
            file: asked.session.transcript.as_ref().map(PathBuf::from),
            format: self.format.map(format_of),
            agent: asked.session.agent.clone(),
            call_id: asked.call_id.clone(),
            is_hosts: self.known.is_none() && !is_followed,
        }
    }

    /// Returns what a call leaves for later calls of its session, where no file of the host tells it. From the answer on the
    /// call may run at any time, so what it may write is the agent's own.
    pub fn traces(&self, asked: &HookCall, judgement: &HostJudgement) -> Option<CallTraces> {
        let is_needed = self.known.is_some() || self.is_untold(&asked.session);
        if !is_needed || judgement.said == HostDecision::Deny {
            return None;
        }
        let decided = &judgement.judged.case;
        let mut traces = CallTraces::default();
        for (place, call) in asked.calls.iter().enumerate() {
            if place == judgement.at {
                traces.add(decided);
            } else {
                traces.add(&Case::new(call.clone(), decided.context().clone()));
            }
            if call.tool() == "Agent" && self.hides_subagents() {
                traces.add_stranger();
            }
        }
        Some(traces)
    }

    /// Returns who tells us what happens in a session.
    pub fn teller(&self) -> SessionTeller {
        if self.known.is_some() { SessionTeller::Program } else { SessionTeller::Host }
    }

    /// Says whether it is a host's session of which no file tells that we can read.
    fn is_untold(&self, place: &HookSession) -> bool {
        self.adapter().is_some() && self.format.is_none() && place.transcript.is_none()
    }

    /// Says whether it is a host of whose subagents we may not be told under the session of the user.
    fn hides_subagents(&self) -> bool {
        self.adapter().is_some_and(|adapter| !adapter.shares_session)
    }

    fn adapter(&self) -> Option<&'static HostAdapter> {
        Host::find(self.host).filter(|_| self.known.is_none()).map(Host::adapter)
    }
}

fn format_of(format: SessionFormat) -> TranscriptFormat {
    match format {
        SessionFormat::Claude => TranscriptFormat::Claude,
        SessionFormat::Codex => TranscriptFormat::Codex,
        SessionFormat::Gemini => TranscriptFormat::Gemini,
    }
}
