//! Values that count as a whole: words to choose from, numbers, names, addresses, files, and the words of a command.
//!
//! A wrong one is taken strictly where that means something. Where it does not, because any guess might be somebody
//! else's model, it is kept as [`SettingValue::Wrong`], so that no weaker source takes its place.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use portcullis_core::closeness::find_closest;
use portcullis_core::is_hidden;

use super::LayerExtractor;
use super::store::check_store;
use crate::directory::resolve_file;
use crate::json::{JsonNode, JsonValue};
use crate::keys::{KeyId, KeyKind, SettingsKey};
use crate::layer::SettingValue;
use crate::problem::ProblemSeverity;

/// What is wrong with a text and how to fix it.
pub(super) type ScalarProblem = (String, Option<String>);

impl LayerExtractor<'_> {
    pub(super) fn choice(&mut self, key: &'static SettingsKey, words: &[&'static str], node: &JsonNode<'_>) {
        let strict = key.strict_choice();
        let JsonValue::String(text) = &node.value else {
            self.wrong_kind(key, node, &taken_as(key, strict));
            self.set_or_wrong(key, strict.map(|word| SettingValue::Text(word.to_owned())), node);
            return;
        };
        let chosen = words.iter().copied().find(|word| word == text);
        if chosen.is_none() {
            let shown: String = text.chars().take(40).collect();
            let near = find_closest(text, words.iter().copied());
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            self.wrong_value(key, &format!("`{shown}`"), &taken_as(key, strict), node, hint);
        }
        self.set_or_wrong(key, chosen.or(strict).map(|word| SettingValue::Text(word.to_owned())), node);
    }

    pub(super) fn number(
        &mut self,
        key: &'static SettingsKey,
        range: &RangeInclusive<u32>,
        node: &JsonNode<'_>,
    ) {
        let strict = key.strict_number();
        let JsonValue::Number(number) = &node.value else {
            self.wrong_kind(key, node, &taken_as(key, strict));
            self.set_or_wrong(key, strict.map(SettingValue::Number), node);
            return;
        };
        // A whole number is shown without a fraction, whatever way it is written.
        let shown = number.to_string();
        let chosen = shown.parse().ok().filter(|number| range.contains(number));
        if chosen.is_none() {
            let shown: String = shown.chars().take(40).collect();
            self.wrong_value(key, &shown, &taken_as(key, strict), node, None);
        }
        self.set_or_wrong(key, chosen.or(strict).map(SettingValue::Number), node);
    }

    fn wrong_value(
        &mut self,
        key: &SettingsKey,
        found: &str,
        consequence: &str,
        node: &JsonNode<'_>,
        hint: Option<String>,
    ) {
        let message = format!("`{}` must be {}, not {found}{consequence}", key.path, key.kind.describe());
        self.problem(ProblemSeverity::Warning, message, node.position, hint);
    }

    fn set_or_wrong(&mut self, key: &'static SettingsKey, value: Option<SettingValue>, node: &JsonNode<'_>) {
        self.set(key, value.unwrap_or(SettingValue::Wrong), node.position);
    }

    pub(super) fn text(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let JsonValue::String(text) = &node.value else {
            self.wrong_kind(key, node, consequence(key));
            self.set(key, SettingValue::Wrong, node.position);
            return;
        };
        let checked = match key.kind {
            KeyKind::Path => self.file(text),
            KeyKind::Variable => check_variable(text),
            KeyKind::Address => check_address(key, text),
            KeyKind::StoreAddress => check_store(text),
            _ => check_plain(text),
        };
        let value = match checked {
            Ok(text) => SettingValue::Text(text),
            Err((complaint, hint)) => {
                let message = format!("`{}`: {complaint}{}", key.path, consequence(key));
                // What stands here instead of a variable or an address may be a key or a password.
                if matches!(key.kind, KeyKind::Variable | KeyKind::Address | KeyKind::StoreAddress) {
                    self.problem_without_excerpt(ProblemSeverity::Warning, message, node.position, hint);
                } else {
                    self.problem(ProblemSeverity::Warning, message, node.position, hint);
                }
                SettingValue::Wrong
            }
        };
        self.set(key, value, node.position);
    }

    pub(super) fn words(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let JsonValue::Array(nodes) = &node.value else {
            self.wrong_kind(key, node, consequence(key));
            self.set(key, SettingValue::Wrong, node.position);
            return;
        };
        let mut words = Vec::with_capacity(nodes.len());
        for (index, entry) in nodes.iter().enumerate() {
            let word = match &entry.value {
                JsonValue::String(word) => self.word(word, index == 0),
                other => Err((format!("entries must be strings, not {}", other.kind()), None)),
            };
            match word {
                Ok(word) => words.push(word),
                Err((complaint, hint)) => {
                    let message = format!("`{}`: {complaint}{}", key.path, consequence(key));
                    self.problem(ProblemSeverity::Warning, message, entry.position, hint);
                    // A command without one of its words is another command.
                    self.set(key, SettingValue::Wrong, node.position);
                    return;
                }
            }
        }
        self.set(key, SettingValue::Words(words), node.position);
    }

    /// Checks a word of a command. A program that is named by a path never depends on where the agent works.
    fn word(&self, word: &str, is_program: bool) -> Result<String, ScalarProblem> {
        if word.contains('\0') {
            return Err(("a word contains a NUL character".to_owned(), Some("remove it".to_owned())));
        }
        if is_program && word.trim().is_empty() {
            let hint = "begin the list with a program, or leave the key out".to_owned();
            return Err(("the program has no name".to_owned(), Some(hint)));
        }
        if is_program && (word.contains('/') || word.starts_with('~')) {
            return self.file(word);
        }
        Ok(word.to_owned())
    }

    fn file(&self, text: &str) -> Result<String, ScalarProblem> {
        // A policy from a store has a name, and no directory.
        let directory = self.input.file.and_then(|file| Path::new(&**file).parent());
        let directory = directory.filter(|directory| directory.is_absolute());
        resolve_file(text, directory, self.input.home)
            .map_err(|(message, hint)| (message, Some(hint.to_owned())))
    }
}

