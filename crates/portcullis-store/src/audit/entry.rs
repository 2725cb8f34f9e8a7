//! One decision, as it is kept.

use serde::{Deserialize, Serialize};

/// A decision and everything that is needed to explain it later. Texts are redacted and cut when it is appended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was made, in unix milliseconds.
    pub at_ms: u64,
    /// Who asked: a host's name, `mcp`, `mcp-proxy`.
    pub host: String,
    /// The host's event.
    pub event: String,
    /// What the session is known by; may be empty.
    pub session: String,
    /// The subagent that made the call, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The host's id of the call, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The directory the call would run in.
    pub cwd: String,
    /// The permission mode it was judged in.
    pub mode: String,
    /// Whether nobody could be asked.
    pub headless: bool,
    /// The tool.
    pub tool: String,
    /// The call in one line, for people.
    pub summary: String,
    /// The input of the call, as JSON text.
    pub input: String,
    /// The verdict: `allow`, `ask` or `deny`.
    pub decision: String,
    /// What the host was told: `allow`, `ask`, `deny` or `silence`.
    pub said: String,
    /// The step that settled it.
    pub step: String,
    /// The kind of reason.
    pub kind: String,
    /// The reason in one clause.
    pub reason: String,
    /// The rule that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleEntry>,
    /// The code of the finding or the classifier's category that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The id of the denial, if it was counted and a person may lift it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denial: Option<String>,
    /// What the analysis found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingEntry>,
    /// What every step said.
    pub trace: Vec<TraceEntry>,
    /// Rules that would settle such calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestionEntry>,
    /// The models that were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelEntry>,
    /// How long the decision took, in microseconds.
    pub micros: u64,
}

/// A rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleEntry {
    /// Its text.
    pub text: String,
    /// `allow`, `ask` or `deny`.
    pub behavior: String,
    /// Where it stands: source, file and line.
    pub origin: String,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEntry {
    /// Its code.
    pub code: String,
    /// What is found, in one sentence.
    pub sentence: String,
    /// Whether the user's words cleared it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
}

/// What a step said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The step.
    pub step: String,
    /// What it said, in one word.
    pub outcome: String,
    /// Why, in one clause; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// A rule that would settle such calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestionEntry {
    /// `allow` or `deny`.
    pub behavior: String,
    /// Its text.
    pub rule: String,
}

/// A talk with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The stage.
    pub stage: String,
    /// What came of it.
    pub outcome: String,
    /// Tokens that were read afresh.
    pub input: u64,
    /// Tokens that were read from a cache.
    pub cache_read: u64,
    /// Tokens that were written to a cache.
    pub cache_write: u64,
    /// Tokens that were written.
    pub output: u64,
    /// What it cost, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// How long it took.
    pub latency_ms: u64,
}
