//! What is kept of a decision until a collector was told: bounded, and nothing of what the call says.

use portcullis_store::audit::{Entry, ModelEntry};

use super::super::TraceParent;
use super::wire::cut;

/// The longest name or id that is told.
const MOST_NAME: usize = 256;

/// The longest rule that is told.
const MOST_RULE: usize = 1_024;

/// The most talks with models that are told of one decision.
const MOST_MODELS: usize = 16;

/// Where a decision stands in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    pub(super) is_sampled: bool,
}

/// A decision, as it is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Noted {
    pub(super) place: Place,
    pub(super) at_ms: u64,
    pub(super) micros: u64,
    pub(super) decision: String,
    pub(super) said: String,
    pub(super) step: String,
    pub(super) kind: String,
    pub(super) rule: String,
    pub(super) code: String,
    pub(super) host: String,
    pub(super) tool: String,
    pub(super) mode: String,
    pub(super) is_headless: bool,
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) call: String,
    pub(super) denial: String,
    pub(super) models: Vec<ModelEntry>,
}

impl Place {
    /// Puts a span below its parent, or at the beginning of a trace.
    pub(super) fn new(trace: [u8; 16], span: [u8; 8], parent: Option<TraceParent>, is_sampled: bool) -> Self {
        Self { trace, span, parent: parent.map(|parent| parent.span), is_sampled }
    }
}

impl Noted {
    /// Takes what is told of a decision.
    pub(super) fn new(entry: &Entry, place: Place) -> Self {
        let name = |text: &str| cut(text, MOST_NAME).to_owned();
        let maybe = |text: &Option<String>| name(text.as_deref().unwrap_or_default());
        let rule = entry.rule.as_ref().map_or("", |rule| rule.text.as_str());
        Self {
            place,
            at_ms: entry.at_ms,
            micros: entry.micros,
            decision: name(&entry.decision),
            said: name(&entry.said),
            step: name(&entry.step),
            kind: name(&entry.kind),
            rule: cut(rule, MOST_RULE).to_owned(),
            code: maybe(&entry.code),
            host: name(&entry.host),
            tool: name(&entry.tool),
            mode: name(&entry.mode),
            is_headless: entry.headless,
            session: name(&entry.session),
            agent: maybe(&entry.agent),
            call: maybe(&entry.call_id),
            denial: maybe(&entry.denial),
            models: entry.models.iter().take(MOST_MODELS).cloned().collect(),
        }
    }

    /// Returns when the decision was made, in nanoseconds since 1970.
    pub(super) fn ended_at(&self) -> u64 {
        self.at_ms.saturating_mul(1_000_000)
    }

    /// Returns when it was begun.
    pub(super) fn started_at(&self) -> u64 {
        self.ended_at().saturating_sub(self.micros.saturating_mul(1_000))
    }
}
