//! One call on its way through the daemon: judged by the gate, put to a person if one must say, recorded, answered.

mod question;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_hosts::{HookCall, HostAnswer, SessionFormat};
use portcullis_store::audit::Entry;
use portcullis_world::World;
use tokio::sync::Semaphore;

use self::question::put_to_person;
use super::telemetry::TraceParent;
use super::{Daemon, MOST_WAITING_THREADS, Shared};
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::classifier::{ClassifierFlags, has_classifier};
use portcullis_gate::gate::is_question;
use portcullis_gate::gate::{HostGate, Passed, Ruling};
use portcullis_gate::judge::ConfiguredConsultants;

/// How many calls are judged at once where judging may wait for a server, a model or a hook. The rest of the threads
/// that may wait is left to those who answer and look.
static ROOM: Semaphore = Semaphore::const_new(MOST_WAITING_THREADS / 4 * 3);

/// A call that somebody brings.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    /// The call.
    pub(crate) asked: HookCall,
    /// The program's name in the audit trail.
    pub(crate) host: &'static str,
    /// The form of its session file, if it has one that we can read.
    pub(crate) format: Option<SessionFormat>,
    /// How long a person may take; not at all if it is not given.
    pub(crate) wait: Option<Duration>,
    /// The trace that whoever brings it is in, if they say so.
    pub(crate) parent: Option<TraceParent>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The ruling.
    pub(crate) ruling: Ruling,
    /// What the program is told.
    pub(crate) answer: HostAnswer,
    /// The id of the record, if decisions are recorded.
    pub(crate) record: Option<String>,
    /// The id of the question that a person was asked, if one was.
    pub(crate) approval: Option<String>,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// Judges a call, waits for a person where one must say, and writes the decision down.
pub(crate) async fn settle(daemon: &Shared, brought: Brought) -> Result<Settled, Failure> {
    let started = Instant::now();
    let brought = Arc::new(brought);
    let mut ruling = rule(daemon, &brought, Passed::new()).await?;
    let mut approval = None;
    if let Some(wait) = brought.wait
        && is_question(&brought.asked, &ruling)
    {
        (ruling, approval) = put_to_person(daemon, &brought, ruling, wait).await?;
    }
    let judged = Judged::new(daemon, brought, ruling, approval, started);
    let settled = record(daemon, vec![judged]).await?;
    settled.into_iter().next().ok_or_else(|| Failure::internal("the decision was lost"))
}

/// Judges calls one after the other, and writes the decisions down together. Nobody is waited for here. One that cannot
/// be judged is the failure of all.
pub(crate) async fn settle_all(daemon: &Shared, all: Vec<Brought>) -> Result<Vec<Settled>, Failure> {
    let mut opened: BTreeMap<Place, Arc<SessionSettings>> = BTreeMap::new();
    let mut world = World::default();
    let mut done = Vec::with_capacity(all.len());
    for brought in all {
        let started = Instant::now();
        let brought = Arc::new(brought);
        let session = &brought.asked.session;
        // All of them came before the settings and the disk were looked at.
        let place = (session.cwd.clone(), session.project.clone(), session.id.clone());
        let known = opened.get(&place).cloned();
        let ruling = rule_by(daemon, &brought, known, Passed::new(), &mut world).await?;
        opened.insert(place, Arc::clone(&ruling.session));
        done.push(Judged::new(daemon, brought, ruling, None, started));
        // Whoever else is served by this thread gets a turn.
        tokio::task::yield_now().await;
    }
    record(daemon, done).await
}

/// Directory, project and session: what settings go by.
type Place = (String, Option<String>, String);

/// A call whose ruling stands, before it is on the trail.
struct Judged {
    brought: Arc<Brought>,
    ruling: Ruling,
    answer: HostAnswer,
    entry: Option<Entry>,
    approval: Option<String>,
    started: Instant,
}

