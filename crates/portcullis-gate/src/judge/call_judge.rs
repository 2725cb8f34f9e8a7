//! One call on its whole way: decided, judged by a model where it must be, counted.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portcullis_classifier::prompt::Prompt;
use portcullis_classifier::protocol::ModelExchange;
use portcullis_classifier::transcript::{NoticeKind, Transcript, TranscriptEntry, TranscriptFormat, encode};
use portcullis_core::{
    CallApproval, Case, Context, Decision, Mode, Need, Outcome, Policy, Reason, SessionKnowledge, ToolCall,
    Verdict,
};
use portcullis_hosts::json::{write_input, write_text};
use portcullis_store::{DenialKind, NewDenial, SessionFactLog, SessionStore, Store};

use super::consult::{Consultants, ConsultedCall, Nobody};
use super::decide::prepare;
use super::kept_question::suggestions;
use super::session_file::{add_results, read_session, read_subagent, read_subagents};
use super::whose_words::{count_words, lifted_by_file};
use crate::Failure;
use crate::classifier::{ClassifierFlags, Recipe, has_classifier};
use crate::clock::now_ms;
use crate::containment::FenceBuilder;
use crate::session_settings::SessionSettings;
use portcullis_world::World;

/// How long a session is kept after its last denial, in milliseconds: thirty days.
pub const LONGEST_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

impl std::fmt::Debug for CallJudge<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CallJudge").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

/// Where a session's past is found.
#[derive(Debug, Clone, Default)]
pub struct SessionHistory {
    /// The host's session file.
    pub file: Option<PathBuf>,
    /// Whose file it is, if that is known.
    pub format: Option<TranscriptFormat>,
    /// The subagent that makes the call, if one does.
    pub agent: Option<String>,
    /// The host's id of the call.
    pub call_id: Option<String>,
    /// Whether there is a session even without a file: a host's own, which writes its file late or does not name it, and
    /// of which our own record does not tell everything either.
    pub is_hosts: bool,
}

/// What a call is judged with.
pub struct CallJudge<'a> {
    /// The settings it is judged by.
    pub session: &'a SessionSettings,
    /// The flags that choose the model.
    pub arguments: &'a ClassifierFlags,
    /// Where denials are counted, if they are.
    pub store: Option<Store>,
    /// What the session is known by; without it nothing is counted.
    pub session_id: Option<String>,
    /// Who is asked where rules and proofs do not decide; `None` if this program can ask nobody, and the full one must.
    pub consultants: Option<&'a dyn Consultants>,
    /// Told before somebody is asked how long that may take; says how long there is.
    pub before_asking: &'a dyn Fn(Duration) -> Duration,
    /// Who puts fences up for calls that are contained; `None` where no call can be.
    pub fences: Option<&'a dyn FenceBuilder>,
}

/// A verdict with what came with it.
#[derive(Debug)]
pub struct JudgedCall {
    /// The decision, and why.
    pub verdict: Verdict,
    /// What it was given on, with what the session file told.
    pub case: Case,
    /// The id of the denial, if it was counted and a person may lift it.
    pub denial: Option<String>,
    /// What was said with models.
    pub exchanges: Vec<ModelExchange>,
    /// What did not work and does not change the verdict.
    pub problems: Vec<String>,
}

/// A decision in the making.
pub(super) struct Try {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
    pub(super) transcript: Transcript,
}

impl Try {
    /// Decides the case by a policy, with what is known by now.
    pub(super) fn decide(&self, policy: &Policy) -> Result<Outcome, Failure> {
        decide(&self.case, policy)
    }
}

