//! Merging a change, or deleting, renaming or opening up a shared project.
//!
//! A merge reaches everybody who builds from the branch, and a deleted project takes its issues and reviews along.
//! Open the change for review and leave the merge to a person.
//! A person is asked about a merge or an approval in one's own project; everything else is refused.
//! Or name the change or project and say what is to be done with it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;

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
    instead: "Leave the change open, and tell the user that it waits for them",
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
            let is_ordinary = effect.act == Act::Merge && !names_other_project(case, effect);
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary)
        })
        .collect()
}

/// Says whether a command names a project that is none of the remotes of the repository.
fn names_other_project(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let mut named = words.iter().enumerate().filter_map(|(place, word)| match word.text.as_str() {
        "-R" | "--repo" => words.get(place + 1).map(|next| next.text.as_str()),
        text => text.strip_prefix("--repo=").or_else(|| text.strip_prefix("-R")),
    });
    let is_own = |project: &str| {
        let ends = |address: &String| {
            let before = address.trim_end_matches(".git").strip_suffix(project);
            before.is_some_and(|before| before.is_empty() || before.ends_with(['/', ':']))
        };
        project.contains('/') && case.background.remotes.values().any(ends)
    };
    named.any(|project| !is_own(project))
        || words.iter().any(|word| word.text.contains("://") && !is_own(&word.text))
}
