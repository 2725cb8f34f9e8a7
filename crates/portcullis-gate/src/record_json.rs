//! A decision of the audit trail as the JSON object that programs are shown, the same in `log`, the API and the queue; and
//! read back.

use portcullis_core::effect_clause;
use portcullis_store::audit::{EffectEntry, Entry, FindingEntry, ModelEntry, RuleEntry};
use serde_json::{Map, Value, json};

/// Makes the object of a decision, without its place in the trail.
pub fn entry_object(entry: &Entry) -> Value {
    let trace = entry
        .trace
        .iter()
        .map(|line| json!({"step": line.step, "outcome": line.outcome, "detail": line.detail}));
    let suggestions = entry.suggestions.iter().map(|one| json!({"behavior": one.behavior, "rule": one.rule}));
    // What an older program did not record is not known, which is not the same as nothing.
    let known = |value: Value| if entry.has_grounds() { value } else { Value::Null };
    let effects = entry.effects.iter().map(effect_object);
    json!({
        "atMs": entry.at_ms,
        "host": entry.host,
        "event": entry.event,
        "session": entry.session,
        "agent": entry.agent,
        "callId": entry.call_id,
        "cwd": entry.cwd,
        "mode": entry.mode,
        "headless": entry.headless,
        "tool": entry.tool,
        "summary": entry.summary,
        "input": entry.input,
        "decision": entry.decision,
        "said": entry.said,
        "step": entry.step,
        "kind": entry.kind,
        "reason": entry.reason,
        "rule": entry.rule.as_ref().map(rule_object),
        "code": entry.code,
        "denial": entry.denial,
        "findings": entry.findings.iter().map(finding_object).collect::<Vec<_>>(),
        "trace": trace.collect::<Vec<_>>(),
        "suggestions": suggestions.collect::<Vec<_>>(),
        "models": entry.models.iter().map(model_object).collect::<Vec<_>>(),
        "judge": entry.judge.as_ref().map(|judge| json!({"prompt": judge.prompt, "selfTest": judge.self_test})),
        "micros": entry.micros,
        "version": known(entry.version.as_str().into()),
        "spans": known(json!(entry.spans)),
        "effects": known(effects.collect()),
        "hasMoreEffects": entry.has_more_effects,
    })
}

fn rule_object(rule: &RuleEntry) -> Value {
    let origin = &rule.origin;
    json!({
        "text": rule.text,
        "behavior": rule.behavior,
        "origin": origin.to_string(),
        "source": Some(&origin.source).filter(|source| !source.is_empty()),
        "file": origin.file,
        "line": origin.line,
    })
}

fn finding_object(finding: &FindingEntry) -> Value {
    json!({
        "code": finding.code,
        "sentence": finding.sentence,
        "requested": finding.requested,
        "severity": Some(&finding.severity).filter(|severity| !severity.is_empty()),
        "span": finding.span,
        "effect": finding.effect,
    })
}

fn effect_object(effect: &EffectEntry) -> Value {
    json!({
        "act": effect.act,
        "target": effect.target,
        "clause": effect_clause(&effect.act, &effect.target, !effect.possible),
        "certain": !effect.possible,
        "spans": effect.spans,
    })
}

fn model_object(model: &ModelEntry) -> Value {
    json!({
        "provider": model.provider,
        "model": model.model,
        "stage": model.stage,
        "outcome": model.outcome,
        "input": model.input,
        "cacheRead": model.cache_read,
        "cacheWrite": model.cache_write,
        "output": model.output,
        "costUsd": model.cost_usd,
        "latencyMs": model.latency_ms,
    })
}

/// Reads a decision back from its object; `None` if it is none.
pub fn read_entry(value: &Value) -> Option<Entry> {
    let mut entry: Entry = serde_json::from_value(stored(value.clone())).ok()?;
    let shown = value.get("effects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (effect, shown) in entry.effects.iter_mut().zip(shown) {
        effect.possible = shown.get("certain") == Some(&Value::Bool(false));
    }
    Some(entry)
}

/// Turns an object of the API into one of the store: names are spelled otherwise, and what is not there is left out.
fn stored(value: Value) -> Value {
    let name = |name: String| {
        let mut out = String::with_capacity(name.len() + 4);
        for character in name.chars() {
            if character.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(character.to_ascii_lowercase());
        }
        out
    };
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (name(key), stored(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(stored).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_store::audit::{JudgeEntry, OriginEntry, SpanEntry};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_decision_is_read_back_as_it_was_shown() {
        let origin = OriginEntry {
            source: "user".to_owned(),
            file: Some("/home/me/settings.json".to_owned()),
            line: Some(3),
        };
        let entry = Entry {
            decision: "ask".to_owned(),
            rule: Some(RuleEntry { text: "Bash(make:*)".to_owned(), behavior: "ask".to_owned(), origin }),
            findings: vec![FindingEntry {
                code: "PC007".to_owned(),
                severity: "high".to_owned(),
                span: Some(SpanEntry(0, 4)),
                effect: Some(0),
                ..FindingEntry::default()
            }],
            judge: Some(JudgeEntry { prompt: "2".to_owned(), self_test: "passed".to_owned() }),
            version: "1.2.3".to_owned(),
            spans: vec![SpanEntry(0, 4)],
            effects: vec![EffectEntry {
                act: "execute".to_owned(),
                target: "make".to_owned(),
                possible: true,
                spans: vec![SpanEntry(0, 4)],
            }],
            ..Entry::default()
        };
        assert_eq!(read_entry(&entry_object(&entry)), Some(entry));
    }

    #[test]
    fn what_an_older_program_did_not_record_is_null() {
        let object = entry_object(&Entry::default());
        for key in ["version", "spans", "effects"] {
            assert_eq!(object.get(key), Some(&Value::Null), "{key}");
        }
        assert_eq!(read_entry(&object), Some(Entry::default()));
    }
}
