//! A verdict as pages show it: of a record with what can still be worked out of its call, or of a call that is tried.

use std::ops::Range;

use portcullis_core::findings::FINDINGS;
use portcullis_core::tool::ToolKind;
use portcullis_core::{Decision, FindingReport, Mode, Person, STEPS, ToolCall, TraceLine, Verdict};
use portcullis_hosts::json::parse_input;
use portcullis_store::audit::{Entry, ModelEntry, SuggestionEntry, TraceEntry};
use portcullis_web::charts::figure;
use portcullis_web::views::{
    EffectView, FindingView, ModelView, RuleView, SuggestionView, Tone, TraceView, VerdictView,
};
use portcullis_web::{Text, segment};

use super::command;
use crate::Daemon;
use crate::api::rules::{Tried, open, try_call};
use portcullis_output::calendar;
use portcullis_output::exchange::dollars;
use portcullis_output::human::call_title;

/// What is decided elsewhere than in the words of a call.
const NOT_BY_WORDS: &[&str] = &["classifier", "hook", "person", "approval", "unavailable", "limit"];

/// Shows what was recorded. The call is analysed again for what the trail does not keep: its effects, and the deciding
/// words, which are underlined only if the same step comes to the same reason as then.
pub(super) fn of_entry(daemon: &Daemon, entry: &Entry) -> VerdictView {
    let tried = again(daemon, entry);
    let is_same = tried.as_ref().is_some_and(|tried| is_same(&tried.verdict, entry));
    let marks_note = match &tried {
        None => "The call is not kept as a whole, so it cannot be analysed again.",
        Some(_) if is_same || NOT_BY_WORDS.contains(&entry.kind.as_str()) => "",
        Some(_) => "By the settings and files of now the answer would be another, so nothing is underlined.",
    };
    let marks = tried.as_ref().filter(|_| is_same).map(|tried| marks(&tried.verdict)).unwrap_or_default();
    let lines = match &tried {
        Some(tried) => call_lines(tried.call(), &marks),
        None => command::lines(&entry.summary, &[]),
    };
    VerdictView {
        decision: Text::from(entry.decision.as_str()),
        tone: Tone::of(&entry.decision),
        reason: Text::from(entry.reason.as_str()),
        tool: Text::from(entry.tool.as_str()),
        lines,
        marks_note: Text::from(marks_note),
        rule: entry.rule.as_ref().map(|rule| RuleView {
            text: Text::from(rule.text.as_str()),
            exact: rule.text.clone(),
            behavior: Text::from(rule.behavior.as_str()),
            tone: Tone::of(&rule.behavior),
            origin: Text::from(rule.origin.to_string()),
            ..RuleView::default()
        }),
        step: step_title(&entry.step),
        effects: tried.as_ref().map(effects).unwrap_or_default(),
        findings: entry
            .findings
            .iter()
            .map(|found| finding(&found.code, &found.sentence, found.cleared))
            .collect(),
        trace: entry.trace.iter().map(trace_of_entry).collect(),
        models: entry.models.iter().map(model).collect(),
        suggestions: entry.suggestions.iter().map(suggestion).collect(),
    }
}

/// Shows what came of a trial.
pub(super) fn of_tried(tried: &Tried) -> VerdictView {
    let verdict = &tried.verdict;
    VerdictView {
        decision: Text::from(verdict.decision.as_str()),
        tone: tone(verdict.decision),
        reason: Text::from(verdict.reason.message()),
        tool: Text::from(tried.call().tool()),
        lines: call_lines(tried.call(), &marks(verdict)),
        rule: verdict.reason.rule().map(|rule| RuleView {
            text: Text::from(rule.text.as_str()),
            behavior: Text::from(rule.behavior.as_str()),
            tone: Tone::of(rule.behavior.as_str()),
            origin: Text::from(rule.origin.to_string()),
            ..RuleView::default()
        }),
        step: step_title(verdict.step.as_str()),
        effects: effects(tried),
        findings: verdict.findings.iter().map(reported).collect(),
        trace: verdict.trace.iter().map(trace_line).collect(),
        suggestions: verdict
            .suggestions
            .iter()
            .map(|one| SuggestionEntry { behavior: one.behavior.to_string(), rule: one.rule.clone() })
            .map(|one| suggestion(&one))
            .collect(),
        ..VerdictView::default()
    }
}

