//! Grants: rules that a person gave for a while, for a number of uses, or for a plan.
//!
//! All of them stand in one small document that every call reads without waiting. Uses are counted down while nobody else
//! changes it, exactly; a use that cannot be counted is not given. A grant that is over is dropped when the document is
//! next written.
//!
//! INVARIANT: a clock that is turned back lengthens nothing. The document remembers the latest time at which it was changed
//! or a grant with a time was used, and at an earlier time no grant with a time counts.

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::backend::{DocumentChange, DocumentKey, change_with};
use crate::error::StoreError;
use crate::state::session_name;

const VERSION: u32 = 1;
/// More than everything at its longest, every character escaped.
const MAXIMUM_SIZE: u64 = 4 * 1024 * 1024;
/// How many grants there may be at once.
const MOST_GRANTS: usize = 100;
/// The longest rule, in bytes.
const LONGEST_RULE: usize = 4096;
/// The time is remembered no finer than this.
const TICK_MS: u64 = 1_000;

/// What a person granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// What it is called by in `portcullis grants revoke`.
    pub id: String,
    /// `allow`, `ask` or `deny`.
    pub behavior: String,
    /// The rule.
    pub rule: String,
    /// Where it holds.
    pub scope: GrantScope,
    /// When it was given, in unix milliseconds.
    pub granted_at_ms: u64,
    /// When it is over.
    pub expires_at_ms: u64,
    /// How often it may be used yet; `None` for as often as anybody likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<u32>,
    /// The plan it was given for; `None` if it is for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<u64>,
    /// Whether a person set its time, so that every use is noted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_timed: bool,
}

/// Where a grant holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// In one session, by its name.
    Session(String),
    /// In one workspace, by its directory.
    Workspace(String),
}

/// A grant that is about to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// `allow`, `ask` or `deny`.
    pub behavior: String,
    /// The rule.
    pub rule: String,
    /// Where it holds. A session may be named by its id.
    pub scope: GrantScope,
    /// How long, in milliseconds.
    pub lasts_ms: u64,
    /// How often it may be used.
    pub uses: Option<u32>,
    /// The plan it is for.
    pub plan: Option<u64>,
    /// Whether a person set its time.
    pub is_timed: bool,
}

/// Where a call is made.
#[derive(Debug, Clone, Copy)]
pub struct GrantContext<'a> {
    /// The id of the session; may be empty.
    pub session: &'a str,
    /// The directory of the workspace.
    pub workspace: &'a str,
    /// When, in unix milliseconds.
    pub now_ms: u64,
}

