//! Values: lists of rules, directories and sentences, modes, switches. Those of single keys are in `scalar`.

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{MODES, Mode};

use super::LayerExtractor;
use crate::directory::resolve;
use crate::json::{JsonNode, JsonValue, TextPosition};
use crate::keys::{KeyId, KeyKind, KeyMerge, SettingsKey};
use crate::layer::{IgnoredReason, SettingValue};
use crate::problem::ProblemSeverity;
use portcullis_core::closeness::find_closest;

impl LayerExtractor<'_> {
    pub(super) fn value(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        match key.kind {
            KeyKind::Rules => {
                let behavior = match key.id {
                    KeyId::Allow => Behavior::Allow,
                    KeyId::Ask => Behavior::Ask,
                    _ => Behavior::Deny,
                };
                self.list(key, node, |extractor, text, position| extractor.rule(behavior, text, position));
            }
            KeyKind::Directories => self.list(key, node, |extractor, text, position| {
                match resolve(text, extractor.input.project, extractor.input.home) {
                    Ok(directory) => extractor.set(key, SettingValue::Text(directory), position),
                    Err((message, hint)) => {
                        extractor.problem(ProblemSeverity::Warning, message, position, Some(hint.to_owned()));
                    }
                }
            }),
            KeyKind::Sentences => {
                if matches!(&node.value, JsonValue::Array(nodes) if nodes.is_empty()) {
                    // No sentence is a list too: it takes the place of the built-in one.
                    self.set(key, SettingValue::Words(Vec::new()), node.position);
                }
                self.list(key, node, |extractor, text, position| {
                    extractor.set(key, SettingValue::Text(text.to_owned()), position);
                });
            }
            KeyKind::Mode => self.mode(key, node),
            KeyKind::Disable => self.disable(key, node),
            KeyKind::Boolean => self.switch(key, node),
            KeyKind::Text if key.merge == KeyMerge::None => {
                if !matches!(node.value, JsonValue::String(_)) {
                    self.wrong_kind(key, node, "");
                }
            }
            KeyKind::Text | KeyKind::Variable | KeyKind::Address | KeyKind::Path | KeyKind::StoreAddress => {
                self.text(key, node);
            }
            KeyKind::PublicKeys => self.public_keys(key, node),
            KeyKind::SecretForms => {
                self.list(key, node, |extractor, text, position| extractor.secret_form(key, text, position));
            }
            KeyKind::Webhook => self.webhook(key, node),
            KeyKind::Choice(words) => self.choice(key, words, node),
            KeyKind::Number { least, most } => self.number(key, &(least..=most), node),
            KeyKind::Words => self.words(key, node),
            KeyKind::Object | KeyKind::FreeObject => {}
        }
    }

    fn list(
        &mut self,
        key: &'static SettingsKey,
        node: &JsonNode<'_>,
        mut entry: impl FnMut(&mut Self, &str, TextPosition),
    ) {
        match &node.value {
            JsonValue::Array(nodes) => {
                for node in nodes {
                    match &node.value {
                        JsonValue::String(text) => entry(self, text, node.position),
                        other => {
                            let message =
                                format!("entries of `{}` must be strings, not {}", key.path, other.kind());
                            self.problem(ProblemSeverity::Warning, message, node.position, None);
                        }
                    }
                }
            }
            // A restriction that is clear enough holds, although its author forgot the brackets.
            JsonValue::String(text) if key.restricts() => {
                self.wrong_kind(key, node, "; taken as a list of one");
                entry(self, text, node.position);
            }
            _ => {
                self.lost(key);
                self.wrong_kind(key, node, "");
            }
        }
    }

    fn rule(&mut self, behavior: Behavior, text: &str, position: TextPosition) {
        match Rule::compile(text, behavior, self.origin(position)) {
            Ok(rule) => self.layer.rules.push(rule),
            Err(problem) => self.problem(ProblemSeverity::Warning, problem.message, position, problem.hint),
        }
    }

    fn mode(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let mut chosen = None;
        match &node.value {
            JsonValue::String(name) => match Mode::find(name) {
                Some(mode) if mode.is_risky() && self.input.source.is_in_repository() => {
                    let what = format!("`{}`: `{mode}`", key.path);
                    self.ignore(what, node.position, IgnoredReason::InsideRepository);
                }
                Some(mode) => chosen = Some(mode),
                None => self.unknown_mode(name, node.position),
            },
            _ => self.wrong_kind(key, node, ""),
        }
        self.set(key, SettingValue::Mode(chosen), node.position);
    }

    fn unknown_mode(&mut self, name: &str, position: TextPosition) {
        let names =
            || MODES.iter().flat_map(|info| std::iter::once(info.name).chain(info.aliases.iter().copied()));
        let hint = find_closest(name, names()).map_or_else(
            || {
                format!(
                    "modes are {}",
                    names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        let shown: String = name.chars().take(40).collect();
        self.problem(ProblemSeverity::Warning, format!("there is no mode `{shown}`"), position, Some(hint));
    }

    fn disable(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        match &node.value {
            JsonValue::String(word) if word == "disable" => {}
            JsonValue::Bool(false) | JsonValue::Null => {
                self.wrong_kind(key, node, "; taken as not set");
                return;
            }
            _ => self.wrong_kind(key, node, "; taken as `disable`"),
        }
        self.set(key, SettingValue::Switch(true), node.position);
    }

    fn switch(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let value = if let JsonValue::Bool(value) = node.value {
            value
        } else {
            let strict = key.strict_value();
            self.wrong_kind(key, node, &format!("; taken as `{strict}`"));
            strict
        };
        self.set(key, SettingValue::Switch(value), node.position);
    }

    pub(super) fn wrong_kind(&mut self, key: &SettingsKey, node: &JsonNode<'_>, consequence: &str) {
        let found = match &node.value {
            JsonValue::String(_) if key.kind == KeyKind::Disable => "another word",
            other => other.kind(),
        };
        let message = format!("`{}` must be {}, not {found}{consequence}", key.path, key.kind.describe());
        let name = key.name();
        let hint = match key.kind {
            KeyKind::Rules => Some(format!("write `\"{name}\": [\"Bash(git status)\"]`")),
            KeyKind::Directories | KeyKind::Sentences => Some(format!("write `\"{name}\": [\"…\"]`")),
            KeyKind::Disable => Some(format!("write `\"{name}\": \"disable\"`")),
            KeyKind::Words => Some(format!("write `\"{name}\": [\"program\", \"argument\"]`")),
            KeyKind::Object | KeyKind::FreeObject | KeyKind::Mode | KeyKind::Boolean | KeyKind::Text => None,
            KeyKind::Choice(_)
            | KeyKind::Number { .. }
            | KeyKind::Variable
            | KeyKind::Address
            | KeyKind::Path => None,
            KeyKind::StoreAddress | KeyKind::Webhook => None,
            KeyKind::SecretForms => Some(format!("write `\"{name}\": [\"acme_[key 20+]\"]`")),
            KeyKind::PublicKeys => {
                Some(format!("write `\"{name}\": [\"NAME:KEY\"]`, as `policy keygen` prints it"))
            }
        };
        // What stands in place of the store may be its address, with a password.
        if key.path == "store" || matches!(key.kind, KeyKind::StoreAddress | KeyKind::Webhook) {
            self.problem_without_excerpt(ProblemSeverity::Warning, message, node.position, hint);
        } else {
            self.problem(ProblemSeverity::Warning, message, node.position, hint);
        }
    }
}
