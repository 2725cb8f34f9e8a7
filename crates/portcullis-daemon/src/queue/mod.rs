//! The queue: questions that wait for a person.
//!
//! ```text
//! ask ──► store: open ──► told to those who watch, webhook, desktop
//!  │
//!  └ waits ◄── woken ◄── applied ◄── store: answered (the first wins) ◄── answer
//!                 └◄── poll: what other processes asked, answered or let expire
//! ```
//!
//! The store is the truth. What is kept here is who waits and which questions are open, and both can be lost: a question
//! outlives the daemon, and an answer that was written down is applied by whoever starts next.

mod answer;
mod apply;
mod claimed;
mod inner;
mod link;
mod poll;
mod waiting;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portcullis_store::{
    AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalState, Store,
};
use tokio::sync::Notify;

use self::inner::Inner;
use self::link::Links;
use self::waiting::Waiting;
use super::notify::{NotifiedQuestions, Notifier};
use super::{Hub, Telemetry};
use portcullis_gate::Failure;
use portcullis_gate::SettingsFlags;
use portcullis_gate::gate::{PendingQuestion, QuestionReply};

/// How many questions may be open at once.
const MOST_OPEN: usize = 5_000;

/// The questions that wait for a person.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    inner: Arc<Inner>,
}

impl Queue {
    /// Makes the queue of a store. Nothing is read, and nobody is told anything, before [`Self::start`].
    pub(crate) fn new(store: Store, hub: Hub, arguments: SettingsFlags, telemetry: Telemetry) -> Self {
        let links = Links::default();
        let inner = Inner {
            store,
            hub,
            arguments,
            waiting: Waiting::default(),
            open: Mutex::default(),
            told: Mutex::default(),
            stir: Notify::new(),
            has_started: AtomicBool::new(false),
            links,
            notifier: Notifier::default(),
            telemetry,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Says where people reach the web page, so that a question can be sent with a link to answer it.
    pub(crate) fn serves_at(&self, url: &str) {
        self.inner.links.set_base(url);
    }

    /// Begins to look at the store: applies what was answered and not done, and follows what others do. Needs a runtime.
    pub(crate) fn start(&self) {
        if !self.inner.has_started.swap(true, Ordering::SeqCst) {
            tokio::spawn(poll::follow(Arc::downgrade(&self.inner)));
        }
    }

    /// Puts a question and waits for a person, but no longer than `wait`. Returns the question as it is known and what
    /// came of it. Whoever stops waiting leaves the question open.
    pub(crate) async fn ask(
        &self,
        asked: PendingQuestion,
        wait: Duration,
    ) -> Result<(ApprovalRequest, QuestionReply), Failure> {
        let approval = self.open(asked, false).await?;
        let (id, known) = (approval.id.clone(), reply(&approval));
        if known != QuestionReply::Open {
            return Ok((approval, known));
        }
        let approval = self.wait(&id, wait).await?.unwrap_or(approval);
        let known = reply(&approval);
        Ok((approval, known))
    }

    /// Puts a question of another process. Nothing that it claims of its call is shown to a person unproven.
    pub(crate) async fn open_claimed(&self, asked: PendingQuestion) -> Result<ApprovalRequest, Failure> {
        self.open(asked, true).await
    }

    /// Puts a question; one that is open already for the same call is returned instead.
    async fn open(&self, asked: PendingQuestion, is_claimed: bool) -> Result<ApprovalRequest, Failure> {
        let inner = Arc::clone(&self.inner);
        let (approval, settings, is_new) = blocking(move || inner.open(asked, is_claimed)).await?;
        if is_new {
            self.inner.telemetry.approval_opened();
            self.inner.tell_own(&approval);
            let questions: Arc<dyn NotifiedQuestions> = Arc::clone(&self.inner) as _;
            self.inner.notifier.told(&questions, &approval, settings);
        }
        Ok(approval)
    }

    /// Returns an approval; `None` if there is none.
    pub(crate) async fn get(&self, id: &str) -> Result<Option<ApprovalRequest>, Failure> {
        let (inner, id) = (Arc::clone(&self.inner), id.to_owned());
        blocking(move || inner.store.backend().approval(&id).map_err(|error| Failure::from(&error))).await
    }

    /// Lists approvals.
    pub(crate) async fn list(&self, filter: ApprovalFilter) -> Result<Vec<ApprovalRequest>, Failure> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.store.backend().approvals(&filter).map_err(|error| Failure::from(&error)))
            .await
    }

    /// Waits until a question is answered and the answer applied, or until the time is over; returns it as it is then.
    pub(crate) async fn wait(&self, id: &str, time: Duration) -> Result<Option<ApprovalRequest>, Failure> {
        let mut place = self.inner.waiting.join(id);
        self.inner.stir.notify_one();
        // Whoever answered before we began to wait woke nobody.
        let known = self.get(id).await?;
        if known.as_ref().is_none_or(|approval| reply(approval) != QuestionReply::Open) {
            return Ok(known);
        }
        let ended = tokio::time::timeout(time, place.ended()).await.ok().flatten();
        Ok(ended.map(|approval| approval.as_ref().clone()).or(known))
    }

    /// Answers a question. The first answer wins and is applied before this returns; a late one changes nothing.
    pub(crate) async fn answer(&self, id: &str, given: ApprovalAnswer) -> Result<AnswerOutcome, Failure> {
        let (inner, id) = (Arc::clone(&self.inner), id.to_owned());
        blocking(move || inner.answer(&id, given)).await
    }

    /// Says whether a key that came with a link lets its bearer answer this question.
    pub(crate) fn is_key(&self, id: &str, key: &str) -> bool {
        self.inner.links.is_key(id, key)
    }

    /// Returns how many questions are open, and how many callers wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.inner.open_ids().len(), self.inner.waiting.count())
    }
}

/// Returns what came of a question. An allow counts once it was applied: before that the call would not pass.
pub(crate) fn reply(approval: &ApprovalRequest) -> QuestionReply {
    match (approval.state, &approval.answer) {
        (ApprovalState::Expired, _) => QuestionReply::Expired,
        (ApprovalState::Allowed, Some(_)) if approval.is_applied => QuestionReply::Allowed,
        (ApprovalState::Denied, Some(answer)) => QuestionReply::Denied {
            by: answer.by.clone(),
            message: answer.message.clone().unwrap_or_default(),
        },
        _ => QuestionReply::Open,
    }
}

/// Does what waits for a disk or a server where it keeps nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Failure::internal("the queue failed")))
}