/// Judges the recorded call by the settings of now; `None` if it was not kept as a whole.
fn again(daemon: &Daemon, entry: &Entry) -> Option<Tried> {
    let call = ToolCall::new(&entry.tool, parse_input(entry.input.as_bytes()).ok()?);
    let session = open(daemon, &entry.cwd, &entry.session).ok()?;
    let person = if entry.headless { Person::Absent } else { Person::Present };
    try_call(&session, call, Mode::find(&entry.mode), person).ok()
}

fn is_same(verdict: &Verdict, entry: &Entry) -> bool {
    let is_same_step = verdict.step.as_str() == entry.step && verdict.reason.kind() == entry.kind;
    is_same_step && verdict.reason.message() == entry.reason
}

fn marks(verdict: &Verdict) -> Vec<Range<usize>> {
    verdict.highlights.iter().map(|span| span.range()).collect()
}

fn call_lines(call: &ToolCall, marks: &[Range<usize>]) -> Vec<portcullis_web::views::CommandLine> {
    match call.command() {
        Some(text) if matches!(call.kind(), ToolKind::Shell | ToolKind::PowerShell) => {
            command::lines(text, marks)
        }
        _ => command::lines(&call_title(call), &[]),
    }
}

fn effects(tried: &Tried) -> Vec<EffectView> {
    let view = |one: &portcullis_core::EffectReport| EffectView {
        act: one.act,
        clause: Text::from(one.clause.as_str()),
        is_possible: !one.is_certain,
    };
    tried.effects().iter().map(view).collect()
}

fn reported(found: &FindingReport) -> FindingView {
    finding(found.code, &found.sentence, found.is_cleared)
}

fn finding(code: &str, sentence: &str, is_cleared: bool) -> FindingView {
    let known = FINDINGS.iter().find(|known| known.code == code);
    FindingView {
        code: Text::from(code),
        link: format!("/findings/{}", segment(code)),
        sentence: Text::from(sentence),
        severity: known.map(|known| known.severity.as_str()).unwrap_or_default(),
        is_cleared,
    }
}

fn trace_of_entry(line: &TraceEntry) -> TraceView {
    TraceView {
        step: Text::from(line.step.as_str()),
        name: step_name(&line.step),
        outcome: Text::from(line.outcome.as_str()),
        tone: Tone::of(&line.outcome),
        detail: Text::from(line.detail.as_str()),
    }
}

fn trace_line(line: &TraceLine) -> TraceView {
    TraceView {
        step: Text::from(line.step.as_str()),
        name: line.step.name(),
        outcome: Text::from(line.outcome.as_str()),
        tone: Tone::of(line.outcome.as_str()),
        detail: Text::from(line.detail.as_str()),
    }
}

fn step_name(step: &str) -> &'static str {
    STEPS.iter().find(|info| info.id.as_str() == step).map(|info| info.id.name()).unwrap_or_default()
}

fn step_title(step: &str) -> Text {
    Text::from(format!("{step} {}", step_name(step)).trim_end())
}

fn model(model: &ModelEntry) -> ModelView {
    let tokens = model.input.saturating_add(model.cache_read).saturating_add(model.cache_write);
    let cached = match model.cache_read {
        0 => String::new(),
        cached => format!(" ({} cached)", figure(cached)),
    };
    ModelView {
        model: Text::from(format!("{} {}", model.provider, model.model)),
        stage: Text::from(model.stage.as_str()),
        outcome: Text::from(model.outcome.as_str()),
        tokens_in: format!("{}{cached}", figure(tokens)),
        tokens_out: figure(model.output),
        cost: model.cost_usd.map_or_else(|| "not known".to_owned(), dollars),
        latency: calendar::span(model.latency_ms.saturating_mul(1_000)),
    }
}

fn suggestion(one: &SuggestionEntry) -> SuggestionView {
    SuggestionView {
        behavior: Text::from(one.behavior.as_str()),
        tone: Tone::of(&one.behavior),
        rule: one.rule.clone(),
        text: Text::from(one.rule.as_str()),
        is_addable: one.is_whole(),
    }
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Allow => Tone::Allow,
        Decision::Ask => Tone::Ask,
        Decision::Deny => Tone::Deny,
    }
}
