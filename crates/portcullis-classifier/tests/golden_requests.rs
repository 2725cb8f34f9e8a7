//! The requests of each protocol, byte for byte: `tests/golden/<provider>.md`, by model, form and stage.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis-classifier --test golden_requests` writes them anew; read their diff before
//! committing.
#![cfg(test)]

use std::collections::BTreeMap;
use std::path::Path;

use portcullis_classifier::model::{ModelInfo, ModelProvider, ModelTable};
use portcullis_classifier::prompt::{
    AnswerSpec, FileTracking, Prompt, PromptLists, PromptSession, PromptTemplates, build,
};
use portcullis_classifier::provider::{ModelQuery, RequiredForm, WireRequest, request};
use portcullis_classifier::transcript::{
    TranscriptFormat, TranscriptStyle, read, read_answers, read_outcomes, render,
};
use portcullis_core::{Case, Context, EffectReport, Mode, Policy, ToolCall};
use portcullis_testkit::{GoldenFile, is_updating};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FAST: &str = "Take a quick look. Begin with <block>.\n";
const THINKING: &str = "Look closely. Write your <thinking> down first.\n";

/// The models whose requests are kept: the default of each provider, and those that need something else.
const KEPT: &[(ModelProvider, &str)] = &[
    (ModelProvider::Anthropic, "claude-haiku-5-5"),
    (ModelProvider::OpenAi, "gpt-6-luna"),
    (ModelProvider::Chat, "house-model"),
    (ModelProvider::Ollama, "qwen3"),
    (ModelProvider::Gemini, "gemini-3.5-flash-lite"),
];

/// Models that need something else, kept in their quick text form alone.
const PECULIAR: &[(ModelProvider, &str)] = &[
    (ModelProvider::Anthropic, "claude-haiku-4-5-20251001"),
    (ModelProvider::Anthropic, "claude-sonnet-5-5"),
    (ModelProvider::Anthropic, "claude-opus-5-5"),
    (ModelProvider::OpenAi, "gpt-4.1-mini"),
    (ModelProvider::OpenAi, "gpt-5-mini"),
    (ModelProvider::Chat, "gpt-6-luna"),
    (ModelProvider::Gemini, "gemini-3.8-flash"),
];

/// A session of Claude Code: what was said, done and answered, and what became of each call.
const SESSION: &str = include_str!("fixtures/golden-session.jsonl");

/// Makes a prompt of everything a judge may be shown, under a system prompt that is short.
fn prompt() -> Prompt {
    let format = Some(TranscriptFormat::Claude);
    let mut transcript = read(SESSION.as_bytes(), format);
    transcript.outcomes = read_outcomes(SESSION.as_bytes(), format);
    transcript.answers = read_answers(SESSION.as_bytes(), format);
    let call = ToolCall::bash("git push --force origin main && rm notes.md");
    let rendered = render(&transcript, &call, &TranscriptStyle::default()).unwrap();
    let policy = Policy::of_rules(Vec::new());
    let mut case = Case::new(call, Context::new(Mode::Auto, "/home/ada/app"));
    case.assume_empty_disk(&policy);
    let effects = case.effect_reports().iter().map(EffectReport::clause).collect();
    let findings = case.decide(&policy).unwrap().into_verdict().findings;
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let session = PromptSession {
        project: "/home/ada/app".to_owned(),
        cwd: "/home/ada/app".to_owned(),
        deny_rules: vec!["Bash(git push * --mirror)".to_owned()],
        repository_rules: Vec::new(),
        is_planning: false,
        mode: Some("auto".to_owned()),
        branch: Some("fix/parser".to_owned()),
        default_branch: Some("main".to_owned()),
        remotes: vec![pair("origin", "https://git.example/ada/app.git")],
        user_instructions: vec![pair("CLAUDE.local.md", "Never push on Fridays.")],
        instructions: vec![pair("AGENTS.md", "Use tabs.")],
        effects,
        files: vec![("notes.md".to_owned(), FileTracking::Untracked)],
    };
    let templates = PromptTemplates::built_in();
    let prompt =
        build(&templates, &PromptLists::built_in(), &session, &findings, rendered.history, rendered.action);
    Prompt { system: "You review one action of a coding agent.\n".to_owned(), ..prompt }
}

/// Describes the answer of a stage: the quick look gives its verdict alone.
fn spec(stage: Stage) -> AnswerSpec {
    let (properties, required) = match stage {
        Stage::Fast => (json!({"should_block": {"type": "boolean"}}), json!(["should_block"])),
        Stage::Thinking => (
            json!({"should_block": {"type": "boolean"}, "reason": {"type": "string"}}),
            json!(["should_block", "reason"]),
        ),
    };
    AnswerSpec {
        name: "classify_result",
        description: "Give the verdict",
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    }
}

