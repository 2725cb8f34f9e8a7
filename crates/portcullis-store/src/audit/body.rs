//! What is kept of an entry: secrets are blacked out, then every text is cut, and no line is longer than it may be.
//!
//! A long text is cut twice. First it is cut a good deal behind the place where it will end, so that blacking out takes
//! no longer than it must; then the part is dropped in which a secret may have been cut and so not be known for one.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::entry::{
    EffectEntry, Entry, FindingEntry, JudgeEntry, ModelEntry, OriginEntry, RuleEntry, SpanEntry,
    SuggestionEntry, TraceEntry,
};
use super::line::{HEADER_BYTES, MOST_LINE};
use super::moved_words::MovedWords;
use crate::redaction::redact;

/// How much of a text is read beyond its limit, and dropped again after secrets were looked for.
const MARGIN: usize = 4 * 1024;

/// How much of everything is kept, in bytes and in items.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    input: usize,
    summary: usize,
    text: usize,
    path: usize,
    name: usize,
    items: usize,
}

const USUAL: Bounds =
    Bounds { input: 8 * 1024, summary: 2 * 1024, text: 500, path: 4 * 1024, name: 256, items: 40 };

/// What fits into a line even if every byte has to be escaped.
const TIGHT: Bounds = Bounds { input: 512, summary: 256, text: 128, path: 256, name: 64, items: 5 };

/// Writes what is kept of an entry as one line of JSON.
pub(super) fn body(entry: &Entry) -> serde_json::Result<String> {
    kept(entry).map(|(_, body)| body)
}

/// Returns what is kept of an entry, and that as one line of JSON.
pub(crate) fn kept(entry: &Entry) -> serde_json::Result<(Entry, String)> {
    let usual = USUAL.entry(entry);
    let body = serde_json::to_string(&usual)?;
    if body.len() + HEADER_BYTES < MOST_LINE {
        return Ok((usual, body));
    }
    let tight = TIGHT.entry(entry);
    let body = serde_json::to_string(&tight)?;
    Ok((tight, body))
}

impl Bounds {
    fn entry(&self, entry: &Entry) -> Entry {
        let input = safe(&entry.input, self.input);
        let words = MovedWords::new(&entry.input, &input);
        Entry {
            at_ms: entry.at_ms,
            host: self.word(&entry.host),
            event: self.word(&entry.event),
            session: self.name(&entry.session),
            agent: self.optional_name(entry.agent.as_ref()),
            call_id: self.optional_name(entry.call_id.as_ref()),
            cwd: familiar(&entry.cwd, self.path),
            mode: self.word(&entry.mode),
            headless: entry.headless,
            tool: self.name(&entry.tool),
            summary: safe(&entry.summary, self.summary),
            input,
            decision: self.word(&entry.decision),
            said: self.word(&entry.said),
            step: self.word(&entry.step),
            kind: self.word(&entry.kind),
            reason: safe(&entry.reason, self.summary),
            rule: entry.rule.as_ref().map(|rule| self.rule(rule)),
            code: self.optional_name(entry.code.as_ref()),
            denial: self.optional_name(entry.denial.as_ref()),
            findings: self.items(&entry.findings, |bounds, one| bounds.finding(one, &words)),
            trace: self.items(&entry.trace, Self::trace),
            suggestions: self.items(&entry.suggestions, Self::suggestion),
            models: self.items(&entry.models, Self::model),
            judge: entry.judge.as_ref().map(|judge| JudgeEntry {
                prompt: self.word(&judge.prompt),
                self_test: self.word(&judge.self_test),
            }),
            micros: entry.micros,
            version: self.word(&entry.version),
            spans: self.spans(&entry.spans, &words),
            effects: self.items(&entry.effects, |bounds, one| bounds.effect(one, &words)),
            has_more_effects: entry.has_more_effects || entry.effects.len() > self.items,
        }
    }

    fn spans(&self, spans: &[SpanEntry], words: &MovedWords) -> Vec<SpanEntry> {
        spans.iter().take(self.items).filter_map(|span| words.moved(*span)).collect()
    }

