//! Asking one model one question: the request, what the model refuses of it, retries, and the record of it all.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::exchange::{ExchangeOutcome, ExchangePurpose, ModelExchange};
use super::mark::VerdictMark;
use super::run::ModelEndpoint;
use super::stage::{self, AnswerScope, JudgeStage, StagePlan};
use crate::estimate_tokens;
use crate::key::fetch_key;
use crate::model::{ModelInfo, VerdictShape};
use crate::prompt::AnswerSpec;
use crate::prompt::Prompt;
use crate::provider::{self, ModelAnswer, ModelQuery, RequiredForm, TokenUsage};
use crate::transport::{CancelFlag, FaultKind, ModelFault, RawResponse, RetryAdvice, next_delay};

/// How often a request is sent anew because the model refused a parameter of it.
const MOST_DROPPED: usize = 4;

/// A request in the making; what the model refuses may change it.
pub(super) struct RequestDraft {
    suffix: String,
    max_tokens: u32,
    /// Whether the answer is a verdict alone, with no room for thoughts that a model can leave.
    is_brief: bool,
    stop: Option<String>,
    form: DraftForm,
}

enum DraftForm {
    Text,
    Tool(AnswerSpec),
    Schema(AnswerSpec),
}

impl RequestDraft {
    /// Makes the draft of a stage.
    pub(super) fn of_stage(
        model: &ModelInfo,
        stage: JudgeStage,
        stages: StagePlan,
        shape: VerdictShape,
        mark: &VerdictMark,
    ) -> Self {
        let scope = AnswerScope::of(stage, stages);
        let spec = || stage::answer_spec(model, stage, stages, mark);
        Self {
            suffix: stage::last_words(model, stage, stages, shape, mark),
            max_tokens: scope.max_tokens(),
            is_brief: scope == AnswerScope::Verdict,
            stop: stage::stop(scope, shape, mark),
            form: match shape {
                VerdictShape::Block | VerdictShape::Severity => DraftForm::Text,
                VerdictShape::Tool => DraftForm::Tool(spec()),
                VerdictShape::Schema => DraftForm::Schema(spec()),
            },
        }
    }

    /// Makes the draft of a question whose answer is text, or follows a description.
    pub(super) fn of_errand(
        model: &ModelInfo,
        suffix: &str,
        max_tokens: u32,
        spec: Option<&AnswerSpec>,
    ) -> Self {
        let is_tool = model.shape_for(Some(VerdictShape::Tool)) == VerdictShape::Tool;
        Self {
            suffix: suffix.to_owned(),
            max_tokens,
            is_brief: false,
            stop: None,
            form: match spec {
                None => DraftForm::Text,
                Some(spec) if is_tool => DraftForm::Tool(spec.clone()),
                Some(spec) => DraftForm::Schema(spec.clone()),
            },
        }
    }

    /// Says whether a model has room for the prompt, the rest of the request and the answer.
    pub(super) fn has_room(&self, model: &ModelInfo, prompt_tokens: usize) -> bool {
        let described = match &self.form {
            DraftForm::Text => 0,
            DraftForm::Tool(spec) | DraftForm::Schema(spec) => {
                let words = [spec.name, spec.description, &spec.schema.to_string()];
                words.into_iter().map(estimate_tokens).sum()
            }
        };
        let rest = estimate_tokens(&self.suffix).saturating_add(described);
        model.has_room(prompt_tokens.saturating_add(rest), self.max_tokens)
    }
}

/// Estimates the tokens of a prompt, with the tags around its transcript.
pub(super) fn prompt_tokens(prompt: &Prompt) -> usize {
    let Prompt { system, session, history, action, facts } = prompt;
    let texts = [system, session, action, facts].into_iter().chain(history).map(String::as_str);
    texts.chain(["<transcript>\n", "</transcript>\n"]).map(estimate_tokens).sum()
}

/// What is asked for, and the place of whoever is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExchangeTarget {
    pub(super) talk: ExchangePurpose,
    pub(super) position: usize,
}

/// What was said, and what was learned of models on the way.
#[derive(Default)]
pub(super) struct ExchangeLog {
    pub(super) exchanges: Vec<ModelExchange>,
    pub(super) learned: Vec<(String, String)>,
}

impl ExchangeLog {
    /// Says whether a quick look was answered, and the answer did not clear the action.
    pub(super) fn is_escalated(&self) -> bool {
        let is_open = |outcome: &ExchangeOutcome| match outcome {
            ExchangeOutcome::Allow | ExchangeOutcome::Answer => false,
            ExchangeOutcome::Block | ExchangeOutcome::Unclear => true,
            ExchangeOutcome::Fault(kind) => no_verdict(kind).is_some(),
        };
        let is_quick = |exchange: &&ModelExchange| exchange.talk == ExchangePurpose::Stage(JudgeStage::Fast);
        self.exchanges.iter().filter(is_quick).any(|exchange| is_open(&exchange.outcome))
    }

    /// Says what became of the last exchange.
    pub(super) fn conclude(&mut self, outcome: ExchangeOutcome) {
        if let Some(last) = self.exchanges.last_mut() {
            last.outcome = outcome;
        }
    }

    /// Notes that somebody was not asked because the prompt has no room there, and returns that as a fault.
    pub(super) fn skip(&mut self, endpoint: &ModelEndpoint, place: ExchangeTarget) -> ModelFault {
        let fault = fault_of(FaultKind::TooLong, "the prompt is longer than the model takes");
        let outcome = ExchangeOutcome::Fault(fault.kind.clone());
        self.exchanges.push(ModelExchange { outcome, ..begin(endpoint, place) });
        fault
    }
}

