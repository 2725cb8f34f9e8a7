//! Values: lists of rules, directories and sentences, modes, switches. Those of single keys are in `scalar`.

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{MODES, Mode};

use super::Extractor;
use crate::directory::resolve;
use crate::json::{Node, Position, Value};
use crate::keys::{Key, KeyId, Kind, Merge};
use crate::layer::{IgnoredReason, SettingValue};
use crate::problem::Severity;
use portcullis_core::closeness::find_closest;

impl Extractor<'_> {
    pub(super) fn value(&mut self, key: &'static Key, node: &Node<'_>) {
        match key.kind {
            Kind::Rules => {
                let behavior = match key.id {
                    KeyId::Allow => Behavior::Allow,
                    KeyId::Ask => Behavior::Ask,
                    _ => Behavior::Deny,
                };
                self.list(key, node, |extractor, text, position| extractor.rule(behavior, text, position));
            }
            Kind::Directories => self.list(key, node, |extractor, text, position| {
                match resolve(text, extractor.input.project, extractor.input.home) {
                    Ok(directory) => extractor.set(key, SettingValue::Text(directory), position),
                    Err((message, hint)) => {
                        extractor.problem(Severity::Warning, message, position, Some(hint.to_owned()));
                    }
                }
            }),
            Kind::Sentences => self.list(key, node, |extractor, text, position| {
                extractor.set(key, SettingValue::Text(text.to_owned()), position);
            }),
            Kind::Mode => self.mode(key, node),
            Kind::Disable => self.disable(key, node),
            Kind::Boolean => self.switch(key, node),
            Kind::Text if key.merge == Merge::None => {
                if !matches!(node.value, Value::String(_)) {
                    self.wrong_kind(key, node, "");
                }
            }
            Kind::Text | Kind::Variable | Kind::Address | Kind::Path | Kind::StoreAddress => {
                self.text(key, node);
            }
            Kind::PublicKeys => self.public_keys(key, node),
            Kind::Webhook => self.webhook(key, node),
            Kind::Choice(words) => self.choice(key, words, node),
            Kind::Number { least, most } => self.number(key, &(least..=most), node),
            Kind::Words => self.words(key, node),
            Kind::Object | Kind::FreeObject => {}
        }
    }

    fn list(&mut self, key: &'static Key, node: &Node<'_>, mut entry: impl FnMut(&mut Self, &str, Position)) {
        match &node.value {
            Value::Array(nodes) => {
                for node in nodes {
                    match &node.value {
                        Value::String(text) => entry(self, text, node.position),
                        other => {
                            let message =
                                format!("entries of `{}` must be strings, not {}", key.path, other.kind());
                            self.problem(Severity::Warning, message, node.position, None);
                        }
                    }
                }
            }
            // A restriction that is clear enough holds, although its author forgot the brackets.
            Value::String(text) if key.restricts() => {
                self.wrong_kind(key, node, "; taken as a list of one");
                entry(self, text, node.position);
            }
            _ => {
                self.lost(key);
                self.wrong_kind(key, node, "");
            }
        }
    }

    fn rule(&mut self, behavior: Behavior, text: &str, position: Position) {
        match Rule::compile(text, behavior, self.origin(position)) {
            Ok(rule) => self.layer.rules.push(rule),
            Err(problem) => self.problem(Severity::Warning, problem.message, position, problem.hint),
        }
    }

    fn mode(&mut self, key: &'static Key, node: &Node<'_>) {
        let mut chosen = None;
        match &node.value {
            Value::String(name) => match Mode::find(name) {
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

    fn unknown_mode(&mut self, name: &str, position: Position) {
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
        self.problem(Severity::Warning, format!("there is no mode `{shown}`"), position, Some(hint));
    }

    fn disable(&mut self, key: &'static Key, node: &Node<'_>) {
        match &node.value {
            Value::String(word) if word == "disable" => {}
            Value::Bool(false) | Value::Null => {
                self.wrong_kind(key, node, "; taken as not set");
                return;
            }
            _ => self.wrong_kind(key, node, "; taken as `disable`"),
        }
        self.set(key, SettingValue::Switch(true), node.position);
    }

    fn switch(&mut self, key: &'static Key, node: &Node<'_>) {
        let value = if let Value::Bool(value) = node.value {
            value
        } else {
            let strict = key.strict_value();
            self.wrong_kind(key, node, &format!("; taken as `{strict}`"));
            strict
        };
        self.set(key, SettingValue::Switch(value), node.position);
    }

    pub(super) fn wrong_kind(&mut self, key: &Key, node: &Node<'_>, consequence: &str) {
        let found = match &node.value {
            Value::String(_) if key.kind == Kind::Disable => "another word",
            other => other.kind(),
        };
        let message = format!("`{}` must be {}, not {found}{consequence}", key.path, key.kind.describe());
        let name = key.name();
        let hint = match key.kind {
            Kind::Rules => Some(format!("write `\"{name}\": [\"Bash(git status)\"]`")),
            Kind::Directories | Kind::Sentences => Some(format!("write `\"{name}\": [\"…\"]`")),
            Kind::Disable => Some(format!("write `\"{name}\": \"disable\"`")),
            Kind::Words => Some(format!("write `\"{name}\": [\"program\", \"argument\"]`")),
            Kind::Object | Kind::FreeObject | Kind::Mode | Kind::Boolean | Kind::Text => None,
            Kind::Choice(_) | Kind::Number { .. } | Kind::Variable | Kind::Address | Kind::Path => None,
            Kind::StoreAddress | Kind::Webhook => None,
            Kind::PublicKeys => {
                Some(format!("write `\"{name}\": [\"NAME:KEY\"]`, as `policy keygen` prints it"))
            }
        };
        // What stands in place of the store may be its address, with a password.
        if key.path == "store" || matches!(key.kind, Kind::StoreAddress | Kind::Webhook) {
            self.problem_without_excerpt(Severity::Warning, message, node.position, hint);
        } else {
            self.problem(Severity::Warning, message, node.position, hint);
        }
    }
}
