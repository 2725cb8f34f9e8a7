//! A question that nobody is there to answer: what of it is put into the queue, and what comes of a person's answer.
//!
//! ```text
//! judgement ──► is it a question? ──► queue ──► allowed   judged again: the approval or the rule lets it through
//!                                          ├──► denied    by a person, whose words reach the agent
//!                                          └──► open      denied as it was; the question waits on
//! ```
//!
//! An answer lets nothing run by itself. It becomes an approval, a grant or a rule in the store, and the call is judged as
//! any other.

use std::thread;
use std::time::{Duration, Instant};

use portcullis_core::{CallExplanation, Decision, Mode, Reason};
use portcullis_hosts::{HookCall, HostDecision};
use portcullis_store::ExplanationEntry;
use portcullis_store::audit::Entry;
use serde_json::{Value, json};

use super::host_gate::{HostGate, HostJudgement};
use super::withdrawal::QuestionWithdrawal;
use crate::Failure;
use crate::audit::{self, RecordContext};
use crate::daemon_client::{Client, Role};
use crate::id::{is_id, new_id};
use crate::record_json::{entry_object, read_entry};

/// How long an answer may take beyond the waiting itself, on a machine that is busy.
const MARGIN: Duration = Duration::from_secs(5);

/// How long the daemon is left alone that could not be asked just now.
const BREATH: Duration = Duration::from_millis(200);

/// How long one request waits at most, in seconds.
const LONGEST_POLL: u64 = 30;

/// A question for a person who is not here.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingQuestion {
    /// What it shall be known by; another question may stand for it that is open already.
    pub id: String,
    /// The session, by its id or name.
    pub session: String,
    /// The id of the denied call that an answer lifts.
    pub denial: String,
    /// The directory the agent was started in, if it is known.
    pub project: Option<String>,
    /// The decision that was not made.
    pub question: Entry,
    /// What the call does, for people.
    pub explanation: Option<ExplanationEntry>,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionReply {
    /// A person allowed it, and what they said was done.
    Allowed,
    /// A person denied it.
    Denied {
        /// Who.
        by: String,
        /// What the agent is told; may be empty.
        message: String,
    },
    /// Nobody answered yet.
    Open,
    /// Nobody answered, and nobody can any more.
    Expired,
}

/// Says whether a judgement is a question that only lacks somebody to answer it. The mode that never asks is answered by its
/// name.
pub fn is_question(judgement: &HostJudgement) -> bool {
    let verdict = &judgement.judged.verdict;
    judgement.session.loaded.approvals.is_enabled
        && judgement.said == HostDecision::Deny
        && verdict.is_answerable()
        && !(verdict.decision == Decision::Deny && matches!(verdict.reason, Reason::Mode(Mode::DontAsk)))
        && judgement.judged.denial.is_some()
}

impl PendingQuestion {
    /// Makes the question of a judgement; `None` if it is none.
    pub fn of(host: &str, asked: &HookCall, judgement: &HostJudgement, elapsed: Duration) -> Option<Self> {
        if !is_question(judgement) {
            return None;
        }
        let (call, judged) = (asked.calls.get(judgement.at)?, &judgement.judged);
        let place = &asked.session;
        let record = RecordContext {
            host,
            event: asked.moment.event,
            session: &place.id,
            agent: place.agent.as_deref(),
            call_id: asked.call_id.as_deref(),
            said: HostDecision::Deny,
            elapsed,
        };
        Some(Self {
            id: new_id()?,
            session: place.id.clone(),
            denial: judged.denial.clone()?,
            project: place.project.clone(),
            question: audit::entry(&record, call, judged),
            explanation: None,
        })
    }

    /// Adds what the call does, for people. The daemon believes no other process that, so only its own questions need it.
    #[must_use]
    pub fn explained(mut self, judgement: &HostJudgement) -> Self {
        self.explanation = Some(explanation(judgement.judged.case.explain(judgement.session.policy())));
        self
    }

    /// Writes it for the daemon.
    pub fn to_value(&self) -> Value {
        json!({
            "id": self.id,
            "session": self.session,
            "denial": self.denial,
            "project": self.project,
            "question": entry_object(&self.question),
            "explanation": self.explanation.as_ref().map(explanation_object),
        })
    }

