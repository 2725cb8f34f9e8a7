//! A judgement as an entry of the audit trail.

use std::time::Duration;

use portcullis_classifier::protocol::ModelExchange;
use portcullis_classifier::transcript::encode;
use portcullis_core::{EffectReport, FindingReport, Person, Reason, Span, ToolCall, TraceLine, Verdict};
use portcullis_hosts::HostDecision;
use portcullis_hosts::json::write_input;
use portcullis_store::audit::{
    EffectEntry, Entry, FindingEntry, JudgeEntry, ModelEntry, OriginEntry, RuleEntry, SpanEntry, TraceEntry,
};

use crate::clock::now_ms;
use crate::judge::{JudgedCall, suggestions};

/// Who asked, and what came of it.
#[derive(Debug)]
pub struct RecordContext<'a> {
    /// The program that asked, as it is named in the trail.
    pub host: &'a str,
    /// The host's own name of the moment.
    pub event: &'a str,
    /// The host's id of the session.
    pub session: &'a str,
    /// The subagent that made the call, if one did.
    pub agent: Option<&'a str>,
    /// The host's id of the call.
    pub call_id: Option<&'a str>,
    /// What the host was answered, which its moment may have made stricter than the decision.
    pub said: HostDecision,
    /// How long judging took.
    pub elapsed: Duration,
}

/// Writes down a judgement with all it was made by, so that nobody has to judge the call again to explain it.
pub fn entry(asked: &RecordContext<'_>, call: &ToolCall, judged: &JudgedCall) -> Entry {
    let JudgedCall { verdict, case, .. } = judged;
    let context = case.context();
    let mut input = String::new();
    write_input(&mut input, call.input());
    Entry {
        at_ms: now_ms(),
        host: asked.host.to_owned(),
        event: asked.event.to_owned(),
        session: asked.session.to_owned(),
        agent: asked.agent.map(str::to_owned),
        call_id: asked.call_id.map(str::to_owned),
        cwd: context.cwd.clone(),
        mode: verdict.mode.as_str().to_owned(),
        headless: context.person == Person::Absent,
        tool: call.tool().to_owned(),
        summary: summary(call),
        input,
        decision: verdict.decision.as_str().to_owned(),
        said: asked.said.as_str().to_owned(),
        step: verdict.step.as_str().to_owned(),
        kind: verdict.reason.kind().to_owned(),
        reason: verdict.reason.message(),
        rule: rule(verdict),
        code: code(&verdict.reason),
        denial: judged.denial.clone(),
        findings: verdict.findings.iter().map(finding).collect(),
        trace: verdict.trace.iter().map(trace).collect(),
        suggestions: suggestions(verdict),
        models: judged.exchanges.iter().map(model).collect(),
        judge: judged.exchanges.iter().rev().find_map(judge),
        micros: u64::try_from(asked.elapsed.as_micros()).unwrap_or(u64::MAX),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        spans: spans(&verdict.highlights),
        effects: judged.case.effect_reports().iter().map(effect).collect(),
        has_more_effects: false,
    }
}

/// Says in a line what a call is. A command speaks for itself; of any other call the tool is named.
fn summary(call: &ToolCall) -> String {
    match call.tool() {
        "Bash" => encode(call),
        tool => format!("{tool}: {}", encode(call)),
    }
}

fn rule(verdict: &Verdict) -> Option<RuleEntry> {
    let rule = verdict.reason.rule()?;
    Some(RuleEntry {
        text: rule.text.clone(),
        behavior: rule.behavior.to_string(),
        origin: OriginEntry {
            source: rule.origin.source.to_string(),
            file: rule.origin.file.as_deref().map(str::to_owned),
            line: rule.origin.line,
        },
    })
}

fn code(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Finding { code, .. } | Reason::Requested { code, .. } => Some((*code).to_owned()),
        Reason::Prose { code, .. } => code.map(str::to_owned),
        Reason::Classifier { category, .. } => category.clone(),
        _ => None,
    }
}

fn finding(found: &FindingReport) -> FindingEntry {
    FindingEntry {
        code: found.code.to_owned(),
        sentence: found.sentence.clone(),
        requested: found.is_requested,
        severity: found.severity.as_str().to_owned(),
        span: spans(&[found.span]).pop(),
        effect: found.effect.and_then(|place| u32::try_from(place).ok()),
    }
}

fn effect(effect: &EffectReport) -> EffectEntry {
    EffectEntry {
        act: effect.act.to_owned(),
        target: effect.target.clone(),
        possible: !effect.is_certain,
        spans: spans(&effect.spans),
    }
}

/// Writes down where words stand; what stands nowhere in the command is left out.
fn spans(spans: &[Span]) -> Vec<SpanEntry> {
    spans.iter().filter_map(|span| SpanEntry::new(span.range().start, span.range().end)).collect()
}

fn trace(line: &TraceLine) -> TraceEntry {
    TraceEntry {
        step: line.step.as_str().to_owned(),
        outcome: line.outcome.as_str().to_owned(),
        detail: line.detail.clone(),
    }
}

/// Writes down what the word of a model rests on, if it was part of the decision.
fn judge(exchange: &ModelExchange) -> Option<JudgeEntry> {
    let ModelExchange { prompt_version, self_test, .. } = exchange;
    (!prompt_version.is_empty())
        .then(|| JudgeEntry { prompt: prompt_version.clone(), self_test: (*self_test).to_owned() })
}

fn model(exchange: &ModelExchange) -> ModelEntry {
    let ModelExchange { talk, provider, model, usage, cost, elapsed, outcome, .. } = exchange;
    ModelEntry {
        provider: provider.as_str().to_owned(),
        model: model.clone(),
        stage: talk.as_str().to_owned(),
        outcome: outcome.as_str().to_owned(),
        input: usage.input,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        output: usage.output,
        cost_usd: *cost,
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    }
}