impl CallJudge<'_> {
    /// Judges a call.
    pub fn judge(
        &self,
        call: &ToolCall,
        context: Context,
        past: &SessionHistory,
        world: &mut World,
    ) -> Result<JudgedCall, Failure> {
        self.judge_case(call, context, |context| Case::new(call.clone(), context), past, world)
    }

    /// Judges a call again that was judged before. Settings, session and disk are looked at anew, as for a call that has
    /// just come; only the command is not parsed again.
    pub fn judge_again(
        &self,
        earlier: Case,
        context: Context,
        past: &SessionHistory,
        world: &mut World,
    ) -> Result<JudgedCall, Failure> {
        let call = earlier.call().clone();
        self.judge_case(&call, context, |context| earlier.again(context), past, world)
    }

    fn judge_case(
        &self,
        call: &ToolCall,
        mut context: Context,
        make: impl FnOnce(Context) -> Case,
        past: &SessionHistory,
        world: &mut World,
    ) -> Result<JudgedCall, Failure> {
        let transcript = said(&context);
        let (facts, mut doubt) = match self.recall(&mut context) {
            Ok(facts) => (facts, None),
            Err(lost) => (SessionFactLog::default(), Some(lost)),
        };
        let mut problems: Vec<String> = doubt.iter().cloned().collect();
        let mut policy = Cow::Borrowed(self.session.policy());
        let mut case = make(context);
        case.answer(world.answer(case.questions(&policy)));
        let outcome = decide(&case, &policy)?;
        let mut tried = Try { case, outcome, transcript };
        let depends = depends_on_past(&tried) || !facts.heard && may_be_forbidden(&tried);
        if (past.file.is_some() || past.is_hosts) && depends {
            let mut context = tried.case.context().clone();
            tried.transcript = remember(call, &mut context, tried.transcript, past, &mut problems);
            let words = self.file_words(past, &facts, &mut problems);
            let forbidden = count_words(&mut context, &mut tried.transcript, words);
            let uses_past = tried.case.may_use_session_files() || tried.case.removes_files();
            if uses_past || tried.case.asks_strangers() {
                touched(&mut context, &tried.transcript, past);
            }
            tried.case.learn(|session| *session = context.session);
            // What the session wrote is read now that it is known what that is.
            let questions = tried.case.questions(&policy);
            tried.case.answer(world.answer(questions));
            tried.outcome = tried.decide(&policy)?;
            if let Some(forbidden) = forbidden {
                doubt = doubt.or(lifted_by_file(&tried.case, forbidden, &policy)?);
            }
        }
        self.recall_yes(&mut tried, &policy, &mut problems)?;
        self.offer_fence(&mut tried, &policy, &mut problems)?;
        self.refuse_elsewhere(&tried)?;
        tried = self.spend(tried, &mut policy, &mut problems)?;
        if let Some(approval) = self.take_approval(call, &tried, &mut problems) {
            tried = self.decide_approved(tried, approval, &policy, &mut problems)?;
        }
        let mut exchanges = Vec::new();
        let Try { case, mut outcome, transcript } = tried;
        if let Outcome::Needs(pending) = &outcome
            && pending.need() == Need::Classifier
        {
            let question =
                ConsultedCall { judge: self, case: &case, pending, transcript: &transcript, history: past };
            let answer = self.consultants()?.ask_classifier(&question, &mut exchanges, &mut problems);
            outcome = pending.clone().resume(answer);
        }
        if let Outcome::Needs(pending) = &outcome
            && pending.need() == Need::Hooks
        {
            let question =
                ConsultedCall { judge: self, case: &case, pending, transcript: &transcript, history: past };
            let answer = self.consultants()?.ask_hooks(&question, &mut problems);
            outcome = pending.clone().resume(answer);
        }
        let verdict = outcome.into_verdict();
        // What the user forbade may be among what was lost, or what only a file takes back.
        let verdict = match doubt {
            Some(detail) => verdict.doubted(&detail, case.context().person),
            None => verdict,
        };
        Ok(self.count(case, verdict, exchanges, problems))
    }

    /// Ends here, before anything is used up, if somebody must be asked whom this program cannot reach.
    fn refuse_elsewhere(&self, tried: &Try) -> Result<(), Failure> {
        let Outcome::Needs(pending) = &tried.outcome else { return Ok(()) };
        let loaded = &self.session.loaded;
        let is_asked = match pending.need() {
            Need::Classifier => has_classifier(loaded, self.arguments) || !loaded.permission_hooks.is_empty(),
            Need::Hooks => !loaded.permission_hooks.is_empty(),
            Need::Person => false,
        };
        if is_asked && self.consultants.is_none() { Err(Failure::elsewhere()) } else { Ok(()) }
    }

    /// Returns who is asked. Without anybody the question stays unanswered, which never allows.
    fn consultants(&self) -> Result<&dyn Consultants, Failure> {
        let loaded = &self.session.loaded;
        match self.consultants {
            Some(consultants) => Ok(consultants),
            None if has_classifier(loaded, self.arguments) || !loaded.permission_hooks.is_empty() => Err(
                Failure::internal("the call was not judged: a grant that it needed was used up meanwhile"),
            ),
            None => Ok(&Nobody),
        }
    }

    /// Adds to a context what is kept of the session beside calls, and returns it; or why that cannot be read.
    fn recall(&self, context: &mut Context) -> Result<SessionFactLog, String> {
        let Some(store) = self.session_store() else { return Ok(SessionFactLog::default()) };
        let facts =
            store.facts().map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))?;
        context.session.boundaries.clone_from(&facts.boundaries);
        context.session.touched.extend(facts.written.iter().cloned());
        context.session.filled.extend(facts.filled.iter().cloned());
        context.session.reads_secrets |= facts.reads_secrets;
        context.session.is_partial |= facts.is_partial;
        Ok(facts)
    }

    pub(super) fn session_store(&self) -> Option<SessionStore> {
        let id = self.session_id.as_deref().filter(|id| !id.is_empty())?;
        Some(self.store.as_ref()?.session(id))
    }

    /// Drops what is kept of sessions nobody has worked in for long; once in a session is often enough.
    fn forget_old_sessions(&self, problems: &mut Vec<String>) {
        let forgotten = self.store.as_ref().map(|store| store.forget_old_sessions(now_ms(), LONGEST_KEPT_MS));
        if let Some(Err(error)) = forgotten {
            problems.push(error.to_string());
        }
    }

    /// Uses up what a person granted for this very call, if somebody did and it could change the outcome.
    fn take_approval(
        &self,
        call: &ToolCall,
        tried: &Try,
        problems: &mut Vec<String>,
    ) -> Option<CallApproval> {
        let needs_answer = match lifting(tried) {
            Lifting::Nothing => return None,
            Lifting::Anything => false,
            Lifting::Answer => true,
        };
        let store = self.session_store()?;
        let identity = identity(&tried.case);
        let sought = (call.tool(), identity.as_str(), tried.case.context().cwd.as_str());
        match store.take_answer(sought, needs_answer, now_ms()) {
            Ok(taken) => taken.map(|taken| CallApproval { id: taken.id, answers_questions: taken.is_answer }),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        }
    }

    /// Counts the verdict, and turns it where it reaches a limit.
    fn count(
        &self,
        case: Case,
        verdict: Verdict,
        exchanges: Vec<ModelExchange>,
        mut problems: Vec<String>,
    ) -> JudgedCall {
        let mut denial = None;
        let person = case.context().person;
        let mut verdict = verdict;
        if verdict.mode == Mode::Auto
            && let Some(store) = self.session_store()
        {
            if verdict.is_judged_denial() {
                let new = new_denial(&case, &verdict);
                match store.record_denial_with(&new, &suggestions(&verdict), now_ms()) {
                    Ok(recorded) => {
                        if recorded.denials.in_total == 1 {
                            self.forget_old_sessions(&mut problems);
                        }
                        denial = verdict.is_retryable().then_some(recorded.id);
                        if let Some(limit) = recorded.limit {
                            let on_limit = self.session.loaded.classifier.on_limit;
                            verdict = verdict.at_limit(limit, person, on_limit);
                        }
                    }
                    Err(error) => problems.push(error.to_string()),
                }
            } else if verdict.decision <= Decision::Contained
                && let Err(error) = store.record_allow()
            {
                problems.push(error.to_string());
            }
        }
        JudgedCall { verdict, case, denial, exchanges, problems }
    }
}

