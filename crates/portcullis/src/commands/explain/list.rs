//! All codes with what they are about.

use std::fmt::Write as _;

use portcullis_output::finding_page::PageEntry;
use portcullis_output::terminal::{BOLD, DIM, Painted};

/// Lists all codes for people.
pub(super) fn as_text() -> String {
    let mut out = String::new();
    let width = PageEntry::all().map(|entry| entry.name().len()).max().unwrap_or_default();
    let mut heading = "";
    for entry in PageEntry::all() {
        let (next, severity) = match entry {
            PageEntry::Finding(finding) => ("findings", finding.severity.as_str()),
            PageEntry::Allowance(_) => ("allowances", ""),
        };
        if next != heading {
            let gap = if heading.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{gap}{}", Painted(DIM, next));
            heading = next;
        }
        let code = Painted(BOLD, format_args!("{:<5}", entry.code()));
        let name = entry.name();
        let _ = match severity {
            "" => writeln!(out, "  {code}  {name:<width$}  {}", entry.title()),
            _ => writeln!(out, "  {code}  {name:<width$}  {severity:<8}  {}", entry.title()),
        };
    }
    out
}

/// Lists all codes as a JSON array.
pub(super) fn as_json() -> String {
    let all: Vec<_> = PageEntry::all().map(PageEntry::summary_json).collect();
    format!("{}\n", serde_json::json!(all))
}
