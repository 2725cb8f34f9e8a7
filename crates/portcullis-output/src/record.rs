//! A record of the audit trail: a line or a page for people, an object for programs.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::Style;
use portcullis_core::{Decision, effect_clause, visible};
use portcullis_gate::judge::recorded_call;
use portcullis_gate::presence::DOCTOR_SESSION;
use portcullis_gate::record_json::entry_object;
use portcullis_store::audit::{EffectEntry, Entry, JudgeEntry, ModelEntry, Record, SpanEntry};
use serde_json::{Map, Value};

use super::excerpt::write_excerpt;
use super::exchange::dollars;
use super::human::{write_block, write_line};
use super::shorten::shorten;
use crate::calendar;
use crate::terminal::{BOLD, DIM, Painted, style_of, symbol_of};

/// The longest summary and reason in a list, in characters.
const LONGEST_IN_LIST: usize = 120;

/// Writes a record for a list: when, what was decided, what about; below it the id and why.
pub fn lines(record: &Record) -> String {
    let entry = &record.entry;
    let mut out = String::new();
    let when = Painted(DIM, calendar::time(entry.at_ms));
    let about = visible(&shorten(&entry.summary, LONGEST_IN_LIST)).into_owned();
    // Writing to a String cannot fail.
    let test = if entry.session == DOCTOR_SESSION { "test of `portcullis doctor`: " } else { "" };
    let _ = writeln!(out, "{when}  {}  {test}{about}", answer(&entry.decision));
    let answered =
        if entry.said == entry.decision { String::new() } else { format!(", {}", answered(entry)) };
    let why = shorten(&entry.reason, LONGEST_IN_LIST);
    let line = format!("{}  {}{answered}: {why}", record.id, entry.host);
    let _ = writeln!(out, "  {}", Painted(DIM, visible(&line)));
    out
}

/// Writes everything that is kept of a record.
pub fn page(record: &Record) -> String {
    let entry = &record.entry;
    let mut out = String::new();
    let _ = writeln!(out, "{}  {}", answer(&entry.decision), visible(&entry.reason));
    out.push('\n');
    write_call(&mut out, entry);
    out.push('\n');
    let by =
        if entry.has_grounds() { format!("portcullis {}", entry.version) } else { NOT_RECORDED.to_owned() };
    let identity = [
        ("id", format!("{} (number {})", record.id, record.number)),
        ("when", format!("{} UTC, in {}", calendar::time(entry.at_ms), calendar::span(entry.micros))),
        ("by", by),
    ];
    write_details(&mut out, entry, &identity);
    write_block(
        &mut out,
        "chain",
        &[format!("hash   {}", record.hash), format!("before {}", record.previous)],
    );
    out
}

/// What is said of a record that older programs wrote.
pub const NOT_RECORDED: &str =
    "an older version of Portcullis, which recorded neither effects nor the deciding words";

/// Writes the call with the words that decided, as far as they were recorded.
fn write_call(out: &mut String, entry: &Entry) {
    let call = recorded_call(entry).filter(|_| !entry.spans.is_empty());
    match call.as_ref().and_then(|call| call.command()) {
        Some(command) => write_excerpt(out, command, &marks(&entry.spans), style(&entry.decision)),
        None => _ = writeln!(out, "  {} {}", Painted(DIM, "│"), visible(&entry.summary)),
    }
}

/// Returns where words stand, as ranges of bytes.
pub fn marks(spans: &[SpanEntry]) -> Vec<Range<usize>> {
    let place = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    spans.iter().map(|span| place(span.0)..place(span.1)).collect()
}

