//! The table of models: the rows that come with us, and a user's own over them.

use std::collections::BTreeMap;

use portcullis_core::closeness::find_closest;
use portcullis_core::visible;
use portcullis_hosts::json;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::adjust::OPTIONAL_FIELDS;
use super::{LimitField, ModelInfo, ModelProvider, ThinkingOff, VerdictShape};

const BUILT_IN: &str = include_str!("../../data/models.json");

/// The id of the row for every model that has none of its own.
const ANY: &str = "*";

/// The fields of a row.
const FIELDS: &[&str] = &[
    "id",
    "provider",
    "shape",
    "temperature",
    "stop",
    "forcedTool",
    "schema",
    "thinkingOff",
    "padding",
    "thinkingField",
    "leastCached",
    "context",
    "prices",
    "retires",
    "limitField",
    "leaveOut",
    "note",
];

/// The most rows a user's file may have.
const MOST_ROWS: usize = 1_000;

/// What is known of models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTable {
    as_of: String,
    defaults: BTreeMap<ModelProvider, String>,
    models: Vec<ModelInfo>,
}

/// The file of built-in rows, not yet read as rows so that others can be laid over them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TableWire {
    as_of: String,
    defaults: BTreeMap<ModelProvider, String>,
    models: Vec<Map<String, Value>>,
}

impl ModelTable {
    /// Returns the table that comes with us.
    pub fn built_in() -> Self {
        let wire = TableWire::built_in();
        let models =
            wire.models.into_iter().filter_map(|row| serde_json::from_value(Value::Object(row)).ok());
        Self { as_of: wire.as_of, defaults: wire.defaults, models: models.collect() }
    }

    /// Returns that table with a user's rows over it: `{"models": [{"id": …, …}]}`, or the list alone.
    ///
    /// A row changes the fields it has of the row with the same id. A new id needs its provider, and starts from what
    /// holds for that provider's unknown models.
    pub fn with_overrides(text: &str) -> Result<Self, String> {
        let wire = TableWire::built_in();
        let mut rows = wire.models;
        for (index, row) in user_rows(text)?.into_iter().enumerate() {
            let place = place(index, &row);
            lay_over(&mut rows, row).map_err(|problem| format!("{place}: {problem}"))?;
        }
        let mut models = Vec::with_capacity(rows.len());
        for row in rows {
            let id = row.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let model: ModelInfo = serde_json::from_value(Value::Object(row))
                .map_err(|error| format!("the row of the model `{}`: {error}", shown(&id)))?;
            check(&model).map_err(|problem| format!("the row of the model `{}`: {problem}", shown(&id)))?;
            models.push(model);
        }
        Ok(Self { as_of: wire.as_of, defaults: wire.defaults, models })
    }

    /// Returns the day the built-in rows are of.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// Returns all rows, the ones for unknown models included.
    pub fn models(&self) -> &[ModelInfo] {
        &self.models
    }

    /// Returns the model a provider is asked for unless settings name one.
    pub fn default_model(&self, provider: ModelProvider) -> Option<&str> {
        self.defaults.get(&provider).map(String::as_str)
    }

    /// Returns what is known of a model, under the very id that was asked for.
    ///
    /// The id itself counts first, then the id without its date, then without what Bedrock puts around it, and at last
    /// what holds for every model of the provider.
    pub fn find(&self, provider: ModelProvider, id: &str) -> ModelInfo {
        let row = |id: &str| self.models.iter().find(|model| model.provider == provider && model.id == id);
        let bedrock = bedrock_name(id).filter(|_| provider == ModelProvider::Anthropic);
        let mut found = match row(id).or_else(|| row(without_date(id))) {
            Some(model) => model.clone(),
            None => match bedrock.and_then(|name| row(name).or_else(|| row(without_date(name)))) {
                // Bedrock is not known to take schemas for what the model itself takes them for.
                Some(model) => ModelInfo { schema: false, ..model.clone() },
                None => row(ANY).cloned().unwrap_or_else(|| bare(provider)),
            },
        };
        id.clone_into(&mut found.id);
        found
    }
}

