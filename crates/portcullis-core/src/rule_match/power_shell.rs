//! Rules about PowerShell commands: a command is known by each of its names, so that a rule for `Remove-Item` holds for
//! `rm`, `ri` and `del` as well.

use portcullis_analysis::Invocation;
use portcullis_analysis::effect::Certainty;
use portcullis_analysis::powershell::spellings;

use super::restraint::RuleMatch;
use super::shell::shell_pattern;
use crate::case::CaseView;
use crate::rule::{Behavior, ShellPattern};

/// Finds a rule that a command of the line meets. What is not understood of the line is read piece by piece as well.
pub(super) fn find_power_shell<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    command: &str,
) -> Option<RuleMatch<'a>> {
    let mut rules = view.policy.rules.shell(behavior, "PowerShell", None).peekable();
    rules.peek()?;
    let pieces = std::iter::once(command)
        .chain(command.split([';', '|', '&', '\n', '{', '}', '(', ')']))
        .map(|piece| piece.trim().to_owned());
    let listed = view.case.survey().invocations.iter().map(as_text);
    let texts: Vec<(String, Vec<String>)> =
        pieces.chain(listed).map(|text| (text.clone(), readings(&text))).collect();
    rules.find_map(|rule| {
        let pattern = shell_pattern(rule)?;
        let (matched, _) = texts.iter().find(|(_, readings)| matches_any(pattern, readings))?;
        Some(RuleMatch { rule, matched: matched.clone(), certainty: Certainty::Certain, spans: Vec::new() })
    })
}

/// Says whether a pattern matches a command by any of its names.
pub(crate) fn names_command(pattern: &ShellPattern, command: &str) -> bool {
    matches_any(pattern, &readings(command))
}

fn matches_any(pattern: &ShellPattern, readings: &[String]) -> bool {
    readings.iter().any(|reading| pattern.matches_ignoring_case(reading))
}

/// Returns a command as the survey read it.
fn as_text(invocation: &Invocation) -> String {
    let words: Vec<&str> = invocation.arguments.iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}

/// Returns the texts that a command may be written as: once for each name of its program.
fn readings(command: &str) -> Vec<String> {
    let (program, rest) = command.split_at(command.find(char::is_whitespace).unwrap_or(command.len()));
    spellings(program).into_iter().map(|name| format!("{name}{rest}")).collect()
}
