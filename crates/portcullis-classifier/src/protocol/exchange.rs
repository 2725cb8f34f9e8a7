//! One exchange with a model, kept for dumps, statistics and costs (spec D15, D18).

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::stage::JudgeStage;
use crate::model::ModelProvider;
use crate::provider::TokenUsage;
use crate::transport::FaultKind;

/// What an exchange was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangePurpose {
    /// A stage of a judgement.
    Stage(JudgeStage),
    /// An explanation for a person.
    Explainer,
    /// A review of the user's own rules.
    Critique,
    /// Loading a model before it is needed.
    WarmUp,
}

/// What became of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// A verdict: the action may run.
    Allow,
    /// A verdict: it is to be blocked.
    Block,
    /// An answer that is no verdict.
    Unclear,
    /// An answer that need not be a verdict.
    Answer,
    /// No answer.
    Fault(FaultKind),
}

/// One request with what came back, all attempts taken together.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelExchange {
    /// What it was for.
    pub talk: ExchangePurpose,
    /// The place of whoever was asked among the judge's endpoints.
    pub endpoint: usize,
    /// Who was asked.
    pub provider: ModelProvider,
    /// Which model.
    pub model: String,
    /// The body that was sent last.
    pub request: Value,
    /// The status that came back last, if any did.
    pub status: Option<u16>,
    /// The body that came back last, as text, without the key.
    pub response: String,
    /// What became of it.
    pub outcome: ExchangeOutcome,
    /// The tokens of all attempts.
    pub usage: TokenUsage,
    /// What they cost, in dollars, each at its own price, if the prices are known.
    pub cost: Option<f64>,
    /// How long it took, waiting between attempts included.
    pub elapsed: Duration,
    /// How often it was sent.
    pub attempts: u32,
    /// The version of the prompt, where the exchange was part of a decision; empty otherwise.
    pub prompt_version: String,
    /// How the model stood in the self-test then; empty where the exchange was no part of a decision.
    pub self_test: &'static str,
}

impl ModelExchange {
    /// Says whether it failed because the provider, or the way to it, is down.
    pub fn is_outage(&self) -> bool {
        matches!(&self.outcome, ExchangeOutcome::Fault(kind) if kind.is_outage())
    }

    /// Says whether it ended in a failure and not in an answer.
    pub fn is_fault(&self) -> bool {
        matches!(self.outcome, ExchangeOutcome::Fault(_))
    }
}

impl ExchangeOutcome {
    /// Returns its name; for a failure the phrase of its kind.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Unclear => "unclear",
            Self::Answer => "answer",
            Self::Fault(kind) => kind.phrase(),
        }
    }
}

impl fmt::Display for ExchangeOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl ExchangePurpose {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.as_str(),
            Self::Explainer => "explainer",
            Self::Critique => "critique",
            Self::WarmUp => "warm-up",
        }
    }
}