impl TableWire {
    fn built_in() -> Self {
        let empty = || Self { as_of: String::new(), defaults: BTreeMap::new(), models: Vec::new() };
        serde_json::from_str(BUILT_IN).unwrap_or_else(|_| empty())
    }
}

/// Returns an id without the day at its end, `-20251001` or `-2025-10-01`.
fn without_date(id: &str) -> &str {
    let cut = |pattern: &str| {
        let (name, date) = id.split_at_checked(id.len().checked_sub(pattern.len())?)?;
        let is_like = |(byte, wanted): (u8, u8)| byte == wanted || (wanted == b'0' && byte.is_ascii_digit());
        date.bytes().zip(pattern.bytes()).all(is_like).then_some(name)
    };
    cut("-00000000").or_else(|| cut("-0000-00-00")).unwrap_or(id)
}

/// Returns the model's own id in one of Bedrock's, such as `us.anthropic.claude-haiku-4-5-20251001-v1:0`.
fn bedrock_name(id: &str) -> Option<&str> {
    let name = match id.split_once("anthropic.")? {
        ("", name) => name,
        (region, name) => {
            let region = region.strip_suffix('.')?;
            region.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-').then_some(name)?
        }
    };
    let version = name.rsplit_once("-v").filter(|(_, version)| {
        version.contains(':') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    });
    Some(version.map_or(name, |(name, _)| name))
}

/// Returns what is safe to assume of any model, should the table have lost the row that says so.
fn bare(provider: ModelProvider) -> ModelInfo {
    ModelInfo {
        id: ANY.to_owned(),
        provider,
        shape: VerdictShape::Block,
        temperature: false,
        stop: false,
        forced_tool: false,
        schema: false,
        thinking_off: ThinkingOff::Never,
        padding: 2_048,
        thinking_field: "assessment".to_owned(),
        least_cached: None,
        context: 32_768,
        prices: None,
        retires: None,
        limit_field: LimitField::MaxTokens,
        leave_out: Vec::new(),
        decides_untested: false,
        note: String::new(),
    }
}

/// Reads the rows of a user's file.
fn user_rows(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    // The strict reader finds names given twice, which the other would silently take the last of.
    json::parse(text.as_bytes()).map_err(|error| format!("the table of models is not JSON: {error}"))?;
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the table of models is not JSON: {error}"))?;
    let rows = match value {
        Value::Array(rows) => rows,
        Value::Object(mut fields) => {
            if let Some(name) = fields.keys().find(|name| !matches!(name.as_str(), "models" | "asOf")) {
                let name = shown(name);
                return Err(format!(
                    "the table of models has a field `{name}`; only `models` and `asOf` may stand there"
                ));
            }
            match fields.remove("models") {
                Some(Value::Array(rows)) => rows,
                _ => return Err("the table of models has no list `models`".to_owned()),
            }
        }
        _ => return Err("the table of models is neither an object with `models` nor a list".to_owned()),
    };
    if rows.len() > MOST_ROWS {
        return Err(format!("the table of models has more than {MOST_ROWS} rows"));
    }
    let as_object = |(index, row)| match row {
        Value::Object(fields) => Ok(fields),
        _ => Err(format!("row {} of the table of models is not an object", index + 1)),
    };
    rows.into_iter().enumerate().map(as_object).collect()
}

