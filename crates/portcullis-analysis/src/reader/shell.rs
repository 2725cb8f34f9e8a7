//! Shells that run script files, and the builtins and wrappers that set how commands run.

use super::CommandContext;
use super::{certain, has, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::interpreter::is_trial;
use crate::invocation::Wrapping;
use crate::profile::{Match, Use};

/// Reads the arguments of a shell. Text after `-c` and on standard input is listed by the survey.
pub(super) fn run(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    if has(found, &["-c"]) {
        // A login shell runs the profile of the user as well, as each terminal does that the user opens.
        uses.extend((context.invocation.wrapping != Wrapping::Transparent).then(|| nameless(Act::Observe)));
        return uses;
    }
    let script = found.wanted.operands.first().filter(|script| script.text != "-");
    match script {
        // Several letters behind a plus: what follows them is no script.
        Some(cluster) if cluster.text.starts_with('+') => uses.push(certain(Act::Unknown, cluster)),
        Some(script) if !has(found, &["-s"]) => {
            // With -n it is read and not run, unless an option behind takes that back.
            let act = if is_trial(context.invocation.operands()) { Act::Read } else { Act::Execute };
            uses.push(certain(act, script));
        }
        // It runs what it is given, which the survey lists if somebody knows it.
        _ => {
            let next = context.survey.invocations.get(context.index + 1);
            let is_listed = next.is_some_and(|next| next.parent == Some(context.index));
            uses.push(nameless(if is_listed { Act::RunProject } else { Act::Unknown }));
        }
    }
    uses
}

/// Reads `env`, which shows the environment if no command follows.
pub(super) fn env(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let has_command = found.wanted.operands.iter().any(|word| !word.text.contains('='));
    if !has_command && !has(found, &["-S"]) && !found.is_idle {
        uses.push(nameless(Act::Environment));
    }
    uses
}

/// Letters of `set` that make scripts stricter or louder.
const STRICT: &str = "euxvETC";

/// The same by their names.
const STRICT_NAMES: &[&str] =
    &["errexit", "errtrace", "functrace", "noclobber", "nounset", "pipefail", "verbose", "xtrace"];

/// Reads `set`: options that make a script stricter do nothing, others may change what later commands mean.
pub(super) fn set(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let words = context.invocation.operands();
    if words.is_empty() {
        return vec![nameless(Act::Environment)];
    }
    let mut rest = words.iter();
    let mut uses = Vec::new();
    while let Some(word) = rest.next() {
        uses.extend(option(word, &mut rest));
    }
    uses
}

fn option(word: &Argument, rest: &mut std::slice::Iter<'_, Argument>) -> Option<Use> {
    let letters =
        word.fixed().and_then(|text| text.strip_prefix(['-', '+'])).filter(|letters| !letters.is_empty());
    let Some(letters) = letters else {
        return Some(certain(Act::Unknown, word));
    };
    let plain = letters.strip_suffix('o').unwrap_or(letters);
    if !plain.chars().all(|letter| STRICT.contains(letter)) {
        return Some(certain(Act::Unknown, word));
    }
    if plain.len() == letters.len() {
        return None;
    }
    let name = rest.next()?;
    match name.fixed() {
        Some("history") => Some(certain(Act::TamperLog, name)),
        Some(text) if STRICT_NAMES.contains(&text) => None,
        _ => Some(certain(Act::Unknown, name)),
    }
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn a_script_file_is_run_and_with_n_only_read() {
        assert_eq!(effects("bash -eu run.sh a b"), ["execute run.sh"]);
        assert_eq!(effects("bash -o pipefail run.sh"), ["execute run.sh"]);
        assert_eq!(effects("bash -n run.sh"), ["read run.sh"]);
        assert_eq!(effects("bash -en -o pipefail run.sh"), ["read run.sh"]);
        for taken_back in ["+n", "+o noexec", "-o exec", "-i"] {
            let found = effects(&format!("bash -n {taken_back} run.sh"));
            assert_eq!(found, ["execute run.sh"], "{taken_back}");
        }
        assert_eq!(effects("bash -n +en run.sh"), ["unknown +en"]);
        assert_eq!(effects("bash -c 'cat x' name"), ["read x"]);
        assert_eq!(effects("bash --rcfile x.sh run.sh"), ["execute run.sh", "execute x.sh"]);
        assert_eq!(effects("bash -lc 'cat x'"), ["observe", "read x"]);
        assert_eq!(effects("bash"), ["unknown"]);
        assert_eq!(effects("bash <<< 'cat x'"), ["read x", "run-project"]);
        assert!(effects("bash --version").is_empty());
    }

    #[test]
    fn env_alone_shows_the_environment() {
        assert_eq!(effects("env"), ["environment"]);
        assert_eq!(effects("env A=1"), ["environment"]);
        assert_eq!(effects("env A=1 cat x"), ["read x"]);
    }

    #[test]
    fn strictness_is_told_from_what_changes_the_meaning() {
        for strict in ["set -e", "set +x", "set -euo pipefail", "set -e -u -o pipefail", "set -eux"] {
            assert!(effects(strict).is_empty(), "{strict}");
        }
        assert_eq!(effects("set +o history"), ["tamper-log history"]);
        assert_eq!(effects("set -o physical"), ["unknown physical"]);
        assert_eq!(effects("set -- a"), ["unknown --", "unknown a"]);
        assert_eq!(effects("set"), ["environment"]);
    }
}
