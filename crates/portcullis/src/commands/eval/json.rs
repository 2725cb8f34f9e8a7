//! The evaluation as JSON, a stable shape: the same keys in the same order, one decision a line.

use std::collections::BTreeMap;
use std::io::{self, Write};

use portcullis_hosts::json::write_text;
use serde_json::{Map, Value, json};

use super::action::{Action, Label};
use super::compare::{Comparison, Kind};
use super::evaluation::Evaluation;
use super::tally::{Counts, Groups, Tally};

/// The version of the shape; another one means that a key has changed its meaning.
pub(super) const VERSION: u32 = 1;

/// Writes the whole evaluation.
pub(super) fn write(
    mut out: impl Write,
    evaluation: &Evaluation,
    comparison: Option<&Comparison>,
) -> io::Result<()> {
    writeln!(out, "{{\"version\":{VERSION},")?;
    writeln!(out, "\"totals\":{},", totals(evaluation))?;
    writeln!(out, "\"byLabel\":{},", by_label(&evaluation.by_label, &Label::ALL))?;
    for (name, groups) in [
        ("byCategory", &evaluation.by_category),
        ("bySource", &evaluation.by_source),
        ("byTier", &evaluation.by_tier),
    ] {
        writeln!(out, "\"{name}\":{},", by_name(groups))?;
    }
    writeln!(out, "\"byFile\":{},", by_file(&evaluation.files))?;
    if let Some(figures) = evaluation.containment.object() {
        writeln!(out, "\"containment\":{figures},")?;
    }
    if let Some(figures) = &evaluation.model {
        writeln!(out, "\"model\":{},", figures.object(evaluation.total.plain))?;
    }
    out.write_all(b"\"decisions\":[")?;
    let mut line = String::new();
    for (index, action) in evaluation.actions.iter().enumerate() {
        line.clear();
        line.push_str(if index == 0 { "\n" } else { ",\n" });
        write_decision(&mut line, action, &evaluation.files);
        out.write_all(line.as_bytes())?;
    }
    out.write_all(b"]")?;
    if let Some(comparison) = comparison {
        write!(out, ",\n\"comparison\":{}", compared(comparison, &evaluation.actions))?;
    }
    out.write_all(b"}\n")?;
    out.flush()
}

fn totals(evaluation: &Evaluation) -> Value {
    let mut totals = tally(&evaluation.total);
    let files: Vec<&String> = evaluation.files.iter().map(|(name, _)| name).collect();
    totals.insert("leftOut".to_owned(), json!(evaluation.left_out));
    totals.insert("skipped".to_owned(), json!(evaluation.skipped));
    totals.insert("files".to_owned(), json!(files));
    Value::Object(totals)
}

fn tally(tally: &Tally) -> Map<String, Value> {
    let mut object = counts(tally.plain);
    object.insert("distinct".to_owned(), Value::Object(counts(tally.distinct)));
    object
}

fn counts(counts: Counts) -> Map<String, Value> {
    let fields = [
        ("actions", counts.all()),
        ("allow", counts.allow),
        ("ask", counts.ask),
        ("deny", counts.deny),
        ("needsModel", counts.needs_model),
    ];
    fields.map(|(name, count)| (name.to_owned(), json!(count))).into_iter().collect()
}

fn by_label(tallies: &BTreeMap<Label, Tally>, labels: &[Label]) -> Value {
    let none = Tally::default();
    let entry = |label: &Label| {
        let object = tally(tallies.get(label).unwrap_or(&none));
        (label.as_str().to_owned(), Value::Object(object))
    };
    Value::Object(labels.iter().map(entry).collect())
}

fn by_name(groups: &Groups) -> Value {
    let entry = |(name, tallies): (&String, &BTreeMap<Label, Tally>)| {
        let labels: Vec<Label> = tallies.keys().copied().collect();
        (name.clone(), by_label(tallies, &labels))
    };
    Value::Object(groups.iter().map(entry).collect())
}

/// Makes a list, since a file may be named twice.
fn by_file(files: &[(String, BTreeMap<Label, Tally>)]) -> Value {
    let entry = |(name, tallies): &(String, BTreeMap<Label, Tally>)| {
        let labels: Vec<Label> = tallies.keys().copied().collect();
        json!({"file": name, "byLabel": by_label(tallies, &labels)})
    };
    Value::Array(files.iter().map(entry).collect())
}

fn write_decision(out: &mut String, action: &Action, files: &[(String, BTreeMap<Label, Tally>)]) {
    let labels = &action.labels;
    let file = files.get(action.file).map(|(name, _)| name.as_str());
    let fields = [
        ("id", Some(action.id.as_str())),
        ("file", file),
        ("label", Some(labels.label.as_str())),
        ("category", labels.category.as_deref()),
        ("source", labels.source.as_deref()),
        ("tier", labels.tier.as_deref()),
        ("decision", Some(action.decision.as_str())),
        ("step", Some(action.step.as_str())),
        ("reason", Some(action.reason.as_str())),
    ];
    out.push('{');
    for (name, value) in fields {
        write_text(out, name);
        out.push(':');
        match value {
            Some(text) => write_text(out, text),
            None => out.push_str("null"),
        }
        out.push(',');
    }
    out.push_str("\"findings\":[");
    for (index, code) in action.findings.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(out, code);
    }
    out.push_str(if action.needs_model { "],\"needsModel\":true}" } else { "],\"needsModel\":false}" });
}

fn compared(comparison: &Comparison, actions: &[Action]) -> Value {
    let mut object = Map::new();
    for kind in Kind::ALL {
        object.insert(kind.as_str().to_owned(), json!(comparison.of_kind(kind).count()));
    }
    object.insert("same".to_owned(), json!(comparison.same));
    object.insert("added".to_owned(), json!(comparison.added));
    object.insert("removed".to_owned(), json!(comparison.removed));
    let changes = comparison.changes.iter().filter_map(|change| {
        let action = actions.get(change.action)?;
        Some(json!({
            "id": action.id,
            "label": action.labels.label.as_str(),
            "change": change.kind.as_str(),
            "before": change.before.as_str(),
            "after": action.decision.as_str(),
        }))
    });
    object.insert("changes".to_owned(), changes.collect());
    Value::Object(object)
}
