//! The gate: one call that a program brings is judged, put into what that program can be told, and written down.
//!
//! ```text
//! HookCall ──► settings of its directory ──► road, worst of its calls ──► Answer ──► audit ──► whoever asked
//! ```
//!
//! Settings are loaded anew for every call, so that what a person allows or forbids meanwhile counts at once.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use portcullis_core::{CallApproval, Case, Context, Decision, Mode, Person, ToolInput, Verdict, visible};
use portcullis_hosts::{
    AskBy, HookCall, HookSession, HostAnswer, HostDecision, MomentCapabilities, PlainQuestion, SessionFormat,
};

use super::queue::put_to_daemon;
use super::withdrawal::QuestionWithdrawal;
use crate::Failure;
use crate::audit::{self, RecordContext};
use crate::audit_head;
use crate::classifier::{ClassifierFlags, has_classifier};
use crate::clock::now_ms;
use crate::containment::{HELD_CHANGES, HostFence};
use crate::env_vars;
use crate::judge::{CallJudge, Consultants, JudgedCall, Nobody, keep_question};
use crate::session_settings::{SessionSettings, SettingsFlags, SettingsPlan};
use crate::stores;
use portcullis_store::StoreError;
use portcullis_store::audit::Entry;
use portcullis_world::World;

/// What an agent is told whose call auto mode denied.
const ADVICE: &str = "Trying it again does not help. Do not try to reach the same end by any other way: go on with something else, or stop \
     and ask the user";

/// What can be said to a program that has no user to ask: an ask is a refusal there.
pub const UNATTENDED: MomentCapabilities = MomentCapabilities {
    allow: true,
    ask: AskBy::Nothing,
    plain: PlainQuestion::AsAny,
    reason: true,
    changed_input: true,
    fails_open: false,
};

/// Returns the session of this process, for a protocol that knows none.
pub fn own_session(host: &str) -> Result<HookSession, Failure> {
    let directory = std::env::current_dir()
        .map_err(|error| Failure::internal(format!("the current directory is not known: {error}")))?;
    let cwd = directory
        .to_str()
        .ok_or_else(|| Failure::usage(format!("`{}` is not valid UTF-8", directory.display())))?;
    Ok(HookSession {
        id: format!("{host}-{}-{}", std::process::id(), now_ms()),
        cwd: cwd.to_owned(),
        project: env_vars::claude_project(),
        transcript: None,
        agent: None,
    })
}

/// A call that was judged.
#[derive(Debug)]
pub struct HostJudgement {
    /// The settings it was judged by.
    pub session: Arc<SessionSettings>,
    /// Which of the calls decided.
    pub at: usize,
    /// The judgement.
    pub judged: JudgedCall,
    /// What the program is told of it.
    pub said: HostDecision,
    /// What the program runs instead, if the call is contained.
    pub changed_input: Option<ToolInput>,
    /// The approvals that were used up on the way.
    pub used_approvals: UsedApprovals,
}

/// Approvals of a person that were used up, by the place of their call. A call of the program may amount to several of
/// ours, each of which is asked about; what let one of them through must still do so when the next one is judged.
pub type UsedApprovals = BTreeMap<usize, CallApproval>;

/// What the program is told of a judgement, and what is kept of it.
#[derive(Debug)]
pub struct AnsweredCall {
    /// What the program is told.
    pub answer: HostAnswer,
    /// What is kept; `None` if settings say that nothing is.
    pub entry: Option<Entry>,
}

/// Makes the failure of a decision that could not be written down.
pub fn unrecorded(error: &StoreError) -> Failure {
    Failure::internal(format!("the audit trail could not be written: {error}"))
}

/// What a program knows of its own session from the start.
#[derive(Debug, Default)]
pub struct KnownSession {
    /// What the user said, oldest first.
    pub turns: Vec<String>,
    /// Whether the session was aborted: then no call of it gets a decision.
    pub is_aborted: AtomicBool,
}

/// The flags of a trial.
static NO_FLAGS: ClassifierFlags = ClassifierFlags { no_classifier: false, provider: None };

