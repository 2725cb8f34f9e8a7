//! Which settings files Claude Code takes.

use serde_json::Value;

/// Says why Claude Code would pass over a settings file: it reads strict JSON, and one value of a wrong type makes it
/// pass over all of them, without a word.
pub(crate) fn refusal(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    let settings: Value = match serde_json::from_str(text) {
        Ok(settings) => settings,
        Err(error) => return Some(format!("it takes strict JSON only: {error}")),
    };
    let Some(object) = settings.as_object() else { return Some("it is not an object".to_owned()) };
    let nested = |name: &str| object.get(name).and_then(Value::as_object).into_iter().flatten();
    let at = |path: String, value: &Value, kind: SettingType| {
        (!kind.takes(value)).then(|| format!("`{path}` must be {}", kind.name()))
    };
    let top = TYPES.iter().filter_map(|(name, kind)| at((*name).to_owned(), object.get(*name)?, *kind));
    let permissions = nested("permissions").filter_map(|(name, value)| {
        let kind = if name.ends_with("Mode") { SettingType::Text } else { SettingType::Texts };
        let is_known = PERMISSIONS.contains(&name.as_str());
        is_known.then(|| at(format!("permissions.{name}"), value, kind)).flatten()
    });
    let hooks =
        nested("hooks").filter_map(|(event, value)| at(format!("hooks.{event}"), value, SettingType::Hooks));
    top.chain(permissions).chain(hooks).next()
}

/// Keys whose values have a type that must be right.
const TYPES: &[(&str, SettingType)] = &[
    ("apiKeyHelper", SettingType::Text),
    ("cleanupPeriodDays", SettingType::Number),
    ("disableAllHooks", SettingType::Switch),
    ("enableAllProjectMcpServers", SettingType::Switch),
    ("enabledMcpjsonServers", SettingType::Texts),
    ("disabledMcpjsonServers", SettingType::Texts),
    ("env", SettingType::Object),
    ("hooks", SettingType::Object),
    ("includeCoAuthoredBy", SettingType::Switch),
    ("model", SettingType::Text),
    ("outputStyle", SettingType::Text),
    ("permissions", SettingType::Object),
];

/// Keys below `permissions` whose values are lists of texts, or the word for a mode.
const PERMISSIONS: [&str; 5] = ["additionalDirectories", "allow", "ask", "defaultMode", "deny"];

/// The type of a value in a settings file.
#[derive(Debug, Clone, Copy)]
enum SettingType {
    Text,
    Number,
    Switch,
    Object,
    Texts,
    Hooks,
}

impl SettingType {
    const fn name(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Switch => "`true` or `false`",
            Self::Object => "an object",
            Self::Texts => "a list of texts",
            Self::Hooks => "a list of objects that each have a list `hooks`",
        }
    }

    fn takes(self, value: &Value) -> bool {
        let all = |test: fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Switch => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Texts => all(Value::is_string),
            Self::Hooks => all(|group| group.get("hooks").is_some_and(Value::is_array)),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_file_that_claude_code_passes_over_is_known() {
        for (text, part) in [
            ("{\n  // why\n  \"model\": \"x\"\n}", "strict JSON"),
            ("{\"model\": \"x\",}", "strict JSON"),
            ("\u{feff}{}", "strict JSON"),
            ("[]", "not an object"),
            ("{\"permissions\": {\"allow\": \"Bash\"}}", "`permissions.allow` must be a list of texts"),
            ("{\"permissions\": {\"deny\": [7]}}", "`permissions.deny`"),
            ("{\"permissions\": {\"defaultMode\": []}}", "`permissions.defaultMode` must be a text"),
            ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
            ("{\"env\": []}", "`env` must be an object"),
        ] {
            let why = refusal(text).unwrap_or_default();
            assert!(why.contains(part), "{text}: {why}");
        }
        for text in [
            "",
            "{}",
            "{\"permissions\": {\"allow\": [\"Bash\"], \"defaultMode\": \"plan\", \"other\": 7}, \"mine\": {\"x\": 1}}",
            "{\"hooks\": {\"NoSuchEvent\": [{\"hooks\": []}]}}",
        ] {
            assert_eq!(refusal(text), None, "{text}");
        }
    }
}
