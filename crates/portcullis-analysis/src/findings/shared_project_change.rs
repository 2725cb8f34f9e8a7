//! Merging a change, or deleting, renaming or opening up a shared project.
//!
//! A merge reaches everybody who builds from the branch, and a deleted project takes its issues and reviews along.
//! Open the change for review and leave the merge to a person.
//! Or name the change or project and say what is to be done with it.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC040",
    name: "shared-project-change",
    title: "merges, closes or deletes what others work on",
    category: "external_api_write",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["merge", "approve", "delete", "archive", "rename", "close", "make public"],
        must_name: "the project or the change",
    },
    hits: &[
        ExampleCall::Bash("gh pr merge 12 --squash"),
        ExampleCall::Bash("gh pr review 12 --approve"),
        ExampleCall::Bash("gh repo delete me/app --yes"),
        ExampleCall::Bash("gh repo edit --visibility public"),
        ExampleCall::Bash("glab mr merge 5"),
        ExampleCall::Bash("gh repo archive me/app"),
        ExampleCall::Bash("gh api -X DELETE repos/me/app"),
        ExampleCall::Bash("gh repo rename other"),
        ExampleCall::Call("mcp__github__merge_pull_request", &[("number", "12")]),
    ],
    misses: &[
        ExampleCall::Bash("gh pr view 12"),
        ExampleCall::Bash("gh pr create --fill"),
        ExampleCall::Bash("gh pr review 12 --comment -b ok"),
        ExampleCall::Bash("gh repo view me/app"),
        ExampleCall::Bash("git merge topic"),
        ExampleCall::Bash("echo gh pr merge 12"),
        ExampleCall::Bash("gh pr list --search \"is:merged\""),
        ExampleCall::Bash("gh api repos/me/app/pulls"),
        ExampleCall::Call("mcp__github__list_pull_requests", &[("state", "open")]),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Moderate, Act::Merge])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it changes a project that others work on".to_owned(),
                written => format!("it changes a project that others work on: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
