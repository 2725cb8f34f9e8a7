//! The state of one session: read without waiting, changed while nobody else changes it.

use std::path::PathBuf;

use portcullis_core::Denials;

use crate::Store;
use crate::audit::SuggestionEntry;
use crate::backend::{DocumentChange, DocumentKey, change_with};
use crate::error::StoreError;
use crate::facts::SessionFactLog;
use crate::state::{
    DeniedCall, NewDenial, RecordedDenial, SessionGlance, SessionState, SoughtCall, TakenApproval,
    session_name,
};

/// What is kept of one session. Nothing is read or made before it is needed.
#[derive(Debug, Clone)]
pub struct SessionStore {
    store: Store,
    name: String,
}

impl SessionStore {
    pub(crate) fn new(store: Store, id: &str) -> Self {
        Self { store, name: session_name(id) }
    }

    /// Returns the name it is kept under. As an id, it names the same session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the denials so far.
    pub fn denials(&self) -> Result<Denials, StoreError> {
        Ok(self.glance()?.map(|glance| glance.denials()).unwrap_or_default())
    }

    /// Counts a denial, keeps the call, and says which limit was reached.
    pub fn record_denial(&self, denial: &NewDenial, now_ms: u64) -> Result<RecordedDenial, StoreError> {
        self.record_denial_with(denial, &[], now_ms)
    }

    /// Counts a denial, keeps the call with rules that would settle such calls, and says which limit was reached.
    pub fn record_denial_with(
        &self,
        denial: &NewDenial,
        suggestions: &[SuggestionEntry],
        now_ms: u64,
    ) -> Result<RecordedDenial, StoreError> {
        let place = self.place();
        self.change(|state| {
            let mut state = state.unwrap_or_else(|| SessionState::new(&self.name));
            let recorded = state.deny(denial, suggestions, &place, now_ms)?;
            Ok((Some(state), recorded))
        })
    }

    /// Keeps a call that a person was to be asked about and could not be, and returns its id. It counts as no denial.
    pub fn record_question(
        &self,
        question: &NewDenial,
        suggestions: &[SuggestionEntry],
        now_ms: u64,
    ) -> Result<String, StoreError> {
        let place = self.place();
        self.change(|state| {
            let mut state = state.unwrap_or_else(|| SessionState::new(&self.name));
            let id = state.ask(question, suggestions, &place, now_ms)?;
            Ok((Some(state), id))
        })
    }

    /// Counts a call that was allowed. Nothing is locked or written unless a run of denials ends.
    pub fn record_allow(&self) -> Result<(), StoreError> {
        if self.denials()?.in_a_row == 0 {
            return Ok(());
        }
        self.change(|state| {
            let mut state = state;
            let has_changed = state.as_mut().is_some_and(SessionState::allow);
            Ok((state.filter(|_| has_changed), ()))
        })
    }

    /// Lets a denied call run once within the given time, and returns it.
    ///
    /// Fails if there is no such call, or if it was denied for good.
    pub fn approve(&self, denied_id: &str, now_ms: u64, ttl_ms: u64) -> Result<DeniedCall, StoreError> {
        let unknown = || StoreError::UnknownDenial { id: denied_id.to_owned() };
        self.glance()?.ok_or_else(unknown)?;
        self.change(|state| {
            let mut state = state.ok_or_else(unknown)?;
            let call = state.approve(&denied_id.to_ascii_lowercase(), now_ms, ttl_ms)?;
            Ok((Some(state), call))
        })
    }

    /// Returns a denied call that is kept; `None` if there is none with this id, or it was long ago.
    pub fn denied(&self, denied_id: &str) -> Result<Option<DeniedCall>, StoreError> {
        let state = self.read()?;
        Ok(state.and_then(|state| state.find(&denied_id.to_ascii_lowercase()).cloned()))
    }

    /// Lets a call run once that was kept with a question, within a time after the answer. The session need not know the
    /// call any more. Applying one answer again changes nothing, also if the approval was used in the meantime.
    pub fn approve_question(
        &self,
        call: &DeniedCall,
        answered_at_ms: u64,
        ttl_ms: u64,
    ) -> Result<(), StoreError> {
        self.change(|state| {
            let mut state = state.unwrap_or_else(|| SessionState::new(&self.name));
            let has_changed = state.approve_call(call, answered_at_ms, ttl_ms)?;
            Ok((has_changed.then_some(state), ()))
        })
    }

    /// Uses up an approval of exactly this call, and returns the id of the denied call that was approved.
    ///
    /// However many ask at once, one gets it. An error is no approval.
    pub fn take_approval(
        &self,
        tool: &str,
        input_json: &str,
        cwd: &str,
        now_ms: u64,
    ) -> Result<Option<String>, StoreError> {
        let call = SoughtCall::new(tool, input_json, cwd, now_ms);
        Ok(self.take(&call)?.map(|taken| taken.id))
    }