/// Lays one of the user's rows over the one it is about, or adds it.
fn lay_over(rows: &mut Vec<Map<String, Value>>, row: Map<String, Value>) -> Result<(), String> {
    if let Some(name) = row.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(unknown_field(name));
    }
    let Some(id) = row.get("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty()) else {
        return Err("it has no `id`; name the model".to_owned());
    };
    let provider = match row.get("provider") {
        None => None,
        Some(Value::String(name)) => Some(name.parse::<ModelProvider>()?),
        Some(_) => return Err("its `provider` is not a string".to_owned()),
    };
    let is_same = |other: &Map<String, Value>| {
        let is_provider = |name: ModelProvider| text(other, "provider") == name.as_str();
        text(other, "id") == id && provider.is_none_or(is_provider)
    };
    let matching: Vec<usize> =
        rows.iter().enumerate().filter(|(_, other)| is_same(other)).map(|(index, _)| index).collect();
    match (matching.as_slice(), provider) {
        ([index], _) => {
            if let Some(base) = rows.get_mut(*index) {
                merge(base, row);
            }
            Ok(())
        }
        ([], Some(provider)) => {
            let is_any = |other: &&Map<String, Value>| {
                text(other, "id") == ANY && text(other, "provider") == provider.as_str()
            };
            let mut base = rows.iter().find(is_any).cloned().unwrap_or_default();
            base.insert("note".to_owned(), Value::String(String::new()));
            merge(&mut base, row);
            rows.push(base);
            Ok(())
        }
        ([], None) => Err("no model of this id is known; say who serves it with `provider`".to_owned()),
        (_, _) => Err("several providers serve it; say which one is meant with `provider`".to_owned()),
    }
}

fn merge(base: &mut Map<String, Value>, row: Map<String, Value>) {
    for (name, value) in row {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(fields)) => known.extend(fields),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

/// Says what is wrong with a row whose fields have the right types.
fn check(model: &ModelInfo) -> Result<(), String> {
    let is_name = |name: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        (1..=40).contains(&name.len()) && name.bytes().all(is_letter)
    };
    if !is_name(&model.thinking_field) {
        return Err("`thinkingField` is not a name of small letters and `_`".to_owned());
    }
    if matches!(model.thinking_field.as_str(), "should_block" | "category" | "reason") {
        return Err(format!("`thinkingField` is `{}`, which means something else", model.thinking_field));
    }
    if model.context == 0 {
        return Err("`context` is 0; give the tokens of prompt the model takes".to_owned());
    }
    if model.padding > 1_000_000 {
        return Err("`padding` is more than 1000000".to_owned());
    }
    if model.retires.as_ref().is_some_and(|day| !without_date(&format!("-{day}")).is_empty()) {
        return Err("`retires` is not a day such as 2027-01-14".to_owned());
    }
    if let Some(name) = model.leave_out.iter().find(|name| !OPTIONAL_FIELDS.contains(&name.as_str())) {
        let allowed = OPTIONAL_FIELDS.join(", ");
        return Err(format!("`leaveOut` names `{}`; it can name {allowed}", shown(name)));
    }
    let Some(prices) = &model.prices else { return Ok(()) };
    let numbers = [prices.input, prices.cache_read, prices.cache_write, prices.output];
    let factors = prices.tiers.iter().flat_map(|tier| [tier.input, tier.output]);
    if numbers.into_iter().chain(factors).any(|number| !number.is_finite() || number < 0.0) {
        return Err("`prices` has a number below 0".to_owned());
    }
    if !prices.tiers.is_sorted_by_key(|tier| tier.above) {
        return Err("`prices.tiers` is not sorted by `above`".to_owned());
    }
    Ok(())
}

fn place(index: usize, row: &Map<String, Value>) -> String {
    match row.get("id").and_then(Value::as_str) {
        Some(id) => format!("row {} of the table of models (`{}`)", index + 1, shown(id)),
        None => format!("row {} of the table of models", index + 1),
    }
}

fn unknown_field(name: &str) -> String {
    let hint = find_closest(name, FIELDS.iter().copied());
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is no field `{}`{hint}", shown(name))
}

