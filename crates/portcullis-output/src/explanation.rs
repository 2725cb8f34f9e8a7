//! An explanation for people, as a block after the verdict, and for programs, as a field of the verdict's object.

use std::fmt::Write as _;

use portcullis_core::{CallExplanation, visible};
use portcullis_hosts::json::write_text;

use crate::terminal::{DIM, Painted};

/// Writes the block of an explanation.
pub fn for_people(explained: &CallExplanation) -> String {
    let risk = format!("{}: {}", explained.risk_level.as_str(), explained.risk);
    let parts = [
        ("what it does", explained.explanation.as_str()),
        ("why it matters", explained.reasoning.as_str()),
        ("risk", risk.as_str()),
    ];
    let mut out = String::new();
    for (title, text) in parts {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "\n  {}\n    {}", Painted(DIM, title), visible(text));
    }
    out
}

/// Writes the field of an explanation after other fields.
pub(super) fn write_field(out: &mut String, explained: &CallExplanation) {
    let fields = [
        (",\"explanation\":{\"explanation\":", explained.explanation.as_str()),
        (",\"reasoning\":", &explained.reasoning),
        (",\"risk\":", &explained.risk),
        (",\"riskLevel\":", explained.risk_level.as_str()),
    ];
    for (key, text) in fields {
        out.push_str(key);
        write_text(out, text);
    }
    out.push('}');
}
