//! Says for a call which rules match and why the others do not.

use crate::fact::Facts;
use crate::pipeline::Run;
use crate::policy::Policy;
use crate::request::{Request, Subject};
use crate::rule::{Behavior, Matcher, Rule};
use crate::rule_match::{find_restraint, name_matches, shell_pattern, shell_tools};
use crate::rule_set::RuleSet;
use crate::scope::find_path_permit;
use crate::shell_match::permits;
use crate::verdict::{Certainty, RuleReference};

/// What one rule says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The rule.
    pub rule: RuleReference,
    /// Whether it matches, surely or possibly.
    pub matches: bool,
    /// What it matches, or why it does not.
    pub detail: String,
}

/// Explains every rule of a policy for one call, in the order of the rules.
pub fn explain_rules(policy: &Policy, request: &Request, facts: &Facts) -> Vec<RuleExplanation> {
    policy.rules.rules().iter().map(|rule| explain(policy, rule, request, facts)).collect()
}

fn explain(policy: &Policy, rule: &Rule, request: &Request, facts: &Facts) -> RuleExplanation {
    let alone = Policy { rules: RuleSet::new(vec![rule.clone()]), ..policy.clone() };
    let run = Run::new(&alone, request, facts);
    let (matches, detail) = match &rule.matcher {
        Matcher::Tool(pattern) => {
            let tool = request.call().tool();
            let names = pattern.matches(tool) || (tool == "Monitor" && pattern.matches("Bash"));
            (names, if names { "it names the tool".to_owned() } else { other_tool(tool) })
        }
        Matcher::Shell { .. }
        | Matcher::Path { .. }
        | Matcher::Domain(_)
        | Matcher::Name { .. }
        | Matcher::Parameter { .. } => match rule.behavior {
            Behavior::Deny | Behavior::Ask => restraint(&run, rule),
            Behavior::Allow => permit(&run, rule),
        },
    };
    let is_suspended = policy.suspends(rule, request.context().mode);
    let detail = if is_suspended { format!("{detail}; auto mode suspends it") } else { detail };
    RuleExplanation { rule: RuleReference::from(rule), matches: matches && !is_suspended, detail }
}

fn other_tool(tool: &str) -> String {
    format!("it does not name the tool `{tool}`")
}

fn restraint(run: &Run<'_>, rule: &Rule) -> (bool, String) {
    match find_restraint(run, rule.behavior) {
        Some(found) => {
            let verb = match found.certainty {
                Certainty::Certain => "it matches",
                Certainty::Possible => "it may match",
            };
            (true, format!("{verb} `{}`", found.matched))
        }
        None => (false, mismatch(run, rule)),
    }
}

fn permit(run: &Run<'_>, rule: &Rule) -> (bool, String) {
    let request = run.request;
    let covered: Vec<String> = match &request.subject {
        Subject::Shell(shell) => {
            let invocations = shell.survey.invocations.iter();
            let commands = invocations
                .filter(|invocation| {
                    is_for_shell(rule, request)
                        && shell_pattern(rule).is_some_and(|pattern| permits(pattern, invocation))
                })
                .map(portcullis_analysis::Invocation::as_written);
            commands.chain(permitted_paths(run)).collect()
        }
        Subject::Files(_) => permitted_paths(run).collect(),
        Subject::Fetch { host } => {
            let host = host
                .iter()
                .filter(|host| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host)));
            host.cloned().collect()
        }
        Subject::PowerShell(command) => {
            let matches = shell_pattern(rule).is_some_and(|pattern| pattern.matches_ignoring_case(command));
            if matches { vec![command.clone()] } else { Vec::new() }
        }
        Subject::Other | Subject::Malformed(_) => {
            if name_matches(rule, run) {
                vec![request.call().tool().to_owned()]
            } else {
                Vec::new()
            }
        }
    };
    if covered.is_empty() {
        return (false, mismatch(run, rule));
    }
    let parts: Vec<String> = covered.iter().map(|part| format!("`{part}`")).collect();
    (true, format!("it covers {}", parts.join(", ")))
}

fn is_for_shell(rule: &Rule, request: &Request) -> bool {
    matches!(&rule.matcher, Matcher::Shell { tool, .. } if shell_tools(request.call().tool()).contains(&tool.as_str()))
}

fn permitted_paths(run: &Run<'_>) -> impl Iterator<Item = String> {
    run.request
        .path_uses()
        .filter(|path_use| find_path_permit(run, path_use).is_some())
        .map(|path_use| path_use.shown.clone())
}

fn mismatch(run: &Run<'_>, rule: &Rule) -> String {
    let request = run.request;
    match (&rule.matcher, &request.subject) {
        (Matcher::Shell { .. }, Subject::Shell(_)) if is_for_shell(rule, request) => match rule.behavior {
            Behavior::Allow => "no part of the command is written as it says".to_owned(),
            Behavior::Ask | Behavior::Deny => "no part of the command means what it says".to_owned(),
        },
        (Matcher::Path { .. }, Subject::Shell(_) | Subject::Files(_)) => {
            "no path that the call names for this access matches".to_owned()
        }
        (Matcher::Domain(_), Subject::Fetch { .. }) => "the host is another".to_owned(),
        (Matcher::Parameter { tool, field, .. }, _) if tool == request.call().tool() => {
            format!("the field `{field}` is absent or has another value")
        }
        (Matcher::Name { tool, .. }, _) if tool == request.call().tool() => "the name is another".to_owned(),
        _ => other_tool(request.call().tool()),
    }
}
