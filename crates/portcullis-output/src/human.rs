//! A verdict for people: the answer, the command with its deciding words, why, and what would change it.

use std::fmt::Write as _;

use portcullis_core::tool::{ToolKind, find_tool};
use portcullis_core::{
    Decision, RuleReference, STEPS, StepInfo, ToolCall, ToolInput, TraceLine, TraceOutcome, Value, Verdict,
    visible,
};
use portcullis_hosts::json::write_value;

use super::excerpt::write_excerpt;
use super::findings::finding_lines;
use super::shorten::shorten;

use crate::terminal::{BOLD, DIM, Painted, style_of, symbol_of};

/// How much of the trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceDetail {
    /// The steps that said something.
    Spoken,
    /// Every step.
    Every,
}

/// The longest input of a tool other than a shell that is shown, in characters.
const LONGEST_INPUT: usize = 200;

/// The longest reason that is shown, in characters; the command in it may be of any length.
const LONGEST_REASON: usize = 400;

/// Writes a verdict; `models` are lines about the models that were asked, `remedies` say what would change it.
pub fn verdict(
    call: &ToolCall,
    verdict: &Verdict,
    trace: TraceDetail,
    models: &[String],
    remedies: &[String],
) -> String {
    let mut out = String::new();
    let style = style_of(verdict.decision);
    let symbol = symbol_of(verdict.decision);
    let answer = Painted(style, format_args!("{symbol} {}", verdict.decision));
    let _ = writeln!(out, "{answer}  {}", visible(&shorten(&verdict.reason.message(), LONGEST_REASON)));
    out.push('\n');
    write_call(&mut out, call, verdict);
    out.push('\n');
    write_line(&mut out, "step", &format!("{} {}", verdict.step, verdict.step.name()));
    if let Some(rule) = verdict.reason.rule() {
        write_line(&mut out, "rule", &rule_title(rule));
    }
    write_block(&mut out, "findings", &finding_lines(&verdict.findings));
    write_trace(&mut out, &verdict.trace, trace);
    write_block(&mut out, "model", models);
    write_block(&mut out, remedy_title(verdict.decision), remedies);
    out
}

/// Describes a rule: its text, what it does and where it stands.
pub fn rule_title(rule: &RuleReference) -> String {
    let place = rule.origin.to_string();
    let text = Painted(BOLD, visible(&rule.text));
    format!("{text} {}", Painted(DIM, format_args!("({}, {})", rule.behavior, visible(&place))))
}

fn write_call(out: &mut String, call: &ToolCall, verdict: &Verdict) {
    match call.command() {
        Some(command) if matches!(call.kind(), ToolKind::Shell | ToolKind::PowerShell) => {
            let marks: Vec<_> = verdict.highlights.iter().map(|span| span.range()).collect();
            write_excerpt(out, command, &marks, style_of(verdict.decision));
        }
        _ => _ = writeln!(out, "  {} {}", Painted(DIM, "│"), call_title(call)),
    }
}

/// Describes a call on one line: its tool and what it is about.
pub fn call_title(call: &ToolCall) -> String {
    let primary = find_tool(call.tool()).and_then(|tool| tool.primary_field);
    let text = primary
        .and_then(|field| call.input().text(field))
        .map_or_else(|| input_json(call.input()), str::to_owned);
    let tool = shorten(call.tool(), LONGEST_INPUT);
    format!("{} {}", visible(&tool), visible(&shorten(&text, LONGEST_INPUT)))
}

/// Counts things: `1 call`, `2 calls`.
pub fn counted(count: impl TryInto<u64>, thing: &str) -> String {
    // What does not fit is many.
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Says how long ago something was, in the largest unit that fits.
pub fn age(millis: u64) -> String {
    match millis / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn input_json(input: &ToolInput) -> String {
    let fields = input.fields().map(|(name, value)| (name.to_owned(), value.clone()));
    let mut text = String::new();
    write_value(&mut text, &Value::Object(fields.collect()));
    text
}

fn write_trace(out: &mut String, trace: &[TraceLine], detail: TraceDetail) {
    let lines: Vec<String> = match detail {
        TraceDetail::Spoken => trace.iter().filter(|line| has_spoken(line)).map(trace_line).collect(),
        TraceDetail::Every => trace.iter().chain(&unreached(trace)).map(trace_line).collect(),
    };
    write_block(out, "trace", &lines);
}

/// Makes lines for the steps that the call never came to.
fn unreached(trace: &[TraceLine]) -> Vec<TraceLine> {
    let is_unreached = |step: &&StepInfo| trace.iter().all(|line| line.step != step.id);
    let line =
        |step: &StepInfo| TraceLine { step: step.id, outcome: TraceOutcome::Skip, detail: String::new() };
    STEPS.iter().filter(is_unreached).map(line).collect()
}

fn has_spoken(line: &TraceLine) -> bool {
    matches!(line.outcome, TraceOutcome::Raise(_) | TraceOutcome::Settle(_))
}

fn trace_line(line: &TraceLine) -> String {
    let outcome = match line.outcome {
        TraceOutcome::Raise(decision) | TraceOutcome::Settle(decision) => {
            Painted(style_of(decision), line.outcome.as_str()).to_string()
        }
        TraceOutcome::Pass | TraceOutcome::Skip => Painted(DIM, line.outcome.as_str()).to_string(),
    };
    let padding = " ".repeat(12_usize.saturating_sub(line.outcome.as_str().len()));
    let detail = shorten(&line.detail, LONGEST_REASON);
    let detail = visible(&detail);
    let name = line.step.name();
    let text = format!("{:<4}{outcome}{padding} {name}", line.step.as_str());
    if detail.is_empty() { text } else { format!("{text}: {detail}") }
}

const fn remedy_title(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "to stop it",
        Decision::Contained | Decision::Ask | Decision::Deny => "to change it",
    }
}

/// Writes a line with a title.
pub fn write_line(out: &mut String, title: &str, text: &str) {
    let _ = writeln!(out, "  {}  {text}", Painted(DIM, format_args!("{title:<5}")));
}

/// Writes lines below a title; nothing if there are none.
pub fn write_block(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  {}", Painted(DIM, title));
    for line in lines {
        let _ = writeln!(out, "    {line}");
    }
}
