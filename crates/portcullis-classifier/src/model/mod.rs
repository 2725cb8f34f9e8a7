//! What models are and what they accept: data, not code, because every model refuses something.
//!
//! The rows lie in `data/models.json`; [`ModelTable`] reads them, with a user's own rows over them.

mod adjust;
mod cost;
mod provider;
mod table;

use serde::Deserialize;

pub use provider::{KeyHeader, ModelProvider};
pub use table::ModelTable;

/// How a verdict is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictShape {
    /// Text: `<block>yes|no</block>`.
    Block,
    /// Text: `<severity>0–100</severity>` against a threshold.
    Severity,
    /// A tool the model must call.
    Tool,
    /// JSON that follows a schema.
    Schema,
}

/// How a model is kept from thinking before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingOff {
    /// It does not think unless told to.
    Never,
    /// `thinking: {"type": "disabled"}`, or what comes nearest to it.
    Disabled,
    /// `thinking: {"type": "between_tools"}`.
    BetweenTools,
    /// An effort of `none`.
    EffortNone,
    /// It always thinks: the lowest effort, and room for the thoughts.
    Always,
}

/// The field a chat server reads the limit of an answer from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`, which most servers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer models of `OpenAI` insist on.
    MaxCompletionTokens,
}

/// One model: what it accepts and what it costs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent capabilities, each its own fact")]
pub struct ModelInfo {
    /// Its id, as the provider wants it.
    pub id: String,
    /// Who serves it.
    pub provider: ModelProvider,
    /// The shape it is asked in unless settings say otherwise.
    pub shape: VerdictShape,
    /// Whether it takes a temperature.
    pub temperature: bool,
    /// Whether it takes stop sequences.
    pub stop: bool,
    /// Whether it can be made to call a tool.
    pub forced_tool: bool,
    /// Whether it takes a JSON schema for its answer.
    pub schema: bool,
    /// How it is kept from thinking.
    pub thinking_off: ThinkingOff,
    /// Tokens to add to every limit, because it thinks within it.
    pub padding: u32,
    /// The name of the field it explains itself in; some models refuse one called `thinking`.
    pub thinking_field: String,
    /// The shortest prefix it caches, in tokens; `None` if it has no cache marks.
    pub least_cached: Option<u32>,
    /// How many tokens of prompt it takes.
    pub context: u32,
    /// What it costs; `None` if that is not known or nothing.
    pub prices: Option<ModelPrices>,
    /// The day it is switched off, if that is known.
    pub retires: Option<String>,
    /// The field its limit goes into; chat servers alone differ in it.
    #[serde(default)]
    pub limit_field: LimitField,
    /// Optional fields of the request that it refuses, left out for it.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// Whether big agents use it as such a judge already, so that it may decide before its first self-test.
    #[serde(default)]
    pub decides_untested: bool,
    /// Where the row comes from or what to mind.
    #[serde(default)]
    pub note: String,
}

impl VerdictShape {
    /// Returns its name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Severity => "severity",
            Self::Tool => "tool",
            Self::Schema => "schema",
        }
    }
}

impl ThinkingOff {
    /// Says how, in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "not needed",
            Self::Disabled => "disabling it",
            Self::BetweenTools => "between tools only",
            Self::EffortNone => "an effort of none",
            Self::Always => "nothing, so it gets room",
        }
    }
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelPrices {
    /// Of the prompt.
    pub input: f64,
    /// Of the prompt as far as it was read from the cache.
    pub cache_read: f64,
    /// Of the prompt as far as it was written to the cache.
    pub cache_write: f64,
    /// Of the answer, thoughts included.
    pub output: f64,
    /// What long prompts cost more, shortest first.
    #[serde(default)]
    pub tiers: Vec<PriceTier>,
}

/// What a whole call costs more once its prompt is long.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PriceTier {
    /// The most tokens of prompt, cached or not, that do not cost more.
    pub above: u64,
    /// The factor on all kinds of input.
    pub input: f64,
    /// The factor on the answer.
    pub output: f64,
}
