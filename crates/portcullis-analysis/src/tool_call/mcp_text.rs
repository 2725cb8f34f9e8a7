//! What stands in the fields of a tool's call: statements, names of secrets. The worst reading counts.

use serde_json::Value;

use super::mcp::{fields, last_name};
use super::{CallInput, Layout, effect};
use crate::act::Act;
use crate::code::{self, CodeTarget, Language};
use crate::effect::Target;
use crate::lists::mcp::{DATABASES, PROSE_FIELDS, SECRET_SERVERS};

/// Fields that may hold SQL or words to search for.
pub(super) const QUERY_FIELDS: &[&str] = &["q", "query", "queries", "text"];

/// Fields that hold a statement for a database and nothing else.
const SQL_FIELDS: &[&str] = &["cypher", "mutation", "sql", "statement", "statements"];

/// Fields that hold the kind of a thing that is asked for.
const KIND_FIELDS: &[&str] = &["kind", "resource", "resourcekind", "resources", "resourcetype", "type"];

/// The longest text that is read as JSON, in bytes.
const LONGEST_NESTED: usize = 65_536;

/// Returns the fields of texts that hold JSON, each below the field that it stands in. What is written somewhere is no
/// input of the tool.
pub(super) fn nested_fields(call: &CallInput<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (field, text) in call.fields {
        let is_short = text.len() < LONGEST_NESTED && text.trim_start().starts_with(['{', '[']);
        if !is_short || PROSE_FIELDS.contains(&last_name(field).as_str()) {
            continue;
        }
        if let Ok(value) = serde_json::from_str(text) {
            add_fields(field, &value, &mut all);
        }
    }
    all
}

fn add_fields(field: &str, value: &Value, all: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => all.push((field.to_owned(), text.clone())),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                add_fields(&format!("{field}.{place}"), item, all);
            }
        }
        Value::Object(items) => {
            for (name, item) in items {
                add_fields(&format!("{field}.{name}"), item, all);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds what statements for a database do, and says whether they are all there is to know of the call.
pub(super) fn add_statements(tool: &str, call: &CallInput<'_>, layout: &mut Layout) -> bool {
    let statements = fields(call, SQL_FIELDS).filter(|text| !text.trim().is_empty());
    let is_database = serves_database(tool);
    let is_query = |text: &&str| looks_like_statement(text) && (is_database || !is_prose(text));
    let queries = fields(call, QUERY_FIELDS).filter(is_query);
    let mut is_settled = false;
    for text in statements.chain(queries) {
        is_settled |= add_statement(text, tool, call, layout);
    }
    for (field, text) in call.fields {
        let name = last_name(field);
        let is_read =
            [SQL_FIELDS, QUERY_FIELDS, PROSE_FIELDS].iter().any(|names| names.contains(&name.as_str()));
        for part in text.split(';').filter(|part| !is_read && is_acting_statement(part)) {
            add_statement(part, tool, call, layout);
        }
    }
    layout.effects.extend(stages(tool, call));
    if call.fields.iter().any(|(_, text)| is_mutation(text)) {
        layout.effects.push(effect(Act::Post, Target::Name(tool.to_owned())));
    }
    is_settled
}

/// Says whether a tool belongs to a server of databases, by its name.
fn serves_database(tool: &str) -> bool {
    let server = tool.split("__").nth(1).unwrap_or_default().to_ascii_lowercase();
    DATABASES.iter().any(|name| server.contains(name))
}

/// Says whether a text that begins like a statement is only words: nothing in it is written as a language is.
fn is_prose(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    !text.contains(['\n', ';', '=', '(', '*', '{', '\'', '"'])
        && first.chars().any(|letter| letter.is_ascii_lowercase())
}

fn add_statement(text: &str, tool: &str, call: &CallInput<'_>, layout: &mut Layout) -> bool {
    let reading = code::read(Language::Sql, text);
    for action in &reading.actions {
        let target = match &action.object {
            CodeTarget::Path(path) => call.path(path),
            _ => Target::Name(tool.to_owned()),
        };
        layout.effects.push(effect(action.act, target));
    }
    for command in &reading.shell_texts {
        call.shell(command, layout);
        layout.effects.push(effect(Act::Unknown, Target::Name("a command that a statement runs".to_owned())));
    }
    let is_understood = reading.gaps.is_empty() && !reading.actions.is_empty();
    if !is_understood {
        let what = "a statement that is not understood".to_owned();
        layout.effects.push(effect(Act::Unknown, Target::Name(what)));
    }
    is_understood
}

/// Says whether a text is an operation of GraphQL that changes something, alone or among others.
fn is_mutation(text: &str) -> bool {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let plain = lines.join("\n");
    let mut operations = plain.split('}').map(str::trim_start);
    operations.any(|operation| {
        let after = operation.strip_prefix("mutation");
        let is_begun = |after: &str| after.trim_start().starts_with(['{', '(', '@']);
        after.is_some_and(|after| is_begun(after) || after.starts_with(' ') && after.contains('{'))
    })
}

/// Returns what stages of an aggregation do that write or run code: `$merge`, `$out`, `$where`.
fn stages<'a>(tool: &'a str, call: &'a CallInput<'_>) -> impl Iterator<Item = crate::effect::Effect> + 'a {
    let act_of = |text: &str| match text {
        "$merge" | "$out" => Some(Act::DatabaseWrite),
        "$accumulator" | "$function" | "$where" => Some(Act::Unknown),
        _ => None,
    };
    let named = call.fields.iter().flat_map(move |(field, text)| {
        let in_text = text.split(|letter: char| letter != '$' && !letter.is_ascii_alphanumeric());
        field.split('.').chain(in_text).filter_map(act_of)
    });
    named.map(move |act| effect(act, Target::Name(tool.to_owned())))
}