impl Judged {
    fn new(
        daemon: &Daemon,
        brought: Arc<Brought>,
        ruling: Ruling,
        approval: Option<String>,
        started: Instant,
    ) -> Self {
        let concluded = gate(daemon, &brought).conclude(&brought.asked, &ruling, started);
        Self { brought, ruling, answer: concluded.answer, entry: concluded.entry, approval, started }
    }
}

/// Writes decisions down. What is not on the trail is not settled.
async fn record(daemon: &Daemon, mut all: Vec<Judged>) -> Result<Vec<Settled>, Failure> {
    // Settings switch the trail on or off for each directory.
    let has_entry: Vec<bool> = all.iter().map(|judged| judged.entry.is_some()).collect();
    let entries: Vec<Entry> = all.iter_mut().filter_map(|judged| judged.entry.take()).collect();
    let mut recorded = daemon.recorder.record(entries).await?.into_iter();
    let mut settled = Vec::with_capacity(all.len());
    for (judged, has_entry) in all.into_iter().zip(has_entry) {
        let Judged { brought, ruling, answer, approval, started, .. } = judged;
        let recorded = if has_entry { recorded.next() } else { None };
        if let Some(recorded) = &recorded {
            daemon.telemetry.decided(&recorded.entry, brought.parent);
        }
        let record = recorded.map(|recorded| recorded.id);
        settled.push(Settled { ruling, answer, record, approval, elapsed: started.elapsed() });
    }
    Ok(settled)
}

/// Judges a call by the settings of its directory as they are now. `passed` is what an earlier ruling on it used up.
async fn rule(daemon: &Shared, brought: &Arc<Brought>, passed: Passed) -> Result<Ruling, Failure> {
    rule_by(daemon, brought, None, passed, &mut World::default()).await
}

/// Judges a call by settings that are at hand, or else by those of its directory as they are now.
async fn rule_by(
    daemon: &Shared,
    brought: &Arc<Brought>,
    session: Option<Arc<SessionSettings>>,
    passed: Passed,
    world: &mut World,
) -> Result<Ruling, Failure> {
    if daemon.is_shared_store {
        return on_own_thread(daemon, brought, session, passed).await;
    }
    let session = match session {
        Some(session) => session,
        None => daemon.settings.open(&daemon.arguments, &brought.asked.session, &daemon.store)?,
    };
    if may_wait(&session) || is_long(&brought.asked) {
        return on_own_thread(daemon, brought, Some(session), passed).await;
    }
    // Rules and proofs take microseconds, less than handing the call to another thread and back.
    shielded(|| gate(daemon, brought).rule(session, &brought.asked, passed, world))
}

async fn on_own_thread(
    daemon: &Shared,
    brought: &Arc<Brought>,
    session: Option<Arc<SessionSettings>>,
    passed: Passed,
) -> Result<Ruling, Failure> {
    let (daemon, brought) = (Arc::clone(daemon), Arc::clone(brought));
    let place = ROOM.acquire().await.map_err(|_| panicked())?;
    let judged = tokio::task::spawn_blocking(move || {
        // Whoever asked may be gone before the thread is free again.
        let _place = place;
        let session = match session {
            Some(session) => session,
            None => daemon.settings.open(&daemon.arguments, &brought.asked.session, &daemon.store)?,
        };
        gate(&daemon, &brought).rule(session, &brought.asked, passed, &mut World::default())
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

fn gate<'a>(daemon: &'a Daemon, brought: &Brought) -> HostGate<'a> {
    HostGate {
        arguments: &daemon.arguments,
        host: brought.host,
        format: brought.format,
        known: None,
        consultants: Some(&ConfiguredConsultants),
        before_asking: &|time| time,
    }
}

fn shielded(judge: impl FnOnce() -> Result<Ruling, Failure>) -> Result<Ruling, Failure> {
    // Whatever the panic left half done is dropped with the closure.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(judge)).unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Failure {
    Failure::internal("the call could not be judged because of an internal failure")
}
