//! One call on its way through the daemon: judged by the gate, put to a person if one must say, recorded, answered.

mod judge;
mod question;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_hosts::{HookCall, HostAnswer, SessionFormat};
use portcullis_store::audit::Entry;
use portcullis_world::World;

use self::judge::{gate, judge, judge_by};
use self::question::put_to_person;
use super::telemetry::TraceParent;
use super::{Daemon, Shared};
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::audit_head;
use portcullis_gate::gate::{HostJudgement, UsedApprovals, is_question};

/// A call that was handed to the daemon.
#[derive(Debug, Clone)]
pub(crate) struct SubmittedCall {
    /// The call.
    pub(crate) asked: HookCall,
    /// The program's name in the audit trail.
    pub(crate) host: &'static str,
    /// The form of its session file, if it has one that we can read.
    pub(crate) format: Option<SessionFormat>,
    /// How long a person may take; not at all if it is not given.
    pub(crate) wait: Option<Duration>,
    /// The trace that whoever hands it over is in, if they say so.
    pub(crate) parent: Option<TraceParent>,
}

/// What was decided on a call, once it is on the trail.
#[derive(Debug)]
pub(crate) struct RecordedDecision {
    /// The judgement.
    pub(crate) judgement: HostJudgement,
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
pub(crate) async fn decide_call(
    daemon: &Shared,
    submitted: SubmittedCall,
) -> Result<RecordedDecision, Failure> {
    let started = Instant::now();
    let submitted = Arc::new(submitted);
    let mut judgement = judge(daemon, &submitted, UsedApprovals::new()).await?;
    let mut approval = None;
    if let Some(wait) = submitted.wait
        && is_question(&judgement)
    {
        (judgement, approval) = put_to_person(daemon, &submitted, judgement, wait).await?;
    }
    let judged = UnrecordedDecision::new(daemon, submitted, judgement, approval, started);
    let decisions = record(daemon, vec![judged]).await?;
    decisions.into_iter().next().ok_or_else(|| Failure::internal("the decision was lost"))
}

/// Judges calls one after the other, and writes the decisions down together. Nobody is waited for here. One that cannot
/// be judged is the failure of all.
pub(crate) async fn decide_calls(
    daemon: &Shared,
    all: Vec<SubmittedCall>,
) -> Result<Vec<RecordedDecision>, Failure> {
    let mut opened: BTreeMap<Place, Arc<SessionSettings>> = BTreeMap::new();
    let mut world = World::default();
    let mut done = Vec::with_capacity(all.len());
    for submitted in all {
        let started = Instant::now();
        let submitted = Arc::new(submitted);
        let session = &submitted.asked.session;
        // All of them came before the settings and the disk were looked at.
        let place = (session.cwd.clone(), session.project.clone(), session.id.clone());
        let known = opened.get(&place).cloned();
        let judgement = judge_by(daemon, &submitted, known, UsedApprovals::new(), &mut world).await?;
        opened.insert(place, Arc::clone(&judgement.session));
        done.push(UnrecordedDecision::new(daemon, submitted, judgement, None, started));
        // Whoever else is served by this thread gets a turn.
        tokio::task::yield_now().await;
    }
    record(daemon, done).await
}

/// Directory, project and session: what settings go by.
type Place = (String, Option<String>, String);

/// A call whose judgement stands, before it is on the trail.
struct UnrecordedDecision {
    submitted: Arc<SubmittedCall>,
    judgement: HostJudgement,
    answer: HostAnswer,
    entry: Option<Entry>,
    approval: Option<String>,
    started: Instant,
}

impl UnrecordedDecision {
    fn new(
        daemon: &Daemon,
        submitted: Arc<SubmittedCall>,
        judgement: HostJudgement,
        approval: Option<String>,
        started: Instant,
    ) -> Self {
        let answered = gate(daemon, &submitted).conclude(&submitted.asked, &judgement, started);
        Self { submitted, judgement, answer: answered.answer, entry: answered.entry, approval, started }
    }
}

/// Writes decisions down. What is not on the trail is not decided.
async fn record(daemon: &Daemon, mut all: Vec<UnrecordedDecision>) -> Result<Vec<RecordedDecision>, Failure> {
    // Settings switch the trail on or off for each directory.
    let has_entry: Vec<bool> = all.iter().map(|judged| judged.entry.is_some()).collect();
    let entries: Vec<Entry> = all.iter_mut().filter_map(|judged| judged.entry.take()).collect();
    let mut recorded = daemon.recorder.record(entries).await?.into_iter();
    let mut decisions = Vec::with_capacity(all.len());
    for (judged, has_entry) in all.into_iter().zip(has_entry) {
        let UnrecordedDecision { submitted, judgement, answer, approval, started, .. } = judged;
        keep_traces(daemon, &submitted, &judgement).await?;
        let recorded = if has_entry { recorded.next() } else { None };
        if let Some(recorded) = &recorded {
            daemon.telemetry.decided(&recorded.entry, submitted.parent);
        }
        let record = recorded.map(|recorded| recorded.id);
        send_head(daemon, &judgement, record.as_deref()).await;
        decisions.push(RecordedDecision { judgement, answer, record, approval, elapsed: started.elapsed() });
    }
    Ok(decisions)
}

/// Keeps what a call leaves for later calls of its session, where no file of the agent tells it.
async fn keep_traces(
    daemon: &Daemon,
    submitted: &SubmittedCall,
    judgement: &HostJudgement,
) -> Result<(), Failure> {
    let (traces, teller) = {
        let gate = gate(daemon, submitted);
        (gate.traces(&submitted.asked, judgement).filter(|traces| !traces.is_empty()), gate.teller())
    };
    let Some(traces) = traces else { return Ok(()) };
    let (store, session) = (daemon.store.clone(), submitted.asked.session.id.clone());
    let keeping = tokio::task::spawn_blocking(move || traces.keep(&store, &session, teller));
    keeping.await.map_err(|_| Failure::internal("what the call leaves could not be kept"))?
}

/// Keeps the end of the trail elsewhere, if that is due after a record.
async fn send_head(daemon: &Daemon, judgement: &HostJudgement, record: Option<&str>) {
    let settings = &judgement.session.loaded.audit.head;
    let Some(id) = record.filter(|id| audit_head::is_due(settings, id)) else { return };
    let (settings, store, id) = (settings.clone(), daemon.store.clone(), id.to_owned());
    let sending = tokio::task::spawn_blocking(move || audit_head::send_if_due(&settings, &store, &id));
    // What did not work is kept for `doctor`, and the record is on the trail.
    let _ = sending.await;
}
