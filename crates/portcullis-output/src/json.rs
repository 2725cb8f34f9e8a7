//! A verdict as one line of JSON, the stable shape of `check --json` and `check --batch`.
//!
//! Written by hand into a string that is used again, because `--batch` writes a hundred thousand of them a second.

use std::fmt::Write as _;

use portcullis_core::{FindingReport, RuleReference, Suggestion, TraceLine, Verdict};
use portcullis_hosts::json::write_text;
use serde_json::json;

/// Writes the fields of a verdict to the end of `out`, without the braces round them.
pub(super) fn write_verdict_fields(out: &mut String, verdict: &Verdict, elapsed_us: u128) {
    write_plain(out, "\"decision\":", verdict.decision.as_str());
    write_plain(out, ",\"step\":", verdict.step.as_str());
    write_plain(out, ",\"reason\":{\"kind\":", verdict.reason.kind());
    out.push_str(",\"message\":");
    write_text(out, &verdict.reason.message());
    out.push_str(",\"rule\":");
    match verdict.reason.rule() {
        Some(rule) => write_rule(out, rule),
        None => out.push_str("null"),
    }
    out.push_str("},\"findings\":");
    write_list(out, &verdict.findings, write_finding);
    out.push_str(",\"trace\":");
    write_list(out, &verdict.trace, write_trace_line);
    out.push_str(",\"suggestions\":");
    write_list(out, &verdict.suggestions, write_suggestion);
    // Writing to a String cannot fail.
    let _ = write!(out, ",\"elapsed_us\":{elapsed_us}");
}

/// Makes the object of a verdict, without how long it took.
pub fn verdict_object(verdict: &Verdict) -> serde_json::Value {
    let mut text = String::from("{");
    write_verdict_fields(&mut text, verdict, 0);
    text.push('}');
    let mut object: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("elapsed_us");
    }
    object
}

/// Writes one more field after others.
pub(super) fn write_field(out: &mut String, name: &str, value: &serde_json::Value) {
    // Writing to a String cannot fail.
    let _ = write!(out, ",\"{name}\":{value}");
}

/// Writes the object of a finding.
fn write_finding(out: &mut String, found: &FindingReport) {
    write_plain(out, "{\"code\":", found.code);
    write_plain(out, ",\"category\":", found.category);
    write_plain(out, ",\"severity\":", found.severity.as_str());
    out.push_str(",\"subject\":");
    write_text(out, &found.subject);
    out.push_str(",\"message\":");
    write_text(out, &found.sentence);
    out.push_str(",\"mustName\":");
    write_optional(out, found.must_name);
    let _ = write!(out, ",\"requested\":{}}}", found.is_requested);
}

/// Makes the object of a rule, with the fields that a verdict gives it.
pub fn rule_json(rule: &RuleReference) -> serde_json::Map<String, serde_json::Value> {
    let fields = [
        ("text", json!(rule.text)),
        ("behavior", json!(rule.behavior.as_str())),
        ("source", json!(rule.origin.source.as_str())),
        ("file", json!(rule.origin.file.as_deref())),
        ("line", json!(rule.origin.line)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Writes the object of a rule.
fn write_rule(out: &mut String, rule: &RuleReference) {
    out.push_str("{\"text\":");
    write_text(out, &rule.text);
    write_plain(out, ",\"behavior\":", rule.behavior.as_str());
    write_plain(out, ",\"source\":", rule.origin.source.as_str());
    out.push_str(",\"file\":");
    write_optional(out, rule.origin.file.as_deref());
    out.push_str(",\"line\":");
    match rule.origin.line {
        Some(line) => _ = write!(out, "{line}"),
        None => out.push_str("null"),
    }
    out.push('}');
}

/// Writes a text or null.
fn write_optional(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_text(out, text),
        None => out.push_str("null"),
    }
}

/// Writes a list, one item after the other.
fn write_list<'a, T: 'a>(
    out: &mut String,
    items: impl IntoIterator<Item = &'a T>,
    write_item: impl Fn(&mut String, &T),
) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_item(out, item);
    }
    out.push(']');
}

fn write_trace_line(out: &mut String, line: &TraceLine) {
    write_plain(out, "{\"step\":", line.step.as_str());
    write_plain(out, ",\"outcome\":", line.outcome.as_str());
    out.push_str(",\"detail\":");
    write_text(out, &line.detail);
    out.push('}');
}

fn write_suggestion(out: &mut String, suggestion: &Suggestion) {
    write_plain(out, "{\"behavior\":", suggestion.behavior.as_str());
    out.push_str(",\"rule\":");
    write_text(out, &suggestion.rule);
    out.push('}');
}

/// Writes a key and a word that needs no escapes.
fn write_plain(out: &mut String, key: &str, word: &str) {
    out.push_str(key);
    out.push('"');
    out.push_str(word);
    out.push('"');
}
