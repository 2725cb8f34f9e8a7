//! Erasing history of the local repository.
//!
//! Branches that were not merged, the log of old positions and objects that nothing points to are what lost work is brought back from.
//! Delete merged branches with `git branch -d`, and leave the rest to git.
//! Or name the branch and say that it is to be deleted.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC006",
    name: "git-erase",
    title: "erases history beyond what git can restore",
    category: "git_destructive",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "erase", "expire", "prune", "rewrite", "filter", "remove", "purge"],
        must_name: "the branch or the history that is to go",
    },
    instead: "Delete only branches that are merged, as in `git branch -d topic`",
    hits: &[
        ExampleCall::Bash("git branch -D topic"),
        ExampleCall::Bash("git reflog expire --expire=now --all"),
        ExampleCall::Bash("git gc --prune=now"),
        ExampleCall::Bash("git filter-branch --tree-filter \"rm -f x\" HEAD"),
        ExampleCall::Bash("git update-ref -d refs/heads/topic"),
        ExampleCall::Bash("git -C /code/app branch -D old"),
        ExampleCall::Bash("git filter-repo --path src"),
        ExampleCall::Bash("git branch -Dv topic"),
        ExampleCall::Bash("hg strip tip"),
    ],
    misses: &[
        ExampleCall::Bash("git branch -d topic"),
        ExampleCall::Bash("git branch topic"),
        ExampleCall::Bash("git gc"),
        ExampleCall::Bash("git reflog"),
        ExampleCall::Bash("git fetch --prune"),
        ExampleCall::Bash("git branch --list"),
        ExampleCall::Bash("echo git branch -D topic"),
        ExampleCall::Bash("git commit -m \"explain filter-branch\""),
        ExampleCall::Bash("cd /tmp/clone && git branch -D topic"),
        ExampleCall::Bash("git grep -n \"reflog expire\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::GitErase])
        .filter(|effect| !is_scratch(case, effect))
        .map(|effect| Sighting::of(case, effect, "it erases history that git cannot bring back"))
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
