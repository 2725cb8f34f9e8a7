//! Deleting branches or tags of a remote repository.
//!
//! Others may work on the branch or build from the tag, and the remote keeps no copy.
//! Leave it to the person, or to the merge that closes the branch.
//! Or name the branch and say that it is to be deleted on the remote.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC008",
    name: "git-delete-remote",
    title: "deletes branches or tags of a remote repository",
    category: "git_destructive",
    severity: Severity::High,
    firmness: Firmness::Soft { verbs: &["delete", "remove", "prune"], must_name: "the branch or tag" },
    hits: &[
        Sample::Bash("git push origin --delete topic"),
        Sample::Bash("git push origin :topic"),
        Sample::Bash("git push -d origin v1.0"),
        Sample::Bash("git push --delete origin refs/tags/v1"),
        Sample::Bash("git push --prune origin"),
        Sample::Bash("git push origin main :old"),
        Sample::Bash("git push origin :refs/heads/old"),
        Sample::Bash("sudo git push origin --delete release"),
    ],
    misses: &[
        Sample::Bash("git push origin topic"),
        Sample::Bash("git branch -d topic"),
        Sample::Bash("git tag -d v1.0"),
        Sample::Bash("git push origin a:b"),
        Sample::Bash("git push --dry-run origin --delete topic"),
        Sample::Bash("echo git push origin --delete topic"),
        Sample::Bash("git commit -m \"push origin :topic\""),
        Sample::Bash("git fetch --prune origin"),
        Sample::Bash("git remote prune origin"),
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
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
