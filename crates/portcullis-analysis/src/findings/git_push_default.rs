//! Pushing to the default branch.
//!
//! Everybody builds on it and many projects deploy from it, and a push goes round the review that a branch of your own would get.
//! Push a branch and open a pull request.
//! Or say that the default branch is to be pushed, by its name.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::git::{GitPush, is_default_branch};

pub(super) static FINDING: Finding = Finding {
    code: "PC009",
    name: "git-push-default",
    title: "pushes to the default branch",
    category: "git_push_default",
    severity: Severity::Medium,
    firmness: Firmness::Soft { verbs: &["push", "publish", "ship"], must_name: "the default branch" },
    instead: "Push a branch of its own, as in `git push -u origin topic`, and ask for a review",
    hits: &[
        ExampleCall::Bash("git push origin main"),
        ExampleCall::Bash("git push origin HEAD:master"),
        ExampleCall::Bash("git push -u origin main"),
        ExampleCall::Bash("git push origin topic:main"),
        ExampleCall::Bash("git push origin refs/heads/main"),
        ExampleCall::Bash("git push --all origin"),
        ExampleCall::Bash("git -C /code/app push origin master"),
        ExampleCall::Bash("git add -A && git commit -m wip && git push origin main"),
        ExampleCall::Bash("git push origin topic main"),
    ],
    misses: &[
        ExampleCall::Bash("git push origin topic"),
        ExampleCall::Bash("git push"),
        ExampleCall::Bash("git push origin main:topic"),
        ExampleCall::Bash("git push --dry-run origin main"),
        ExampleCall::Bash("git fetch origin main"),
        ExampleCall::Bash("git pull origin main"),
        ExampleCall::Bash("echo git push origin main"),
        ExampleCall::Bash("git push origin mainline"),
        ExampleCall::Bash("git push origin v1.0"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let mut seen = Vec::new();
    for effect in case.of(&[Act::GitPush]).filter(|effect| case.program(effect) == "git") {
        let is_new = !seen.iter().any(|(index, _)| *index == effect.invocation);
        if is_new && let Some(branch) = default_branch(case, effect) {
            let mut sighting =
                Sighting::of(case, effect, format!("it pushes to the default branch {branch}"));
            sighting.subject = branch;
            seen.push((effect.invocation, sighting));
        }
    }
    seen.into_iter().map(|(_, sighting)| sighting).collect()
}

/// Returns the default branch that a push writes to.
fn default_branch(case: Case<'_>, effect: &Effect) -> Option<String> {
    let command = case.command(effect).filter(|_| case.has_word(effect, &["push"]))?;
    let push = GitPush::of(command.operands());
    let current = case.background.branch.as_deref();
    let named = push.branches.iter().map(String::as_str);
    let mut written =
        named.filter_map(|branch| if matches!(branch, "HEAD" | "@") { current } else { Some(branch) });
    if push.takes_all {
        return Some("among all others".to_owned());
    }
    let found =
        if push.branches.is_empty() { current } else { written.find(|branch| is_default_branch(branch)) };
    found.filter(|branch| is_default_branch(branch)).map(str::to_owned)
}
