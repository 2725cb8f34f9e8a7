//! Judging: the quick look, the careful one, and whoever stands in when a provider fails.

use std::time::{Duration, Instant};

use super::ask::{ExchangeLog, ExchangeTarget, RequestDraft, ask, no_endpoint, no_verdict, prompt_tokens};
use super::exchange::{ExchangeOutcome, ExchangePurpose, ModelExchange};
use super::mark::VerdictMark;
use super::ruling::{Classification, ClassifierVerdict};
use super::stage::{self, AnswerScope, JudgeStage, StagePlan, stage_shape};
use super::verdict::{StageVerdict, VerdictReader};
use crate::key::KeySource;
use crate::model::{ModelInfo, ModelProvider, VerdictShape};
use crate::prompt::AnswerSpec;
use crate::prompt::Prompt;
use crate::provider::ModelAnswer;
use crate::transport::{BaseUrl, CancelFlag, FaultKind, KeyPresentation, ModelFault, ProviderConnection};

/// A model and the way to it.
#[derive(Debug)]
pub struct ModelEndpoint {
    /// The model, with what was learned of it.
    pub model: ModelInfo,
    /// The way to it; its key is fetched when it is first needed.
    pub connection: ProviderConnection,
    /// How the key is presented.
    pub auth: KeyPresentation,
    /// Where its key is.
    pub key: KeySource,
    /// Whether it failed so often lately that it is left alone for now.
    pub is_resting: bool,
}

impl ModelEndpoint {
    /// Says whether it is served on this machine, where a model may have to be loaded before it answers. A hosted model's
    /// protocol at an address of this machine is a gateway's.
    pub fn is_near(&self) -> bool {
        let is_servers_own = matches!(self.model.provider, ModelProvider::Chat | ModelProvider::Ollama);
        is_servers_own && self.connection.base().is_loopback()
    }

    /// Says whether it is asked at the provider's own address. Anywhere else any model may answer to the name of another.
    pub fn is_at_provider(&self) -> bool {
        let own = self.model.provider.default_base_url().and_then(|own| BaseUrl::parse(own).ok());
        own.is_some_and(|own| own.is_https() && own.has_origin_of(self.connection.base()))
    }

    /// Returns what it is known by: the provider, the model, and the address, since one gateway's troubles are not
    /// another's.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.model.provider, self.model.id, self.connection.base().as_str())
    }
}

/// A judge: whom it asks, and how.
#[derive(Debug)]
pub struct ClassifierJudge {
    /// The model that is asked, and those that stand in for it, in order.
    pub endpoints: Vec<ModelEndpoint>,
    /// Which stages there are.
    pub stages: StagePlan,
    /// The shape of the verdict; `None` for the model's own.
    pub shape: Option<VerdictShape>,
    /// The severity that blocks, where the verdict is one.
    pub threshold: u32,
    /// The labels of the rules the model is given.
    pub labels: Vec<String>,
    /// How long a judgement may take, everything included.
    pub timeout: Duration,
}

/// A question whose answer is not a verdict: an explanation, a critique.
#[derive(Debug, Clone, Copy)]
pub struct AuxiliaryRequest<'a> {
    /// What it is for.
    pub talk: ExchangePurpose,
    /// What it is about.
    pub prompt: &'a Prompt,
    /// The words that come last.
    pub suffix: &'a str,
    /// The most tokens of the answer.
    pub max_tokens: u32,
    /// What a structured answer looks like; `None` for text.
    pub spec: Option<&'a AnswerSpec>,
}

/// What came of an errand.
#[derive(Debug, Clone, PartialEq)]
pub struct AuxiliaryAnswer {
    /// The answer, or why there is none.
    pub answered: Result<ModelAnswer, ModelFault>,
    /// Every exchange with a model, in order.
    pub exchanges: Vec<ModelExchange>,
    /// Parameters a model refused, with the name of its endpoint, to be left out from now on.
    pub learned: Vec<(String, String)>,
}

/// A prompt with what is worked out of it once.
struct JudgedPrompt<'a> {
    prompt: &'a Prompt,
    /// The tokens it takes.
    tokens: usize,
    /// The names the verdict goes by.
    mark: VerdictMark,
}

impl ClassifierJudge {
    /// Judges the action of a prompt.
    ///
    /// A model whose window the prompt does not fit is passed over as if it were not there. Where a provider says so
    /// itself the judgement ends: its word is better than an estimate.
    pub fn judge(&mut self, prompt: &Prompt, cancel: &CancelFlag) -> Classification {
        let deadline = Instant::now() + self.timeout;
        let question = JudgedPrompt { prompt, tokens: prompt_tokens(prompt), mark: VerdictMark::of(prompt) };
        let mut log = ExchangeLog::default();
        let mut outcome = None;
        let mut skipped = None;
        for position in 0..self.endpoints.len() {
            if let Some(fault) = self.skip(position, &question, &mut log) {
                skipped = Some(fault);
                continue;
            }
            let own = share_of(deadline, self.endpoints.len() - position);
            let judged = self.judge_with(position, &question, own, cancel, &mut log);
            let is_final = match &judged {
                ClassifierVerdict::Failed(fault) => {
                    matches!(fault.kind, FaultKind::Aborted | FaultKind::TooLong)
                }
                _ => true,
            };
            outcome = Some(judged);
            if is_final {
                break;
            }
        }
        let nobody = || ClassifierVerdict::Failed(skipped.unwrap_or_else(no_endpoint));
        Classification {
            outcome: outcome.unwrap_or_else(nobody),
            exchanges: log.exchanges,
            learned: log.learned,
        }
    }