/// What came of using grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantUse {
    /// All were there, and were counted.
    All,
    /// These were not there any more. Nothing was counted.
    Gone(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantsDocument {
    version: u32,
    next: u64,
    /// The latest time anything happened here.
    latest_ms: u64,
    grants: Vec<Grant>,
}

impl Default for GrantsDocument {
    fn default() -> Self {
        Self { version: VERSION, next: 1, latest_ms: 0, grants: Vec::new() }
    }
}

impl Grant {
    /// Makes a grant that has no id yet.
    fn new(new: NewGrant, now_ms: u64) -> Self {
        let scope = match new.scope {
            GrantScope::Session(id) => GrantScope::Session(session_name(&id)),
            workspace @ GrantScope::Workspace(_) => workspace,
        };
        Self {
            id: String::new(),
            behavior: new.behavior,
            rule: new.rule,
            scope,
            granted_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(new.lasts_ms),
            uses_left: new.uses,
            plan: new.plan,
            is_timed: new.is_timed,
        }
    }

    /// Says whether it counts at a time. One from the future does not: the clock was turned back, and nobody knows how
    /// long it has been there. What it forbids holds all the same.
    fn is_good(&self, now_ms: u64, latest_ms: u64) -> bool {
        if self.behavior != "allow" {
            return now_ms < self.expires_at_ms && self.uses_left != Some(0);
        }
        let is_set_back = self.is_timed && now_ms.saturating_add(TICK_MS) < latest_ms;
        (self.granted_at_ms..self.expires_at_ms).contains(&now_ms)
            && !is_set_back
            && self.uses_left != Some(0)
    }

    /// Says whether using it must be noted.
    pub fn is_limited(&self) -> bool {
        self.uses_left.is_some() || self.is_timed
    }

    fn holds_in(&self, place: &GrantContext<'_>) -> bool {
        match &self.scope {
            GrantScope::Session(name) => !place.session.is_empty() && *name == session_name(place.session),
            GrantScope::Workspace(directory) => directory == place.workspace,
        }
    }
}

/// All grants of a user. Nothing is read or made before it is needed.
#[derive(Debug, Clone)]
pub struct GrantStore {
    store: Store,
}

impl GrantStore {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Lists the grants that count at a time, wherever they hold.
    pub fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        let GrantsDocument { grants, latest_ms, .. } = self.read()?.unwrap_or_default();
        Ok(grants.into_iter().filter(|grant| grant.is_good(now_ms, latest_ms)).collect())
    }

    /// Lists the grants that count for a call. What is for a plan counts only while the session is at it.
    pub fn holding(&self, place: &GrantContext<'_>) -> Result<Vec<Grant>, StoreError> {
        let mut grants = self.list(place.now_ms)?;
        grants.retain(|grant| grant.holds_in(place));
        if grants.iter().any(|grant| grant.plan.is_some()) {
            let plan = self.store.session(place.session).facts()?.plan;
            grants.retain(|grant| grant.plan.is_none_or(|number| number == plan));
        }
        Ok(grants)
    }

    /// Gives a grant.
    pub fn give(&self, new: NewGrant, now_ms: u64) -> Result<Grant, StoreError> {
        let new = Grant::new(new, now_ms);
        self.change(|document| {
            let mut document = document.unwrap_or_default();
            let grant = document.give(&new)?;
            Ok((Some(document), grant))
        })
    }

    /// Notes that grants are used, each once. However many do so at once, no use is given twice; an error gives none.
    pub fn spend(&self, ids: &[String], now_ms: u64) -> Result<GrantUse, StoreError> {
        self.change(|document| {
            let Some(mut document) = document else { return Ok((None, GrantUse::Gone(ids.to_vec()))) };
            let before = document.clone();
            let spent = document.spend(ids, now_ms);
            if spent != GrantUse::All
                || (document == before && now_ms < document.latest_ms.saturating_add(TICK_MS))
            {
                return Ok((None, spent));
            }
            document.drop_old(now_ms);
            Ok((Some(document), spent))
        })
    }

    /// Takes grants back that pass a test, and returns them.
    pub fn revoke(&self, is_meant: impl Fn(&Grant) -> bool, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        if !self.read()?.is_some_and(|document| document.grants.iter().any(&is_meant)) {
            return Ok(Vec::new());
        }
        self.change(|document| {
            let mut document = document.unwrap_or_default();
            let (revoked, left) = document.grants.into_iter().partition(|grant| is_meant(grant));
            document.grants = left;
            document.drop_old(now_ms);
            Ok((Some(document), revoked))
        })
    }

    /// Takes back what was granted in a session, which is over.
    pub fn end_session(&self, session: &str, now_ms: u64) -> Result<(), StoreError> {
        let name = session_name(session);
        self.revoke(|grant| matches!(&grant.scope, GrantScope::Session(own) if *own == name), now_ms)?;
        Ok(())
    }

    fn read(&self) -> Result<Option<GrantsDocument>, StoreError> {
        let bytes = self.store.backend().read(&DocumentKey::Grants, MAXIMUM_SIZE)?;
        self.parse(bytes.as_deref())
    }

    fn parse(&self, bytes: Option<&[u8]>) -> Result<Option<GrantsDocument>, StoreError> {
        let Some(bytes) = bytes else { return Ok(None) };
        let document: GrantsDocument =
            serde_json::from_slice(bytes).map_err(|error| self.broken(&error.to_string()))?;
        if document.version != VERSION {
            let detail = format!("its version is {}, and this program knows {VERSION}", document.version);
            return Err(self.broken(&detail));
        }
        Ok(Some(document))
    }

    /// Changes the grants while nobody else does. Where no document is returned, the old one stays.
    fn change<T>(
        &self,
        mut changing: impl FnMut(Option<GrantsDocument>) -> Result<(Option<GrantsDocument>, T), StoreError>,
    ) -> Result<T, StoreError> {
        change_with(self.store.backend(), &DocumentKey::Grants, MAXIMUM_SIZE, |bytes| {
            let (document, value) = changing(self.parse(bytes.as_deref())?)?;
            let bytes = document.map(|document| serde_json::to_vec(&document)).transpose();
            let bytes = bytes.map_err(|error| self.broken(&error.to_string()))?;
            Ok((bytes.map_or(DocumentChange::Keep, DocumentChange::Write), value))
        })
    }

    fn broken(&self, detail: &str) -> StoreError {
        StoreError::broken(&self.store.backend().document_place(&DocumentKey::Grants), detail)
    }
}

impl GrantsDocument {
    /// Takes in a grant and gives it an id.
    fn give(&mut self, new: &Grant) -> Result<Grant, StoreError> {
        self.drop_old(new.granted_at_ms);
        let number = self.next;
        let next = number.checked_add(1);
        let has_room = self.grants.len() < MOST_GRANTS && new.rule.len() <= LONGEST_RULE;
        let Some(next) = next.filter(|_| has_room) else {
            return Err(StoreError::TooManyGrants { most: MOST_GRANTS });
        };
        self.next = next;
        let grant = Grant { id: format!("g{number}"), ..new.clone() };
        self.grants.push(grant.clone());
        Ok(grant)
    }

    /// Counts a use of each grant; if one is gone, nothing that was counted may be kept.
    fn spend(&mut self, ids: &[String], now_ms: u64) -> GrantUse {
        let mut gone = Vec::new();
        for id in ids {
            let latest_ms = self.latest_ms;
            let mut good = self.grants.iter_mut().filter(|grant| grant.is_good(now_ms, latest_ms));
            match good.find(|grant| grant.id == *id) {
                Some(grant) => grant.uses_left = grant.uses_left.map(|left| left.saturating_sub(1)),
                None => gone.push(id.clone()),
            }
        }
        if gone.is_empty() { GrantUse::All } else { GrantUse::Gone(gone) }
    }

    /// Remembers the time, and drops what is over.
    fn drop_old(&mut self, now_ms: u64) {
        self.latest_ms = self.latest_ms.max(now_ms);
        self.grants.retain(|grant| grant.expires_at_ms > now_ms && grant.uses_left != Some(0));
    }
}
