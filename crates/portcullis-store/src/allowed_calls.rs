//! Calls that were denied and that a person lets run once: which there are, and taking that back.

use crate::Store;
use crate::error::StoreError;
use crate::session::SessionStore;
use crate::state::{CallApproval, SessionState, session_name};

/// A denied call that a person let run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCall {
    /// The id of the denial.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The directory it runs in.
    pub cwd: String,
    /// The call in one line, for people; empty if it is no longer kept.
    pub summary: String,
    /// When a person said so, in unix milliseconds.
    pub allowed_at_ms: u64,
    /// Until when it may run.
    pub expires_at_ms: u64,
    /// Whether it ran.
    pub is_used: bool,
}

impl AllowedCall {
    /// Says whether it may still run.
    pub const fn is_waiting(&self, now_ms: u64) -> bool {
        !self.is_used && self.allowed_at_ms <= now_ms && now_ms < self.expires_at_ms
    }

    /// Says whether a denial that was made at a time stands no longer: the call ran since, or may run.
    fn lifts(&self, denial: &str, denied_at_ms: u64, now_ms: u64) -> bool {
        self.id == denial && self.allowed_at_ms >= denied_at_ms && (self.is_used || self.is_waiting(now_ms))
    }
}

/// The calls that a person let run, in whichever session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedCalls {
    /// The name of the session and the call, the newest first.
    pub calls: Vec<(String, AllowedCall)>,
    /// The sessions that could not be read.
    pub problems: Vec<StoreError>,
}

impl AllowedCalls {
    /// Says whether a denial in a session, made at a time, stands no longer.
    pub fn lift(&self, session: &str, denial: &str, denied_at_ms: u64, now_ms: u64) -> bool {
        let name = session_name(session);
        self.calls.iter().any(|(own, call)| *own == name && call.lifts(denial, denied_at_ms, now_ms))
    }
}

impl Store {
    /// Lists the calls that a person let run once, those that did and those that may.
    pub fn allowed_calls(&self) -> Result<AllowedCalls, StoreError> {
        let mut allowed = AllowedCalls::default();
        for name in self.backend().session_names()? {
            match self.session(&name).read() {
                Ok(None) => {}
                Ok(Some(state)) => allowed.calls.extend(state.allowed().map(|call| (name.clone(), call))),
                Err(problem) => allowed.problems.push(problem),
            }
        }
        allowed.calls.sort_by_key(|(_, call)| std::cmp::Reverse(call.allowed_at_ms));
        Ok(allowed)
    }
}

impl SessionStore {
    /// Takes back that a call may run; says whether it could still have run.
    pub fn take_back(&self, denied_id: &str, now_ms: u64) -> Result<bool, StoreError> {
        self.change(|state| {
            let Some(mut state) = state else { return Ok((None, false)) };
            let has_changed = state.take_back(denied_id, now_ms);
            Ok((has_changed.then_some(state), has_changed))
        })
    }
}

impl SessionState {
    /// The calls that a person let run.
    fn allowed(&self) -> impl Iterator<Item = AllowedCall> + '_ {
        let call = |approval: &CallApproval| AllowedCall {
            id: approval.id.clone(),
            tool: approval.tool.clone(),
            cwd: approval.cwd.clone(),
            summary: self.find(&approval.id).map(|call| call.summary.clone()).unwrap_or_default(),
            allowed_at_ms: approval.granted_at_ms,
            expires_at_ms: approval.expires_at_ms,
            is_used: approval.used,
        };
        self.approvals.iter().map(call)
    }

    /// Says whether a denied call stands as denied.
    pub(crate) fn is_denied(&self, id: &str, denied_at_ms: u64, now_ms: u64) -> bool {
        !self.allowed().any(|call| call.lifts(id, denied_at_ms, now_ms))
    }

    fn take_back(&mut self, id: &str, now_ms: u64) -> bool {
        let before = self.approvals.len();
        self.approvals.retain(|approval| {
            approval.used || approval.expires_at_ms <= now_ms || !approval.id.eq_ignore_ascii_case(id)
        });
        self.approvals.len() != before
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::state::{DenialKind, NewDenial};

    fn question() -> NewDenial {
        NewDenial {
            tool: "Bash".to_owned(),
            input_json: "{}".to_owned(),
            cwd: "/w".to_owned(),
            summary: "make install".to_owned(),
            reason: "no rule".to_owned(),
            kind: DenialKind::Asked,
            code: String::new(),
            retryable: true,
        }
    }

    #[test]
    fn a_denial_is_lifted_by_an_answer_until_it_is_taken_back_over_or_asked_again() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().to_path_buf());
        let session = store.session("s");
        let id = session.record_question(&question(), &[], 10).unwrap();
        let lifted = |at_ms, now_ms| store.allowed_calls().unwrap().lift("s", &id, at_ms, now_ms);
        let is_denied = |now_ms| !store.recently_denied(9, now_ms).unwrap().calls.is_empty();
        assert!(!lifted(10, 20) && is_denied(20));

        session.approve(&id, 20, 100).unwrap();
        assert!(lifted(10, 30) && !is_denied(30));
        assert!(!store.allowed_calls().unwrap().lift("other", &id, 10, 30), "another session");
        assert!(!lifted(10, 120) && is_denied(120), "its time is over");
        let calls = store.allowed_calls().unwrap().calls;
        assert_eq!(calls.iter().map(|(_, call)| call.summary.as_str()).collect::<Vec<_>>(), ["make install"]);

        assert!(session.take_back(&id, 40).unwrap());
        assert!(!session.take_back(&id, 40).unwrap(), "there is nothing left to take back");
        assert!(!lifted(10, 50) && is_denied(50));
        assert_eq!(session.take_approval("Bash", "{}", "/w", 60).unwrap(), None);

        session.approve(&id, 70, 100).unwrap();
        assert_eq!(session.take_approval("Bash", "{}", "/w", 80).unwrap(), Some(id.clone()));
        assert!(!session.take_back(&id, 81).unwrap(), "what ran cannot be taken back");
        assert!(lifted(10, 9_000) && !is_denied(9_000), "it ran");
        session.record_question(&question(), &[], 90).unwrap();
        assert!(!lifted(90, 100) && is_denied(100), "it was asked about again");
    }
}
