//! Removing whole directories that nobody can name before the command runs.
//!
//! A variable that is empty, a list that holds one line too many, a search that starts in the wrong place: what is removed with
//! everything below it is then not what was meant.
//! Put the path into the command, or make the directory with `mktemp -d` in the same command.
//! Or say which path the variable holds and that it is to be removed.

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::case::Case;
use crate::effect::{Effect, Target};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::interpreter::is_shell;
use crate::invocation::Invocation;
use crate::lists::programs::shells::{PROJECT_DIRECTORIES, TEMPORARY_DIRECTORIES};
use crate::path::join;
use crate::removal::{RemovedShare, is_unknown, places};

pub(super) static FINDING: Finding = Finding {
    code: "PC002",
    name: "unverifiable-deletion",
    title: "removes directories that are only known when it runs",
    category: "irreversible_local",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "remove", "wipe", "erase", "rm", "clean"],
        must_name: "the path that is to be removed",
    },
    instead: "Name the folder itself, as in `rm -rf build/cache`, without a variable or a search",
    hits: &[
        ExampleCall::Bash("cat list | xargs -I{} bash -c 'rm -rf {}'"),
        ExampleCall::Bash("rm -rf \"$DIR\""),
        ExampleCall::Bash("rm -rf $1/*"),
        ExampleCall::Bash("rm -rf \"$(cat dirs.txt)\""),
        ExampleCall::Bash("for d in ../*; do rm -rf \"$d\"; done"),
        ExampleCall::Bash("cat list.txt | xargs rm -rf"),
        ExampleCall::Bash("xargs -a list.txt rm -r"),
        ExampleCall::Bash("find .. -type d -print0 | xargs -0 rm -rf"),
        ExampleCall::Bash("find ~/src/lib -name old -exec rm -rf {} \\;"),
        ExampleCall::Bash("while read -r d; do rm -rf \"$d\"; done < dirs.txt"),
        ExampleCall::Bash("rm -rf \"$TMPDIR/../data\""),
        ExampleCall::Bash("cat list.txt | xargs -I{} bash -c 'rm -rf {}'"),
    ],
    misses: &[
        ExampleCall::Bash("rm \"$file\""),
        ExampleCall::Bash("rm -rf build"),
        ExampleCall::Bash("d=$(mktemp -d); cp a.txt \"$d\"; rm -rf \"$d\""),
        ExampleCall::Bash("trap 'rm -rf \"$work\"' EXIT; work=$(mktemp -d)"),
        ExampleCall::Bash("find . -name node_modules -prune -exec rm -rf {} +"),
        ExampleCall::Bash("find src -name '__pycache__' | xargs rm -rf"),
        ExampleCall::Bash("echo 'rm -rf \"$DIR\"'"),
        ExampleCall::Bash("BUILD=build/out; rm -rf \"$BUILD\""),
        ExampleCall::Bash("rm -rf \"$TMPDIR/app-cache\""),
        ExampleCall::Bash("for d in packages/*/dist; do rm -rf \"$d\"; done"),
        ExampleCall::Bash("find . -name '*.orig' | xargs rm -f"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let in_text = case.survey.invocations.iter().filter(|command| removes_in_text(case, command));
    let in_text = in_text.filter_map(|command| {
        let effect = case.effects.iter().find(|effect| case.command(effect) == Some(command))?;
        Some(Sighting::of(case, effect, "it removes whatever is put into a command with everything below"))
    });
    let mut sightings: Vec<Sighting> = in_text.collect();
    let removals = case.of(&[Act::DeleteTree]).filter(|effect| is_unverifiable(case, effect)).map(|effect| {
        let sentence = format!(
            "it removes `{}` with everything below, whatever that turns out to be",
            effect.target.written()
        );
        Sighting::of(case, effect, sentence)
    });
    sightings.extend(removals);
    sightings
}

/// Says whether a shell that is started for every line of a list is given text that removes what the line says.
fn removes_in_text(case: Case<'_>, command: &Invocation) -> bool {
    let parent =
        command.parent.and_then(|at| case.survey.invocations.get(at)).and_then(Invocation::program_name);
    let removes = |word: &Argument| {
        let text = word.text.as_str();
        word.knowledge == Knowledge::Dynamic
            && ["rm -r", "rm -fr", "rm --recursive"].iter().any(|part| text.contains(part))
    };
    matches!(parent, Some("xargs" | "parallel"))
        && command.program_name().is_some_and(is_shell)
        && command.operands().iter().any(removes)
}

fn is_unverifiable<'a>(case: Case<'a>, effect: &'a Effect) -> bool {
    let Target::Path(target) = &effect.target else {
        return false;
    };
    if !is_unknown(case, effect, target) || target.written.is_empty() || case.is_in_container(effect) {
        return false;
    }
    let searched = places(case, effect);
    if !searched.is_empty() {
        let is_own = |path: &str| case.scope.is_in_project(path) || case.scope.is_temporary(path);
        return !searched.iter().all(|place| {
            let is_chosen = matches!(place.share, RemovedShare::Named | RemovedShare::Chosen);
            is_own(&place.path) && (target.is_single || is_chosen)
        });
    }
    let written = target.written.trim_matches('"');
    if !written.contains(['$', '`', '…', '{']) {
        // A plain name in a directory that is only known at run time.
        return matches!(written, "." | "./" | "*" | "./*") || written.starts_with("..");
    }
    !is_scratch(case, written)
}

