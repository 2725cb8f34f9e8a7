//! Throwing away work that was not committed.
//!
//! Changes that are in no commit and no stash are gone for good, also those that the user made.
//! Commit or stash first, or restore one file that you changed yourself and say so.
//! Or say that the changes are to be discarded.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC005",
    name: "git-discard",
    title: "throws away work that was not committed",
    category: "git_destructive",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["discard", "reset", "revert", "undo", "throw away", "restore", "clean", "drop"],
        must_name: "what is to be discarded",
    },
    instead: "Keep the changes with `git stash push -u`, which `git stash pop` brings back",
    hits: &[
        ExampleCall::Bash("git reset --hard"),
        ExampleCall::Bash("git reset --hard HEAD~3"),
        ExampleCall::Bash("git checkout -- ."),
        ExampleCall::Bash("git checkout ."),
        ExampleCall::Bash("git clean -fdx"),
        ExampleCall::Bash("git restore ."),
        ExampleCall::Bash("git stash drop"),
        ExampleCall::Bash("git stash clear"),
        ExampleCall::Bash("git switch -f main"),
        ExampleCall::Bash("git checkout HEAD~1 -- src/a.rs"),
        ExampleCall::Bash("echo ok && sudo git reset --hard origin/main"),
        ExampleCall::Bash("hg update --clean"),
    ],
    misses: &[
        ExampleCall::Bash("git reset HEAD~1"),
        ExampleCall::Bash("git reset --soft HEAD~1"),
        ExampleCall::Bash("git checkout main"),
        ExampleCall::Bash("git checkout -b topic"),
        ExampleCall::Bash("git clean -nfd"),
        ExampleCall::Bash("git restore --staged src/a.rs"),
        ExampleCall::Bash("git stash"),
        ExampleCall::Bash("git stash pop"),
        ExampleCall::Bash("git commit -m \"git reset --hard\""),
        ExampleCall::Bash("cd /tmp/clone && git reset --hard"),
        ExampleCall::Bash("git checkout --theirs src/a.rs"),
        ExampleCall::Bash("git log --grep \"checkout -- .\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    // Taking one side of a conflict settles the merge, and both sides are committed.
    let settles = |effect: &Effect| case.has_word(effect, &["--ours", "--theirs"]);
    case.of(&[Act::GitDiscard])
        .filter(|effect| !settles(effect) && !is_scratch(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it throws away changes that were not committed".to_owned(),
                written => format!("it throws away changes to `{written}` that were not committed"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a repository is one's own to play with: it lies among temporary files.
fn is_scratch(case: Case<'_>, effect: &Effect) -> bool {
    let directories = case.command(effect).and_then(|command| command.directories.alternatives());
    directories.is_some_and(|all| {
        let mut all = all.iter().peekable();
        all.peek().is_some() && all.all(|directory| case.scope.is_temporary(directory))
    })
}
