//! Rules about shell commands.

use portcullis_analysis::effect::Certainty;
use portcullis_analysis::{Invocation, base_name};
use portcullis_shell::Span;

use super::restraint::RuleMatch;
use crate::case::{CaseView, Shell};
use crate::rule::{Behavior, Matcher, Rule, ShellPattern};
use crate::shell_match::InvocationMeaning;

/// Returns the tools whose shell rules a call obeys: `Monitor` runs bash commands.
pub(crate) fn shell_tools(tool: &str) -> &'static [&'static str] {
    match tool {
        "Monitor" => &["Monitor", "Bash"],
        "PowerShell" => &["PowerShell"],
        _ => &["Bash"],
    }
}

pub(super) fn find_shell<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    invocation: &Invocation,
) -> Option<RuleMatch<'a>> {
    let program = invocation.program_name();
    let mut meaning = None;
    let mut possible: Option<&'a Rule> = None;
    for tool in shell_tools(view.case.call().tool()) {
        for rule in view.policy.rules.shell(behavior, tool, program) {
            if meaning.is_none() {
                meaning = Some(InvocationMeaning::of(invocation)?);
            }
            match shell_pattern(rule).and_then(|pattern| meaning.as_ref()?.meets(pattern)) {
                Some(Certainty::Certain) => return Some(found(rule, invocation, Certainty::Certain)),
                Some(Certainty::Possible) => possible = possible.or(Some(rule)),
                None => {}
            }
        }
    }
    possible.map(|rule| found(rule, invocation, Certainty::Possible))
}

fn found<'a>(rule: &'a Rule, invocation: &Invocation, certainty: Certainty) -> RuleMatch<'a> {
    let spans = deciding_spans(shell_pattern(rule), invocation);
    RuleMatch { rule, matched: invocation.as_written(), certainty, spans }
}

/// Returns where the words stand that a rule names, or all words if it does not name them one by one.
fn deciding_spans(pattern: Option<&ShellPattern>, invocation: &Invocation) -> Vec<Span> {
    let named = pattern.and_then(ShellPattern::literal_words).unwrap_or_default();
    let mut arguments = invocation.arguments.iter();
    let mut find = |word: &&str| {
        arguments
            .find(|argument| argument.text == **word || base_name(&argument.text) == *word)
            .map(|found| found.span)
    };
    let spans: Option<Vec<Span>> = named.iter().map(&mut find).collect();
    let mut spans = match spans {
        Some(spans) if !spans.is_empty() => spans,
        Some(_) | None => invocation.arguments.iter().map(|argument| argument.span).collect(),
    };
    spans.dedup();
    spans
}

/// What cannot be read may hold what any rule names.
pub(super) fn find_hidden<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    shell: &Shell,
) -> Option<RuleMatch<'a>> {
    let (span, _) = shell.first_opacity()?;
    let rules = &view.policy.rules;
    let rule = shell_tools(view.case.call().tool())
        .iter()
        .find_map(|tool| rules.shell(behavior, tool, None).next())?;
    Some(RuleMatch {
        rule,
        matched: span.of(&shell.text).to_owned(),
        certainty: Certainty::Possible,
        spans: vec![span],
    })
}

pub(crate) fn shell_pattern(rule: &Rule) -> Option<&ShellPattern> {
    match &rule.matcher {
        Matcher::Shell { pattern, .. } => Some(pattern),
        Matcher::Tool(_)
        | Matcher::Path { .. }
        | Matcher::Domain(_)
        | Matcher::Name { .. }
        | Matcher::Parameter { .. } => None,
    }
}