/// Writes what is kept of a decision below its summary: further lines first, then where it came from, and why it is so.
pub fn write_details(out: &mut String, entry: &Entry, first: &[(&str, String)]) {
    // The longest title is `session`.
    let mut line = |title: &str, text: &str| write_line(out, &format!("{title:<7}"), &visible(text));
    for (title, text) in first {
        line(title, text);
    }
    line("host", &format!("{}, {}, {}", entry.host, entry.event, answered(entry)));
    let who = if entry.headless { ", nobody could be asked" } else { "" };
    line("mode", &format!("{}{who}", entry.mode));
    line("tool", &entry.tool);
    line("where", &entry.cwd);
    if !entry.session.is_empty() {
        let test = if entry.session == DOCTOR_SESSION { ", a test of `portcullis doctor`" } else { "" };
        line("session", &format!("{}{test}", entry.session));
    }
    let named =
        [("agent", &entry.agent), ("call", &entry.call_id), ("code", &entry.code), ("denial", &entry.denial)];
    for (title, text) in named {
        if let Some(text) = text {
            line(title, text);
        }
    }
    line("step", &format!("{} ({})", entry.step, entry.kind));
    if let Some(rule) = &entry.rule {
        let place = format!("({}, {})", rule.behavior, rule.origin);
        let text = format!("{} {}", Painted(BOLD, visible(&rule.text)), Painted(DIM, visible(&place)));
        write_line(out, "rule   ", &text);
    }
    write_block(out, "input", &[visible(&entry.input).into_owned()]);
    write_block(out, "what it would do", &effects(entry));
    write_block(out, "findings", &findings(entry));
    write_block(out, "trace", &trace(entry));
    write_block(
        out,
        "model",
        &entry.models.iter().map(model).chain(entry.judge.as_ref().map(judge)).collect::<Vec<_>>(),
    );
    write_block(out, "rules that would decide it", &suggestions(entry));
}

/// Says what the agent got for an answer.
pub fn answered(entry: &Entry) -> String {
    match entry.said.as_str() {
        "silence" => format!("left to {}", entry.host),
        said => format!("answered {said}"),
    }
}

fn answer(decision: &str) -> String {
    let symbol = known(decision).map_or(" ", symbol_of);
    Painted(style(decision), format_args!("{symbol} {:<5}", visible(decision))).to_string()
}

fn style(decision: &str) -> Style {
    known(decision).map_or(Style::new(), style_of)
}

fn known(decision: &str) -> Option<Decision> {
    [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(|known| known.as_str() == decision)
}

fn effects(entry: &Entry) -> Vec<String> {
    let line = |effect: &EffectEntry| {
        let clause = effect_clause(&effect.act, &effect.target, !effect.possible);
        visible(&clause).into_owned()
    };
    let more = entry.has_more_effects.then(|| "and more, which was not recorded".to_owned());
    entry.effects.iter().map(line).chain(more).collect()
}

fn findings(entry: &Entry) -> Vec<String> {
    let line = |finding: &portcullis_store::audit::FindingEntry| {
        let requested = if finding.requested { " (the user seems to have asked for it)" } else { "" };
        let severity =
            if finding.severity.is_empty() { String::new() } else { format!(" ({})", finding.severity) };
        let code = Painted(BOLD, visible(&finding.code));
        format!("{code}{} {}{requested}", visible(&severity), visible(&finding.sentence))
    };
    entry.findings.iter().map(line).collect()
}

fn trace(entry: &Entry) -> Vec<String> {
    let line = |line: &portcullis_store::audit::TraceEntry| {
        let text = format!("{:<4}{:<12} {}", line.step, line.outcome, line.detail);
        visible(text.trim_end()).into_owned()
    };
    entry.trace.iter().map(line).collect()
}

fn model(model: &ModelEntry) -> String {
    let cost = model.cost_usd.map_or_else(|| "cost not known".to_owned(), dollars);
    let tokens = model.input.saturating_add(model.cache_read).saturating_add(model.cache_write);
    let text = format!(
        "{} {}: {}, {} ms, {tokens} tokens in ({} cached), {} out, {cost}",
        model.model, model.stage, model.outcome, model.latency_ms, model.cache_read, model.output,
    );
    visible(&text).into_owned()
}

fn judge(judge: &JudgeEntry) -> String {
    visible(&format!("prompt {}, self-test: {}", judge.prompt, judge.self_test)).into_owned()
}

fn suggestions(entry: &Entry) -> Vec<String> {
    let line = |suggestion: &portcullis_store::audit::SuggestionEntry| {
        visible(&format!("{} {}", suggestion.behavior, suggestion.rule)).into_owned()
    };
    entry.suggestions.iter().map(line).collect()
}

/// Makes the object of a record.
pub fn object(record: &Record) -> Value {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), record.id.as_str().into());
    fields.insert("number".to_owned(), record.number.into());
    if let Value::Object(entry) = entry_object(&record.entry) {
        fields.extend(entry);
    }
    fields.insert("hash".to_owned(), record.hash.as_str().into());
    fields.insert("previous".to_owned(), record.previous.as_str().into());
    Value::Object(fields)
}
