//! What would change a verdict: rules to add, the rule to remove, modes that answer differently.

use portcullis_core::{Context, Decision, MODES, Mode, Policy, ToolCall, Verdict};
use portcullis_settings::visible;

use crate::judge::judge;
use crate::shell_quote::quote;
use crate::world::World;

/// Returns a line for each thing that would change the verdict.
pub(crate) fn remedies(
    policy: &Policy,
    call: &ToolCall,
    context: &Context,
    verdict: &Verdict,
    world: &mut World,
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(removal(verdict));
    lines.extend(verdict.suggestions.iter().map(|suggestion| {
        format!("portcullis rules add {} {}", suggestion.behavior, quote(&visible(&suggestion.rule)))
    }));
    if verdict.decision != Decision::Allow {
        lines.extend(modes_that_allow(policy, call, context, world));
    }
    lines
}

/// Says how to remove the rule that decided, if it stands in a file that can be edited.
fn removal(verdict: &Verdict) -> Option<String> {
    let rule = verdict.reason.rule()?;
    let source = rule.origin.source;
    if verdict.decision == Decision::Allow || !source.is_editable() {
        return None;
    }
    let text = quote(&visible(&rule.text));
    Some(format!("portcullis rules remove {} {text} --source {source}", rule.behavior))
}

/// Asks the core itself which modes would let the call run, so that the hint cannot be wrong.
fn modes_that_allow(
    policy: &Policy,
    call: &ToolCall,
    context: &Context,
    world: &mut World,
) -> Option<String> {
    let others = MODES.iter().map(|info| info.mode).filter(|mode| *mode != context.mode);
    let allowing: Vec<&str> = others
        .filter(|mode| {
            let context = Context { mode: *mode, ..context.clone() };
            judge(policy, call.clone(), context, world).is_ok_and(|other| other.decision == Decision::Allow)
        })
        .map(Mode::as_str)
        .collect();
    (!allowing.is_empty()).then(|| format!("it would run in mode {}", allowing.join(", ")))
}
