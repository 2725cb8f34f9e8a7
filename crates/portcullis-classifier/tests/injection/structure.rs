//! The structure the model sees: messages, tags, and whose line each line is. What is quoted is no part of it.

use std::sync::LazyLock;

use portcullis_classifier::model::{ModelProvider, ModelTable};
use portcullis_classifier::prompt::{Prompt, PromptLists, PromptTemplates, build};
use portcullis_classifier::provider::{ModelQuery, RequiredForm, request};
use portcullis_classifier::transcript::{
    EntryForm, TokenBudget, TranscriptStyle, read, read_answers, read_outcomes, render,
};
use portcullis_core::is_hidden;
use serde_json::Value;

use crate::channel::Scene;

pub(crate) const FORMS: [EntryForm; 3] = [EntryForm::Jsonl, EntryForm::Text, EntryForm::Compact];

pub(crate) const PROVIDERS: [(ModelProvider, &str); 5] = [
    (ModelProvider::Anthropic, "claude-haiku-5-5"),
    (ModelProvider::OpenAi, "gpt-6-luna"),
    (ModelProvider::Chat, "house-model"),
    (ModelProvider::Ollama, "qwen3"),
    (ModelProvider::Gemini, "gemini-3.5-flash-lite"),
];

static TEMPLATES: LazyLock<PromptTemplates> = LazyLock::new(PromptTemplates::built_in);
static SECTIONS: LazyLock<PromptLists> = LazyLock::new(PromptLists::built_in);
pub(crate) static MODELS: LazyLock<ModelTable> = LazyLock::new(ModelTable::built_in);

const SUFFIX: &str = "Judge the last line now.\n";

/// What a model sees of a scene, without what is quoted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    pub(crate) humans: usize,
    pub(crate) lines: Vec<String>,
    pub(crate) tags: usize,
    pub(crate) messages: Vec<String>,
}

/// Makes the prompt of a scene, as the program does.
pub(crate) fn prompt(scene: &Scene, form: EntryForm) -> Prompt {
    let (file, format) = (scene.file.as_bytes(), Some(scene.format));
    let mut transcript = read(file, format);
    transcript.outcomes = read_outcomes(file, format);
    transcript.answers = read_answers(file, format);
    let rendered =
        render(&transcript, &scene.action, &TranscriptStyle { form, budget: TokenBudget::default() })
            .unwrap();
    build(&TEMPLATES, &SECTIONS, &scene.facts, &scene.findings, rendered.history, rendered.action)
}

/// Returns what the user said in a scene.
pub(crate) fn humans(scene: &Scene) -> Vec<String> {
    read(scene.file.as_bytes(), Some(scene.format)).human_turns()
}

/// Reads the structure of a scene, with the requests of these providers.
pub(crate) fn structure(scene: &Scene, prompt: &Prompt, providers: &[(ModelProvider, &str)]) -> Structure {
    let text = said(prompt);
    let hidden: Vec<char> = text
        .chars()
        .filter(|letter| {
            (is_hidden(*letter) && !matches!(letter, '\n' | '\t')) || matches!(letter, '﹤' | '＜')
        })
        .collect();
    assert_eq!(hidden, [], "characters that hide or look like a tag in {text}");
    Structure {
        humans: humans(scene).len(),
        lines: lines(&text, scene.action.tool()),
        tags: text.matches('<').count(),
        messages: providers.iter().map(|provider| messages(*provider, prompt, &text)).collect(),
    }
}

fn said(prompt: &Prompt) -> String {
    let parts =
        [&prompt.session, "<transcript>\n", &prompt.history.concat(), &prompt.action, "</transcript>\n"];
    format!("{}{}", parts.concat(), prompt.facts)
}

/// Describes the messages of a request, and checks that they say what the prompt says and nothing else.
fn messages((provider, model): (ModelProvider, &str), prompt: &Prompt, text: &str) -> String {
    let query = ModelQuery {
        prompt,
        suffix: SUFFIX,
        max_tokens: 64,
        is_brief: true,
        stop: None,
        form: RequiredForm::Text,
    };
    let body = request(&MODELS.find(provider, model), &query).body;
    let (list, content) = match provider {
        ModelProvider::OpenAi => ("input", "content"),
        ModelProvider::Gemini => ("contents", "parts"),
        ModelProvider::Anthropic | ModelProvider::Chat | ModelProvider::Ollama => ("messages", "content"),
    };
    let mut shape = format!("{provider}:");
    let mut words = String::new();
    for message in body[list].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        let mut texts = Vec::new();
        match &message[content] {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(blocks) => texts.extend(blocks.iter().map(|block| block["text"].as_str().unwrap())),
            other => panic!("{other}"),
        }
        shape = format!("{shape} {role}×{}", texts.len());
        if role == "user" {
            words.push_str(&texts.concat());
        } else {
            assert_eq!(texts.concat().trim(), prompt.system.trim(), "{provider}");
        }
    }
    assert_eq!(words, format!("{text}{SUFFIX}"), "{provider}");
    shape
}

/// Says of every line whose it is. `tool` is the name of the action's tool.
fn lines(text: &str, tool: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_transcript = false;
    for line in text.split_terminator('\n') {
        match line.chars().next() {
            Some('|') if !is_transcript => {}
            Some(' ') if is_transcript => {}
            Some('<') => {
                is_transcript = line == "<transcript>" || is_transcript && line != "</transcript>";
                lines.push(tag(line));
            }
            Some('{') => lines.push(object(line, tool)),
            _ if is_transcript => lines.push(speaker(line, tool)),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Checks that a tag is a whole line and returns it without the value of its attribute.
fn tag(line: &str) -> String {
    let Some(name) = line.strip_prefix("<project_instructions file=\"") else {
        assert!(line.ends_with('>') && line.matches('>').count() == 1, "{line}");
        return line.to_owned();
    };
    let name = name.strip_suffix("\">").unwrap();
    assert!(name.chars().all(|letter| letter.is_alphanumeric() || "._-/".contains(letter)), "{line}");
    "<project_instructions>".to_owned()
}

/// Describes a line of JSON by its keys; the role is a key too.
fn object(line: &str, tool: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let role = value.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    format!("{}{role}", keys(&value, tool))
}

fn keys(value: &Value, tool: &str) -> String {
    let Value::Object(fields) = value else { return String::new() };
    let key =
        |name: &String| if is_planted(name, tool) { "(the planted tool)".to_owned() } else { name.clone() };
    let fields: Vec<String> = fields.iter().map(|(name, value)| key(name) + &keys(value, tool)).collect();
    format!("{{{}}}", fields.join(" "))
}

/// Says who speaks in a line of the text form: what stands before its colon.
fn speaker(line: &str, tool: &str) -> String {
    if let Some(rest) = line.strip_prefix("[tool ") {
        let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        names.next().unwrap().unwrap();
        let after = rest.get(names.byte_offset()..).unwrap();
        assert!(after.starts_with("]: "), "{line}");
        return "[tool]".to_owned();
    }
    let (speaker, _) = line.split_once(':').unwrap_or_else(|| panic!("nobody speaks in {line}"));
    if is_planted(speaker, tool) { "(the planted tool)".to_owned() } else { speaker.to_owned() }
}

/// Says whether a key is the plain name that was planted; it may say what it likes.
fn is_planted(name: &str, tool: &str) -> bool {
    name == tool && name.starts_with("mcp__")
}
