//! What would change a verdict: rules to add, the rule to remove, modes that answer differently.

use portcullis_core::{Case, Decision, MODES, Mode, RuleReference, Verdict, visible};
use portcullis_settings::{SettingsLocations, SettingsOwner};

use portcullis_gate::SessionSettings;
use portcullis_gate::judge::judge;
use portcullis_output::shell_quote::quote;

/// Returns a line for each thing that would change the verdict.
pub(crate) fn remedies(session: &SessionSettings, case: &Case, verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    if verdict.decision != Decision::Allow {
        lines.extend(verdict.reason.rule().map(|rule| removal(rule, &session.locations)));
    }
    lines.extend(verdict.suggestions.iter().map(|suggestion| {
        format!("portcullis rules add {} {}", suggestion.behavior, quote(&visible(&suggestion.rule)))
    }));
    if verdict.decision != Decision::Allow {
        lines.extend(modes_that_allow(session, case, verdict.mode));
    }
    if lines.is_empty() && verdict.decision == Decision::Ask {
        lines.push("no rule and no mode lets it run, only a person".to_owned());
    }
    lines
}

/// Says how to remove the rule that decided.
fn removal(rule: &RuleReference, locations: &SettingsLocations) -> String {
    let source = rule.origin.source;
    if !source.is_editable() {
        return format!("the rule comes from {source} settings, which are not changed from here");
    }
    let text = quote(&visible(&rule.text));
    let claude = if is_in_claude_file(rule, locations) { " --claude" } else { "" };
    format!("portcullis rules remove {} {text} --source {source}{claude}", rule.behavior)
}

fn is_in_claude_file(rule: &RuleReference, locations: &SettingsLocations) -> bool {
    let file = locations.file(rule.origin.source, SettingsOwner::ClaudeCode);
    file.is_some_and(|file| file.path.to_str() == rule.origin.file.as_deref())
}

/// Asks the core itself which modes would let the call run, so that the hint cannot be wrong. Bypass mode is no remedy:
/// it would let everything else run too.
fn modes_that_allow(session: &SessionSettings, case: &Case, in_force: Mode) -> Option<String> {
    let others =
        MODES.iter().map(|info| info.mode).filter(|mode| ![in_force, Mode::BypassPermissions].contains(mode));
    let mut case = case.clone();
    let allowing: Vec<&str> = others
        .filter(|mode| {
            case.switch_mode(*mode);
            judge(session.policy(), &case).is_ok_and(|other| other.decision == Decision::Allow)
        })
        .map(Mode::as_str)
        .collect();
    (!allowing.is_empty()).then(|| format!("it runs in mode {}", allowing.join(", ")))
}
