//! The judging itself: at once where that takes microseconds, on a thread of its own where it may wait for somebody.

use std::sync::Arc;

use portcullis_hosts::HookCall;
use portcullis_world::World;
use tokio::sync::Semaphore;

use super::SubmittedCall;
use crate::{Daemon, MOST_WAITING_THREADS, Shared};
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::classifier::{ClassifierFlags, has_classifier};
use portcullis_gate::gate::{HostGate, HostJudgement, UsedApprovals};
use portcullis_gate::judge::ConfiguredConsultants;

/// How many calls are judged at once where judging may wait for a server, a model or a hook. The rest of the threads
/// that may wait is left to those who answer and look.
static ROOM: Semaphore = Semaphore::const_new(MOST_WAITING_THREADS / 4 * 3);

/// Judges a call by the settings of its directory as they are now, after an earlier judgement on it used up approvals.
pub(super) async fn judge(
    daemon: &Shared,
    submitted: &Arc<SubmittedCall>,
    used_approvals: UsedApprovals,
) -> Result<HostJudgement, Failure> {
    judge_by(daemon, submitted, None, used_approvals, &mut World::default()).await
}

/// Judges a call by settings that are at hand, or else by those of its directory as they are now.
pub(super) async fn judge_by(
    daemon: &Shared,
    submitted: &Arc<SubmittedCall>,
    session: Option<Arc<SessionSettings>>,
    used_approvals: UsedApprovals,
    world: &mut World,
) -> Result<HostJudgement, Failure> {
    if daemon.is_shared_store {
        return on_own_thread(daemon, submitted, session, used_approvals).await;
    }
    let session = match session {
        Some(session) => session,
        None => daemon.settings.open(&daemon.arguments, &submitted.asked.session, &daemon.store)?,
    };
    if may_wait(&session) || is_long(&submitted.asked) {
        return on_own_thread(daemon, submitted, Some(session), used_approvals).await;
    }
    // Rules and proofs take microseconds, less than handing the call to another thread and back.
    shielded(|| gate(daemon, submitted).judge(session, &submitted.asked, used_approvals, world))
}

async fn on_own_thread(
    daemon: &Shared,
    submitted: &Arc<SubmittedCall>,
    session: Option<Arc<SessionSettings>>,
    used_approvals: UsedApprovals,
) -> Result<HostJudgement, Failure> {
    let (daemon, submitted) = (Arc::clone(daemon), Arc::clone(submitted));
    let place = ROOM.acquire().await.map_err(|_| panicked())?;
    let judged = tokio::task::spawn_blocking(move || {
        // Whoever asked may be gone before the thread is free again.
        let _place = place;
        let session = match session {
            Some(session) => session,
            None => daemon.settings.open(&daemon.arguments, &submitted.asked.session, &daemon.store)?,
        };
        gate(&daemon, &submitted).judge(session, &submitted.asked, used_approvals, &mut World::default())
    });
    judged.await.map_err(|_| panicked())?
}

/// Says whether a call takes so long to read that others who are served by the same thread would notice.
fn is_long(asked: &HookCall) -> bool {
    /// The longest command that is read at once, in bytes.
    const LONGEST: usize = 2 * 1024;
    asked.calls.len() > 1
        || asked.calls.iter().any(|call| call.command().is_some_and(|text| text.len() > LONGEST))
}

/// Says whether judging by these settings may wait for somebody: a model, or a hook.
fn may_wait(session: &SessionSettings) -> bool {
    has_classifier(&session.loaded, &ClassifierFlags::default())
        || !session.loaded.permission_hooks.is_empty()
}

/// Makes the gate of whoever handed the call over.
pub(super) fn gate<'a>(daemon: &'a Daemon, submitted: &SubmittedCall) -> HostGate<'a> {
    HostGate {
        arguments: &daemon.arguments,
        host: submitted.host,
        format: submitted.format,
        known: None,
        consultants: Some(&ConfiguredConsultants),
        before_asking: &|time| time,
        withdrawal: None,
    }
}

fn shielded(judge: impl FnOnce() -> Result<HostJudgement, Failure>) -> Result<HostJudgement, Failure> {
    // Whatever the panic left half done is dropped with the closure.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(judge)).unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Failure {
    Failure::internal("the call could not be judged because of an internal failure")
}