    /// Reads it as [`Self::to_value`] writes it.
    pub fn read(value: Value) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::usage(format!("field `{what}` is missing or wrong"));
        let Value::Object(mut fields) = value else {
            return Err(Failure::usage("the body must be an object"));
        };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(wrong(name)),
        };
        let (id, session, denial) = (text("id")?, text("session")?, text("denial")?);
        if !is_id(&id) {
            return Err(Failure::usage("field `id` must be 32 hexadecimal digits in lower case"));
        }
        if session.is_empty() {
            return Err(wrong("session"));
        }
        let project = match fields.remove("project") {
            None | Some(Value::Null) => None,
            Some(Value::String(project)) => Some(project),
            Some(_) => return Err(wrong("project")),
        };
        let question = fields.remove("question").and_then(|value| read_entry(&value));
        let question = question.ok_or_else(|| wrong("question"))?;
        let explanation = match fields.remove("explanation") {
            None | Some(Value::Null) => None,
            Some(value) => Some(read_explanation(&value).ok_or_else(|| wrong("explanation"))?),
        };
        if let Some(name) = fields.keys().next() {
            return Err(Failure::usage(format!("field `{name}` is not known")));
        }
        Ok(Self { id, session, denial, project, question, explanation })
    }
}

/// Puts a judgement that is a question into the queue of the daemon of this user, if one runs, and waits for a person. What
/// fails on the way leaves the judgement as it is: denied. Nothing is touched for a judgement that is no question.
pub fn put_to_daemon(
    gate: &HostGate<'_>,
    asked: &HookCall,
    judgement: HostJudgement,
    judge: &dyn Fn(HostJudgement) -> Result<HostJudgement, Failure>,
) -> Result<HostJudgement, Failure> {
    let mut judgement = judgement;
    for _ in 0..asked.calls.len() {
        let begun = Instant::now();
        let seconds = judgement.session.loaded.approvals.wait_seconds;
        let is_withdrawn = gate.withdrawal.is_some_and(QuestionWithdrawal::is_withdrawn);
        if seconds == 0 || is_withdrawn || !is_question(&judgement) {
            break;
        }
        let Some(state) = judgement.session.locations.state.clone() else { break };
        let client = match Client::connect(&state, Role::Decide) {
            Ok(Some(client)) => client,
            Ok(None) => break,
            Err(failure) => return Ok(judgement.unasked(&failure.message)),
        };
        let Some(question) = PendingQuestion::of(gate.host, asked, &judgement, begun.elapsed()) else {
            break;
        };
        let there_is = (gate.before_asking)(Duration::from_secs(seconds.into()) + MARGIN);
        let deadline = begun + there_is.saturating_sub(MARGIN);
        match ask(&client, &question, deadline, gate.withdrawal) {
            Ok((_, QuestionReply::Allowed)) => judgement = judge(judgement)?,
            Ok((_, QuestionReply::Denied { by, message })) => return Ok(judgement.refused(&by, &message)),
            Ok((id, reply)) => return Ok(judgement.unanswered(&id, &reply)),
            Err(failure) => return Ok(judgement.unasked(&failure.message)),
        }
    }
    Ok(judgement)
}