/// Begins the record of an exchange.
fn begin(endpoint: &ModelEndpoint, place: ExchangeTarget) -> ModelExchange {
    let usage = TokenUsage::default();
    ModelExchange {
        talk: place.talk,
        endpoint: place.position,
        provider: endpoint.model.provider,
        model: endpoint.model.id.clone(),
        request: serde_json::Value::Null,
        status: None,
        response: String::new(),
        outcome: ExchangeOutcome::Answer,
        usage,
        cost: endpoint.model.cost(&usage),
        elapsed: Duration::ZERO,
        attempts: 0,
        prompt_version: String::new(),
        self_test: "",
    }
}

/// Sends a request until it is answered, refused for good, or out of time.
pub(super) fn ask(
    endpoint: &mut ModelEndpoint,
    place: ExchangeTarget,
    prompt: &Prompt,
    draft: &dyn Fn(&ModelInfo) -> RequestDraft,
    deadline: Instant,
    cancel: &CancelFlag,
    log: &mut ExchangeLog,
) -> Result<ModelAnswer, ModelFault> {
    let start = Instant::now();
    let mut exchange = begin(endpoint, place);
    let answered = attempt(endpoint, &mut exchange, prompt, draft, deadline, cancel, log);
    if let Err(fault) = &answered {
        exchange.outcome = ExchangeOutcome::Fault(fault.kind.clone());
    }
    exchange.elapsed = start.elapsed();
    log.exchanges.push(exchange);
    answered
}

fn attempt(
    endpoint: &mut ModelEndpoint,
    exchange: &mut ModelExchange,
    prompt: &Prompt,
    draft: &dyn Fn(&ModelInfo) -> RequestDraft,
    deadline: Instant,
    cancel: &CancelFlag,
    log: &mut ExchangeLog,
) -> Result<ModelAnswer, ModelFault> {
    if endpoint.is_resting {
        return Err(resting());
    }
    if !endpoint.connection.has_key() {
        let secret = fetch_key(&endpoint.key, deadline)?;
        endpoint.connection.set_key(endpoint.auth, secret);
    }
    let mut retries = 0;
    let mut dropped = 0;
    loop {
        let fault = match send_once(endpoint, exchange, prompt, draft, deadline, cancel) {
            Ok(reply) => return Ok(reply),
            Err(fault) => fault,
        };
        if let FaultKind::Unsupported(parameter) = &fault.kind
            && dropped < MOST_DROPPED
            && endpoint.model.drop_parameter(parameter)
        {
            dropped += 1;
            log.learned.push((endpoint.name(), parameter.clone()));
            continue;
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        let Some(delay) = next_delay(&fault, retries, remaining, jitter()) else {
            return Err(fault);
        };
        retries += 1;
        if !cancel.sleep(delay) {
            return Err(fault_of(FaultKind::Aborted, "the caller gave up"));
        }
    }
}

fn send_once(
    endpoint: &ModelEndpoint,
    exchange: &mut ModelExchange,
    prompt: &Prompt,
    draft: &dyn Fn(&ModelInfo) -> RequestDraft,
    deadline: Instant,
    cancel: &CancelFlag,
) -> Result<ModelAnswer, ModelFault> {
    let ModelEndpoint { model, connection, .. } = endpoint;
    let draft = draft(model);
    let query = ModelQuery {
        prompt,
        suffix: &draft.suffix,
        max_tokens: draft.max_tokens,
        is_brief: draft.is_brief,
        stop: draft.stop.as_deref().filter(|_| model.stop),
        form: match &draft.form {
            DraftForm::Text => RequiredForm::Text,
            DraftForm::Tool(spec) => RequiredForm::Tool(spec),
            DraftForm::Schema(spec) => RequiredForm::Schema(spec),
        },
    };
    let request = provider::request(model, &query);
    if Instant::now() >= deadline {
        return Err(fault_of(FaultKind::Timeout, "there was no time left to ask"));
    }
    exchange.attempts += 1;
    let sent = connection.send(&request, deadline, cancel);
    exchange.request = request.body;
    let RawResponse { status, headers, body, .. } = sent?;
    // Before anything is read or cut, so that no part of the key is left anywhere.
    let body = connection.without_key(body);
    exchange.status = Some(status);
    exchange.response = String::from_utf8_lossy(&body).into_owned();
    let answered = provider::answer(model.provider, status, &headers, &body);
    let usage = match &answered {
        Ok(reply) => reply.usage,
        Err(fault) => fault.usage,
    };
    exchange.usage = exchange.usage.plus(usage);
    exchange.cost = exchange.cost.zip(model.cost(&usage)).map(|(before, now)| before + now);
    let reply = answered.map_err(|fault| connection.clean_complaint(fault))?;
    Ok(ModelAnswer { is_stopped: reply.is_stopped && query.stop.is_some(), ..reply })
}

/// Says why a fault is a failed verdict of a model that did answer, if it is one.
pub(super) const fn no_verdict(kind: &FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::Refused => Some("it refused to answer"),
        FaultKind::Truncated => Some("its answer was cut off"),
        FaultKind::Empty => Some("it answered nothing"),
        FaultKind::Ambiguous => Some("it answered more than once"),
        _ => None,
    }
}

pub(super) fn no_endpoint() -> ModelFault {
    fault_of(FaultKind::Connection, "no model is configured")
}

fn resting() -> ModelFault {
    fault_of(FaultKind::BreakerOpen, "it failed several times in a row and is left alone for a while")
}

fn fault_of(kind: FaultKind, message: &str) -> ModelFault {
    ModelFault::new(kind, message, RetryAdvice::No)
}

/// Returns a number from 0 to 1, so that several processes do not retry at the same moment.
fn jitter() -> f64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    f64::from(nanos % 1_000) / 1_000.0
}
