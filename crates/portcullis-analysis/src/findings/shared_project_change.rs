//! Merging a change, or deleting, renaming or opening up a shared project.
//!
//! A merge reaches everybody who builds from the branch, and a deleted project takes its issues and reviews along.
//! Open the change for review and leave the merge to a person.
//! Or name the change or project and say what is to be done with it.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

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
        Sample::Bash("gh pr merge 12 --squash"),
        Sample::Bash("gh pr review 12 --approve"),
        Sample::Bash("gh repo delete me/app --yes"),
        Sample::Bash("gh repo edit --visibility public"),
        Sample::Bash("glab mr merge 5"),
        Sample::Bash("gh repo archive me/app"),
        Sample::Bash("gh api -X DELETE repos/me/app"),
        Sample::Bash("gh repo rename other"),
        Sample::Call("mcp__github__merge_pull_request", &[("number", "12")]),
    ],
    misses: &[
        Sample::Bash("gh pr view 12"),
        Sample::Bash("gh pr create --fill"),
        Sample::Bash("gh pr review 12 --comment -b ok"),
        Sample::Bash("gh repo view me/app"),
        Sample::Bash("git merge topic"),
        Sample::Bash("echo gh pr merge 12"),
        Sample::Bash("gh pr list --search \"is:merged\""),
        Sample::Bash("gh api repos/me/app/pulls"),
        Sample::Call("mcp__github__list_pull_requests", &[("state", "open")]),
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