/// Says what a wrong value is taken as, or what it leads to.
fn taken_as(key: &SettingsKey, strict: Option<impl Display>) -> String {
    strict.map_or_else(|| consequence(key).to_owned(), |strict| format!("; taken as `{strict}`"))
}

/// Says what a wrong value without a strict reading leads to.
pub(super) fn consequence(key: &SettingsKey) -> &'static str {
    match key.id {
        KeyId::Store | KeyId::StoreUrl => "; nothing can be recorded until it is repaired",
        KeyId::StorePolicyKeys => "; until it is repaired, nothing outside managed settings allows",
        KeyId::ApprovalsWebhook => "; questions are not sent until it is repaired",
        _ if key.path.starts_with("audit.head") => "; heads are not sent there until it is repaired",
        _ if key.path.starts_with("classifier.fallback") => "; no fallback is asked until it is repaired",
        _ => "; the classifier is not used until it is repaired",
    }
}

pub(super) fn check_plain(text: &str) -> Result<String, ScalarProblem> {
    if text.trim().is_empty() {
        return Err(("this is empty".to_owned(), Some("write a value, or leave the key out".to_owned())));
    }
    if text.chars().any(is_hidden) {
        return Err(("this contains a character that is not seen".to_owned(), Some("remove it".to_owned())));
    }
    Ok(text.to_owned())
}

fn check_variable(text: &str) -> Result<String, ScalarProblem> {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if text.chars().all(is_word) && text.chars().next().is_some_and(|first| !first.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    let hint = "write the name of the variable that holds the key, and never the key itself";
    Err(("this is not the name of an environment variable".to_owned(), Some(hint.to_owned())))
}

/// Checks as much of an address as settings can tell; who connects to it looks closer.
fn check_address(key: &SettingsKey, text: &str) -> Result<String, ScalarProblem> {
    let complaint = |message: &str, hint: &str| Err((message.to_owned(), Some(hint.to_owned())));
    let text = check_plain(text)?;
    let usual = "write `https://` and the name of the server";
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return complaint("this does not begin with `https://` or `http://`", usual);
    };
    if rest.is_empty() || rest.starts_with(['/', '?', '#', ':']) {
        return complaint("this address names no server", usual);
    }
    if rest.contains(char::is_whitespace) {
        return complaint("this address contains a blank", usual);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') && key.id != KeyId::ClassifierProxy {
        let hint = "leave it out, and name the variable that holds the key in `keyVariable`";
        return complaint("this address carries a user or a password", hint);
    }
    Ok(text)
}