/// The forms an answer may be asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Tool,
    Schema,
}

const FORMS: [(&str, Form); 3] = [("text", Form::Text), ("tool", Form::Tool), ("schema", Form::Schema)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Fast,
    Thinking,
}

const STAGES: [(&str, Stage); 2] = [("fast", Stage::Fast), ("thinking", Stage::Thinking)];

fn ask(model: &ModelInfo, prompt: &Prompt, form: Form, stage: Stage) -> WireRequest {
    let (suffix, max_tokens, stop) = match stage {
        Stage::Fast => (FAST, 16, Some("</block>")),
        Stage::Thinking => (THINKING, 4_096, None),
    };
    let spec = spec(stage);
    let form = match form {
        Form::Text => RequiredForm::Text,
        Form::Tool => RequiredForm::Tool(&spec),
        Form::Schema => RequiredForm::Schema(&spec),
    };
    request(model, &ModelQuery { prompt, suffix, max_tokens, is_brief: stage == Stage::Fast, stop, form })
}

fn find(provider: ModelProvider, id: &str) -> ModelInfo {
    ModelTable::built_in().find(provider, id)
}

/// Returns every row of the table, the ones for unknown models under a name of their own.
fn all_models() -> Vec<ModelInfo> {
    let table = ModelTable::built_in();
    let named = table.models().iter().map(|model| table.find(model.provider, &model.id.replace('*', "any")));
    named.collect()
}

/// Returns a request as it is kept.
fn shown(request: &WireRequest) -> String {
    let headers: Value = request.headers.iter().map(|(name, value)| json!([name, value])).collect();
    let shown = json!({"path": request.path, "headers": headers, "body": request.body});
    format!("{}\n", serde_json::to_string_pretty(&shown).unwrap())
}

/// Makes the requests that are kept, by provider, model, and form with stage.
fn kept_requests() -> BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>> {
    let prompt = prompt();
    let mut requests: BTreeMap<_, BTreeMap<_, BTreeMap<_, _>>> = BTreeMap::new();
    let mut keep = |model: &ModelInfo, form_name: &str, form, stage_name: &str, stage| {
        let models = requests.entry(model.provider.to_string()).or_default();
        let blocks = models.entry(model.id.clone()).or_default();
        let request = ask(model, &prompt, form, stage);
        blocks.insert(format!("{form_name}, {stage_name} stage"), shown(&request));
    };
    for (provider, id) in KEPT {
        let model = find(*provider, id);
        for (form_name, form) in FORMS {
            for (stage_name, stage) in STAGES {
                keep(&model, form_name, form, stage_name, stage);
            }
        }
    }
    for (provider, id) in PECULIAR {
        keep(&find(*provider, id), "text", Form::Text, "fast", Stage::Fast);
    }
    requests
}

#[test]
fn every_request_is_the_one_that_was_committed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files = GoldenFile::read_folder(folder).unwrap();
    if is_updating() {
        let mut requests = kept_requests();
        for file in &mut files {
            let models = requests.remove(file.topic()).unwrap_or_default();
            file.cases.clear();
            for (model, blocks) in models {
                let case = file.case(&model);
                for (name, text) in &blocks {
                    case.set("json", name, text);
                }
            }
            file.update().unwrap();
        }
    }
    let owned = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
    let committed: BTreeMap<_, BTreeMap<_, BTreeMap<_, _>>> = files
        .iter()
        .map(|file| {
            let cases = file.cases.iter();
            let cases = cases.map(|case| (case.name.clone(), case.blocks().map(owned).collect())).collect();
            (file.topic().to_owned(), cases)
        })
        .collect();
    assert_eq!(kept_requests(), committed);
}

