//! Deleting branches or tags of a remote repository.
//!
//! Others may work on the branch or build from the tag, and the remote keeps no copy.
//! Leave it to the person, or to the merge that closes the branch.
//! A person is asked about a branch that is named and that nobody shares by its name; tags and shared branches are refused.
//! Or name the branch and say that it is to be deleted on the remote.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::git::is_shared_branch;

pub(super) static FINDING: Finding = Finding {
    code: "PC008",
    name: "git-delete-remote",
    title: "deletes branches or tags of a remote repository",
    category: "git_destructive",
    severity: Severity::High,
    firmness: Firmness::Soft { verbs: &["delete", "remove", "prune"], must_name: "the branch or tag" },
    instead: "Delete only the local branch, as in `git branch -d topic`, and name the remote one to the user",
    hits: &[
        ExampleCall::Bash("git push origin --delete topic"),
        ExampleCall::Bash("git push origin :topic"),
        ExampleCall::Bash("git push -d origin v1.0"),
        ExampleCall::Bash("git push --delete origin refs/tags/v1"),
        ExampleCall::Bash("git push --prune origin"),
        ExampleCall::Bash("git push origin main :old"),
        ExampleCall::Bash("git push origin :refs/heads/old"),
        ExampleCall::Bash("sudo git push origin --delete release"),
    ],
    misses: &[
        ExampleCall::Bash("git push origin topic"),
        ExampleCall::Bash("git branch -d topic"),
        ExampleCall::Bash("git tag -d v1.0"),
        ExampleCall::Bash("git push origin a:b"),
        ExampleCall::Bash("git push --dry-run origin --delete topic"),
        ExampleCall::Bash("echo git push origin --delete topic"),
        ExampleCall::Bash("git commit -m \"push origin :topic\""),
        ExampleCall::Bash("git fetch --prune origin"),
        ExampleCall::Bash("git remote prune origin"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::GitDeleteRemote])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it deletes branches or tags of the remote repository".to_owned(),
                written => format!("it deletes `{written}` on the remote repository"),
            };
            // A merge that closes its own branch is one question.
            let merges = |merge: &Effect| merge.invocation == effect.invocation;
            let is_ordinary = case.of(&[Act::Merge]).any(merges) || is_topic(effect);
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary)
        })
        .collect()
}

/// Says whether a single branch is named of which its name does not say that others use it.
fn is_topic(effect: &Effect) -> bool {
    let Some(written) = effect.word.as_ref().and_then(Argument::fixed) else { return false };
    let name = written.trim_start_matches(':');
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    let letters = branch.strip_prefix('v').unwrap_or(branch);
    let is_version = letters.starts_with(|letter: char| letter.is_ascii_digit());
    !(branch.is_empty()
        || branch.starts_with("refs/")
        || branch.contains(['*', '?', '['])
        || is_version
        || is_shared_branch(branch))
}
