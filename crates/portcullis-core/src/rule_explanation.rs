//! Says for a call which rules match and why the others do not.

use portcullis_analysis::effect::Certainty;

use crate::case::{CallSubject, Case, CaseView};
use crate::policy::Policy;
use crate::rule::{Behavior, Matcher, Rule};
use crate::rule_match::{find_restraint, name_matches, names_command, shell_pattern, shell_tools};
use crate::rule_set::RuleSet;
use crate::scope::find_path_permit;
use crate::shell_match::permits;
use crate::verdict::RuleReference;

/// What one rule says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The rule, with where it stands.
    pub rule: RuleReference,
    /// Whether it matches, surely or possibly.
    pub matches: bool,
    /// What it matches, or why it does not.
    pub detail: String,
}

impl Case {
    /// Explains every rule of a policy for the call, in the order of the rules.
    pub fn explain_rules(&self, policy: &Policy) -> Vec<RuleExplanation> {
        policy.rules.rules().iter().map(|rule| explain(self, policy, rule)).collect()
    }
}

fn explain(case: &Case, policy: &Policy, rule: &Rule) -> RuleExplanation {
    let alone = Policy { rules: RuleSet::new(vec![rule.clone()]), ..policy.clone() };
    let view = CaseView::new(case, &alone);
    let (matches, detail) = match &rule.matcher {
        Matcher::Tool(pattern) => {
            let tool = case.call().tool();
            let names = pattern.matches(tool) || (tool == "Monitor" && pattern.matches("Bash"));
            (names, if names { "it names the tool".to_owned() } else { other_tool(tool) })
        }
        Matcher::Shell { .. }
        | Matcher::Path { .. }
        | Matcher::Domain(_)
        | Matcher::Name { .. }
        | Matcher::Parameter { .. } => match rule.behavior {
            Behavior::Deny | Behavior::Ask => restraint(&view, rule),
            Behavior::Allow => permit(&view, rule),
        },
    };
    let is_suspended = policy.suspends(rule, view.mode);
    let detail = if is_suspended { format!("{detail}; auto mode suspends it") } else { detail };
    RuleExplanation { rule: RuleReference::from(rule), matches: matches && !is_suspended, detail }
}

fn other_tool(tool: &str) -> String {
    format!("it does not name the tool `{tool}`")
}

fn restraint(view: &CaseView<'_>, rule: &Rule) -> (bool, String) {
    match find_restraint(view, rule.behavior) {
        Some(found) => {
            let verb = match found.certainty {
                Certainty::Certain => "it matches",
                Certainty::Possible => "it may match",
            };
            (true, format!("{verb} `{}`", found.matched))
        }
        None => (false, mismatch(view, rule)),
    }
}

fn permit(view: &CaseView<'_>, rule: &Rule) -> (bool, String) {
    let case = view.case;
    let covered: Vec<String> = match &case.subject {
        CallSubject::Shell(shell) => {
            let invocations = shell.survey.invocations.iter();
            let commands = invocations
                .filter(|invocation| {
                    is_for_shell(rule, case)
                        && shell_pattern(rule).is_some_and(|pattern| permits(pattern, invocation))
                })
                .map(portcullis_analysis::Invocation::as_written);
            commands.chain(permitted_paths(view)).collect()
        }
        CallSubject::Files => permitted_paths(view).collect(),
        CallSubject::Fetch { host } => {
            let host = host
                .iter()
                .filter(|host| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host)));
            host.cloned().collect()
        }
        CallSubject::PowerShell(command) => {
            let matches = shell_pattern(rule).is_some_and(|pattern| names_command(pattern, command));
            if matches { vec![command.clone()] } else { Vec::new() }
        }
        CallSubject::Other | CallSubject::Malformed(_) => {
            if name_matches(rule, view) {
                vec![case.call().tool().to_owned()]
            } else {
                Vec::new()
            }
        }
    };
    if covered.is_empty() {
        return (false, mismatch(view, rule));
    }
    let parts: Vec<String> = covered.iter().map(|part| format!("`{part}`")).collect();
    (true, format!("it covers {}", parts.join(", ")))
}

fn is_for_shell(rule: &Rule, case: &Case) -> bool {
    matches!(&rule.matcher, Matcher::Shell { tool, .. } if shell_tools(case.call().tool()).contains(&tool.as_str()))
}

fn permitted_paths(view: &CaseView<'_>) -> impl Iterator<Item = String> {
    let uses = view.own_source().path_uses();
    uses.filter(|path_use| find_path_permit(view, path_use).is_some())
        .map(|path_use| path_use.shown().to_owned())
}

fn mismatch(view: &CaseView<'_>, rule: &Rule) -> String {
    let case = view.case;
    match (&rule.matcher, &case.subject) {
        (Matcher::Shell { .. }, CallSubject::Shell(_)) if is_for_shell(rule, case) => match rule.behavior {
            Behavior::Allow => "no part of the command is written as it says".to_owned(),
            Behavior::Ask | Behavior::Deny => "no part of the command means what it says".to_owned(),
        },
        (Matcher::Path { .. }, CallSubject::Shell(_) | CallSubject::Files) => {
            "no path that the call names for this access matches".to_owned()
        }
        (Matcher::Domain(_), CallSubject::Fetch { .. }) => "the host is another".to_owned(),
        (Matcher::Parameter { tool, field, .. }, _) if tool == case.call().tool() => {
            format!("the field `{field}` is absent or has another value")
        }
        (Matcher::Name { tool, .. }, _) if tool == case.call().tool() => "the name is another".to_owned(),
        _ => other_tool(case.call().tool()),
    }
}
