//! Getting round the checks of the project.
//!
//! Hooks and required checks are how a team keeps mistakes and secrets out; a commit that skips them looks like any other.
//! Put right what the check complains about.
//! Or say that the hooks are to be skipped.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC044",
    name: "ci-bypass",
    title: "gets round the checks of the project",
    category: "security_disable",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &[
            "no-verify",
            "skip the hooks",
            "skip hooks",
            "bypass",
            "without hooks",
            "skip ci",
            "admin",
            "uninstall",
        ],
        must_name: "the check that is to be skipped",
    },
    hits: &[
        Sample::Bash("git commit --no-verify -m wip"),
        Sample::Bash("git commit -nm wip"),
        Sample::Bash("git push --no-verify origin topic"),
        Sample::Bash("gh pr merge 12 --admin"),
        Sample::Bash("git config core.hooksPath /dev/null"),
        Sample::Bash("gh workflow disable ci.yml"),
        Sample::Bash("pre-commit uninstall"),
        Sample::Bash("git commit --amend --no-edit --no-verify"),
        Sample::Bash("husky uninstall"),
    ],
    misses: &[
        Sample::Bash("git commit -m \"explain --no-verify\""),
        Sample::Bash("git commit -m wip"),
        Sample::Bash("git push origin topic"),
        Sample::Bash("gh workflow list"),
        Sample::Bash("pre-commit run --all-files"),
        Sample::Bash("echo git commit --no-verify"),
        Sample::Bash("git log -n 5"),
        Sample::Bash("git merge --no-verify-signatures topic"),
        Sample::Bash("grep -rn \"no-verify\" docs"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::BypassCi])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it gets round the checks of the project".to_owned(),
                written => format!("it gets round the checks of the project: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