/// Takes out of a body what may differ between stages: the last block, the limits and the form of the answer.
fn shared_part(provider: ModelProvider, mut body: Value, suffix: &str) -> Value {
    let last = match provider {
        ModelProvider::Anthropic => body.pointer_mut("/messages/1/content"),
        ModelProvider::OpenAi => body.pointer_mut("/input/1/content"),
        ModelProvider::Gemini => body.pointer_mut("/contents/0/parts"),
        ModelProvider::Chat | ModelProvider::Ollama => body.pointer_mut("/messages/1/content"),
    };
    match last.unwrap() {
        Value::Array(blocks) => {
            let block = blocks.pop().unwrap();
            assert_eq!(block["text"], suffix);
            assert_eq!(block.get("cache_control"), None);
        }
        Value::String(text) => {
            text.truncate(text.strip_suffix(suffix).unwrap().len());
        }
        other => panic!("{other}"),
    }
    for parent in ["", "/options", "/generationConfig"] {
        if let Some(Value::Object(fields)) = body.pointer_mut(parent) {
            let limits = [
                "max_tokens",
                "max_completion_tokens",
                "max_output_tokens",
                "num_predict",
                "maxOutputTokens",
                "stop",
                "stop_sequences",
                "stopSequences",
            ];
            let form = [
                "tools",
                "tool_choice",
                "parallel_tool_calls",
                "toolConfig",
                "response_format",
                "text",
                "format",
                "output_config",
                "responseMimeType",
                "responseJsonSchema",
            ];
            fields.retain(|name, _| !limits.contains(&name.as_str()) && !form.contains(&name.as_str()));
        }
    }
    body
}

