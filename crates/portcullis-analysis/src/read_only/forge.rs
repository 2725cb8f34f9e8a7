//! `gh` subcommands that only look.

use crate::argument::Argument;

const QUERIES: &[(&str, &[&str])] = &[
    ("pr", &["view", "list", "diff", "checks", "status"]),
    ("issue", &["view", "list", "status"]),
    ("run", &["view", "list"]),
    ("workflow", &["view", "list"]),
    ("repo", &["view", "list"]),
    ("release", &["view", "list"]),
    ("search", &["code", "commits", "issues", "prs", "repos"]),
    ("label", &["list"]),
];

/// Options that turn a query into a change, open a browser or go to another host.
const CHANGING: &[&str] =
    &["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input", "-w", "--web", "--hostname"];

/// The one host whose addresses are followed; others could be told anything.
const HOST: &str = "https://github.com/";

pub(super) fn is_read_only(operands: &[Argument]) -> bool {
    let changes = operands.iter().any(|argument| {
        let text = argument.text.as_str();
        if text.contains("://") && !text.starts_with(HOST) {
            return true;
        }
        CHANGING.iter().any(|option| {
            text == *option
                || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
                || (!option.starts_with("--") && !text.starts_with("--") && text.starts_with(option))
        })
    });
    if changes {
        return false;
    }
    match operands {
        [topic, ..] if topic.text == "api" => operands.iter().all(|argument| argument.text != "graphql"),
        [topic, verb] if topic.text == "auth" => verb.text == "status",
        [topic, verb, ..] => {
            QUERIES.iter().any(|(name, verbs)| topic.text == *name && verbs.contains(&verb.text.as_str()))
        }
        _ => false,
    }
}
