//! The published schema: equal to the committed file, and true of the samples.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::Value;

use portcullis_settings::{KEYS, PublicKey, settings_schema};

#[test]
fn the_committed_schema_is_the_one_the_key_table_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/settings.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, settings_schema()).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), settings_schema());
}

#[test]
fn every_key_has_a_place_and_a_description_in_the_schema() {
    let schema: Value = serde_json::from_str(&settings_schema()).unwrap();
    for key in KEYS {
        let pointer = format!("/properties/{}", key.path.replace('.', "/properties/"));
        let property = schema.pointer(&pointer).unwrap_or_else(|| panic!("{}", key.path));
        let description = property["description"].as_str().unwrap();
        assert!(description.starts_with(key.description), "{}", key.path);
    }
}

/// Says whether a text fits one of the patterns our schema has.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[A-Za-z_][A-Za-z0-9_]*$" => {
            text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        }
        "^https?://[^/?#:\\s]" => {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            rest.is_some_and(|rest| {
                rest.starts_with(|first: char| !first.is_whitespace() && !"/?#:".contains(first))
            })
        }
        "^postgres(ql)?://." => {
            let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
            rest.is_some_and(|rest| !rest.is_empty())
        }
        "^[A-Za-z0-9._-]{1,64}:[A-Za-z0-9+/]{43}=$" => PublicKey::parse(text).is_ok(),
        other => panic!("the schema uses {other}"),
    }
}

/// Checks a value against the part of JSON Schema that our schema uses.
pub(crate) fn conforms(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema.get("$ref") {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
        return conforms(root, root.pointer(pointer).unwrap(), value);
    }
    let complaint = || format!("{value} against {schema}");
    let kind_fits = match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some(other) => panic!("the schema uses {other}"),
        None => true,
    };
    let word_fits = schema.get("enum").is_none_or(|words| words.as_array().unwrap().contains(value))
        && schema.get("const").is_none_or(|word| word == value)
        && schema.get("minLength").is_none_or(|_| value.as_str().is_some_and(|text| !text.is_empty()));
    let number_fits = schema.get("minimum").is_none_or(|least| value.as_u64() >= least.as_u64())
        && schema.get("maximum").is_none_or(|most| value.as_u64() <= most.as_u64());
    let pattern = schema.get("pattern").map(|pattern| pattern.as_str().unwrap());
    let pattern_fits = pattern.is_none_or(|pattern| fits(pattern, value.as_str().unwrap_or_default()));
    if !kind_fits || !word_fits || !number_fits || !pattern_fits {
        return Err(complaint());
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(property) => conforms(root, property, member)?,
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                return Err(complaint());
            }
            None => {}
        }
    }
    value.as_array().into_iter().flatten().try_for_each(|entry| conforms(root, &schema["items"], entry))
}
