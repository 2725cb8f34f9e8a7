//! The state of one session: read without waiting, changed under its lock.

use std::path::PathBuf;

use portcullis_core::Denials;

use crate::Store;
use crate::audit::SuggestionEntry;
use crate::disk;
use crate::error::StoreError;
use crate::facts::SessionFacts;
use crate::lock::Lock;
use crate::state::{DeniedCall, Glance, NewDenial, Recorded, SoughtCall, State, TakenApproval, session_name};

/// What is kept of one session. Nothing is read or made before it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStore {
    store: Store,
    name: String,
}

impl SessionStore {
    pub(crate) fn new(store: Store, id: &str) -> Self {
        Self { store, name: session_name(id) }
    }

    /// Returns the name of its files. As an id, it names the same session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the denials so far.
    pub fn denials(&self) -> Result<Denials, StoreError> {
        Ok(self.glance()?.map(|glance| glance.denials()).unwrap_or_default())
    }

    /// Counts a denial, keeps the call, and says which limit was reached.
    pub fn record_denial(&self, denial: &NewDenial, now_ms: u64) -> Result<Recorded, StoreError> {
        self.record_denial_with(denial, &[], now_ms)
    }

    /// Counts a denial, keeps the call with rules that would settle such calls, and says which limit was reached.
    pub fn record_denial_with(
        &self,
        denial: &NewDenial,
        suggestions: &[SuggestionEntry],
        now_ms: u64,
    ) -> Result<Recorded, StoreError> {
        self.begin()?;
        let (lock, state) = self.lock()?;
        let mut state = state.unwrap_or_else(|| State::new(&self.name));
        let recorded = state.deny(denial, suggestions, &self.file(), now_ms)?;
        self.write(&lock, &state)?;
        Ok(recorded)
    }

    /// Keeps a call that a person was to be asked about and could not be, and returns its id. It counts as no denial.
    pub fn record_question(
        &self,
        question: &NewDenial,
        suggestions: &[SuggestionEntry],
        now_ms: u64,
    ) -> Result<String, StoreError> {
        self.begin()?;
        let (lock, state) = self.lock()?;
        let mut state = state.unwrap_or_else(|| State::new(&self.name));
        let id = state.ask(question, suggestions, &self.file(), now_ms)?;
        self.write(&lock, &state)?;
        Ok(id)
    }

    /// Counts a call that was allowed. Nothing is locked or written unless a run of denials ends.
    pub fn record_allow(&self) -> Result<(), StoreError> {
        if self.denials()?.in_a_row == 0 {
            return Ok(());
        }
        if let (lock, Some(mut state)) = self.lock()?
            && state.allow()
        {
            self.write(&lock, &state)?;
        }
        Ok(())
    }

    /// Lets a denied call run once within the given time, and returns it.
    ///
    /// Fails if there is no such call, or if it was denied for good.
    pub fn approve(&self, denied_id: &str, now_ms: u64, ttl_ms: u64) -> Result<DeniedCall, StoreError> {
        let unknown = || StoreError::UnknownDenial { id: denied_id.to_owned() };
        self.glance()?.ok_or_else(unknown)?;
        let (lock, state) = self.lock()?;
        let mut state = state.ok_or_else(unknown)?;
        let call = state.approve(&denied_id.to_ascii_lowercase(), now_ms, ttl_ms)?;
        self.write(&lock, &state)?;
        Ok(call)
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
        let (lock, Some(mut state)) = self.lock()? else { return Ok(None) };
        let Some(taken) = state.take(call) else { return Ok(None) };
        self.write(&lock, &state)?;
        Ok(Some(taken))
    }

    /// Returns what is known of what happened in the session beside calls; nothing if nothing was kept.
    pub fn facts(&self) -> Result<SessionFacts, StoreError> {
        if !self.store.has_sessions()? {
            return Ok(SessionFacts::default());
        }
        self.read_facts()
    }

    /// Changes what is known of the session, under its lock. The change is tried on what can be read without waiting
    /// first: where it changes nothing, nothing is locked or written.
    pub fn update_facts(
        &self,
        change: impl Fn(&mut SessionFacts) -> bool,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        if !change(&mut self.facts()?) {
            return Ok(());
        }
        self.begin()?;
        let lock = Lock::take_within(&self.lock_file(), self.store.patience)?;
        let mut facts = self.read_facts()?;
        if change(&mut facts) {
            let file = self.facts_file();
            disk::replace(&lock, &file, &facts.to_bytes(&file, &self.name, now_ms)?)?;
        }
        Ok(())
    }

    fn read_facts(&self) -> Result<SessionFacts, StoreError> {
        let file = self.facts_file();
        let Some(bytes) = disk::read(&file, SessionFacts::MAXIMUM_SIZE)? else {
            return Ok(SessionFacts::default());
        };
        SessionFacts::read(&file, &self.name, &bytes)
    }

    fn begin(&self) -> Result<(), StoreError> {
        disk::make_directory(self.store.root())?;
        disk::make_directory(&self.store.sessions())
    }

    /// Reads the whole state; `None` if nothing was ever denied.
    pub(crate) fn read(&self) -> Result<Option<State>, StoreError> {
        let Some(bytes) = self.bytes()? else { return Ok(None) };
        State::read(&self.file(), &self.name, &bytes).map(Some)
    }

    /// Removes the state if it is old, with its lock. Says whether there was one to remove.
    pub(crate) fn forget(&self, now_ms: u64, older_than_ms: u64) -> Result<bool, StoreError> {
        let Some(lock) = Lock::try_take(&self.lock_file())? else { return Ok(false) };
        let (state, facts) = (self.read()?, self.read_facts()?);
        let is_young = |at_ms: u64| now_ms.saturating_sub(at_ms) <= older_than_ms;
        let has_facts = facts != SessionFacts::default();
        if state.as_ref().is_some_and(|state| !state.is_older_than(now_ms, older_than_ms))
            || has_facts && is_young(facts.changed_at_ms)
        {
            return Ok(false);
        }
        disk::remove(&lock, &self.file())?;
        disk::remove(&lock, &self.facts_file())?;
        lock.remove()?;
        Ok(state.is_some() || has_facts)
    }

    fn glance(&self) -> Result<Option<Glance>, StoreError> {
        let Some(bytes) = self.bytes()? else { return Ok(None) };
        Glance::read(&self.file(), &self.name, &bytes).map(Some)
    }

    fn bytes(&self) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.store.has_sessions()? {
            return Ok(None);
        }
        disk::read(&self.file(), Glance::MAXIMUM_SIZE)
    }

    fn lock(&self) -> Result<(Lock, Option<State>), StoreError> {
        let lock = Lock::take_within(&self.lock_file(), self.store.patience)?;
        let state = self.read()?;
        Ok((lock, state))
    }

    fn write(&self, lock: &Lock, state: &State) -> Result<(), StoreError> {
        let file = self.file();
        disk::replace(lock, &file, &state.to_bytes(&file)?)
    }

    fn file(&self) -> PathBuf {
        self.store.sessions().join(format!("{}.json", self.name))
    }

    /// Beside the state, because every call reads it, and the state may be long.
    fn facts_file(&self) -> PathBuf {
        self.store.sessions().join(format!("{}.facts.json", self.name))
    }

    fn lock_file(&self) -> PathBuf {
        self.store.sessions().join(format!("{}.lock", self.name))
    }
}