    /// Uses up an approval of exactly this call, as [`Self::take_approval`] does; where a person would be asked, only one
    /// that answers will do.
    pub fn take_answer(
        &self,
        (tool, input_json, cwd): (&str, &str, &str),
        needs_answer: bool,
        now_ms: u64,
    ) -> Result<Option<TakenApproval>, StoreError> {
        self.take(&SoughtCall::new(tool, input_json, cwd, now_ms).needing_answer(needs_answer))
    }

    fn take(&self, call: &SoughtCall<'_>) -> Result<Option<TakenApproval>, StoreError> {
        if !self.glance()?.is_some_and(|glance| glance.has_approval(call)) {
            return Ok(None);
        }
        self.change(|state| {
            let Some(mut state) = state else { return Ok((None, None)) };
            let taken = state.take(call);
            Ok((taken.is_some().then_some(state), taken))
        })
    }

    /// Returns what is known of what happened in the session beside calls; nothing if nothing was kept.
    pub fn facts(&self) -> Result<SessionFactLog, StoreError> {
        let bytes = self.store.backend().read(&self.facts_key(), SessionFactLog::MAXIMUM_SIZE)?;
        self.parse_facts(bytes.as_deref())
    }

    /// Changes what is known of the session while nobody else does. The change is tried on what can be read without
    /// waiting first: where it changes nothing, nothing is locked or written.
    pub fn update_facts(
        &self,
        change: impl Fn(&mut SessionFactLog) -> bool,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        if !change(&mut self.facts()?) {
            return Ok(());
        }
        let key = self.facts_key();
        let place = self.store.backend().document_place(&key);
        change_with(self.store.backend(), &key, SessionFactLog::MAXIMUM_SIZE, |bytes| {
            let mut facts = self.parse_facts(bytes.as_deref())?;
            if !change(&mut facts) {
                return Ok((DocumentChange::Keep, ()));
            }
            Ok((DocumentChange::Write(facts.to_bytes(&place, &self.name, now_ms)?), ()))
        })
    }

    fn parse_facts(&self, bytes: Option<&[u8]>) -> Result<SessionFactLog, StoreError> {
        let Some(bytes) = bytes else { return Ok(SessionFactLog::default()) };
        let place = self.store.backend().document_place(&self.facts_key());
        SessionFactLog::read(&place, &self.name, bytes)
    }

    /// Reads the whole state; `None` if nothing was ever denied.
    pub(crate) fn read(&self) -> Result<Option<SessionState>, StoreError> {
        let bytes = self.store.backend().read(&self.key(), SessionGlance::MAXIMUM_SIZE)?;
        self.parse(bytes.as_deref())
    }

    fn parse(&self, bytes: Option<&[u8]>) -> Result<Option<SessionState>, StoreError> {
        bytes.map(|bytes| SessionState::read(&self.place(), &self.name, bytes)).transpose()
    }

    /// Removes the state if it is old. Says whether there was one to remove.
    pub(crate) fn forget(&self, now_ms: u64, older_than_ms: u64) -> Result<bool, StoreError> {
        let is_old = |state: Option<&[u8]>, facts: Option<&[u8]>| {
            let (state, facts) = (self.parse(state)?, self.parse_facts(facts)?);
            let has_old_facts = now_ms.saturating_sub(facts.changed_at_ms) > older_than_ms;
            Ok(state.is_none_or(|state| state.is_older_than(now_ms, older_than_ms))
                && (facts == SessionFactLog::default() || has_old_facts))
        };
        self.store.backend().forget_session(&self.name, &is_old)
    }

    fn glance(&self) -> Result<Option<SessionGlance>, StoreError> {
        let bytes = self.store.backend().read(&self.key(), SessionGlance::MAXIMUM_SIZE)?;
        bytes.map(|bytes| SessionGlance::read(&self.place(), &self.name, &bytes)).transpose()
    }

    /// Changes the state while nobody else does. Where no state is returned, the old one stays.
    pub(crate) fn change<T>(
        &self,
        mut changing: impl FnMut(Option<SessionState>) -> Result<(Option<SessionState>, T), StoreError>,
    ) -> Result<T, StoreError> {
        let place = self.place();
        change_with(self.store.backend(), &self.key(), SessionGlance::MAXIMUM_SIZE, |bytes| {
            let (state, value) = changing(self.parse(bytes.as_deref())?)?;
            let bytes = state.map(|state| state.to_bytes(&place)).transpose()?;
            Ok((bytes.map_or(DocumentChange::Keep, DocumentChange::Write), value))
        })
    }

    fn key(&self) -> DocumentKey {
        DocumentKey::Session(self.name.clone())
    }

    fn facts_key(&self) -> DocumentKey {
        DocumentKey::Facts(self.name.clone())
    }

    /// Names the place of the state, for messages.
    fn place(&self) -> PathBuf {
        self.store.backend().document_place(&self.key())
    }
}
