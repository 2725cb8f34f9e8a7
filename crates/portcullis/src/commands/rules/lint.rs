//! `portcullis rules lint`: rules that do not do what they seem to.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::{Lint, LintContext, Rule, lint};
use portcullis_core::{Policy, RuleReference, visible};
use portcullis_settings::{Problem, Severity};
use serde_json::json;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::human::counted;
use crate::output::human::rule_title;
use crate::output::json::rule_json;
use crate::session::{Session, SessionArgs};
use crate::terminal::{DIM, Painted, WARNING, print, printable};

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
    session: SessionArgs,
}

/// Runs the command.
pub(crate) fn run(arguments: &LintArgs) -> Result<ExitCode, Failure> {
    let session = Session::open(&arguments.session)?;
    session.warn_from(Severity::Note);
    session.warn_of_unused();
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

/// Finds the rules that do not do what they seem to.
pub(crate) fn lints(session: &Session) -> Vec<Lint> {
    let policy = session.policy();
    lint(policy.rules.rules(), &lint_context(policy))
}

fn lint_context(policy: &Policy) -> LintContext {
    LintContext { sandbox_auto_allow: policy.sandbox.enabled && policy.sandbox.auto_allow }
}

fn as_text(rules: &[Rule], lints: &[Lint], problems: &[Problem]) -> String {
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

/// Makes the object of what is wrong with rules and with settings files.
pub(crate) fn lint_object(session: &Session) -> serde_json::Value {
    let rules = session.policy().rules.rules();
    let rule = |index: usize| rules.get(index).map(|rule| rule_json(&RuleReference::from(rule)));
    let findings: Vec<_> = lints(session)
        .iter()
        .map(|lint| {
            json!({
                "kind": lint.kind.as_str(),
                "message": lint.message,
                "rule": rule(lint.rule),
                "other": lint.other.and_then(rule),
                "fix": lint.fix,
            })
        })
        .collect();
    let problems: Vec<_> = session.loaded.problems.iter().map(problem_json).collect();
    json!({"lints": findings, "problems": problems})
}

fn problem_json(problem: &Problem) -> serde_json::Value {
    json!({
        "severity": problem.severity.as_str(),
        "message": problem.message,
        "file": problem.file.as_deref(),
        "line": problem.place.as_ref().map(|place| place.line),
        "column": problem.place.as_ref().map(|place| place.column),
        "hint": problem.hint,
    })
}
