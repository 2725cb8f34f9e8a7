//! The JSON Schema of settings files, made from the key table.

use portcullis_core::MODES;
use serde_json::{Map, Value, json};

use crate::keys::{KEYS, KeyId, KeyKind, SettingsKey};

/// Returns the JSON Schema (draft 2020-12) of our settings files, ready to print.
pub fn settings_schema() -> String {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Portcullis settings",
        "description": "Permission rules and switches of Portcullis. Claude Code settings files are read as well; keys that only Claude Code knows do not belong here.",
        "type": "object",
        "properties": properties(None),
        "additionalProperties": false,
    });
    if let Some(object) = schema.as_object_mut() {
        object.insert("$defs".to_owned(), json!({"rule": rule()}));
    }
    format!("{schema:#}\n")
}

fn properties(parent: Option<&str>) -> Value {
    let keys = KEYS.iter().filter(|key| key.parent() == parent);
    Value::Object(keys.map(|key| (key.name().to_owned(), property(key))).collect::<Map<_, _>>())
}

fn property(key: &SettingsKey) -> Value {
    let mut property = match key.kind {
        KeyKind::Object => json!({
            "type": "object",
            "properties": properties(Some(key.path)),
            "additionalProperties": false,
        }),
        KeyKind::FreeObject => json!({"type": "object", "properties": properties(Some(key.path))}),
        KeyKind::Rules => json!({"type": "array", "items": {"$ref": "#/$defs/rule"}}),
        KeyKind::Directories | KeyKind::Sentences => {
            json!({"type": "array", "items": {"type": "string", "minLength": 1}})
        }
        KeyKind::Mode => {
            let names: Vec<&str> = MODES
                .iter()
                .flat_map(|info| std::iter::once(info.name).chain(info.aliases.iter().copied()))
                .collect();
            json!({"type": "string", "enum": names})
        }
        KeyKind::Disable => json!({"const": "disable"}),
        KeyKind::Boolean => json!({"type": "boolean"}),
        KeyKind::Text => json!({"type": "string"}),
        KeyKind::Choice(words) => json!({"type": "string", "enum": words}),
        KeyKind::Number { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
        KeyKind::Words | KeyKind::SecretForms => json!({"type": "array", "items": {"type": "string"}}),
        KeyKind::Variable => json!({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}),
        KeyKind::Address => json!({"type": "string", "pattern": "^https?://[^/?#:\\s]"}),
        KeyKind::Path => json!({"type": "string", "minLength": 1}),
        KeyKind::StoreAddress => json!({"type": "string", "pattern": "^postgres(ql)?://."}),
        KeyKind::PublicKeys => {
            let pattern = "^[A-Za-z0-9._-]{1,64}:[A-Za-z0-9+/]{43}=$";
            json!({"type": "array", "items": {"type": "string", "pattern": pattern}})
        }
        KeyKind::Webhook => json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "pattern": "^https?://[^/?#:\\s]"},
                "headers": {"type": "object"},
                "allowedEnvVars": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": false,
        }),
    };
    if let Some(object) = property.as_object_mut() {
        let scope = match key.id {
            KeyId::Schema => String::new(),
            _ => format!(" Taken from: {}.", key.scope.as_str()),
        };
        object.insert("description".to_owned(), json!(format!("{}{scope}", key.description)));
        let has_default = !matches!(key.kind, KeyKind::Object | KeyKind::FreeObject) && key.default != "null";
        if has_default && let Ok(default) = serde_json::from_str::<Value>(key.default) {
            object.insert("default".to_owned(), default);
        }
    }
    property
}

fn rule() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "description": "A permission rule: `Tool`, or `Tool(what)`.",
        "examples": [
            "Bash(git status)",
            "Bash(npm run *)",
            "Read(~/.ssh/**)",
            "Edit(/docs/**)",
            "WebFetch(domain:example.com)",
            "mcp__github__*",
        ],
    })
}
