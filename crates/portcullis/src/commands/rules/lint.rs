//! `portcullis rules lint`: rules that do not do what they seem to.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::{Lint, Rule};
use portcullis_core::{RuleReference, visible};
use portcullis_settings::{ProblemSeverity, SettingsProblem};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::human::counted;
use portcullis_output::human::rule_title;
use portcullis_output::rules::{lint_object, lints};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{DIM, Painted, WARNING, print, printable};

/// Find rules that are shadowed, doubled, mistaken or too broad, and say how to put them right
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis rules lint
  portcullis rules lint --json
  portcullis rules lint --settings new-settings.json

Exit codes: 0 nothing found, 1 something found")]
pub(crate) struct LintArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SettingsFlags,
}

/// Runs the command.
pub(crate) fn run(arguments: &LintArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn_from(&session, ProblemSeverity::Note);
    settings_notes::warn_of_unused(&session);
    let problems = &session.loaded.problems;
    let lints = lints(&session);
    print(&if arguments.json {
        printable(&format!("{}\n", lint_object(&session)))
    } else {
        as_text(session.policy().rules.rules(), &lints, problems)
    })?;
    let is_clean = lints.is_empty() && problems.is_empty();
    Ok(if is_clean { ExitCode::Success } else { ExitCode::Findings })
}

fn as_text(rules: &[Rule], lints: &[Lint], problems: &[SettingsProblem]) -> String {
    match (lints, problems.len()) {
        ([], 0) => return "nothing found\n".to_owned(),
        ([], 1) => return "one problem in settings files, none in the rules themselves\n".to_owned(),
        ([], count) => {
            let problems = counted(count, "problem");
            return format!("{problems} in settings files, none in the rules themselves\n");
        }
        _ => {}
    }
    let mut out = String::new();
    for lint in lints {
        let _ = writeln!(out, "{}: {}", Painted(WARNING, lint.kind.as_str()), visible(&lint.message));
        for rule in [Some(lint.rule), lint.other].into_iter().flatten().filter_map(|index| rules.get(index)) {
            let _ = writeln!(out, "  {}", rule_title(&RuleReference::from(rule)));
        }
        let _ = writeln!(out, "  {} {}\n", Painted(DIM, "fix:"), visible(&lint.fix));
    }
    out
}
