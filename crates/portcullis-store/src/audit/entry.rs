//! One decision, as it is kept.
//!
//! Fields are only ever added, absent where they are empty and optional when they are read: every program reads the lines of
//! every other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::redaction::MARK;

/// A decision and everything it was made by, so that it can be explained later without judging the call again. Texts are
/// redacted and cut when it is appended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// What the model's word rests on, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeEntry>,
    /// How long the decision took, in microseconds.
    pub micros: u64,
    /// The version of the program that decided. Empty in a record from before versions, spans and effects were kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The deciding words of the command, as it stands in the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<SpanEntry>,
    /// What the call would do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectEntry>,
    /// Whether it would do more than is listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more_effects: bool,
}

impl Entry {
    /// Says whether spans, effects and the version of the program were kept, which older programs did not do.
    pub fn has_grounds(&self) -> bool {
        !self.version.is_empty()
    }
}

/// Words of a command: the byte they begin at, and the one after their last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanEntry(pub u32, pub u32);

impl SpanEntry {
    /// Makes a span of two places; `None` if it holds no word.
    pub fn new(start: usize, end: usize) -> Option<Self> {
        let span = Self(u32::try_from(start).ok()?, u32::try_from(end).ok()?);
        (span.0 < span.1).then_some(span)
    }
}

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectEntry {
    /// The act, in a word: `read`, `write`, `git-push`.
    pub act: String,
    /// What it is done to, as it is written; empty if nothing is named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Whether it happens only if something is as it may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub possible: bool,
    /// The words of the command that say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<SpanEntry>,
}

/// A rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RuleWire", into = "RuleWire")]
pub struct RuleEntry {
    /// Its text.
    pub text: String,
    /// `allow`, `ask` or `deny`.
    pub behavior: String,
    /// Where it stands.
    pub origin: OriginEntry,
}

/// Where a rule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginEntry {
    /// Whose settings: `user`, `project`, `session`. Empty in an old record of a rule that stands in a file.
    pub source: String,
    /// The file, if it stands in one.
    pub file: Option<String>,
    /// The line of the file, from 1.
    pub line: Option<u32>,
}

/// What stands in for the file of a rule that is in none.
const NO_FILE: &str = " settings";

impl OriginEntry {
    /// Reads what [`fmt::Display`] writes, which is all that old records have.
    fn of_text(text: &str) -> Self {
        if let Some(source) = text.strip_suffix(NO_FILE).filter(|source| !source.contains('/')) {
            return Self { source: source.to_owned(), file: None, line: None };
        }
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().ok()),
            None => (text, None),
        };
        let file = if line.is_some() { file } else { text };
        Self { source: String::new(), file: Some(file.to_owned()), line }
    }
}

impl fmt::Display for OriginEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, "{file}:{line}"),
            (Some(file), None) => formatter.write_str(file),
            (None, _) => write!(formatter, "{}{NO_FILE}", self.source),
        }
    }
}

/// A rule in a line: file and line are one text, as they always were.
#[derive(Serialize, Deserialize)]
struct RuleWire {
    text: String,
    behavior: String,
    origin: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    source: String,
}

impl From<RuleWire> for RuleEntry {
    fn from(wire: RuleWire) -> Self {
        let origin = OriginEntry::of_text(&wire.origin);
        let source = if wire.source.is_empty() { origin.source } else { wire.source };
        Self { text: wire.text, behavior: wire.behavior, origin: OriginEntry { source, ..origin } }
    }
}

impl From<RuleEntry> for RuleWire {
    fn from(rule: RuleEntry) -> Self {
        let source = rule.origin.file.as_ref().map(|_| rule.origin.source.clone());
        Self {
            text: rule.text,
            behavior: rule.behavior,
            origin: rule.origin.to_string(),
            source: source.unwrap_or_default(),
        }
    }
}

/// A finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEntry {
    /// Its code.
    pub code: String,
    /// What is found, in one sentence.
    pub sentence: String,
    /// Whether the user's words seem to ask for it; older records say so in another word.
    #[serde(default, alias = "cleared", skip_serializing_if = "std::ops::Not::not")]
    pub requested: bool,
    /// How bad it is: `high`, `medium`, `low`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub severity: String,
    /// The words of the command it is about; `None` if they stand elsewhere, such as in a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanEntry>,
    /// The effect it is about, by its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<u32>,
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

impl SuggestionEntry {
    /// Says whether the rule is kept as it was. With a secret blacked out or its end cut off it would be another rule.
    pub fn is_whole(&self) -> bool {
        !self.rule.contains(MARK) && !self.rule.ends_with('…')
    }
}

/// What the word of a model rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeEntry {
    /// The version of the prompt it was asked with.
    pub prompt: String,
    /// How it stood in the self-test then.
    pub self_test: String,
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
