//! The rules in force, and what is wrong with them, as rows and as JSON.

use portcullis_core::rule::{Lint, LintContext, Rule, lint};
use portcullis_core::{Policy, RuleReference};
use portcullis_gate::SessionSettings;
use portcullis_settings::{IgnoredSetting, SettingsProblem};
use serde_json::json;

use crate::json::rule_json;

/// A rule in force.
#[derive(Debug)]
pub struct RuleRow<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Whether auto mode does not go by it.
    pub suspended_in_auto: bool,
}

/// Lists the rules in force.
pub fn rows(session: &SessionSettings) -> Vec<RuleRow<'_>> {
    let suspended: Vec<&Rule> = session.policy().suspended_in_auto().collect();
    let is_suspended = |rule: &Rule| suspended.iter().any(|other| std::ptr::eq(*other, rule));
    let rules = session.policy().rules.rules().iter();
    rules.map(|rule| RuleRow { rule, suspended_in_auto: is_suspended(rule) }).collect()
}

/// Makes the object of the rules in force and of what is not used.
pub fn rules_object(session: &SessionSettings) -> serde_json::Value {
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
pub fn ignored_json(entry: &IgnoredSetting) -> serde_json::Value {
    json!({
        "what": entry.what,
        "source": entry.origin.source.as_str(),
        "file": entry.origin.file.as_deref(),
        "line": entry.origin.line,
        "reason": entry.reason.as_str(),
        "hint": entry.reason.hint(),
    })
}

/// Finds the rules that do not do what they seem to.
pub fn lints(session: &SessionSettings) -> Vec<Lint> {
    let policy = session.policy();
    lint(policy.rules.rules(), &lint_context(policy))
}

fn lint_context(policy: &Policy) -> LintContext {
    LintContext { sandbox_auto_allow: policy.sandbox.enabled && policy.sandbox.auto_allow }
}

/// Makes the object of what is wrong with rules and with settings files.
pub fn lint_object(session: &SessionSettings) -> serde_json::Value {
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

fn problem_json(problem: &SettingsProblem) -> serde_json::Value {
    json!({
        "severity": problem.severity.as_str(),
        "message": problem.message,
        "file": problem.file.as_deref(),
        "line": problem.place.as_ref().map(|place| place.line),
        "column": problem.place.as_ref().map(|place| place.column),
        "hint": problem.hint,
    })
}
