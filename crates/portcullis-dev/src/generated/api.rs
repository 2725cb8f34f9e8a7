//! The page of the HTTP API, from the document that the daemon serves.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::{NOTICE, cell};

const SOURCE: &str = "crates/portcullis-daemon/src/api/openapi.json";

const INTRODUCTION: &str = "\
# HTTP API

What the daemon answers; [the guide](../guides/serve.md) says how it is started and has examples.
`GET /v1/openapi.json` is the same for programs, with the form of every answer.
A path under `/v1` keeps its meaning; fields may be added to what it gives.

A role is one of `read`, `decide` and `person`, and `person` may do everything.
`GET` over the unix socket needs no token for what `read` may do.
A refusal is `{\"error\": {\"code\", \"message\", \"hint\"}}` with a status from 400 on.
";

pub(super) fn page(root: &Path) -> Result<String> {
    let source =
        std::fs::read_to_string(root.join(SOURCE)).with_context(|| format!("cannot read `{SOURCE}`"))?;
    let document: Value = serde_json::from_str(&source).with_context(|| format!("`{SOURCE}` is no JSON"))?;
    write_page(&document)
}

fn write_page(document: &Value) -> Result<String> {
    let operations = operations(document);
    ensure!(!operations.is_empty(), "`{SOURCE}` has no paths");
    let mut page = format!("{NOTICE}\n\n{INTRODUCTION}\n| request | role | what it does |\n|---|---|---|\n");
    for operation in &operations {
        let role = text(operation.value, "x-role");
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "| `{}` | {role} | {} |", operation.title, cell(text(operation.value, "summary")));
    }
    for operation in &operations {
        write_operation(&mut page, document, operation);
    }
    Ok(page)
}

/// One method of one path.
struct Operation<'a> {
    title: String,
    value: &'a Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    let methods = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, value)| (format!("{} {path}", method.to_uppercase()), value))
    });
    methods.map(|(title, value)| Operation { title, value }).collect()
}

/// Adds what one request takes and what it may be answered.
fn write_operation(page: &mut String, document: &Value, operation: &Operation<'_>) {
    let value = operation.value;
    let _ = write!(page, "\n## `{}`\n\n{}.\n", operation.title, text(value, "summary"));
    for sentence in sentences(text(value, "description")) {
        let _ = writeln!(page, "{sentence}");
    }
    let parameters = value.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let parameters = parameters.map(|parameter| {
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let is_needed = parameter.get("required") == Some(&Value::Bool(true));
        row(text(parameter, "name"), text(parameter, "in"), schema, is_needed, text(parameter, "description"))
    });
    let body = value.pointer("/requestBody/content/application~1json/schema");
    let fields = body.map(|schema| fields(first_form(document, schema))).unwrap_or_default();
    let rows: Vec<String> = parameters.chain(fields).collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n| name | in | kind | meaning |\n|---|---|---|---|\n{}", rows.concat());
    }
    let answers = value.get("responses").and_then(Value::as_object).into_iter().flatten();
    let answers: Vec<String> = answers.map(|(status, answer)| answer_row(document, status, answer)).collect();
    let _ = write!(page, "\n| status | answer |\n|---|---|\n{}", answers.concat());
}

/// Makes the rows of what a body holds.
fn fields(schema: &Value) -> Vec<String> {
    let needed: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .map(|(name, field)| {
            row(name, "body", field, needed.contains(&name.as_str()), text(field, "description"))
        })
        .collect()
}

fn row(name: &str, place: &str, schema: &Value, is_needed: bool, meaning: &str) -> String {
    let needed = if is_needed { ", needed" } else { "" };
    format!("| `{name}` | {place} | {}{needed} | {} |\n", kind(schema), cell(meaning))
}

/// Says what a value may be: the words it is chosen from, or its type with its limits.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        _ => "any",
    };
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    match (limit("minimum"), limit("maximum").or(limit("maxLength"))) {
        (Some(least), Some(most)) => format!("{name}, {least} to {most}"),
        (Some(least), None) => format!("{name}, from {least}"),
        (None, Some(most)) => format!("{name}, up to {most}"),
        (None, None) => name.to_owned(),
    }
}

/// Names what comes back with a status: a form of the document, or its fields.
fn answer_row(document: &Value, status: &str, answer: &Value) -> String {
    let answer = resolve(document, answer);
    let said = text(answer, "description").trim_end_matches('.');
    let content = answer.get("content").and_then(Value::as_object);
    let schema = content.and_then(|content| content.values().next()?.get("schema"));
    let form = match schema {
        Some(schema) => form(schema),
        None => None,
    };
    let form = form.map(|form| format!(": {form}")).unwrap_or_default();
    format!("| {status} | {}{} |\n", cell(said), cell(&form))
}

fn form(schema: &Value) -> Option<String> {
    if let Some(forms) = schema.get("oneOf").and_then(Value::as_array) {
        return Some(forms.iter().filter_map(form).collect::<Vec<_>>().join(" or "));
    }
    if let Some(item) = schema.get("items") {
        return Some(format!("a list of {}", form(item)?));
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next()) {
        return Some(format!("`{name}`"));
    }
    let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty())?;
    let names = |properties: &Map<String, Value>| {
        properties.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    Some(names(properties))
}

/// Returns the form that is told field by field: the first one, where several will do.
fn first_form<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let first = schema.get("oneOf").and_then(|forms| forms.get(0));
    resolve(document, first.unwrap_or(schema))
}

/// Follows a reference within the document.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let place = value.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| document.pointer(place)).unwrap_or(value)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Splits prose into sentences, which stand on lines of their own.
fn sentences(text: &str) -> Vec<String> {
    let parts = text.split('\n').flat_map(|line| line.split(". ")).filter(|part| !part.is_empty());
    parts.map(|part| format!("{}.", part.trim_end_matches('.'))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_told_with_what_it_takes_and_gives() {
        let document = json!({
            "paths": {"/v1/x/{id}": {"post": {
                "summary": "Do it",
                "x-role": "person",
                "description": "It is done. Nothing else\n\nis.",
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}},
                "responses": {"200": {"description": "Done.", "content": {"application/json": {
                    "schema": {"oneOf": [
                        {"$ref": "#/components/schemas/New"},
                        {"type": "array", "items": {"$ref": "#/components/schemas/New"}},
                    ]}}}}},
            }}},
            "components": {"schemas": {"New": {"required": ["n"], "properties": {
                "n": {"type": ["integer", "null"], "minimum": 1, "maximum": 9, "description": "How many | much."},
                "word": {"enum": ["a", "b"]},
            }}}},
        });
        let page = write_page(&document).unwrap();
        let (_, page) = page.split_once("|---|---|---|\n").unwrap();
        assert_eq!(
            page,
            "| `POST /v1/x/{id}` | person | Do it |\n\
             \n## `POST /v1/x/{id}`\n\nDo it.\nIt is done.\nNothing else.\nis.\n\
             \n| name | in | kind | meaning |\n|---|---|---|---|\n\
             | `id` | path | string, needed |  |\n\
             | `n` | body | integer, 1 to 9, needed | How many \\| much. |\n\
             | `word` | body | `a`, `b` |  |\n\
             \n| status | answer |\n|---|---|\n| 200 | Done: `New` or a list of `New` |\n"
        );
        assert!(write_page(&json!({"paths": {}})).is_err());
    }
}