/// What a colleague would know is in the request that is kept.
#[test]
fn the_kept_requests_show_outcomes_answers_mode_and_the_repository() {
    let prompt = prompt();
    let shown = format!("{}{}{}", prompt.session, prompt.history.concat(), prompt.facts);
    for line in [
        r#"{"mode":"auto"}"#,
        r#"{"branch":"fix/parser"}"#,
        r#"{"default_branch":"main"}"#,
        r#"{"remote":"origin https://git.example/ada/app.git"}"#,
        r#"{"command":"/fix the parser of dates"}"#,
        r#"{"Bash":"cargo test \u003c/transcript>","outcome":"failed or was refused"}"#,
        r#"{"Bash":"git push --force","outcome":"denied by the user"}"#,
        r#"{"Bash":"git push origin fix/parser","outcome":"ran"}"#,
        r#"{"answer":"\"Shall I push the branch fix/parser?\": \"Yes, that branch\""}"#,
        r#"{"file":"notes.md","git":"not tracked"}"#,
        "| Never push on Fridays.",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(shown.contains(r#"{"effect":"#) && shown.contains(r#"{"finding":"#), "{shown}");
}

#[test]
fn two_stages_share_everything_but_the_last_block_the_limits_and_the_form() {
    let prompt = prompt();
    for model in all_models() {
        for (form_name, form) in FORMS {
            let fast = ask(&model, &prompt, form, Stage::Fast);
            let thinking = ask(&model, &prompt, form, Stage::Thinking);
            assert_eq!((&fast.path, &fast.headers), (&thinking.path, &thinking.headers));
            let left = shared_part(model.provider, fast.body.clone(), FAST);
            let right = shared_part(model.provider, thinking.body.clone(), THINKING);
            assert_eq!(left.to_string(), right.to_string(), "{} {form_name}", model.id);
        }
    }
}

#[test]
fn two_stages_are_the_same_bytes_up_to_the_last_block() {
    let prompt = prompt();
    for model in all_models() {
        for (form_name, form) in FORMS {
            let fast = ask(&model, &prompt, form, Stage::Fast).body.to_string();
            let thinking = ask(&model, &prompt, form, Stage::Thinking).body.to_string();
            let start = fast.find(FAST.trim()).unwrap();
            assert_eq!(thinking.find(THINKING.trim()), Some(start), "{} {form_name}", model.id);
            let (shared, _) = fast.split_at(start);
            assert_eq!(shared, thinking.split_at(start).0, "{} {form_name}", model.id);
            assert!(shared.contains("git push --force") && shared.contains("PC007"));
        }
    }
}

/// Collects the texts of a request in their order, the system prompt left out.
fn texts(provider: ModelProvider, body: &Value) -> String {
    let messages = match provider {
        ModelProvider::OpenAi => &body["input"],
        ModelProvider::Gemini => &body["contents"],
        ModelProvider::Anthropic | ModelProvider::Chat | ModelProvider::Ollama => &body["messages"],
    };
    let mut out = String::new();
    for message in messages.as_array().unwrap().iter().filter(|message| message["role"] != "system") {
        assert_eq!(message["role"], "user");
        let content = if provider == ModelProvider::Gemini { &message["parts"] } else { &message["content"] };
        match content {
            Value::String(text) => out.push_str(text),
            Value::Array(blocks) => {
                for block in blocks {
                    out.push_str(block["text"].as_str().unwrap());
                }
            }
            other => panic!("{other}"),
        }
    }
    out
}

#[test]
fn every_protocol_says_the_same_in_the_same_order() {
    let prompt = prompt();
    let expected = format!(
        "{}<transcript>\n{}{}</transcript>\n{}{FAST}",
        prompt.session,
        prompt.history.concat(),
        prompt.action,
        prompt.facts
    );
    let bare = Prompt { session: String::new(), facts: String::new(), history: Vec::new(), ..prompt.clone() };
    let expected_bare = format!("<transcript>\n{}</transcript>\n{FAST}", prompt.action);
    for model in all_models() {
        let body = ask(&model, &prompt, Form::Text, Stage::Fast).body;
        assert_eq!(texts(model.provider, &body), expected, "{}", model.id);
        let body = ask(&model, &bare, Form::Text, Stage::Fast).body;
        assert_eq!(texts(model.provider, &body), expected_bare, "{}", model.id);
    }
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control"))
                + fields.values().map(count_marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_marks).sum(),
        _ => 0,
    }
}

#[test]
fn there_are_at_most_three_cache_marks_and_only_where_the_model_has_them() {
    let prompt = prompt();
    let without_session = Prompt { session: " ".to_owned(), ..prompt.clone() };
    for model in all_models() {
        for (_, form) in FORMS {
            let marks = |prompt: &Prompt| count_marks(&ask(&model, prompt, form, Stage::Fast).body);
            let expected = if model.least_cached.is_some() { (3, 2) } else { (0, 0) };
            assert_eq!((marks(&prompt), marks(&without_session)), expected, "{}", model.id);
        }
    }
    let body =
        ask(&find(ModelProvider::Anthropic, "claude-haiku-5-5"), &prompt, Form::Text, Stage::Fast).body;
    assert!(body.pointer("/system/0/cache_control").is_some());
    assert!(body.pointer("/messages/0/content/0/cache_control").is_some());
    let of_action = format!("/messages/1/content/{}", prompt.history.len() + 1);
    assert_eq!(body.pointer(&format!("{of_action}/text")), Some(&Value::from(prompt.action)));
    assert!(body.pointer(&format!("{of_action}/cache_control")).is_some());
}

#[test]
fn a_grown_transcript_keeps_the_bytes_it_had() {
    let earlier = prompt();
    let mut later = earlier.clone();
    later.history.push(std::mem::replace(&mut later.action, "{\"Bash\":\"ls\"}\n".to_owned()));
    for model in all_models() {
        let text = |prompt| texts(model.provider, &ask(&model, prompt, Form::Text, Stage::Fast).body);
        let (before, after) = (text(&earlier), text(&later));
        let end = before.find("</transcript>\n").unwrap();
        assert_eq!(before.split_at(end).0, after.split_at(end).0, "{}", model.id);
    }
}

#[test]
fn the_same_question_is_always_the_same_request() {
    for model in all_models() {
        for (_, form) in FORMS {
            let first = ask(&model, &prompt(), form, Stage::Fast);
            let second = ask(&model.clone(), &prompt(), form, Stage::Fast);
            assert_eq!(first.body.to_string(), second.body.to_string());
            assert_eq!(first, second);
        }
    }
}

fn has_field(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(fields) => {
            fields.contains_key(name) || fields.values().any(|value| has_field(value, name))
        }
        Value::Array(items) => items.iter().any(|item| has_field(item, name)),
        _ => false,
    }
}

#[test]
fn what_a_model_refuses_is_not_sent() {
    let prompt = prompt();
    for model in all_models() {
        let body = |form| ask(&model, &prompt, form, Stage::Fast).body;
        let text = body(Form::Text);
        assert_eq!(has_field(&text, "temperature"), model.temperature, "{}", model.id);
        for name in ["top_p", "topP", "top_k", "truncation", "prefill"] {
            assert!(!has_field(&text, name), "{}", model.id);
        }
        let has_stop = ["stop", "stop_sequences", "stopSequences"].iter().any(|name| has_field(&text, name));
        assert_eq!(has_stop, model.stop, "{}", model.id);
        let schema = body(Form::Schema).to_string();
        assert_eq!(schema.contains("should_block"), model.schema, "{}", model.id);
        let tool = body(Form::Tool).to_string();
        let is_forced = [
            "\"type\":\"tool\"",
            "\"tool_choice\":\"required\"",
            "\"mode\":\"ANY\"",
            "\"tool_choice\":{\"type\":\"function\"",
        ];
        assert_eq!(is_forced.iter().any(|forced| tool.contains(forced)), model.forced_tool, "{}", model.id);
    }
}

#[test]
fn a_dropped_parameter_is_gone_from_the_next_request() {
    let prompt = prompt();
    let (tool, schema) = (Form::Tool, Form::Schema);
    for (provider, id, form, refused, gone) in [
        (ModelProvider::Anthropic, "claude-haiku-5-5", Form::Text, "thinking.type.disabled", "thinking"),
        (ModelProvider::Anthropic, "claude-opus-5-5", Form::Text, "output_config.effort", "effort"),
        (ModelProvider::Anthropic, "claude-haiku-5-5", schema, "output_config.format", "format"),
        (ModelProvider::Anthropic, "claude-haiku-4-5", tool, "tools.0.strict", "strict"),
        (ModelProvider::Anthropic, "claude-haiku-4-5", Form::Text, "system.0.cache_control", "cache_control"),
        (ModelProvider::OpenAi, "gpt-6-luna", Form::Text, "reasoning", "reasoning"),
        (ModelProvider::OpenAi, "gpt-6-luna", schema, "text.format", "format"),
        (ModelProvider::OpenAi, "gpt-6-luna", tool, "parallel_tool_calls", "parallel_tool_calls"),
        (ModelProvider::OpenAi, "gpt-6-luna", tool, "prompt_cache_key", "prompt_cache_key"),
        (ModelProvider::Chat, "x", Form::Text, "max_tokens", "max_tokens"),
        (ModelProvider::Chat, "gpt-6-luna", Form::Text, "max_completion_tokens", "max_completion_tokens"),
        (ModelProvider::Chat, "gpt-6-luna", Form::Text, "reasoning", "reasoning_effort"),
        (ModelProvider::Chat, "x", schema, "response_format", "response_format"),
        (ModelProvider::Ollama, "x", Form::Text, "thinking", "think"),
        (ModelProvider::Ollama, "x", schema, "format", "format"),
        (ModelProvider::Gemini, "gemini-3.8-flash", Form::Text, "thinkingLevel", "thinkingConfig"),
        (ModelProvider::Gemini, "x", schema, "responseJsonSchema", "responseMimeType"),
        (ModelProvider::Gemini, "x", Form::Text, "safetySettings", "safetySettings"),
    ] {
        let mut model = find(provider, id);
        assert!(has_field(&ask(&model, &prompt, form, Stage::Fast).body, gone), "{provider} {gone}");
        assert!(model.drop_parameter(refused), "{provider} {refused}");
        let next = ask(&model, &prompt, form, Stage::Fast).body;
        assert!(!has_field(&next, gone), "{provider} {gone}");
        assert!(texts(provider, &next).ends_with(FAST), "{provider} {gone}");
    }
}

#[test]
fn a_model_that_thinks_within_its_limit_gets_room() {
    let prompt = prompt();
    let body = ask(&find(ModelProvider::Anthropic, "claude-opus-5-5"), &prompt, Form::Text, Stage::Fast).body;
    assert_eq!((&body["max_tokens"], &body["output_config"]["effort"]), (&json!(2_064), &json!("low")));
    let mut model = find(ModelProvider::Anthropic, "claude-haiku-5-5");
    assert_eq!(ask(&model, &prompt, Form::Text, Stage::Fast).body["max_tokens"], 16);
    model.padding = u32::MAX;
    assert_eq!(ask(&model, &prompt, Form::Text, Stage::Fast).body["max_tokens"], 16);
    assert_eq!(ask(&model, &prompt, Form::Text, Stage::Thinking).body["max_tokens"], u32::MAX);
}

#[test]
fn no_id_leads_to_another_address() {
    let prompt = prompt();
    for (id, expected) in [
        ("gemini-3.5-flash-lite", "/v1beta/models/gemini-3.5-flash-lite:generateContent"),
        ("models/gemini-x", "/v1beta/models/gemini-x:generateContent"),
        ("../../x?key=1#", "/v1beta/models/..%2F..%2Fx%3Fkey%3D1%23:generateContent"),
        ("a\r\nb é", "/v1beta/models/a%0D%0Ab%20%C3%A9:generateContent"),
    ] {
        let request = ask(&find(ModelProvider::Gemini, id), &prompt, Form::Text, Stage::Fast);
        assert_eq!(request.path, expected);
    }
}

#[test]
fn calls_with_one_system_prompt_share_a_cache_key_and_others_do_not() {
    let model = find(ModelProvider::OpenAi, "gpt-6-luna");
    let key = |prompt: &Prompt| {
        let body = ask(&model, prompt, Form::Text, Stage::Fast).body;
        body["prompt_cache_key"].as_str().unwrap().to_owned()
    };
    let mut other = prompt();
    other.action = "{\"Bash\":\"ls\"}\n".to_owned();
    assert_eq!(key(&prompt()), key(&other));
    other.system.push('!');
    assert_ne!(key(&prompt()), key(&other));
    assert!(key(&other).len() <= 64);
}
