//! Programs whose operands or values are settings: `sysctl name=value`, agents' modes, Redis commands.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::readers::redis::{ASKING, DESTROYING};
use crate::profile::{Match, Use, is_secret_name};

/// Reads `sysctl`: a value makes it a change.
pub(super) fn sysctl(_view: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    for found in &mut uses {
        let sets = found.word.as_ref().is_some_and(|word| word.text.contains('='));
        if sets && found.act == Act::Observe {
            found.act = Act::Kernel;
        }
        // A name is a path below the kernel's settings, which leads out of them like any other.
        if found.word.as_ref().is_some_and(|word| word.text.contains("..")) {
            found.act = Act::Unknown;
        }
    }
    uses
}

/// Values that take an agent's guard rails away.
const UNCHECKED: &[&str] = &["bypassPermissions", "danger-full-access", "dontAsk", "never", "yolo", "off"];

/// Reads an agent's command line: the value of a mode decides whether anybody checks it.
pub(super) fn agent(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let values = found.wanted.options.iter().filter_map(|(_, value)| value.as_ref());
    let unchecked = values.filter(|value| value.fixed().is_some_and(|text| UNCHECKED.contains(&text)));
    uses.extend(unchecked.map(|value| certain(Act::SpawnUnchecked, value)));
    uses
}

/// Reads a command for Redis.
pub(super) fn redis(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let Some((verb, rest)) = found.wanted.operands.split_first() else {
        let asks = found.wanted.options.iter().any(|(option, _)| is_asking_option(option))
            || context.invocation.operands().iter().any(|word| is_asking_option(&word.text));
        uses.push(nameless(if asks { Act::DatabaseQuery } else { Act::Unknown }));
        return uses;
    };
    let name = verb.text.to_ascii_lowercase();
    let reads_setting =
        name == "config" && rest.first().is_some_and(|word| word.text.eq_ignore_ascii_case("get"));
    let secret = rest
        .iter()
        .skip(usize::from(reads_setting))
        .find(|word| is_secret_name(&word.text) || word.text.contains('*') && reads_setting);
    uses.push(if !verb.is_known() {
        certain(Act::Unknown, verb)
    } else if let Some(secret) = secret.filter(|_| ASKING.contains(&name.as_str()) || reads_setting) {
        certain(Act::SecretRead, secret)
    } else if ASKING.contains(&name.as_str()) || reads_setting {
        nameless(Act::DatabaseQuery)
    } else if DESTROYING.contains(&name.as_str()) {
        certain(Act::DatabaseDestroy, verb)
    } else {
        rest.first()
            .map_or_else(|| certain(Act::SharedWrite, verb), |key: &Argument| certain(Act::SharedWrite, key))
    });
    uses
}

fn is_asking_option(option: &str) -> bool {
    matches!(
        option,
        "--scan" | "--bigkeys" | "--memkeys" | "--hotkeys" | "--stat" | "--latency" | "--latency-history"
    )
}
