//! What is kept of a session, and the rules by which it changes. No file is touched here.

use std::path::Path;

use portcullis_core::{DenialLimit, Denials};
use serde::{Deserialize, Serialize};

use crate::audit::SuggestionEntry;
use crate::error::StoreError;
use crate::hash::{HashedText, hashed, kept, sha256};
use crate::redaction::redact;

/// The form of the file.
const VERSION: u32 = 1;
/// How many denied calls and how many approvals are kept.
const MOST_CALLS: usize = 50;
/// How many rules are kept that would settle a call.
const MOST_RULES: usize = 5;
/// A longer directory or tool name is kept as its hash.
const MOST_NAME: usize = 1024;
/// Longer prose is cut.
const MOST_PROSE: usize = 2_000;
/// How much of a session's hash stands in its ids.
const ID_PREFIX: usize = 6;

/// What a denied call was denied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DenialKind {
    /// A finding of the static analysis.
    Finding,
    /// The classifier.
    Classifier,
    /// A boundary that the user stated.
    Boundary,
    /// Nobody: a person had to be asked, and could not be.
    Asked,
}

/// A call that has just been denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDenial {
    /// The tool.
    pub tool: String,
    /// Its input as canonical JSON.
    pub input_json: String,
    /// The directory it would have run in.
    pub cwd: String,
    /// The call in one line, for people.
    pub summary: String,
    /// Why it was denied.
    pub reason: String,
    /// What denied it.
    pub kind: DenialKind,
    /// The code of the finding, or the classifier's category.
    pub code: String,
    /// Whether a person may let it run after all.
    pub retryable: bool,
}

/// A denied call, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedCall {
    /// What it is called by in `portcullis allow --id`.
    pub id: String,
    /// When it was denied, in unix milliseconds.
    pub at_ms: u64,
    /// The tool; `sha256:…` if its name is very long.
    pub tool: String,
    /// The hash of its input, `sha256:…`: what was typed into a command may be secret.
    pub input_hash: String,
    /// The directory it would have run in; `sha256:…` if that is very long.
    pub cwd: String,
    /// The call in one line, for people: without secrets, and cut if it is long.
    pub summary: String,
    /// Why it was denied: without secrets, and cut if it is long.
    pub reason: String,
    /// What denied it.
    pub kind: DenialKind,
    /// The code of the finding, or the classifier's category.
    pub code: String,
    /// Whether a person may let it run after all.
    pub retryable: bool,
    /// Rules that would settle such calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestionEntry>,
}

/// What counting a denial led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedDenial {
    /// The id of the denied call.
    pub id: String,
    /// The denials of the session, this one included.
    pub denials: Denials,
    /// The limit it reached.
    pub limit: Option<DenialLimit>,
}

/// One call that a person let run, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallApproval {
    pub(crate) id: String,
    pub(crate) tool: String,
    input_hash: String,
    pub(crate) cwd: String,
    pub(crate) granted_at_ms: u64,
    pub(crate) expires_at_ms: u64,
    pub(crate) used: bool,
    /// Whether it answers what a person would be asked, and not only what auto mode judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    answers: bool,
}

/// An approval that was used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenApproval {
    /// The id of the call that was approved.
    pub id: String,
    /// Whether it answers what a person would be asked; else it lifts what auto mode judged, and no more.
    pub is_answer: bool,
}

/// A call that may have been approved.
#[derive(Debug)]
pub(crate) struct SoughtCall<'a> {
    tool: HashedText<'a>,
    input_json: HashedText<'a>,
    cwd: HashedText<'a>,
    now_ms: u64,
    /// Whether only an answer will do.
    needs_answer: bool,
}

impl<'a> SoughtCall<'a> {
    pub(crate) fn new(tool: &'a str, input_json: &'a str, cwd: &'a str, now_ms: u64) -> Self {
        let (tool, input_json, cwd) =
            (HashedText::new(tool), HashedText::new(input_json), HashedText::new(cwd));
        Self { tool, input_json, cwd, now_ms, needs_answer: false }
    }

    /// Looks only for what answers a question.
    pub(crate) fn needing_answer(self, needs_answer: bool) -> Self {
        Self { needs_answer, ..self }
    }