/// Says whether a variable holds a directory for temporary files, the project, or the directory the command runs in.
fn is_safe(name: &str) -> bool {
    name == "PWD" || PROJECT_DIRECTORIES.contains(&name) || TEMPORARY_DIRECTORIES.contains(&name)
}

/// Says whether a path begins with a variable that holds a directory made for the occasion.
fn is_scratch(case: Case<'_>, written: &str) -> bool {
    let Some((name, rest)) = variable(written) else {
        return false;
    };
    let is_plain = !rest.contains(['$', '`']) && !rest.split('/').any(|part| part == "..");
    let names_something = rest.split('/').any(|part| !part.is_empty() && !part.starts_with(['*', '.']));
    is_plain && (is_made(case, name) || names_something && is_safe(name))
}

/// Splits `$name/rest`, `${name}/rest` and `${name:?}/rest`.
fn variable(written: &str) -> Option<(&str, &str)> {
    let after = written.strip_prefix('$')?;
    if let Some(braced) = after.strip_prefix('{') {
        let (inside, rest) = braced.split_once('}')?;
        return Some((inside.split(':').next().unwrap_or(inside), rest.trim_matches('"')));
    }
    let end =
        after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(after.len());
    let (name, rest) = after.split_at_checked(end)?;
    (!name.is_empty()).then_some((name, rest.trim_matches('"')))
}

/// Says whether every value the line gives a variable is a new directory or one's own.
fn is_made(case: Case<'_>, name: &str) -> bool {
    let invocations = &case.survey.invocations;
    let mut is_set = false;
    for command in invocations {
        for variable in command.assignments.iter().filter(|variable| variable.name == name) {
            is_set = true;
            let makes = invocations.get(command.substituted.clone()).unwrap_or_default();
            let is_new = !makes.is_empty() && makes.iter().all(|made| made.program_name() == Some("mktemp"));
            if !is_new && !is_own(case, command, &variable.value) {
                return false;
            }
        }
    }
    is_set
}

/// Says whether a value, or what a pattern stands for, lies in the project or among temporary files.
fn is_own(case: Case<'_>, command: &Invocation, value: &Argument) -> bool {
    let is_text = matches!(value.knowledge, Knowledge::Fixed | Knowledge::Glob);
    let Some(directories) = command.directories.alternatives().filter(|_| is_text && !value.text.is_empty())
    else {
        return false;
    };
    directories.iter().all(|directory| {
        let path = join(directory, &value.text);
        let is_root = case.scope.roots.contains(&path);
        !is_root && (case.scope.is_in_project(&path) || case.scope.is_temporary(&path))
    })
}
