//! Getting round the checks of the project.
//!
//! Hooks and required checks are how a team keeps mistakes and secrets out; a commit that skips them looks like any other.
//! Put right what the check complains about.
//! Or say that the hooks are to be skipped.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

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
    instead: "Repair what the check complains about, and leave the check on",
    hits: &[
        ExampleCall::Bash("git commit --no-verify -m wip"),
        ExampleCall::Bash("git commit -nm wip"),
        ExampleCall::Bash("git push --no-verify origin topic"),
        ExampleCall::Bash("gh pr merge 12 --admin"),
        ExampleCall::Bash("git config core.hooksPath /dev/null"),
        ExampleCall::Bash("gh workflow disable ci.yml"),
        ExampleCall::Bash("pre-commit uninstall"),
        ExampleCall::Bash("git commit --amend --no-edit --no-verify"),
        ExampleCall::Bash("husky uninstall"),
    ],
    misses: &[
        ExampleCall::Bash("git commit -m \"explain --no-verify\""),
        ExampleCall::Bash("git commit -m wip"),
        ExampleCall::Bash("git push origin topic"),
        ExampleCall::Bash("gh workflow list"),
        ExampleCall::Bash("pre-commit run --all-files"),
        ExampleCall::Bash("echo git commit --no-verify"),
        ExampleCall::Bash("git log -n 5"),
        ExampleCall::Bash("git merge --no-verify-signatures topic"),
        ExampleCall::Bash("grep -rn \"no-verify\" docs"),
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