/// Says whether a tool shows secrets: by its server, or by the kind of thing that it is asked for.
pub(super) fn shows_secret(tool: &str, call: &CallInput<'_>) -> bool {
    let server = tool.split("__").nth(1).unwrap_or_default().to_ascii_lowercase();
    let is_store = SECRET_SERVERS.iter().any(|name| server.contains(name));
    let is_secret = |text: &str| {
        let kind = text.to_ascii_lowercase();
        kind.split(['/', ',', ' '])
            .any(|kind| matches!(kind, "secret" | "secrets" | "sealedsecret" | "sealedsecrets"))
    };
    is_store || fields(call, KIND_FIELDS).any(is_secret)
}

/// Says whether a text is a statement that changes a database: the words that follow its verb tell it from prose.
fn is_acting_statement(text: &str) -> bool {
    const THINGS: &[&str] = &[
        "column",
        "constraint",
        "database",
        "extension",
        "function",
        "index",
        "materialized",
        "owned",
        "policy",
        "procedure",
        "role",
        "schema",
        "sequence",
        "table",
        "tables",
        "tablespace",
        "trigger",
        "type",
        "user",
        "view",
    ];
    let mut words =
        text.split(|letter: char| letter.is_whitespace() || letter == '(').filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default().to_ascii_lowercase();
    let (first, second, third) = (next(), next(), next());
    match first.as_str() {
        "drop" | "alter" => THINGS.contains(&second.as_str()),
        "truncate" => second == "table" || third.is_empty() && !second.is_empty(),
        "delete" => second == "from",
        "insert" | "merge" | "replace" => second == "into",
        "update" => third == "set",
        "grant" | "revoke" => text.to_ascii_lowercase().contains(" on "),
        "copy" => third == "to" || third == "from",
        "call" | "exec" | "execute" => second.contains('_') || text.contains('('),
        _ => false,
    }
}

/// Says whether a text is a statement for a database and not words to search for.
fn looks_like_statement(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "alter", "analyze", "attach", "begin", "call", "commit", "copy", "create", "declare", "delete",
        "detach", "do", "drop", "exec", "execute", "explain", "grant", "insert", "load", "lock", "match",
        "merge", "mutation", "pragma", "reindex", "rename", "replace", "reset", "revoke", "select", "set",
        "show", "truncate", "update", "use", "vacuum", "with",
    ];
    let is_shell_of_mongo = text.trim_start().starts_with("db.") && text.contains('(');
    let mut rest =
        text.trim_start_matches(|letter: char| letter.is_whitespace() || matches!(letter, '(' | ';'));
    let is_hidden = rest.starts_with("/*") || rest.starts_with("--");
    if let Some((_, after)) = rest.strip_prefix("/*").and_then(|inside| inside.split_once("*/")) {
        rest = after.trim_start();
    }
    let first = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_start = STARTS.contains(&first.to_ascii_lowercase().as_str());
    is_shell_of_mongo || is_hidden || is_start && rest.len() > first.len()
}
