//! Whoever looks at a page, and what stands round it for them.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use portcullis_web::VisibleText;
use portcullis_web::views::{PageFrame, PageNotice};

use super::PageError;
use crate::Shared;
use crate::access::{Caller, Present, Reads};
use portcullis_gate::daemon_client::Role;

/// Somebody who may look. Whoever may not sees a page that says so.
#[derive(Debug)]
pub(super) struct Visitor {
    caller: Caller,
    open_approvals: u64,
}

/// Somebody who may answer and change.
#[derive(Debug)]
pub(super) struct Answerer(pub(super) Caller);

impl FromRequestParts<Shared> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, PageError> {
        let Reads(caller) = Reads::from_request_parts(parts, daemon).await?;
        Ok(Self::new(daemon, caller))
    }
}

impl FromRequestParts<Shared> for Answerer {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, daemon: &Shared) -> Result<Self, PageError> {
        let Present(caller) = Present::from_request_parts(parts, daemon).await?;
        Ok(Self(caller))
    }
}

impl Visitor {
    /// Makes the visitor of a caller who may look.
    pub(super) fn new(daemon: &Shared, caller: Caller) -> Self {
        let (open, _) = daemon.queue.counts();
        Self { caller, open_approvals: u64::try_from(open).unwrap_or(u64::MAX) }
    }

    /// Says whether they may answer and change from a page: only somebody who signed in there can.
    pub(super) fn is_person(&self) -> bool {
        self.caller.role == Some(Role::Person)
    }

    /// Makes what stands round a page.
    pub(super) fn frame(&self, section: &'static str, title: impl Into<VisibleText>) -> PageFrame {
        PageFrame {
            title: title.into(),
            section,
            caller: VisibleText::cut(&self.caller.name, 40),
            is_person: self.is_person(),
            open_approvals: self.open_approvals,
            notice: None,
        }
    }
}

/// Makes what is said of something that was just done, or could not be.
pub(super) fn notice(done: Result<String, PageError>) -> PageNotice {
    match done {
        Ok(text) => PageNotice { is_good: true, text: VisibleText::from(text), hint: VisibleText::default() },
        Err(PageError(error)) => PageNotice {
            is_good: false,
            text: VisibleText::from(super::capital(&error.message)),
            hint: VisibleText::from(error.hint.unwrap_or_default()),
        },
    }
}
