//! Grants: rules that a person gave for a while, for a number of uses, or for a plan.
//!
//! All of them stand in one small file that every call reads without waiting. Uses are counted down under a lock, exactly;
//! a use that cannot be counted is not given. A grant that is over is dropped when the file is next written.
//!
//! INVARIANT: a clock that is turned back lengthens nothing. The file remembers the latest time at which it was changed
//! or a grant with a time was used, and at an earlier time no grant with a time counts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Store;
use crate::disk;
use crate::error::StoreError;
use crate::lock::Lock;
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
    pub scope: Scope,
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
pub enum Scope {
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
    pub scope: Scope,
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
pub struct Place<'a> {
    /// The id of the session; may be empty.
    pub session: &'a str,
    /// The directory of the workspace.
    pub workspace: &'a str,
    /// When, in unix milliseconds.
    pub now_ms: u64,
}

/// What came of using grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spent {
    /// All were there, and were counted.
    All,
    /// These were not there any more. Nothing was counted.
    Gone(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    next: u64,
    /// The latest time anything happened here.
    latest_ms: u64,
    grants: Vec<Grant>,
}

impl Default for Document {
    fn default() -> Self {
        Self { version: VERSION, next: 1, latest_ms: 0, grants: Vec::new() }
    }
}

impl Grant {
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

    fn holds_in(&self, place: &Place<'_>) -> bool {
        match &self.scope {
            Scope::Session(name) => !place.session.is_empty() && *name == session_name(place.session),
            Scope::Workspace(directory) => directory == place.workspace,
        }
    }
}

/// All grants of a user. Nothing is read or made before it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    store: Store,
}

impl Grants {
    pub(crate) const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Lists the grants that count at a time, wherever they hold.
    pub fn list(&self, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        let Document { grants, latest_ms, .. } = self.read()?.unwrap_or_default();
        Ok(grants.into_iter().filter(|grant| grant.is_good(now_ms, latest_ms)).collect())
    }

    /// Lists the grants that count for a call. What is for a plan counts only while the session is at it.
    pub fn holding(&self, place: &Place<'_>) -> Result<Vec<Grant>, StoreError> {
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
        disk::make_directory(self.store.root())?;
        let file = self.file();
        let lock = self.lock()?;
        let mut document = self.read()?.unwrap_or_default();
        document.drop_old(now_ms);
        if document.grants.len() >= MOST_GRANTS || new.rule.len() > LONGEST_RULE {
            return Err(StoreError::TooManyGrants { most: MOST_GRANTS });
        }
        let number = document.next;
        document.next =
            number.checked_add(1).ok_or_else(|| StoreError::broken(&file, "its numbers are used up"))?;
        let scope = match new.scope {
            Scope::Session(id) => Scope::Session(session_name(&id)),
            workspace @ Scope::Workspace(_) => workspace,
        };
        let grant = Grant {
            id: format!("g{number}"),
            behavior: new.behavior,
            rule: new.rule,
            scope,
            granted_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(new.lasts_ms),
            uses_left: new.uses,
            plan: new.plan,
            is_timed: new.is_timed,
        };
        document.grants.push(grant.clone());
        self.write(&lock, &document)?;
        Ok(grant)
    }

    /// Notes that grants are used, each once. However many do so at once, no use is given twice; an error gives none.
    pub fn spend(&self, ids: &[String], now_ms: u64) -> Result<Spent, StoreError> {
        let lock = self.lock()?;
        let Some(mut document) = self.read()? else { return Ok(Spent::Gone(ids.to_vec())) };
        let before = document.clone();
        let mut gone = Vec::new();
        for id in ids {
            let latest_ms = document.latest_ms;
            let mut good = document.grants.iter_mut().filter(|grant| grant.is_good(now_ms, latest_ms));
            match good.find(|grant| grant.id == *id) {
                Some(grant) => grant.uses_left = grant.uses_left.map(|left| left.saturating_sub(1)),
                None => gone.push(id.clone()),
            }
        }
        if !gone.is_empty() {
            return Ok(Spent::Gone(gone));
        }
        if document != before || now_ms >= document.latest_ms.saturating_add(TICK_MS) {
            document.drop_old(now_ms);
            self.write(&lock, &document)?;
        }
        Ok(Spent::All)
    }

    /// Takes grants back that pass a test, and returns them.
    pub fn revoke(&self, is_meant: impl Fn(&Grant) -> bool, now_ms: u64) -> Result<Vec<Grant>, StoreError> {
        if !self.read()?.is_some_and(|document| document.grants.iter().any(&is_meant)) {
            return Ok(Vec::new());
        }
        let lock = self.lock()?;
        let mut document = self.read()?.unwrap_or_default();
        let (revoked, left) = document.grants.into_iter().partition(|grant| is_meant(grant));
        document.grants = left;
        document.drop_old(now_ms);
        self.write(&lock, &document)?;
        Ok(revoked)
    }

    /// Takes back what was granted in a session, which is over.
    pub fn end_session(&self, session: &str, now_ms: u64) -> Result<(), StoreError> {
        let name = session_name(session);
        self.revoke(|grant| matches!(&grant.scope, Scope::Session(own) if *own == name), now_ms)?;
        Ok(())
    }

    fn read(&self) -> Result<Option<Document>, StoreError> {
        if !disk::has_directory(self.store.root())? {
            return Ok(None);
        }
        let file = self.file();
        let Some(bytes) = disk::read(&file, MAXIMUM_SIZE)? else { return Ok(None) };
        let document: Document =
            serde_json::from_slice(&bytes).map_err(|error| StoreError::broken(&file, &error.to_string()))?;
        if document.version != VERSION {
            let detail = format!("its version is {}, and this program knows {VERSION}", document.version);
            return Err(StoreError::broken(&file, &detail));
        }
        Ok(Some(document))
    }

    fn write(&self, lock: &Lock, document: &Document) -> Result<(), StoreError> {
        let file = self.file();
        let bytes =
            serde_json::to_vec(document).map_err(|error| StoreError::broken(&file, &error.to_string()))?;
        disk::replace(lock, &file, &bytes)
    }

    fn lock(&self) -> Result<Lock, StoreError> {
        Lock::take_within(&self.store.root().join("grants.lock"), self.store.patience)
    }

    fn file(&self) -> PathBuf {
        self.store.root().join("grants.json")
    }
}

impl Document {
    /// Remembers the time, and drops what is over.
    fn drop_old(&mut self, now_ms: u64) {
        self.latest_ms = self.latest_ms.max(now_ms);
        self.grants.retain(|grant| grant.expires_at_ms > now_ms && grant.uses_left != Some(0));
    }
}