fn text<'a>(row: &'a Map<String, Value>, field: &str) -> &'a str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn shown(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    visible(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn fails(text: &str) -> String {
        ModelTable::with_overrides(text).unwrap_err()
    }

    #[test]
    fn every_built_in_row_is_read_and_sound() {
        let table = ModelTable::built_in();
        assert_eq!(table.models().len(), TableWire::built_in().models.len());
        assert!(table.models().len() > 30);
        assert_eq!(table, ModelTable::with_overrides("[]").unwrap());
        assert_eq!(table.as_of(), "2026-11-15");
        for model in table.models() {
            assert_eq!(model.shape_for(None), model.shape, "{}: its own shape is refused", model.id);
            assert!(model.thinking_off != ThinkingOff::Always || model.padding >= 2_048, "{}", model.id);
            let twins = table
                .models()
                .iter()
                .filter(|other| (&other.id, other.provider) == (&model.id, model.provider));
            assert_eq!(twins.count(), 1, "{}", model.id);
        }
        for provider in ModelProvider::ALL {
            assert!(table.models().iter().any(|model| model.id == ANY && model.provider == provider));
        }
    }

    #[test]
    fn the_defaults_are_rows_that_are_not_retired() {
        let table = ModelTable::built_in();
        let defaults = ModelProvider::ALL.map(|provider| table.default_model(provider));
        assert_eq!(
            defaults,
            [Some("claude-haiku-5-5"), Some("gpt-6-luna"), None, None, Some("gemini-3.5-flash-lite")]
        );
        for (provider, id) in &table.defaults {
            let model = table.models().iter().find(|model| model.provider == *provider && model.id == *id);
            assert_eq!(model.map(|model| &model.retires), Some(&None), "{id}");
        }
    }

    #[test]
    fn a_row_is_found_by_id_by_dated_id_and_by_bedrock_id() {
        let table = ModelTable::built_in();
        for (id, least_cached, schema) in [
            ("claude-haiku-5-5", Some(512), true),
            ("claude-haiku-4-5-20251001", Some(4_096), true),
            ("anthropic.claude-haiku-5-5", Some(512), false),
            ("us.anthropic.claude-sonnet-4-6-v1:0", Some(1_024), false),
            ("eu.anthropic.claude-opus-4-7-20260101-v12:0", Some(2_048), false),
        ] {
            let model = table.find(ModelProvider::Anthropic, id);
            assert_eq!((model.least_cached, model.schema), (least_cached, schema), "{id}");
            assert_eq!(model.id, id);
            assert_ne!(model.padding, 2_048, "{id} was taken for an unknown model");
        }
        let dated = table.find(ModelProvider::OpenAi, "gpt-5.4-nano-2026-03-05");
        assert_eq!((dated.context, dated.id.as_str()), (272_000, "gpt-5.4-nano-2026-03-05"));
    }

    #[test]
    fn any_other_id_gets_the_row_for_unknown_models() {
        let table = ModelTable::built_in();
        for id in [
            "claude-haiku-5-5-2025100",
            "claude-haiku-5-5-2025100x",
            "evil/anthropic.claude-haiku-5-5",
            "gpt-6-luna",
            "-20251001",
            "-v:",
            "é-20251001",
            "é",
            "",
        ] {
            let model = table.find(ModelProvider::Anthropic, id);
            assert_eq!(
                (model.id.as_str(), model.shape, model.padding),
                (id, VerdictShape::Schema, 2_048),
                "{id}"
            );
        }
        assert_eq!(table.find(ModelProvider::OpenAi, "anthropic.claude-haiku-5-5").context, 128_000);
    }

    #[test]
    fn no_server_that_anybody_may_run_decides_untested() {
        let anybodys = [ModelProvider::Chat, ModelProvider::Ollama];
        let table = ModelTable::built_in();
        let marked: Vec<&ModelInfo> = table.models().iter().filter(|model| model.decides_untested).collect();
        assert!(!marked.is_empty());
        assert!(marked.iter().all(|model| !anybodys.contains(&model.provider)), "{marked:?}");
        assert!(ModelTable::with_overrides(r#"[{"id": "claude-opus-5", "decidesUntested": true}]"#).is_err());
    }

    #[test]
    fn a_users_row_changes_only_the_fields_it_has() {
        let text = r#"{"asOf": "2027-01-01", "models": [
            {"id": "gemini-3.8-flash", "prices": {"input": 1.5, "output": 7.5}},
            {"id": "gpt-6-luna", "provider": "openai", "shape": "tool"},
            {"id": "*", "provider": "ollama", "context": 8192, "prices": null}
        ]}"#;
        let table = ModelTable::with_overrides(text).unwrap();
        let flash = table.find(ModelProvider::Gemini, "gemini-3.8-flash");
        let prices = flash.prices.as_ref().unwrap();
        assert!((prices.input - 1.5).abs() < 1e-9 && (prices.cache_read - 0.075).abs() < 1e-9);
        assert_eq!(flash.thinking_off, ThinkingOff::Always);
        assert_eq!(table.find(ModelProvider::OpenAi, "gpt-6-luna").shape, VerdictShape::Tool);
        assert_eq!(table.find(ModelProvider::Chat, "gpt-6-luna").shape, VerdictShape::Schema);
        assert_eq!(table.find(ModelProvider::Ollama, "qwen3").context, 8_192);
    }

    #[test]
    fn a_new_id_starts_from_what_holds_for_its_provider() {
        let text = r#"[{"id": "house-model", "provider": "chat", "limitField": "max_completion_tokens"}]"#;
        let model = ModelTable::with_overrides(text).unwrap().find(ModelProvider::Chat, "house-model");
        assert_eq!((model.limit_field, model.context), (LimitField::MaxCompletionTokens, 32_768));
        assert_eq!(model.note, "");
    }

    #[test]
    fn mistakes_of_a_users_file_are_named_with_their_place() {
        for (text, expected) in [
            ("", "the table of models is not JSON"),
            ("3", "neither an object with `models` nor a list"),
            ("{}", "no list `models`"),
            (r#"{"models": {}}"#, "no list `models`"),
            (r#"{"rows": []}"#, "has a field `rows`"),
            ("[3]", "row 1 of the table of models is not an object"),
            (r#"[{"context": 1}]"#, "row 1 of the table of models: it has no `id`"),
            (r#"[{"id": "x"}]"#, "row 1 of the table of models (`x`): no model of this id is known"),
            (r#"[{"id": "*"}]"#, "several providers serve it"),
            (r#"[{"id": "x", "provider": "opnai"}]"#, "did you mean `openai`?"),
            (r#"[{"id": "x", "provider": 3}]"#, "`provider` is not a string"),
            (
                r#"[{"id": "claude-haiku-5-5", "temprature": true}]"#,
                "no field `temprature`; did you mean `temperature`?",
            ),
            (
                r#"[{"id": "claude-haiku-5-5", "stop": "yes"}]"#,
                "the row of the model `claude-haiku-5-5`: invalid type",
            ),
            (r#"[{"id": "claude-haiku-5-5", "stop": true, "stop": false}]"#, "is not JSON"),
            (r#"[{"id": "claude-haiku-5-5", "padding": -1}]"#, "invalid value"),
            (r#"[{"id": "claude-haiku-5-5", "padding": 4000000000}]"#, "`padding` is more than"),
            (r#"[{"id": "claude-haiku-5-5", "context": 0}]"#, "`context` is 0"),
            (r#"[{"id": "claude-haiku-5-5", "thinkingField": "reason"}]"#, "means something else"),
            (r#"[{"id": "claude-haiku-5-5", "thinkingField": "a\"b"}]"#, "not a name of small letters"),
            (r#"[{"id": "claude-haiku-5-5", "retires": "soon"}]"#, "not a day such as"),
            (r#"[{"id": "claude-haiku-5-5", "leaveOut": ["system"]}]"#, "`leaveOut` names `system`"),
            (r#"[{"id": "claude-haiku-5-5", "leaveOut": ["store"]}]"#, "`leaveOut` names `store`"),
            (r#"[{"id": "claude-haiku-5-5", "prices": {"input": -1}}]"#, "a number below 0"),
            (r#"[{"id": "claude-haiku-5-5", "prices": {"inptu": 1}}]"#, "unknown field `inptu`"),
            (r#"[{"id": "claude-haiku-5-5", "prices": {"input": 1e999}}]"#, "is not JSON"),
            (
                r#"[{"id": "x\u202e", "provider": "chat", "contxt": 1}]"#,
                "(`x\\u{202e}`): there is no field `contxt`",
            ),
        ] {
            let message = fails(text);
            assert!(message.contains(expected), "{text}\n{message}");
            assert!(message.len() < 300 && !message.ends_with('.'), "{message}");
        }
    }
}
