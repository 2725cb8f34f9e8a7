//! Who asks, and what they may do.
//!
//! Every handler takes one of [`Reads`], [`Decides`] or [`Answers`]; a request that may not is refused before the handler
//! runs. Only the pages for signing in, the assets and the health check take none.

mod admission;
mod attempts;
mod presence;
mod site;
mod usage;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

pub(crate) use self::admission::{
    Admission, CROSS_ORIGIN, Peer, admit, check_csrf, is_followed_link, refuse_strangers,
};
pub(crate) use self::attempts::Attempts;
pub(crate) use self::presence::{ABSENT, KnownAgents, Stakes};
pub(crate) use self::site::{Site, is_loopback_name};
pub(crate) use self::usage::{ConnectionOwner, Usage, UsageKind, UsagePermit};
use portcullis_gate::daemon_client::Role;

use super::tokens::SecretHash;
use super::{ApiError, Daemon, Shared};

/// Who asks. The server puts it into every request that it has let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// What they may do; `None` for whoever has not said who they are.
    pub(crate) role: Option<Role>,
    /// The name of the token, or of the session of the web page.
    pub(crate) name: String,
    /// Where an answer of theirs comes from: `web`, `terminal`, `api`.
    pub(crate) via: &'static str,
    /// Where the request comes from.
    peer: Peer,
    /// When a person last showed in this session of the web page that they are there.
    proven_at_ms: Option<u64>,
    /// What the forms and scripts of a page must send along; only a session of the web page has it.
    csrf: Option<Arc<str>>,
    /// The token that they showed, or signed in with.
    token: Option<SecretHash>,
}

impl Caller {
    /// Returns what a form carries in its hidden field `csrf`, and a script in the header `portcullis-csrf`; empty for
    /// whoever has no session of the web page, and needs none.
    pub(crate) fn csrf(&self) -> &str {
        self.csrf.as_deref().unwrap_or_default()
    }

    /// Says whether they would still be let in: their token was not taken back, and they did not sign out. Whoever is told
    /// something long after they asked is looked at again.
    pub(crate) fn is_still_admitted(&self, daemon: &Daemon, now_ms: u64) -> bool {
        self.token.is_none_or(|token| daemon.tokens.holds(token, now_ms))
            && self.csrf.as_ref().is_none_or(|csrf| daemon.logins.is_signed_in(csrf, now_ms))
    }

    /// Returns the token that they showed, or signed in with; `None` for whoever showed none.
    pub(crate) const fn token(&self) -> Option<SecretHash> {
        self.token
    }

    /// Says whether somebody is signed in to the web page.
    pub(crate) const fn is_signed_in(&self) -> bool {
        self.csrf.is_some()
    }
}

/// A caller who may look.
#[derive(Debug, Clone)]
pub(crate) struct Reads(pub(crate) Caller);

/// A caller who may have calls judged.
#[derive(Debug, Clone)]
pub(crate) struct Decides;

/// A caller who may say no. To say yes, or to change anything, takes a person who is there: see [`Present`].
#[derive(Debug, Clone)]
pub(crate) struct Answers(pub(crate) Caller);

/// A person who is there, and may answer and change.
#[derive(Debug, Clone)]
pub(crate) struct Present(pub(crate) Caller);

/// Whoever asks, whether they said who they are or not: for the pages that lead to signing in.
#[derive(Debug, Clone)]
pub(crate) struct Anyone(pub(crate) Caller);

fn known(parts: &Parts) -> Result<&Caller, ApiError> {
    parts.extensions.get::<Caller>().ok_or_else(ApiError::unauthenticated)
}

fn caller(parts: &Parts, needed: Role) -> Result<Caller, ApiError> {
    let caller = known(parts)?;
    match caller.role {
        None => Err(ApiError::unauthenticated()),
        Some(role) if role.covers(needed) => Ok(caller.clone()),
        Some(_) => Err(ApiError::forbidden()),
    }
}

impl FromRequestParts<Shared> for Reads {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, ApiError> {
        caller(parts, Role::Read).map(Self)
    }
}

impl FromRequestParts<Shared> for Decides {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, ApiError> {
        caller(parts, Role::Decide).map(|_| Self)
    }
}

impl FromRequestParts<Shared> for Answers {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, ApiError> {
        caller(parts, Role::Person).map(Self)
    }
}

impl FromRequestParts<Shared> for Present {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, ApiError> {
        let caller = caller(parts, Role::Person)?;
        caller.require_presence(daemon, Stakes::High).await?;
        Ok(Self(caller))
    }
}

impl FromRequestParts<Shared> for Anyone {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, ApiError> {
        known(parts).cloned().map(Self)
    }
}