/// Judges the calls of one program.
pub struct HostGate<'a> {
    /// The flags that choose settings.
    pub arguments: &'a SettingsFlags,
    /// The program's name in the audit trail.
    pub host: &'a str,
    /// What the program itself knows of the session; `None` for a host, whose session file tells it.
    pub known: Option<&'a KnownSession>,
    /// The form of its session file, if it has one that we can read.
    pub format: Option<SessionFormat>,
    /// Who is asked where rules and proofs do not decide; `None` if this program can ask nobody, and the full one must.
    pub consultants: Option<&'a dyn Consultants>,
    /// Told before somebody is asked how long that may take; says how long there is.
    pub before_asking: &'a dyn Fn(Duration) -> Duration,
    /// How a question of the call is taken back while it waits; `None` where nobody would.
    pub withdrawal: Option<&'a QuestionWithdrawal>,
}

impl std::fmt::Debug for HostGate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HostGate").field("host", &self.host).finish_non_exhaustive()
    }
}

impl HostGate<'_> {
    /// Judges a call and writes the decision down. What cannot be judged or written down is a failure, never an answer.
    pub fn answer(&self, asked: &HookCall, started: Instant) -> Result<HostAnswer, Failure> {
        Ok(self.answer_with_case(asked, started)?.0)
    }

    /// Judges a call as [`Self::answer`] does, and returns what it was decided by too.
    pub(super) fn answer_with_case(
        &self,
        asked: &HookCall,
        started: Instant,
    ) -> Result<(HostAnswer, JudgedCall), Failure> {
        let open = || self.open_with_store(&asked.session);
        self.answer_in(Arc::new(open()?), asked, started, &open)
    }

    /// Judges a call as [`Self::answer`] does, by settings that have just been loaded and keep everything in files, in a
    /// process that ends with the answer.
    pub fn answer_by(
        &self,
        session: SessionSettings,
        asked: &HookCall,
        started: Instant,
    ) -> Result<HostAnswer, Failure> {
        let session = Arc::new(session);
        // The process ends with the answer, and the kernel takes its memory back faster than we could.
        let _kept = ManuallyDrop::new(Arc::clone(&session));
        let (answer, judged) = self.answer_in(session, asked, started, &|| self.open(&asked.session))?;
        let _kept = ManuallyDrop::new(judged);
        Ok(answer)
    }

    /// Loads the settings for a call as they are now. No store but files is opened.
    pub fn open(&self, place: &HookSession) -> Result<SessionSettings, Failure> {
        let project = place.project.as_ref().map(PathBuf::from);
        SessionSettings::open_for_session(self.arguments, &place.cwd, project, &place.id)
    }

    /// Loads the settings for a call in a process that lives on, with the store that they choose.
    pub(super) fn open_with_store(&self, place: &HookSession) -> Result<SessionSettings, Failure> {
        let session = self.open(place)?;
        let Some(state) = session.locations.state.clone().filter(|_| session.loaded.store.is_shared()) else {
            return Ok(session);
        };
        let store = stores::open(&session.loaded, state)?;
        let mut plan =
            SettingsPlan::new(self.arguments, &place.cwd, place.project.as_ref().map(PathBuf::from))?;
        plan.add_grants(&store, &place.id);
        Ok(plan.load()?.with_store(store))
    }

    fn answer_in(
        &self,
        session: Arc<SessionSettings>,
        asked: &HookCall,
        started: Instant,
        open: &dyn Fn() -> Result<SessionSettings, Failure>,
    ) -> Result<(HostAnswer, JudgedCall), Failure> {
        let judge_again = |earlier: HostJudgement| {
            self.judge_again(Arc::new(open()?), asked, earlier, &mut World::default())
        };
        let judgement = self.judge(session, asked, UsedApprovals::new(), &mut World::default())?;
        let judgement = put_to_daemon(self, asked, judgement, &judge_again)?;
        let answered = self.conclude(asked, &judgement, started);
        if let (Some(entry), Some(store)) = (&answered.entry, judgement.session.store()) {
            // What cannot be recorded is not allowed: a decision that nobody can prove was never made.
            let id = store.audit().append(entry).map_err(|error| unrecorded(&error))?;
            audit_head::send_if_due(&judgement.session.loaded.audit.head, &store, &id);
        }
        if let (Some(traces), Some(store)) = (self.traces(asked, &judgement), judgement.session.store()) {
            traces.keep(&store, &asked.session.id, self.teller())?;
        }
        Ok((answered.answer, judgement.judged))
    }

    /// Judges a call by the settings of its session, and keeps a question that nobody can be asked. `used_approvals` is
    /// what an earlier judgement on it used up; `world` is what the disk said since the call came.
    pub fn judge(
        &self,
        session: Arc<SessionSettings>,
        asked: &HookCall,
        used_approvals: UsedApprovals,
        world: &mut World,
    ) -> Result<HostJudgement, Failure> {
        self.judge_with(session, asked, used_approvals, None, world)
    }

    /// Judges a call as [`Self::judge`] does, after a person answered what an earlier judgement on it asked. What the
    /// earlier one decided by is not parsed again.
    fn judge_again(
        &self,
        session: Arc<SessionSettings>,
        asked: &HookCall,
        earlier: HostJudgement,
        world: &mut World,
    ) -> Result<HostJudgement, Failure> {
        let HostJudgement { at, judged, used_approvals, .. } = earlier;
        self.judge_with(session, asked, used_approvals, Some((at, judged.case)), world)
    }

    fn judge_with(
        &self,
        session: Arc<SessionSettings>,
        asked: &HookCall,
        mut used_approvals: UsedApprovals,
        parsed: Option<(usize, Case)>,
        world: &mut World,
    ) -> Result<HostJudgement, Failure> {
        let (at, mut judged) = self.judge_all(&session, asked, &mut used_approvals, parsed, world)?;
        let said = self.said(&session, asked, (at, &judged), world)?;
        if said == HostDecision::Silence && judged.verdict.is_plain_refusal() {
            judged.verdict = self.as_question(&session, asked, &judged.case, world)?;
        }
        keep_question(&session, &asked.session.id, &mut judged, said);
        let changed_input = match said {
            HostDecision::Contained => Some(self.contain(&session, asked, &judged)?),
            _ => None,
        };
        Ok(HostJudgement { session, at, judged, said, changed_input, used_approvals })
    }

    /// Returns what the program runs instead of a call that is contained. A fence that cannot be had any more is a failure.
    fn contain(
        &self,
        session: &SessionSettings,
        asked: &HookCall,
        judged: &JudgedCall,
    ) -> Result<ToolInput, Failure> {
        let fence = HostFence::new(session, self.host, asked);
        let both = fence.zip(judged.verdict.fence());
        let (fence, request) = both.ok_or_else(|| Failure::internal("the call could not be contained"))?;
        fence.put_up(&judged.case, request)
    }

    /// Puts a judgement into what the program can be told and what is kept of it.
    pub fn conclude(&self, asked: &HookCall, judgement: &HostJudgement, started: Instant) -> AnsweredCall {
        let HostJudgement { session, judged, said, .. } = judgement;
        let place = &asked.session;
        let advice = judged.verdict.is_judged_denial().then_some(ADVICE);
        let notice = notice(session, judged, *said);
        let changed_input = judgement.changed_input.clone();
        let answer = HostAnswer::of(&judged.verdict, *said, advice, notice.as_deref());
        let answer = HostAnswer { changed_input, ..answer };
        let record = RecordContext {
            host: self.host,
            event: asked.moment.event,
            session: &place.id,
            agent: place.agent.as_deref(),
            call_id: asked.call_id.as_deref(),
            said: answer.said,
            elapsed: started.elapsed(),
        };
        let is_kept = session.loaded.audit.is_enabled;
        let call = asked.calls.get(judgement.at).filter(|_| is_kept);
        let entry = call.map(|call| audit::entry(&record, call, judged));
        AnsweredCall { answer, entry }
    }

    /// Judges a call in a process that lives on: a failure blocks it, and so does a panic.
    pub fn answer_or_block(&self, asked: &HookCall) -> HostAnswer {
        or_block(|| self.answer(asked, Instant::now()))
    }

    /// Judges every call that one call of the program amounts to, and returns the worst of them with its place.
    fn judge_all(
        &self,
        session: &SessionSettings,
        asked: &HookCall,
        used_approvals: &mut UsedApprovals,
        mut parsed: Option<(usize, Case)>,
        world: &mut World,
    ) -> Result<(usize, JudgedCall), Failure> {
        let place = &asked.session;
        // Of several calls an earlier one may use up an approval before a later one turns out to need the full program.
        let may_consult =
            has_classifier(&session.loaded, &NO_FLAGS) || !session.loaded.permission_hooks.is_empty();
        if self.consultants.is_none() && asked.calls.len() > 1 && may_consult {
            return Err(Failure::elsewhere());
        }
        let person = asked.person.unwrap_or(Person::Present);
        let fence = LazyCell::new(|| HostFence::new(session, self.host, asked));
        let road = CallJudge {
            session,
            arguments: &NO_FLAGS,
            store: session.store(),
            session_id: Some(place.id.clone()),
            consultants: self.consultants,
            before_asking: self.before_asking,
            fences: Some(&fence),
        };
        let past = self.past(session, asked);
        let mut worst: Option<(usize, JudgedCall)> = None;
        for (at, call) in asked.calls.iter().enumerate() {
            let mut context = session.context(self.mode(session, asked), person, &[]);
            if let Some(known) = self.known {
                context.aborted = known.is_aborted.load(Ordering::Relaxed);
                context.session.turns.extend_from_slice(&known.turns);
                // Where nothing can be kept, nobody knows what earlier calls of the session wrote.
                context.session.is_partial |= session.store().is_none() || place.id.is_empty();
            }
            context.session.approval = used_approvals.get(&at).cloned();
            let judged = match parsed.take_if(|(place, _)| *place == at) {
                Some((_, case)) => road.judge_again(case, context, &past, world)?,
                None => road.judge(call, context, &past, world)?,
            };
            // What only nobody allowed yet may be left to the program, and a later call may be denied for good.
            let is_final = judged.verdict.decision == Decision::Deny && !judged.verdict.is_plain_refusal();
            if let Some(approval) = &judged.case.context().session.approval {
                used_approvals.insert(at, approval.clone());
            }
            if worst.as_ref().is_none_or(|(_, known)| weight(&judged.verdict) > weight(&known.verdict)) {
                worst = Some((at, judged));
            }
            if is_final {
                break;
            }
        }
        worst.ok_or_else(|| Failure::internal("there is no call to judge"))
    }

    /// Returns the mode of a call. A host that says its mode is the usual one leaves it to our own settings; a program that
    /// embeds the gate means what it says.
    fn mode(&self, session: &SessionSettings, asked: &HookCall) -> Option<Mode> {
        let own = session.policy().own_mode.filter(|_| self.known.is_none());
        match asked.mode {
            Some(Mode::Default) => own.or(asked.mode),
            said => said,
        }
    }

    /// Puts the judgement on the call that decides into what the program can be told.
    fn said(
        &self,
        session: &SessionSettings,
        asked: &HookCall,
        (at, judged): (usize, &JudgedCall),
        world: &mut World,
    ) -> Result<HostDecision, Failure> {
        let capabilities = asked.moment.capabilities;
        let starts_agents = || asked.calls.iter().all(|call| call.tool() == "Agent");
        // Broken settings may have forbidden the call, which the person must know.
        let is_plain = judged.verdict.is_plain_question() || judged.verdict.is_plain_refusal();
        let is_left = is_plain
            && !session.loaded.damaged
            && match capabilities.plain {
                PlainQuestion::AsAny => false,
                PlainQuestion::LeftForSubagents => starts_agents(),
                PlainQuestion::LeftIfHarmless => {
                    starts_agents() || self.is_harmless(session, asked, (at, &judged.case), world)?
                }
                // The host's own question would be for nobody; others may answer ours elsewhere.
                PlainQuestion::LeftToHost => judged.verdict.is_plain_question(),
            };
        Ok(if is_left { HostDecision::Silence } else { capabilities.lower_verdict(&judged.verdict) })
    }

    /// Judges so that nobody is asked and nothing is counted or used up.
    fn trial<'s>(&'s self, session: &'s SessionSettings) -> CallJudge<'s> {
        CallJudge {
            session,
            arguments: &NO_FLAGS,
            store: None,
            session_id: None,
            consultants: Some(&Nobody),
            before_asking: self.before_asking,
            fences: None,
        }
    }

    /// Returns the verdict on a call that is left to the program although nobody is there: the question that it is, since
    /// nothing was refused.
    fn as_question(
        &self,
        session: &SessionSettings,
        asked: &HookCall,
        case: &Case,
        world: &mut World,
    ) -> Result<Verdict, Failure> {
        let context = Context { person: Person::Present, ..case.context().clone() };
        let past = self.past(session, asked);
        Ok(self.trial(session).judge_again(case.clone(), context, &past, world)?.verdict)
    }

    /// Says whether the proofs of auto mode would allow every call, with nobody asked and nothing counted or used up. What
    /// auto mode itself asks about, or a stricter one, was not meant to run by such a proof.
    fn is_harmless(
        &self,
        session: &SessionSettings,
        asked: &HookCall,
        (at, case): (usize, &Case),
        world: &mut World,
    ) -> Result<bool, Failure> {
        let in_force = session.policy().mode_in_force(case.context().mode);
        if !matches!(in_force, Mode::Default | Mode::AcceptEdits) {
            return Ok(false);
        }
        let trial = self.trial(session);
        let past = self.past(session, asked);
        for (place, call) in asked.calls.iter().enumerate() {
            let context = Context { mode: Mode::Auto, ..case.context().clone() };
            let judged = if place == at {
                trial.judge_again(case.clone(), context, &past, world)?
            } else {
                trial.judge(call, context, &past, world)?
            };
            if judged.verdict.decision != Decision::Allow {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Orders verdicts on the calls that one call of a program amounts to. Of two questions the one that something speaks
/// against decides, since the other might be left to the program; a tool that is itself one is left the most easily.
fn weight(verdict: &Verdict) -> (Decision, u8) {
    let rank = match verdict {
        verdict if verdict.is_own_question() => 0,
        verdict if verdict.is_plain_question() || verdict.is_plain_refusal() => 1,
        _ => 2,
    };
    (verdict.decision, rank)
}

/// Takes what a judgement comes to; one that fails or panics blocks.
fn or_block(judge: impl FnOnce() -> Result<HostAnswer, Failure>) -> HostAnswer {
    // Whatever the panic left half done is dropped with the closure.
    match catch_unwind(AssertUnwindSafe(judge)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => HostAnswer::failure(&failure.message),
        Err(_) => HostAnswer::failure("the call could not be judged because of an internal failure"),
    }
}

/// Returns what the user should know and the agent need not: broken settings, what did not work, how to lift a denial. Held
/// changes alone have lines of their own, below what is said in one clause.
fn notice(session: &SessionSettings, judged: &JudgedCall, said: HostDecision) -> Option<String> {
    let problem = session.notice().or_else(|| judged.problems.first().cloned());
    let (held, problem): (Vec<String>, Vec<String>) =
        problem.into_iter().partition(|problem| problem.starts_with(HELD_CHANGES));
    let denial = judged.denial.as_ref().filter(|_| said == HostDecision::Deny);
    let lift = denial.map(|id| format!("`portcullis allow --id {id}` allows this very call once"));
    let clauses: Vec<String> =
        problem.iter().map(|problem| visible(problem).into_owned()).chain(lift).collect();
    let said = Some(clauses.join("; ")).filter(|said| !said.is_empty());
    let parts: Vec<String> = said.into_iter().chain(held).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_that_fails_or_panics_blocks() {
        let failed = or_block(|| Err(Failure::internal("the disk is full")));
        assert_eq!(failed.said, HostDecision::Deny);
        assert!(failed.reason.contains("the disk is full"), "{}", failed.reason);
        let panicked = or_block(|| panic!("the fault under test"));
        assert_eq!(panicked.said, HostDecision::Deny);
        assert!(panicked.reason.contains("internal failure"), "{}", panicked.reason);
    }
}
