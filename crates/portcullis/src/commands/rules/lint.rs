//! `portcullis rules lint`: rules that do not do what they seem to.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::rule::{Lint, LintContext, Rule, lint};
use portcullis_core::visible;
use portcullis_core::{Policy, RuleReference};
use serde_json::json;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::human::rule_title;
use crate::session::{Session, SessionArgs};
use crate::terminal::{DIM, Painted, WARNING, print};

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
    session.warn();
    let policy = session.policy();
    let rules = policy.rules.rules();
    let lints = lint(rules, &lint_context(policy));
    print(&if arguments.json { as_json(rules, &lints) } else { as_text(rules, &lints) })?;
    let is_clean = lints.is_empty() && session.loaded.problems.is_empty();
    Ok(if is_clean { ExitCode::Success } else { ExitCode::Findings })
}

fn lint_context(policy: &Policy) -> LintContext {
    LintContext { sandbox_auto_allow: policy.sandbox.enabled && policy.sandbox.auto_allow }
}

fn as_text(rules: &[Rule], lints: &[Lint]) -> String {
    if lints.is_empty() {
        return "nothing found\n".to_owned();
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

fn as_json(rules: &[Rule], lints: &[Lint]) -> String {
    let rule = |index: usize| {
        rules.get(index).map(|rule| {
            json!({
                "text": rule.source_text,
                "behavior": rule.behavior.as_str(),
                "source": rule.origin.source.as_str(),
                "file": rule.origin.file.as_deref(),
                "line": rule.origin.line,
            })
        })
    };
    let findings: Vec<_> = lints
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
    format!("{}\n", json!({"lints": findings}))
}
