//! Rules about one field of the input: the host of a URL, the name of an agent or skill, a parameter.

use portcullis_analysis::effect::Certainty;

use super::restraint::RuleMatch;
use crate::case::CaseView;
use crate::rule::{Behavior, Matcher, Rule};

pub(super) fn find_domain<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    host: Option<&str>,
) -> Option<RuleMatch<'a>> {
    let mut rules = view.policy.rules.domains(behavior);
    let Some(host) = host else {
        let rule = rules.next()?;
        return Some(RuleMatch {
            rule,
            matched: String::new(),
            certainty: Certainty::Possible,
            spans: Vec::new(),
        });
    };
    let rule = rules.find(|rule| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host)))?;
    Some(RuleMatch { rule, matched: host.to_owned(), certainty: Certainty::Certain, spans: Vec::new() })
}

/// Returns what an agent or skill rule compares with.
pub(crate) fn name_of<'a>(view: &CaseView<'a>) -> Option<&'a str> {
    let call = view.case.call();
    match call.tool() {
        "Agent" => call.input().text("subagent_type"),
        "Skill" => call.input().text("skill").or_else(|| call.input().text("command")),
        _ => None,
    }
}

pub(super) fn find_name<'a>(view: &CaseView<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let name = name_of(view)?;
    let mut rules = view.policy.rules.names(behavior, view.case.call().tool());
    let rule = rules.find(|rule| name_matches(rule, view))?;
    Some(RuleMatch { rule, matched: name.to_owned(), certainty: Certainty::Certain, spans: Vec::new() })
}

/// Says whether an agent or skill rule names the call; a skill's arguments follow its name.
pub(crate) fn name_matches(rule: &Rule, view: &CaseView<'_>) -> bool {
    let Matcher::Name { pattern, .. } = &rule.matcher else {
        return false;
    };
    let Some(name) = name_of(view) else {
        return false;
    };
    let arguments = view.case.call().input().text("args").unwrap_or_default();
    let whole = if arguments.is_empty() { name.to_owned() } else { format!("{name} {arguments}") };
    pattern.matches_with_optional_tail(&whole) || (rule.behavior != Behavior::Allow && pattern.matches(name))
}

pub(super) fn find_parameter<'a>(view: &CaseView<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let call = view.case.call();
    let mut rules = view.policy.rules.parameters(behavior, call.tool());
    rules.find_map(|rule| {
        let Matcher::Parameter { field, value, .. } = &rule.matcher else {
            return None;
        };
        let given = call.input().field(field)?.as_scalar().filter(|given| value.matches(given))?;
        let matched = format!("{field}: {given}");
        Some(RuleMatch { rule, matched, certainty: Certainty::Certain, spans: Vec::new() })
    })
}
