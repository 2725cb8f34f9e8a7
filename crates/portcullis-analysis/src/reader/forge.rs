//! `gh api` and `glab api`: the method decides.

use super::CommandContext;
use super::{certain, has, nameless};
use crate::act::Act;
use crate::profile::{Match, Use};

/// Reads a request to a forge.
pub(super) fn api(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses: Vec<Use> = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let method = found.wanted.options.iter().rev().find(|(option, _)| *option == "-X");
    let method = method.and_then(|(_, value)| value.as_ref());
    let sends = has(found, &["-f", "-F", "--input"]);
    let endpoint = found.wanted.operands.first();
    let is_query_language = endpoint.is_some_and(|word| word.text == "graphql");
    let act = match method.map(|word| word.text.to_ascii_uppercase()).as_deref() {
        Some("GET" | "HEAD") => Act::Query,
        Some("DELETE") => Act::Moderate,
        Some(_) => Act::Post,
        None if is_query_language && !mutates(found) => Act::Query,
        None if sends => Act::Post,
        None => Act::Query,
    };
    let is_elsewhere = endpoint.is_some_and(|word| word.text.contains("://")) || has(found, &["--hostname"]);
    if is_elsewhere {
        uses.push(nameless(Act::Connect));
    }
    uses.push(match endpoint {
        Some(endpoint) if act != Act::Query => certain(act, endpoint),
        _ => nameless(act),
    });
    uses
}

/// Says whether a GraphQL text changes something, or is not known.
fn mutates(found: &Match<'_>) -> bool {
    let mut values = found.wanted.options.iter().filter(|(option, _)| matches!(*option, "-f" | "-F"));
    let is_query = |text: &str| {
        let body = text.strip_prefix("query=").unwrap_or(text).trim_start();
        !body.starts_with("mutation") && !text.starts_with("query=@")
    };
    has(found, &["--input"])
        || values.any(|(_, value)| !value.as_ref().is_some_and(|word| is_query(&word.text)))
}