/// Says whether what happened earlier in the session may change a decision: the user's words may clear what was found,
/// and a script that the agent wrote is judged by other rules than one of the project's.
fn depends_on_past(tried: &Try) -> bool {
    let is_judged = matches!(tried.outcome.verdict().mode, Mode::Auto | Mode::Plan);
    let is_allowed =
        matches!(&tried.outcome, Outcome::Settled(verdict) if verdict.decision == Decision::Allow);
    is_judged && (!is_allowed || tried.case.may_use_session_files() || tried.case.asks_strangers())
}

/// Says whether the user may have forbidden what is about to be allowed, in words that only the session file has.
fn may_be_forbidden(tried: &Try) -> bool {
    matches!(tried.outcome.verdict().mode, Mode::Auto | Mode::Plan) && tried.case.may_cross_boundary()
}

/// Returns the words that came without a session file.
fn said(context: &Context) -> Transcript {
    let entries = context.session.turns.iter().cloned().map(TranscriptEntry::Human).collect();
    Transcript { entries, ..Transcript::default() }
}

pub(super) fn decide(case: &Case, policy: &Policy) -> Result<Outcome, Failure> {
    case.decide(policy).map_err(|error| Failure::internal(error.to_string()))
}

/// What of a person's could change an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifting {
    /// Nothing.
    Nothing,
    /// Any approval of the very call: auto mode judged it, or is about to.
    Anything,
    /// Only the answer to a question.
    Answer,
}