    /// Says whether an approval is for this call, still good, and not used. One from the future is not good: the clock
    /// was turned back, and nobody knows how long it has been there.
    fn is_covered_by(&self, approval: &CallApproval) -> bool {
        !approval.used
            && (approval.answers || !self.needs_answer)
            && (approval.granted_at_ms..approval.expires_at_ms).contains(&self.now_ms)
            && self.tool.is(&approval.tool)
            && self.cwd.is(&approval.cwd)
            && self.input_json.is(&approval.input_hash)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DenialCounts {
    in_a_row: u32,
    in_total: u32,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionState {
    version: u32,
    /// The name of the session: a file that was copied from another one is not believed.
    session: String,
    changed_at_ms: u64,
    denials: DenialCounts,
    next: u64,
    denied: Vec<DeniedCall>,
    pub(crate) approvals: Vec<CallApproval>,
}

/// The part of the file that every call looks at. The rest is checked to be JSON and passed over.
#[derive(Debug, Deserialize)]
pub(crate) struct SessionGlance {
    version: u32,
    session: String,
    denials: DenialCounts,
    approvals: Vec<CallApproval>,
}

impl SessionGlance {
    /// More than the largest file there can be: everything at its longest, every character escaped.
    pub(crate) const MAXIMUM_SIZE: u64 = 8 * 1024 * 1024;

    /// Reads the part that every call looks at.
    pub(crate) fn read(file: &Path, session: &str, bytes: &[u8]) -> Result<Self, StoreError> {
        let glance: Self = serde_json::from_slice(bytes).map_err(|error| explain(file, bytes, &error))?;
        check(file, (glance.version, &glance.session), session)?;
        Ok(glance)
    }

    pub(crate) const fn denials(&self) -> Denials {
        self.denials.to_core()
    }

    /// Says whether a call may find an approval.
    pub(crate) fn has_approval(&self, call: &SoughtCall<'_>) -> bool {
        self.approvals.iter().any(|approval| call.is_covered_by(approval))
    }
}

impl DenialCounts {
    const fn to_core(self) -> Denials {
        Denials { in_a_row: self.in_a_row, in_total: self.in_total }
    }

    const fn of_core(denials: Denials) -> Self {
        Self { in_a_row: denials.in_a_row, in_total: denials.in_total }
    }
}

impl SessionState {
    /// The state of a session in which nothing was denied yet.
    pub(crate) fn new(session: &str) -> Self {
        Self {
            version: VERSION,
            session: session.to_owned(),
            changed_at_ms: 0,
            denials: DenialCounts::of_core(Denials::default()),
            next: 1,
            denied: Vec::new(),
            approvals: Vec::new(),
        }
    }

    /// Reads the whole file.
    pub(crate) fn read(file: &Path, session: &str, bytes: &[u8]) -> Result<Self, StoreError> {
        let state: Self = serde_json::from_slice(bytes).map_err(|error| explain(file, bytes, &error))?;
        check(file, (state.version, &state.session), session)?;
        Ok(state)
    }

    /// Returns the file's new content.
    pub(crate) fn to_bytes(&self, file: &Path) -> Result<Vec<u8>, StoreError> {
        let mut bytes =
            serde_json::to_vec(self).map_err(|error| StoreError::broken(file, &error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Counts a denial and keeps the call.
    pub(crate) fn deny(
        &mut self,
        new: &NewDenial,
        suggestions: &[SuggestionEntry],
        file: &Path,
        now_ms: u64,
    ) -> Result<RecordedDenial, StoreError> {
        let id = self.keep(new, suggestions, file, now_ms)?;
        let (denials, limit) = self.denials.to_core().after_denial(new.retryable);
        self.denials = DenialCounts::of_core(denials);
        Ok(RecordedDenial { id, denials, limit })
    }

    /// Keeps a call that a person was to be asked about, without counting it. Asked again, it is the same one.
    pub(crate) fn ask(
        &mut self,
        new: &NewDenial,
        suggestions: &[SuggestionEntry],
        file: &Path,
        now_ms: u64,
    ) -> Result<String, StoreError> {
        let call = SoughtCall::new(&new.tool, &new.input_json, &new.cwd, now_ms);
        let is_same = |known: &DeniedCall| {
            known.kind == DenialKind::Asked
                && call.tool.is(&known.tool)
                && call.cwd.is(&known.cwd)
                && call.input_json.is(&known.input_hash)
        };
        if let Some(place) = self.denied.iter().position(is_same) {
            let known = DeniedCall { at_ms: now_ms, ..self.denied.remove(place) };
            let id = known.id.clone();
            self.denied.push(known);
            self.touch(now_ms);
            return Ok(id);
        }
        self.keep(new, suggestions, file, now_ms)
    }

    fn keep(
        &mut self,
        new: &NewDenial,
        suggestions: &[SuggestionEntry],
        file: &Path,
        now_ms: u64,
    ) -> Result<String, StoreError> {
        let number = self.next;
        self.next =
            number.checked_add(1).ok_or_else(|| StoreError::broken(file, "its numbers are used up"))?;
        let id = format!("{}-{number}", prefix_of(&sha256(&self.session)));
        self.denied.push(DeniedCall {
            id: id.clone(),
            at_ms: now_ms,
            tool: kept(&new.tool, MOST_NAME),
            input_hash: hashed(&new.input_json),
            cwd: kept(&new.cwd, MOST_NAME),
            summary: cut(&redact(&new.summary)),
            reason: cut(&redact(&new.reason)),
            kind: new.kind,
            code: cut(&new.code),
            retryable: new.retryable,
            // A rule that was cut would be another rule.
            suggestions: suggestions
                .iter()
                .filter(|one| one.rule.len() <= MOST_NAME)
                .take(MOST_RULES)
                .cloned()
                .collect(),
        });
        self.touch(now_ms);
        Ok(id)
    }

    /// Counts a call that was allowed; says whether that changed anything.
    pub(crate) fn allow(&mut self) -> bool {
        let before = self.denials;
        self.denials = DenialCounts::of_core(before.to_core().after_allow());
        self.denials != before
    }

    /// Lets a denied call run, once, until the time is over. Saying it twice is saying it once.
    pub(crate) fn approve(&mut self, id: &str, now_ms: u64, ttl_ms: u64) -> Result<DeniedCall, StoreError> {
        let Some(call) = self.find(id).cloned() else {
            return Err(StoreError::UnknownDenial { id: id.to_owned() });
        };
        self.grant(&call, now_ms, ttl_ms)?;
        Ok(call)
    }

    /// Lets a call run that a person was asked about, as [`Self::approve`] does; says whether that changed anything. One
    /// answer counts once, however often it is applied.
    pub(crate) fn approve_call(
        &mut self,
        call: &DeniedCall,
        answered_at_ms: u64,
        ttl_ms: u64,
    ) -> Result<bool, StoreError> {
        if !split_id(&call.id).is_some_and(|(prefix, _)| sha256(&self.session).starts_with(prefix)) {
            return Err(StoreError::UnknownDenial { id: call.id.clone() });
        }
        let is_known =
            |approval: &CallApproval| approval.id == call.id && approval.granted_at_ms == answered_at_ms;
        if self.approvals.iter().any(is_known) {
            return Ok(false);
        }
        self.grant(call, answered_at_ms, ttl_ms)?;
        Ok(true)
    }

    fn grant(&mut self, call: &DeniedCall, now_ms: u64, ttl_ms: u64) -> Result<(), StoreError> {
        if !call.retryable {
            return Err(StoreError::NotRetryable { id: call.id.clone() });
        }
        // What was used tells which denials stand no longer.
        self.approvals
            .retain(|approval| approval.used || (approval.expires_at_ms > now_ms && approval.id != call.id));
        self.approvals.push(CallApproval {
            id: call.id.clone(),
            tool: call.tool.clone(),
            input_hash: call.input_hash.clone(),
            cwd: call.cwd.clone(),
            granted_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(ttl_ms),
            used: false,
            answers: call.kind == DenialKind::Asked,
        });
        self.touch(now_ms);
        Ok(())
    }

    /// Uses up the oldest approval of a call and returns it.
    pub(crate) fn take(&mut self, call: &SoughtCall<'_>) -> Option<TakenApproval> {
        let approval = self.approvals.iter_mut().find(|approval| call.is_covered_by(approval))?;
        approval.used = true;
        let taken = TakenApproval { id: approval.id.clone(), is_answer: approval.answers };
        self.touch(call.now_ms);
        Some(taken)
    }

    /// Finds a denied call by its id, or by one with more of the session's hash in it.
    pub(crate) fn find(&self, id: &str) -> Option<&DeniedCall> {
        let (_, number) = split_id(id).filter(|(prefix, _)| sha256(&self.session).starts_with(prefix))?;
        self.denied.iter().find(|call| call.id.split_once('-').is_some_and(|(_, own)| own == number))
    }

    /// The calls that stand as denied, the oldest first.
    pub(crate) fn standing_denials(&self, now_ms: u64) -> impl DoubleEndedIterator<Item = &DeniedCall> {
        self.denied.iter().filter(move |call| self.is_denied(&call.id, call.at_ms, now_ms))
    }

    /// Says whether nothing happened for so long, and nothing is waited for.
    pub(crate) fn is_older_than(&self, now_ms: u64, older_than_ms: u64) -> bool {
        let last =
            self.approvals.iter().map(|approval| approval.expires_at_ms).fold(self.changed_at_ms, u64::max);
        now_ms.saturating_sub(last) > older_than_ms
    }

    fn touch(&mut self, now_ms: u64) {
        self.changed_at_ms = self.changed_at_ms.max(now_ms);
        self.denied.drain(..self.denied.len().saturating_sub(MOST_CALLS));
        self.approvals.drain(..self.approvals.len().saturating_sub(MOST_CALLS));
    }
}

/// Splits an id into its part of a session's hash and its number.
pub(crate) fn split_id(id: &str) -> Option<(&str, &str)> {
    let (prefix, number) = id.split_once('-')?;
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_good = (ID_PREFIX..=64).contains(&prefix.len()) && prefix.bytes().all(is_hex);
    (is_good && !number.is_empty()).then_some((prefix, number))
}

impl DeniedCall {
    /// Says whether it is this very call.
    pub fn is_of(&self, tool: &str, input_json: &str, cwd: &str) -> bool {
        HashedText::new(tool).is(&self.tool)
            && HashedText::new(cwd).is(&self.cwd)
            && HashedText::new(input_json).is(&self.input_hash)
    }

    /// Returns what the call is known by, without what people read. The fields stay, so that every program reads it.
    pub(crate) fn without_words(&self) -> Self {
        Self {
            summary: String::new(),
            reason: String::new(),
            code: String::new(),
            suggestions: Vec::new(),
            ..self.clone()
        }
    }
}

/// Returns the name that a session is kept under: its id where that is a harmless file name, else a hash. The name of a
/// name is itself.
pub fn session_name(id: &str) -> String {
    let is_harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_name = (1..=64).contains(&id.len()) && id.bytes().all(is_harmless);
    if is_name { id.to_owned() } else { sha256(id) }
}

fn prefix_of(hash: &str) -> &str {
    hash.get(..ID_PREFIX).unwrap_or(hash)
}

/// Cuts prose that is too long.
pub(crate) fn cut(text: &str) -> String {
    if text.len() <= MOST_PROSE {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_PROSE);
    format!("{}…", text.get(..end).unwrap_or_default())
}

fn check(file: &Path, (version, name): (u32, &str), session: &str) -> Result<(), StoreError> {
    if version != VERSION {
        return Err(wrong_version(file, u64::from(version)));
    }
    if name != session {
        return Err(StoreError::broken(file, "it is the state of another session"));
    }
    Ok(())
}

fn wrong_version(file: &Path, version: u64) -> StoreError {
    let detail = format!("its version is {version}, and this program knows {VERSION}");
    StoreError::broken(file, &detail)
}

/// Says why a file cannot be read: another version of it has other fields, and then that is the reason.
fn explain(file: &Path, bytes: &[u8], error: &serde_json::Error) -> StoreError {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    match serde_json::from_slice::<Versioned>(bytes) {
        _ if bytes.is_empty() => StoreError::broken(file, "it is empty"),
        Ok(other) if other.version != u64::from(VERSION) => wrong_version(file, other.version),
        _ => StoreError::broken(file, &error.to_string()),
    }
}
