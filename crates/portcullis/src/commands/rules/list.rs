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
    print(&if arguments.json {
        printable(&format!("{}\n", rules_object(&session)))
    } else {
        as_text(&rows(&session), &session.loaded.ignored)
    })?;
    Ok(ExitCode::Success)
}

/// A rule in force.
pub(crate) struct Row<'a> {
    /// The rule.
    pub(crate) rule: &'a Rule,
    /// Whether auto mode does not go by it.
    pub(crate) suspended_in_auto: bool,
}

/// Lists the rules in force.
pub(crate) fn rows(session: &Session) -> Vec<Row<'_>> {
    let suspended: Vec<&Rule> = session.policy().suspended_in_auto().collect();
    let is_suspended = |rule: &Rule| suspended.iter().any(|other| std::ptr::eq(*other, rule));
    let rules = session.policy().rules.rules().iter();
    rules.map(|rule| Row { rule, suspended_in_auto: is_suspended(rule) }).collect()
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

/// Makes the object of the rules in force and of what is not used.
pub(crate) fn rules_object(session: &Session) -> serde_json::Value {
    let rules: Vec<_> = rows(session)
        .iter()
        .map(|row| {
            let mut object = rule_json(&RuleReference::from(row.rule));
            object.insert("suspended_in_auto".to_owned(), json!(row.suspended_in_auto));
            object
        })
        .collect();
    let ignored: Vec<_> = session.loaded.ignored.iter().map(ignored_json).collect();
    json!({"rules": rules, "ignored": ignored})
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