    /// Runs an errand with the first model that answers.
    pub fn run_errand(&mut self, errand: AuxiliaryRequest<'_>, cancel: &CancelFlag) -> AuxiliaryAnswer {
        let AuxiliaryRequest { talk, prompt, suffix, max_tokens, spec } = errand;
        let deadline = Instant::now() + self.timeout;
        let tokens = prompt_tokens(prompt);
        let draft = |model: &ModelInfo| RequestDraft::of_errand(model, suffix, max_tokens, spec);
        let mut log = ExchangeLog::default();
        let mut answered = None;
        let mut skipped = None;
        let count = self.endpoints.len();
        for (position, endpoint) in self.endpoints.iter_mut().enumerate() {
            let place = ExchangeTarget { talk, position };
            if !draft(&endpoint.model).has_room(&endpoint.model, tokens) {
                skipped = Some(log.skip(endpoint, place));
                continue;
            }
            let own = share_of(deadline, count - position);
            let asked = ask(endpoint, place, prompt, &draft, own, cancel, &mut log);
            let is_final = !matches!(&asked, Err(fault) if fault.kind != FaultKind::Aborted);
            answered = Some(asked);
            if is_final {
                break;
            }
        }
        let nobody = || Err(skipped.unwrap_or_else(no_endpoint));
        AuxiliaryAnswer {
            answered: answered.unwrap_or_else(nobody),
            exchanges: log.exchanges,
            learned: log.learned,
        }
    }

    /// Returns the stages of the next look at an action.
    fn stages(&self, log: &ExchangeLog) -> &'static [JudgeStage] {
        match self.stages {
            // Whoever stands in for a model that would have blocked looks closely at once.
            StagePlan::Both if log.is_escalated() => &[JudgeStage::Thinking],
            StagePlan::Both => &[JudgeStage::Fast, JudgeStage::Thinking],
            StagePlan::Fast => &[JudgeStage::Fast],
            StagePlan::Thinking => &[JudgeStage::Thinking],
        }
    }

    /// Notes that an endpoint is passed over, if one of its stages has no room for a prompt of so many tokens.
    fn skip(
        &self,
        position: usize,
        question: &JudgedPrompt<'_>,
        log: &mut ExchangeLog,
    ) -> Option<ModelFault> {
        let endpoint = self.endpoints.get(position)?;
        let model = &endpoint.model;
        let has_room = |stage: &&JudgeStage| {
            let shape = stage_shape(model, **stage, self.stages, model.shape_for(self.shape));
            let draft = RequestDraft::of_stage(model, **stage, self.stages, shape, &question.mark);
            draft.has_room(model, question.tokens)
        };
        let stage = self.stages(log).iter().find(|stage| !has_room(stage))?;
        Some(log.skip(endpoint, ExchangeTarget { talk: ExchangePurpose::Stage(*stage), position }))
    }

    fn judge_with(
        &mut self,
        position: usize,
        question: &JudgedPrompt<'_>,
        deadline: Instant,
        cancel: &CancelFlag,
        log: &mut ExchangeLog,
    ) -> ClassifierVerdict {
        let mut outcome = ClassifierVerdict::Failed(no_endpoint());
        for stage in self.stages(log).iter().copied() {
            let verdict = match self.ask_stage(position, stage, question, deadline, cancel, log) {
                Ok(verdict) => verdict,
                Err(fault) => match no_verdict(&fault.kind) {
                    Some(why) => StageVerdict::Unclear { why },
                    None => return ClassifierVerdict::Failed(fault),
                },
            };
            outcome = match verdict {
                StageVerdict::Allow => return ClassifierVerdict::Allow { stage },
                StageVerdict::Block { category, reason } => {
                    ClassifierVerdict::Block { stage, category, reason }
                }
                StageVerdict::Unclear { why } => ClassifierVerdict::Unclear { stage, why: why.to_owned() },
            };
        }
        outcome
    }

    fn ask_stage(
        &mut self,
        position: usize,
        stage: JudgeStage,
        question: &JudgedPrompt<'_>,
        deadline: Instant,
        cancel: &CancelFlag,
        log: &mut ExchangeLog,
    ) -> Result<StageVerdict, ModelFault> {
        let Self { endpoints, stages, shape, threshold, labels, .. } = self;
        let endpoint = endpoints.get_mut(position).ok_or_else(no_endpoint)?;
        let (stages, wanted) = (*stages, *shape);
        let JudgedPrompt { prompt, mark, .. } = question;
        let shape = |model: &ModelInfo| stage_shape(model, stage, stages, model.shape_for(wanted));
        let draft = |model: &ModelInfo| RequestDraft::of_stage(model, stage, stages, shape(model), mark);
        let place = ExchangeTarget { talk: ExchangePurpose::Stage(stage), position };
        let reply = ask(endpoint, place, prompt, &draft, deadline, cancel, log)?;
        let ModelEndpoint { model, connection, .. } = endpoint;
        let reading = VerdictReader {
            scope: AnswerScope::of(stage, stages),
            shape: shape(model),
            threshold: stage::severity_threshold(stage, stages, *threshold),
            labels,
            mark,
            thinking_field: &model.thinking_field,
        };
        let verdict = reading.read(&reply);
        log.conclude(match verdict {
            StageVerdict::Allow => ExchangeOutcome::Allow,
            StageVerdict::Block { .. } => ExchangeOutcome::Block,
            StageVerdict::Unclear { .. } => ExchangeOutcome::Unclear,
        });
        Ok(match verdict {
            StageVerdict::Block { category, reason } => {
                StageVerdict::Block { category, reason: connection.clean_text(&reason) }
            }
            other => other,
        })
    }
}

/// Returns when an endpoint must be done so that those after it still have their share of the time.
fn share_of(deadline: Instant, count: usize) -> Instant {
    let now = Instant::now();
    let left = deadline.saturating_duration_since(now);
    now + left / u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}