    fn effect(&self, effect: &EffectEntry, words: &MovedWords) -> EffectEntry {
        EffectEntry {
            act: self.word(&effect.act),
            target: familiar(&effect.target, self.name),
            possible: effect.possible,
            spans: self.spans(&effect.spans, words),
        }
    }

    fn rule(&self, rule: &RuleEntry) -> RuleEntry {
        RuleEntry {
            text: familiar(&rule.text, self.text),
            behavior: self.word(&rule.behavior),
            origin: OriginEntry {
                source: self.word(&rule.origin.source),
                file: rule.origin.file.as_ref().map(|file| familiar(file, self.text)),
                line: rule.origin.line,
            },
        }
    }

    fn finding(&self, finding: &FindingEntry, words: &MovedWords) -> FindingEntry {
        let is_kept = |place: &u32| usize::try_from(*place).is_ok_and(|place| place < self.items);
        FindingEntry {
            code: self.word(&finding.code),
            sentence: familiar(&finding.sentence, self.text),
            requested: finding.requested,
            severity: self.word(&finding.severity),
            span: finding.span.and_then(|span| words.moved(span)),
            effect: finding.effect.filter(is_kept),
        }
    }

    fn trace(&self, line: &TraceEntry) -> TraceEntry {
        TraceEntry {
            step: self.word(&line.step),
            outcome: self.word(&line.outcome),
            detail: familiar(&line.detail, self.text),
        }
    }

    fn suggestion(&self, suggestion: &SuggestionEntry) -> SuggestionEntry {
        SuggestionEntry {
            behavior: self.word(&suggestion.behavior),
            rule: familiar(&suggestion.rule, self.text),
        }
    }

    fn model(&self, model: &ModelEntry) -> ModelEntry {
        ModelEntry {
            provider: self.word(&model.provider),
            model: self.word(&model.model),
            stage: self.word(&model.stage),
            outcome: self.word(&model.outcome),
            ..*model
        }
    }

    fn items<T>(&self, items: &[T], keep: impl Fn(&Self, &T) -> T) -> Vec<T> {
        items.iter().take(self.items).map(|item| keep(self, item)).collect()
    }

    fn optional_name(&self, name: Option<&String>) -> Option<String> {
        name.map(|name| self.name(name))
    }

    /// Keeps a name that comes from outside.
    fn name(&self, name: &str) -> String {
        familiar(name, self.name)
    }

    /// Keeps a word of our own or of the settings, in which there is no secret.
    fn word(&self, word: &str) -> String {
        front(word, self.name).to_owned()
    }
}

/// Texts in which there is no secret. A set of each thread would be dropped with it, and to say so costs a hook as much as
/// opening a file.
static FAMILIAR: Mutex<BTreeSet<Box<str>>> = Mutex::new(BTreeSet::new());

/// How long a text is at most that is remembered, in bytes, and how many are.
const LONGEST_FAMILIAR: usize = 200;
const MOST_FAMILIAR: usize = 500;

/// Does what [`safe`] does for a text that stands in many records: what a step says, a directory, a rule. Who writes many
/// records looks through it once.
fn familiar(text: &str, most: usize) -> String {
    if text.len() > LONGEST_FAMILIAR.min(most) {
        return safe(text, most);
    }
    let familiar = || FAMILIAR.lock().unwrap_or_else(PoisonError::into_inner);
    if text.is_empty() || familiar().contains(text) {
        return text.to_owned();
    }
    let kept = safe(text, most);
    if kept == text {
        let mut known = familiar();
        if known.len() >= MOST_FAMILIAR {
            known.clear();
        }
        known.insert(text.into());
    }
    kept
}

/// Blacks out the secrets of a text and cuts it; a text that was cut ends with a mark.
fn safe(text: &str, most: usize) -> String {
    let near = front(text, most + MARGIN);
    let redacted = redact(near);
    let is_cut = near.len() < text.len();
    // A secret may begin in what is read last and be cut there.
    let known = if is_cut { front(&redacted, redacted.len().saturating_sub(MARGIN)) } else { &redacted };
    let kept = front(known, most);
    if is_cut || kept.len() < known.len() { format!("{kept}…") } else { kept.to_owned() }
}

fn front(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}
