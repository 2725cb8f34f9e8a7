//! `portcullis rules list`: every rule in force, where it stands, and what is not used.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::Behavior;
use portcullis_core::visible;
use portcullis_settings::IgnoredSetting;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::rules::{RuleRow, rows, rules_object};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{BOLD, DIM, Painted, WARNING, print, printable, style_of};

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
    session: SettingsFlags,
}

/// Runs the command.
pub(crate) fn run(arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    print(&if arguments.json {
        printable(&format!("{}\n", rules_object(&session)))
    } else {
        as_text(&rows(&session), &session.loaded.ignored)
    })?;
    Ok(ExitCode::Success)
}

fn as_text(rows: &[RuleRow<'_>], ignored: &[IgnoredSetting]) -> String {
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