/// Asks the daemon until somebody answered or the time is over. A daemon that goes away is looked for again: asking twice
/// is asking once.
fn ask(
    client: &Client,
    question: &PendingQuestion,
    deadline: Instant,
    withdrawal: Option<&QuestionWithdrawal>,
) -> Result<(String, QuestionReply), Failure> {
    let body = question.to_value();
    let mut known: Option<String> = None;
    loop {
        let begun = Instant::now();
        let left = deadline.saturating_duration_since(begun);
        let response = match &known {
            None => client.post("/v1/approvals", &body),
            Some(id) => {
                let seconds = left.as_secs().clamp(1, LONGEST_POLL);
                let path = format!("/v1/approvals/{id}?waitSeconds={seconds}");
                client.get_within(&path, left.min(Duration::from_secs(seconds) + MARGIN))
            }
        };
        match response {
            Ok(response) if response.status < 500 => {
                let approval = response.success()?;
                let wrong = || Failure::internal("the daemon said something that is no approval");
                let (id, reply) = read_reply(&approval).ok_or_else(wrong)?;
                if reply != QuestionReply::Open {
                    return Ok((id, reply));
                }
                // A daemon that is about to stop lets nobody wait.
                if known.is_some() && begun.elapsed() < BREATH {
                    thread::sleep(BREATH);
                }
                if let Some(withdrawal) = withdrawal.filter(|_| known.is_none()) {
                    withdrawal.question_waits(client, &id);
                }
                known = Some(id);
            }
            // Killed, or about to be started again.
            Ok(_) | Err(_) if Instant::now() + BREATH < deadline => thread::sleep(BREATH),
            Ok(response) if known.is_none() => return Err(response.failure().unwrap_or_else(lost)),
            Err(failure) if known.is_none() => return Err(failure),
            Ok(_) | Err(_) => {}
        }
        if Instant::now() + Duration::from_millis(1) >= deadline {
            return known.map(|id| (id, QuestionReply::Open)).ok_or_else(lost);
        }
    }
}

fn lost() -> Failure {
    Failure::internal("the daemon could not be asked in time")
}

fn read_reply(approval: &Value) -> Option<(String, QuestionReply)> {
    let id = approval.get("id")?.as_str().filter(|id| is_id(id))?.to_owned();
    let text = |name: &str| approval.pointer(&format!("/answer/{name}")).and_then(Value::as_str);
    let is_applied = approval.get("isApplied").and_then(Value::as_bool) == Some(true);
    let reply = match approval.get("state")?.as_str()? {
        "allowed" if is_applied => QuestionReply::Allowed,
        "denied" => QuestionReply::Denied {
            by: text("by").unwrap_or("somebody").to_owned(),
            message: text("message").unwrap_or_default().to_owned(),
        },
        "expired" => QuestionReply::Expired,
        "open" | "allowed" => QuestionReply::Open,
        _ => return None,
    };
    Some((id, reply))
}

impl HostJudgement {
    /// Takes a person's no for what it is.
    #[must_use]
    pub fn refused(mut self, by: &str, message: &str) -> Self {
        self.judged.verdict = self.judged.verdict.refused(by, message);
        // Nobody needs to be told how to allow what somebody has just denied.
        self.judged.denial = None;
        self
    }

    /// Says that nobody answered, and whether somebody still may.
    #[must_use]
    pub fn unanswered(mut self, id: &str, reply: &QuestionReply) -> Self {
        let detail = if *reply == QuestionReply::Expired {
            "nobody answered while the question was open".to_owned()
        } else {
            format!(
                "the question is still open ({id}), and once a person has allowed it the same call passes when it is tried again"
            )
        };
        self.judged.verdict = self.judged.verdict.unanswered(&detail);
        self
    }

    /// Says why the question could not even be put.
    #[must_use]
    pub fn unasked(mut self, why: &str) -> Self {
        self.judged.problems.push(format!("the question could not be put into the queue: {why}"));
        self
    }
}

/// Writes an explanation down.
pub fn explanation(told: CallExplanation) -> ExplanationEntry {
    ExplanationEntry {
        explanation: told.explanation,
        reasoning: told.reasoning,
        risk: told.risk,
        level: told.risk_level.as_str().to_owned(),
    }
}

/// Makes the object of an explanation.
pub fn explanation_object(told: &ExplanationEntry) -> Value {
    let ExplanationEntry { explanation, reasoning, risk, level } = told;
    json!({"explanation": explanation, "reasoning": reasoning, "risk": risk, "riskLevel": level})
}

/// Reads an explanation; `None` if it is none.
pub fn read_explanation(value: &Value) -> Option<ExplanationEntry> {
    let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    Some(ExplanationEntry {
        explanation: text("explanation")?,
        reasoning: text("reasoning")?,
        risk: text("risk")?,
        level: text("riskLevel").filter(|level| ["LOW", "MEDIUM", "HIGH"].contains(&level.as_str()))?,
    })
}