fn lifting(tried: &Try) -> Lifting {
    let is_auto = tried.outcome.verdict().mode == Mode::Auto;
    let (is_judged, question) = match &tried.outcome {
        Outcome::Settled(verdict) => (verdict.is_retryable(), verdict),
        Outcome::Needs(pending) => (pending.need() == Need::Classifier, pending.question()),
    };
    if is_auto && is_judged {
        Lifting::Anything
    } else if question.is_answerable() {
        Lifting::Answer
    } else {
        Lifting::Nothing
    }
}

/// Adds to a context what the session file says.
fn remember(
    call: &ToolCall,
    context: &mut Context,
    mut said: Transcript,
    past: &SessionHistory,
    problems: &mut Vec<String>,
) -> Transcript {
    let Some(file) = &past.file else {
        context.session.is_partial |= past.is_hosts;
        return said;
    };
    let read = match &past.agent {
        Some(agent) => read_subagent(file, agent),
        None => read_session(file, past.format),
    };
    let mut transcript = match read {
        Ok(transcript) => transcript.without_pending(past.call_id.as_deref(), call),
        Err(error) => {
            context.session.is_partial = true;
            // A host writes its file late, so at the start of a session there is none, which is nobody's problem.
            if error.kind() != ErrorKind::NotFound || !past.is_hosts {
                problems.push(format!("the session file `{}` could not be read: {error}", file.display()));
            }
            Transcript::default()
        }
    };
    transcript.entries.append(&mut said.entries);
    for (path, text) in transcript.written_files(&context.cwd) {
        context.session.written.insert(path, text);
    }
    context.session.edits = transcript.edited_texts(&context.cwd);
    transcript
}

