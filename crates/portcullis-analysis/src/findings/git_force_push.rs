//! Overwriting history of a remote repository.
//!
//! A forced push replaces commits that other people may have built on.
//! The commits of others that were only on the remote are lost to everybody who has no copy of them.
//! Push to a branch of your own, or name the branch and say that it is to be overwritten.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::git::is_shared_branch;

pub(super) static FINDING: Finding = Finding {
    code: "PC007",
    name: "git-force-push",
    title: "overwrites history of a remote repository",
    category: "git_destructive",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["force", "force-push", "overwrite"],
        must_name: "the forced push and the branch",
    },
    instead: "Push the commits to a new branch, as in `git push origin HEAD:topic-2`",
    hits: &[
        ExampleCall::Bash("git push --force origin main"),
        ExampleCall::Bash("git push -f"),
        ExampleCall::Bash("git push origin +main"),
        ExampleCall::Bash("git push --force-with-lease origin feature/login"),
        ExampleCall::Bash("git -C /code/app push -uf origin topic"),
        ExampleCall::Bash("cd sub && git push --mirror backup"),
        ExampleCall::Bash("git push origin +refs/heads/topic:refs/heads/topic"),
        ExampleCall::Bash("sudo git push --force"),
    ],
    misses: &[
        ExampleCall::Bash("git push origin feature/login"),
        ExampleCall::Bash("git push -u origin topic"),
        ExampleCall::Bash("git push --dry-run --force origin topic"),
        ExampleCall::Bash("echo git push --force"),
        ExampleCall::Bash("git commit -m 'never push --force'"),
        ExampleCall::Bash("git log --grep='push --force'"),
        ExampleCall::Bash("grep -rn 'push --force' docs"),
        ExampleCall::Bash("git fetch --force"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let sighting = |effect| {
        let sentence = "it overwrites commits of the remote repository";
        Sighting::of(case, effect, sentence).ordinary_if(is_ordinary(case, effect))
    };
    case.of(&[Act::GitPushForce])
        .flat_map(|effect| match branches(case, effect) {
            none if none.is_empty() => vec![sighting(effect)],
            some => some.into_iter().map(|subject| Sighting { subject, ..sighting(effect) }).collect(),
        })
        .collect()
}

/// Says whether it is what follows a rebase: branches of one's own, and nothing is lost that was not fetched before.
fn is_ordinary(case: Case<'_>, force: &Effect) -> bool {
    let Some(command) = case.command(force) else { return false };
    let words = command.operands();
    let is_lease = |word: &Argument| {
        word.fixed().is_some_and(|text| text == LEASE || text.starts_with(&format!("{LEASE}=")))
    };
    // Another word may force without looking: `-f`, `--force`, `+topic`, `--mirror`, or one that is not known.
    let is_plain = |word: &Argument| {
        let is_other = |text: &str| {
            let is_long = text.starts_with("--fo") || text.starts_with("--m") || text.starts_with("--a");
            let is_short = text.starts_with('-') && !text.starts_with("--") && text.contains('f');
            is_long || is_short || text.starts_with('+')
        };
        word.fixed().is_some_and(|text| !is_other(text))
    };
    let branches = branches(case, force);
    words.iter().any(is_lease)
        && words.iter().all(|word| is_lease(word) || is_plain(word))
        && !branches.is_empty()
        && !branches.iter().any(|branch| is_shared_branch(branch.trim_start_matches("refs/heads/")))
}

/// The option that refuses to overwrite what was not fetched.
const LEASE: &str = "--force-with-lease";

/// Returns the branches that are overwritten: those after the name of the remote, or else the one that is checked out.
fn branches(case: Case<'_>, force: &Effect) -> Vec<String> {
    let pushed = case.of(&[Act::GitPush]).filter(|push| push.invocation == force.invocation);
    let there = |push: &Effect| {
        let written = push.target.written().trim_matches(['"', '\'']);
        written.rsplit(':').next().unwrap_or_default().trim_start_matches('+').to_owned()
    };
    let named: Vec<String> = pushed.skip(1).map(there).filter(|branch| !branch.is_empty()).collect();
    if named.is_empty() { case.background.branch.iter().cloned().collect() } else { named }
}
