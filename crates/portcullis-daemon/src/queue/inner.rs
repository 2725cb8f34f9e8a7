//! What the queue knows of its questions: writes one down, and tells what became of it.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_settings::ApprovalSettings;
use portcullis_store::audit::Entry;
use portcullis_store::{
    ApprovalAnswer, ApprovalRequest, ApprovalState, DeniedCall, NewApprovalRequest, Store, redact,
};
use tokio::sync::Notify;

use super::claimed::{another_call, proven};
use super::link::Links;
use super::waiting::Waiting;
use super::{MOST_OPEN, reply};
use crate::notify::{NotifiedQuestions, Notifier};
use crate::{Hub, LiveEvent, Telemetry};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::gate::{PendingQuestion, QuestionReply};
use portcullis_gate::{SessionSettings, SettingsFlags};

/// What the queue knows, and whom it tells.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) hub: Hub,
    /// The flags that choose settings; what they say about approvals is read when it is needed.
    pub(super) arguments: SettingsFlags,
    pub(super) waiting: Waiting,
    /// The questions that are open, as far as is known here.
    pub(super) open: Mutex<BTreeSet<String>>,
    /// The changes that were told when they were made here, so that the poll tells them to nobody again.
    pub(super) told: Mutex<BTreeSet<u64>>,
    /// Told when somebody begins to wait, so that the poll looks more often.
    pub(super) stir: Notify,
    pub(super) has_started: AtomicBool,
    pub(super) links: Links,
    pub(super) notifier: Notifier,
    pub(super) telemetry: Telemetry,
}

impl Inner {
    /// Writes a question down. Says what settings say about telling others, and whether it is a new one.
    /// What another process claims of its call is not taken over.
    pub(super) fn open(
        &self,
        asked: PendingQuestion,
        is_claimed: bool,
    ) -> Result<(ApprovalRequest, ApprovalSettings, bool), Failure> {
        let store = self.store.session(&asked.session);
        let call = store.denied(&asked.denial).map_err(|error| Failure::from(&error))?;
        let call = call.ok_or_else(|| {
            Failure::usage("the denied call is not known")
                .with_hint("only the last ones of a session are kept")
        })?;
        check_same(&asked.question, &call)?;
        let asked = if is_claimed { proven(asked, &call, &self.arguments)? } else { asked };
        let mut question = asked.question;
        // Rules that a person may choose are those of the call, whatever the question says.
        question.suggestions.clone_from(&call.suggestions);
        let settings = SessionSettings::open(&self.arguments)?.loaded.approvals;
        if !settings.is_enabled {
            return Err(
                Failure::usage("settings say that no question waits").with_hint("see `approvals.enabled`")
            );
        }
        if self.open_ids().len() >= MOST_OPEN {
            return Err(Failure::usage(format!("{MOST_OPEN} questions are open already"))
                .with_hint("answer some with `portcullis questions`"));
        }
        let now = now_ms();
        let mut new = NewApprovalRequest {
            id: asked.id,
            created_at_ms: now,
            expires_at_ms: now.saturating_add(u64::from(settings.expire_minutes) * 60_000),
            session: asked.session,
            call,
            question,
            explanation: asked.explanation,
        };
        warn_of_hidden(&mut new)?;
        let approval = self.store.backend().open_approval(&new).map_err(|error| Failure::from(&error))?;
        if approval.state == ApprovalState::Open {
            self.open_ids().insert(approval.id.clone());
        }
        // Whoever follows the store may have seen it before this line, and is not the one to tell people of it.
        let is_new = approval.id == new.id && approval.created_at_ms == now;
        Ok((approval, settings, is_new))
    }

    /// Tells of a change that was made here.
    pub(super) fn tell_own(&self, approval: &ApprovalRequest) {
        self.told().insert(approval.sequence);
        self.tell(approval);
    }

    /// Notes what became of an approval, and tells whoever watches or waits.
    pub(super) fn tell(&self, approval: &ApprovalRequest) {
        let is_open = approval.state == ApprovalState::Open;
        if is_open {
            self.open_ids().insert(approval.id.clone());
        } else {
            self.open_ids().remove(&approval.id);
            self.notifier.ended(&approval.id);
        }
        let approval = Arc::new(approval.clone());
        self.hub.tell(LiveEvent::Approval(Arc::clone(&approval)));
        if reply(&approval) != QuestionReply::Open {
            self.waiting.wake(&approval);
        }
    }

    pub(super) fn told(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open_ids(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NotifiedQuestions for Inner {
    fn answer_now(&self, id: &str, given: ApprovalAnswer) -> Result<(), Failure> {
        self.answer(id, given).map(|_| ())
    }

    fn is_open(&self, id: &str) -> bool {
        self.open_ids().contains(id)
    }

    fn link(&self, id: &str) -> Option<String> {
        self.links.link(id)
    }
}

/// Says first of all that a call is too long to be kept whole: what is not shown may be what matters.
fn warn_of_hidden(new: &mut NewApprovalRequest) -> Result<(), Failure> {
    let kept = ApprovalRequest::open(new, 0).map_err(|error| Failure::from(&error))?;
    // What is whole ends as an object does.
    if kept.question.input.ends_with('}') {
        return Ok(());
    }
    if let Some(told) = &mut new.explanation {
        told.risk = format!("the call is too long to be shown whole, and its end is hidden; {}", told.risk);
        "HIGH".clone_into(&mut told.level);
    }
    Ok(())
}

/// Refuses a question that shows another call than the one an answer would lift.
fn check_same(question: &Entry, call: &DeniedCall) -> Result<(), Failure> {
    // Of what is very long the session keeps the hash alone, and what cannot be compared cannot be shown.
    let kept = call.summary.strip_suffix('…').unwrap_or(&call.summary);
    let shown = redact(&question.summary);
    let named = format!("{}: {shown}", call.tool);
    let is_same = question.tool == call.tool
        && question.cwd == call.cwd
        && (shown.starts_with(kept) || named.starts_with(kept))
        && (kept.len() < call.summary.len() || shown == kept || named == kept);
    if is_same { Ok(()) } else { Err(another_call()) }
}
