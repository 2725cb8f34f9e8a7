//! A verdict as pages show it: of a record, or of a call that is tried by the settings of now.

use std::ops::Range;

use portcullis_core::tool::ToolKind;
use portcullis_core::{
    Decision, EffectReport, FindingReport, STEPS, ToolCall, TraceLine, Verdict, effect_clause,
};
use portcullis_gate::judge::{Trial, recorded_call};
use portcullis_store::audit::{EffectEntry, Entry, FindingEntry, ModelEntry, SuggestionEntry, TraceEntry};
use portcullis_web::charts::figure;
use portcullis_web::views::{
    EffectView, FindingView, ModelView, RuleView, SuggestionView, Tone, TraceView, VerdictView,
};
use portcullis_web::{VisibleText, segment};

use super::command;
use portcullis_output::calendar;
use portcullis_output::exchange::dollars;
use portcullis_output::human::call_title;
use portcullis_output::record;

/// What is said of a call that the trail keeps only the beginning of.
const TOO_LONG: &str =
    "The call is too long to be kept whole: this is its beginning, and nothing is underlined.";

/// What is said of a record that older programs wrote.
const NOT_RECORDED: &str = "An older version of Portcullis decided this. It recorded neither the deciding words nor what the call would do.";

/// Shows what was recorded, and nothing else: settings, files and code of now have no say.
pub(super) fn of_entry(entry: &Entry) -> VerdictView {
    let call = recorded_call(entry);
    let lines = match &call {
        Some(call) => call_lines(call, &record::marks(&entry.spans)),
        None => command::lines(&entry.summary, &[]),
    };
    let note = match &call {
        _ if !entry.has_grounds() => NOT_RECORDED,
        None => TOO_LONG,
        Some(_) => "",
    };
    VerdictView {
        decision: VisibleText::from(entry.decision.as_str()),
        tone: Tone::of(&entry.decision),
        reason: VisibleText::from(entry.reason.as_str()),
        tool: VisibleText::from(entry.tool.as_str()),
        lines,
        note: VisibleText::from(note),
        rule: entry.rule.as_ref().map(|rule| RuleView {
            text: VisibleText::from(rule.text.as_str()),
            exact: rule.text.clone(),
            behavior: VisibleText::from(rule.behavior.as_str()),
            tone: Tone::of(&rule.behavior),
            origin: VisibleText::from(rule.origin.to_string()),
            ..RuleView::default()
        }),
        step: step_title(&entry.step),
        effects: entry.effects.iter().map(effect).collect(),
        has_more_effects: entry.has_more_effects,
        findings: entry.findings.iter().map(recorded).collect(),
        trace: entry.trace.iter().map(trace_of_entry).collect(),
        models: entry.models.iter().map(model).collect(),
        suggestions: entry.suggestions.iter().map(suggestion).collect(),
    }
}

/// Shows what today's settings say to a call.
pub(super) fn of_trial(trial: &Trial) -> VerdictView {
    let verdict = &trial.verdict;
    VerdictView {
        decision: VisibleText::from(verdict.decision.as_str()),
        tone: tone(verdict.decision),
        reason: VisibleText::from(verdict.reason.message()),
        tool: VisibleText::from(trial.call().tool()),
        lines: call_lines(trial.call(), &marks(verdict)),
        rule: verdict.reason.rule().map(|rule| RuleView {
            text: VisibleText::from(rule.text.as_str()),
            behavior: VisibleText::from(rule.behavior.as_str()),
            tone: Tone::of(rule.behavior.as_str()),
            origin: VisibleText::from(rule.origin.to_string()),
            ..RuleView::default()
        }),
        step: step_title(verdict.step.as_str()),
        effects: trial.effects().iter().map(reported_effect).collect(),
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

fn effect(one: &EffectEntry) -> EffectView {
    let clause = effect_clause(&one.act, &one.target, !one.possible);
    EffectView {
        act: VisibleText::from(one.act.as_str()),
        clause: VisibleText::from(clause),
        is_possible: one.possible,
    }
}

fn reported_effect(one: &EffectReport) -> EffectView {
    EffectView {
        act: VisibleText::from(one.act),
        clause: VisibleText::from(one.clause()),
        is_possible: !one.is_certain,
    }
}

fn recorded(found: &FindingEntry) -> FindingView {
    FindingView {
        severity: VisibleText::from(found.severity.as_str()),
        ..finding(&found.code, &found.sentence, found.requested)
    }
}

fn reported(found: &FindingReport) -> FindingView {
    FindingView {
        severity: VisibleText::from(found.severity.as_str()),
        ..finding(found.code, &found.sentence, found.is_requested)
    }
}

fn finding(code: &str, sentence: &str, is_requested: bool) -> FindingView {
    FindingView {
        code: VisibleText::from(code),
        link: format!("/findings/{}", segment(code)),
        sentence: VisibleText::from(sentence),
        severity: VisibleText::default(),
        is_requested,
    }
}

fn trace_of_entry(line: &TraceEntry) -> TraceView {
    TraceView {
        step: VisibleText::from(line.step.as_str()),
        name: step_name(&line.step),
        outcome: VisibleText::from(line.outcome.as_str()),
        tone: Tone::of(&line.outcome),
        detail: VisibleText::from(line.detail.as_str()),
    }
}

fn trace_line(line: &TraceLine) -> TraceView {
    TraceView {
        step: VisibleText::from(line.step.as_str()),
        name: line.step.name(),
        outcome: VisibleText::from(line.outcome.as_str()),
        tone: Tone::of(line.outcome.as_str()),
        detail: VisibleText::from(line.detail.as_str()),
    }
}

fn step_name(step: &str) -> &'static str {
    STEPS.iter().find(|info| info.id.as_str() == step).map(|info| info.id.name()).unwrap_or_default()
}

fn step_title(step: &str) -> VisibleText {
    VisibleText::from(format!("{step} {}", step_name(step)).trim_end())
}

fn model(model: &ModelEntry) -> ModelView {
    let tokens = model.input.saturating_add(model.cache_read).saturating_add(model.cache_write);
    let cached = match model.cache_read {
        0 => String::new(),
        cached => format!(" ({} cached)", figure(cached)),
    };
    ModelView {
        model: VisibleText::from(format!("{} {}", model.provider, model.model)),
        stage: VisibleText::from(model.stage.as_str()),
        outcome: VisibleText::from(model.outcome.as_str()),
        tokens_in: format!("{}{cached}", figure(tokens)),
        tokens_out: figure(model.output),
        cost: model.cost_usd.map_or_else(|| "not known".to_owned(), dollars),
        latency: calendar::span(model.latency_ms.saturating_mul(1_000)),
    }
}

fn suggestion(one: &SuggestionEntry) -> SuggestionView {
    SuggestionView {
        behavior: VisibleText::from(one.behavior.as_str()),
        tone: Tone::of(&one.behavior),
        rule: one.rule.clone(),
        text: VisibleText::from(one.rule.as_str()),
        is_addable: one.is_whole(),
    }
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Allow | Decision::Contained => Tone::Allow,
        Decision::Ask => Tone::Ask,
        Decision::Deny => Tone::Deny,
    }
}
