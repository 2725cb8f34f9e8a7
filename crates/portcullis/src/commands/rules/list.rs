//! `portcullis rules list`: every rule in force, where it stands, and what is not used.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{RuleReference, visible};
use portcullis_settings::Ignored;
use serde_json::json;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::json::rule_json;
use crate::session::{Session, SessionArgs};
use crate::terminal::{BOLD, DIM, Painted, WARNING, print, printable, style_of};

/// List the rules in force, with the file and line of each
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules list
  portcullis rules list --cwd ~/src/app --json")]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SessionArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let session = Session::open(&arguments.session)?;
    session.warn();
    let suspended: Vec<&Rule> = session.policy().suspended_in_auto().collect();
    let rows: Vec<Row<'_>> = session
        .policy()
        .rules
        .rules()
        .iter()
        .map(|rule| Row { rule, suspended_in_auto: suspended.iter().any(|other| std::ptr::eq(*other, rule)) })
        .collect();
    let ignored = &session.loaded.ignored;
    print(&if arguments.json { as_json(&rows, ignored) } else { as_text(&rows, ignored) })?;
    Ok(ExitCode::Success)
}

struct Row<'a> {
    rule: &'a Rule,
    suspended_in_auto: bool,
}

fn as_text(rows: &[Row<'_>], ignored: &[Ignored]) -> String {
    let mut out = String::new();
    for behavior in [Behavior::Deny, Behavior::Ask, Behavior::Allow] {
        let mut listed = rows.iter().filter(|row| row.rule.behavior == behavior).peekable();
        if listed.peek().is_some() {
            let _ = writeln!(out, "{}", Painted(style_of(behavior.into()), behavior));
        }
        for row in listed {
            let origin = row.rule.origin.to_string();
            let place = format!("{}, {}", row.rule.origin.source, visible(&origin));
            let text = Painted(BOLD, visible(&row.rule.source_text));
            let _ = write!(out, "  {text}  {}", Painted(DIM, place));
            if row.suspended_in_auto {
                let _ = write!(out, "  {}", Painted(WARNING, "suspended in auto mode"));
            }
            out.push('\n');
        }
    }
    if rows.is_empty() {
        out.push_str("no rules\n");
    }
    if !ignored.is_empty() {
        out.push('\n');
    }
    for entry in ignored {
        let _ = writeln!(out, "{}", Painted(DIM, visible(&entry.to_string())));
    }
    out
}

fn as_json(rows: &[Row<'_>], ignored: &[Ignored]) -> String {
    let rules: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut object = rule_json(&RuleReference::from(row.rule));
            object.insert("suspended_in_auto".to_owned(), json!(row.suspended_in_auto));
            object
        })
        .collect();
    let ignored: Vec<_> = ignored.iter().map(ignored_json).collect();
    printable(&format!("{}\n", json!({"rules": rules, "ignored": ignored})))
}

/// Makes the JSON object of something that is not used.
pub(crate) fn ignored_json(entry: &Ignored) -> serde_json::Value {
    json!({
        "what": entry.what,
        "source": entry.origin.source.as_str(),
        "file": entry.origin.file.as_deref(),
        "line": entry.origin.line,
        "reason": entry.reason.as_str(),
        "hint": entry.reason.hint(),
    })
}
