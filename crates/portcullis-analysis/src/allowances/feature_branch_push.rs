//! Pushing to your own branch.
//!
//! The branch is named, or the one that is checked out is known, and it is none that others build or deploy from.

use crate::act::Act;
use crate::allowances::Allowance;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::ExampleCall;
use crate::git::{GitPush, is_shared_branch};
use crate::reach::works_in_own_repository;

pub(super) static ALLOWANCE: Allowance = Allowance {
    code: "PA07",
    name: "feature-branch-push",
    title: "pushing to your own branch",
    clears: &[],
    hits: &[
        ExampleCall::Bash("git push origin feature/login"),
        ExampleCall::Bash("git push -u origin fix-123"),
        ExampleCall::Bash("git push origin topic:topic"),
        ExampleCall::Bash("git -C /code/app push origin my-branch"),
        ExampleCall::Bash("git push --set-upstream origin docs"),
        ExampleCall::Bash("git push origin refs/heads/topic"),
        ExampleCall::Bash("git commit -am wip && git push origin topic"),
        ExampleCall::Bash("git push origin v2-rewrite"),
    ],
    misses: &[
        ExampleCall::Bash("git push origin main"),
        ExampleCall::Bash("git push"),
        ExampleCall::Bash("git push origin HEAD:master"),
        ExampleCall::Bash("git push origin production"),
        ExampleCall::Bash("git push https://example.com/fork.git topic"),
        ExampleCall::Bash("git push origin \"$BRANCH\""),
        ExampleCall::Bash("git push --all origin"),
        ExampleCall::Bash("git push origin topic main"),
    ],
    covers,
};

fn covers(case: Case<'_>, effect: &Effect) -> bool {
    if effect.act != Act::GitPush {
        return false;
    }
    let Some(push) = case.command(effect).map(|command| GitPush::of(command.operands())) else {
        return false;
    };
    let is_named = push.remote.as_deref().is_none_or(|remote| !remote.contains([':', '/']));
    let current = case.background.branch.as_deref();
    let own = |branch: &str| match branch {
        "HEAD" | "@" => current.is_some_and(|branch| !is_shared_branch(branch)),
        branch => !is_shared_branch(branch),
    };
    let goes_to_own = if push.branches.is_empty() {
        current.is_some_and(|branch| !is_shared_branch(branch))
    } else {
        push.branches.iter().all(|branch| own(branch))
    };
    is_named && works_in_own_repository(case, effect) && push.is_known && !push.takes_all && goes_to_own
}