/// Adds to a context what commands of the session may have written, so that a script among it is not taken for the
/// project's own, and whether they read a secret.
fn touched(context: &mut Context, transcript: &Transcript, past: &SessionHistory) {
    let is_summary =
        |entry: &TranscriptEntry| matches!(entry, TranscriptEntry::Notice { kind: NoticeKind::Summary, .. });
    let others = past.file.as_deref().map(read_subagents).unwrap_or_default();
    let all = || std::iter::once(transcript).chain(&others);
    context.session.is_partial |= all().any(|one| one.is_cut || one.entries.iter().any(is_summary));
    for entry in all().flat_map(|one| &one.entries) {
        let TranscriptEntry::Call { call, .. } = entry else { continue };
        for directory in [&context.cwd, &context.project] {
            let profiles = Arc::clone(&context.profiles);
            let home = context.home.clone();
            let there = Context { profiles, home, ..Context::new(Mode::Auto, directory) };
            let earlier = Case::new(call.clone(), there);
            note_writes(&mut context.session, &earlier);
            context.session.is_partial |= earlier.writes_unnamed();
            context.session.reads_secrets |= earlier.reads_secrets();
        }
    }
    let real: Vec<String> = context.session.touched.iter().filter_map(|path| real_path(path)).collect();
    context.session.touched.extend(real);
}

/// Adds what a call wrote. What it changed in place is known by the words of the call; what it wrote anew is all its own.
fn note_writes(session: &mut SessionKnowledge, earlier: &Case) {
    session.filled.extend(earlier.filled_directories());
    let edited = earlier.edited_paths();
    let is_shell = earlier.call().command().is_some();
    for path in earlier.written_paths() {
        let is_whole = matches!(session.written.get(&path), Some(Some(_)));
        if edited.contains(&path) && !is_whole {
            let words = earlier.call().command().unwrap_or_default();
            session.edits.entry(path.clone()).or_default().push(words.to_owned());
        } else if is_shell {
            session.edits.remove(&path);
        }
        session.touched.insert(path);
    }
}

fn real_path(path: &str) -> Option<String> {
    std::fs::canonicalize(path).ok()?.to_str().map(str::to_owned)
}

/// Makes the prompt a model would get for a call, whether it would be asked or not.
pub fn show_prompt(
    session: &SessionSettings,
    call: &ToolCall,
    mut context: Context,
    past: &SessionHistory,
    world: &mut World,
) -> Result<Prompt, Failure> {
    let recipe = Recipe::of(&session.loaded).map_err(Failure::usage)?;
    let mut problems = Vec::new();
    let transcript = said(&context);
    let mut transcript = remember(call, &mut context, transcript, past, &mut problems);
    add_results(&mut transcript, past);
    if let Some(problem) = problems.into_iter().next() {
        return Err(Failure::usage(problem));
    }
    let case = prepare(session.policy(), call.clone(), context, world);
    let findings = decide(&case, session.policy())?.into_verdict().findings;
    recipe.prompt(session, &case, &findings, &transcript).map_err(Failure::usage)
}

pub(super) fn new_denial(case: &Case, verdict: &Verdict) -> NewDenial {
    let (call, context) = (case.call(), case.context());
    let (kind, code) = match &verdict.reason {
        Reason::Finding { code, .. } | Reason::Requested { code, .. } => {
            (DenialKind::Finding, (*code).to_owned())
        }
        Reason::Classifier { category, .. } => (DenialKind::Classifier, category.clone().unwrap_or_default()),
        Reason::Boundary { .. } => (DenialKind::Boundary, String::new()),
        _ => (DenialKind::Classifier, String::new()),
    };
    NewDenial {
        tool: call.tool().to_owned(),
        input_json: identity(case),
        cwd: context.cwd.clone(),
        summary: format!("{}: {}", call.tool(), encode(call)),
        reason: verdict.reason.message(),
        kind,
        code,
        retryable: verdict.is_retryable(),
    }
}

/// Writes what a call is known by in the one way there is: names in order, no blanks, then the scripts it runs.
pub fn identity(case: &Case) -> String {
    let mut out = String::new();
    write_input(&mut out, case.call().input());
    for (file, text) in case.script_texts() {
        out.push('\n');
        write_text(&mut out, file);
        write_text(&mut out, text);
    }
    out
}
