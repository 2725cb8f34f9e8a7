//! Letting a program that nobody knows delete or destroy something, by what its words say.
//!
//! Command line tools agree on few things, and on these verbs they do: what is destroyed there is seldom brought back.
//! Look with the same program first (`list`, `show`, `--dry-run`), and let a person remove it.
//! Or name the thing and say that it is to be removed.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC060",
    name: "destructive-verb",
    title: "lets an unknown program delete or destroy something",
    category: "modify_shared",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "destroy", "remove", "purge", "drop", "wipe", "erase", "terminate"],
        must_name: "the thing that is to be removed",
    },
    instead: "Look with the same program, and leave the removal to the user",
    hits: &[
        ExampleCall::Bash("frobctl delete cluster prod"),
        ExampleCall::Bash("frobctl cluster destroy prod --yes"),
        ExampleCall::Bash("frobnicate purge --all"),
        ExampleCall::Bash("frobctl db drop main"),
        ExampleCall::Bash("frobctl instances terminate i-1"),
        ExampleCall::Bash("frobctl account delete acme"),
        ExampleCall::Bash("frobctl wipe"),
        ExampleCall::Bash("frobctl delete-project acme"),
    ],
    misses: &[
        ExampleCall::Bash("frobctl list"),
        ExampleCall::Bash("frobctl show delete"),
        ExampleCall::Bash("frobctl delete --help"),
        ExampleCall::Bash("frobctl delete x --dry-run"),
        ExampleCall::Bash("frobctl create delete"),
        ExampleCall::Bash("echo frobctl delete x"),
        ExampleCall::Bash("git branch --list delete"),
        ExampleCall::Bash("./scripts/cli delete x"),
        ExampleCall::Bash("frobctl test --name delete"),
    ],
    filter,
};

/// Verbs after which something is gone, whatever the program.
const VERBS: &[&str] = &[
    "decommission",
    "delete",
    "deprovision",
    "destroy",
    "drop",
    "erase",
    "nuke",
    "obliterate",
    "purge",
    "shred",
    "terminate",
    "wipe",
];

/// Verbs that look or make; what follows them is a name.
const OTHER_VERBS: &[&str] = &[
    "add", "build", "check", "create", "describe", "explain", "find", "get", "grep", "help", "info",
    "inspect", "list", "ls", "new", "query", "run", "search", "show", "status", "test", "view",
];

/// Options that make a command a trial.
const TRIALS: &[&str] = &["--dry-run", "--dryrun", "--help", "--plan", "--what-if", "-h", "-n"];

/// How many words of a command may name what the verb is done to before it.
const MOST_WORDS: usize = 3;

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let mut seen = Vec::new();
    let mut sightings = Vec::new();
    for effect in case.of(&[Act::Unknown]) {
        if seen.contains(&effect.invocation) {
            continue;
        }
        if let Some(verb) = verb_of(case, effect) {
            seen.push(effect.invocation);
            let sentence =
                format!("`{}` says `{verb}`, and nothing is known of the program", case.program(effect));
            sightings.push(Sighting::of(case, effect, sentence));
        }
    }
    sightings
}

/// Returns the destructive verb among the first words of a command nobody knows.
fn verb_of<'a>(case: Case<'a>, effect: &Effect) -> Option<&'a str> {
    let command = case.command(effect).filter(|command| command.code.is_none())?;
    let program = command.program()?.fixed()?;
    let words = command.operands();
    let is_named = effect.target.written() == program;
    let is_trial = words.iter().any(|word| TRIALS.contains(&word.text.as_str()));
    // A file of the project is read where it stands.
    if !is_named || is_trial || program.contains('/') {
        return None;
    }
    let plain = words.iter().take_while(|word| !word.is_option()).filter_map(Argument::fixed);
    let first: Vec<&str> = plain.take(MOST_WORDS).take_while(|word| !OTHER_VERBS.contains(word)).collect();
    first.into_iter().find(|word| VERBS.contains(&word.split(['-', ':', '_']).next().unwrap_or(word)))
}
