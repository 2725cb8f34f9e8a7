//! Objects: which keys there are, which are unknown, repeated, or not this source's to set.

use std::collections::BTreeMap;

use portcullis_core::Source;

use super::scalar::consequence;
use super::{ExtractScope, LayerExtractor, REPORTED};
use crate::classifier::names_judge;
use crate::json::{JsonMember, JsonValue, TextPosition};
use crate::keys::{KEYS, KeyId, KeyKind, KeyScope, SettingsKey};
use crate::layer::{IgnoredReason, SettingValue};
use crate::location::SettingsOwner;
use crate::problem::ProblemSeverity;
use portcullis_core::closeness::find_closest;

impl LayerExtractor<'_> {
    pub(super) fn object(
        &mut self,
        parent: Option<&'static SettingsKey>,
        members: &[JsonMember<'_>],
        taking: ExtractScope,
    ) {
        let last: BTreeMap<&str, usize> =
            members.iter().enumerate().map(|(index, member)| (member.name.as_ref(), index)).collect();
        for (index, member) in members.iter().enumerate() {
            let Some(key) = SettingsKey::find_in(parent, &member.name) else {
                if taking == ExtractScope::Everything {
                    self.unknown(parent, &member.name, member.name_position);
                }
                continue;
            };
            let is_last = last.get(member.name.as_ref()) == Some(&index);
            if is_last {
                self.member(key, member, taking);
            } else {
                self.repeated(key, member.name_position);
                self.member(key, member, ExtractScope::Restrictions);
            }
        }
    }

    fn member(&mut self, key: &'static SettingsKey, member: &JsonMember<'_>, taking: ExtractScope) {
        if !key.scope.contains(self.input.source) {
            if taking == ExtractScope::Everything {
                self.out_of_scope(key, member);
            }
            return;
        }
        match (key.kind, &member.node.value) {
            (KeyKind::Object | KeyKind::FreeObject, JsonValue::Object(members)) => {
                if key.id == KeyId::Hooks {
                    self.hooks(key, members, taking);
                } else {
                    self.object(Some(key), members, taking);
                }
            }
            _ if matches!(key.kind, KeyKind::Object | KeyKind::FreeObject) => {
                self.lost(key);
                self.wrong_object(key, member, taking);
            }
            _ if taking == ExtractScope::Restrictions && !key.restricts() => {}
            _ => self.value(key, &member.node),
        }
    }

    /// Reports something else in place of an object. Of the classifier's and the store's, what it was to say is kept as
    /// wrong.
    fn wrong_object(&mut self, key: &'static SettingsKey, member: &JsonMember<'_>, taking: ExtractScope) {
        match find_judge_key(key) {
            Some(meant) if taking == ExtractScope::Everything => {
                self.wrong_kind(key, &member.node, consequence(key));
                self.set(meant, SettingValue::Wrong, member.node.position);
            }
            _ => self.wrong_kind(key, &member.node, ""),
        }
    }

    /// Marks a managed file whose restrictions are lost to a wrong type.
    pub(super) fn lost(&mut self, key: &SettingsKey) {
        if self.input.source == Source::Policy && (key.id == KeyId::Permissions || key.restricts()) {
            self.layer.damaged = true;
        }
    }

    fn out_of_scope(&mut self, key: &SettingsKey, member: &JsonMember<'_>) {
        let value = &member.node.value;
        let has_effect = match key.id {
            // Without such hooks there is nothing to leave out, and `true` is the default anyway.
            KeyId::Hooks => matches!(value, JsonValue::Object(hooks)
                if hooks.iter().any(|hook| hook.name == "PermissionRequest")),
            KeyId::AutoDuringPlan => *value != JsonValue::Bool(true),
            _ => true,
        };
        if has_effect {
            let reason = match key.scope {
                KeyScope::Managed => IgnoredReason::OnlyManaged,
                KeyScope::UserOrManaged => IgnoredReason::OnlyUserOrManaged,
                _ => IgnoredReason::InsideRepository,
            };
            self.ignore(format!("`{}`", key.path), member.name_position, reason);
        }
    }

    fn repeated(&mut self, key: &SettingsKey, position: TextPosition) {
        let message = format!("`{}` is set again further down", key.path);
        let hint = if key.restricts() {
            "join the two; until then both count"
        } else {
            "join the two; until then the last one counts, and deny and ask rules of both"
        };
        self.problem(ProblemSeverity::Warning, message, position, Some(hint.to_owned()));
    }

    fn unknown(&mut self, parent: Option<&SettingsKey>, name: &str, position: TextPosition) {
        match parent {
            Some(parent) if parent.path.starts_with("classifier") => {
                return self.unknown_of_classifier(parent, name, position);
            }
            Some(parent) if parent.id == KeyId::Store => return self.unknown_of_store(name, position),
            _ => {}
        }
        let is_free = parent.is_some_and(|parent| parent.kind == KeyKind::FreeObject);
        if is_free || self.input.owner == SettingsOwner::ClaudeCode {
            return;
        }
        if self.reported == REPORTED {
            self.behind += 1;
            return;
        }
        let path = parent.map_or_else(|| name.to_owned(), |parent| format!("{}.{name}", parent.path));
        let hint = find_closest(&path, KEYS.iter().map(|key| key.path))
            .or_else(|| KEYS.iter().map(|key| key.path).find(|path| path.rsplit('.').next() == Some(name)))
            .map(|path| format!("did you mean `{path}`?"));
        let shown: String = path.chars().take(80).collect();
        // What looks like a slip of the pen may be a restriction that is lost; anything else is none of our business.
        let severity = if hint.is_some() { ProblemSeverity::Warning } else { ProblemSeverity::Note };
        self.problem(severity, format!("unknown key `{shown}`"), position, hint);
    }

    /// Reports an unknown key of the classifier, in any file, since nobody else has such an object. One that looks like
    /// a misspelt address or provider must not leave the usual one in place, and the line may hold a key.
    fn unknown_of_classifier(&mut self, parent: &SettingsKey, name: &str, position: TextPosition) {
        if self.reported == REPORTED {
            // Names are compared at a price; among so many mistakes nobody knows who is meant to judge.
            self.behind += 1;
            if let Some(provider) = SettingsKey::of(KeyId::ClassifierProvider) {
                self.set(provider, SettingValue::Wrong, position);
            }
            return;
        }
        let siblings = KEYS.iter().filter(|key| key.parent() == Some(parent.path));
        let near = find_closest(name, siblings.clone().map(SettingsKey::name));
        let meant = siblings.into_iter().find(|key| Some(key.name()) == near);
        let shown: String = name.chars().take(40).collect();
        let mut message = format!("unknown key `{}.{shown}`", parent.path);
        let mut severity = if meant.is_some() { ProblemSeverity::Warning } else { ProblemSeverity::Note };
        let mut hint = meant.map(|key| format!("did you mean `{}`?", key.path));
        let source = self.input.source;
        if let Some(key) = meant.and_then(find_judge_key).filter(|key| key.scope.contains(source)) {
            message.push_str(consequence(key));
            self.set(key, SettingValue::Wrong, position);
        } else if ["key", "token", "secret", "password"].iter().any(|word| name.to_lowercase().contains(word))
        {
            severity = ProblemSeverity::Warning;
            hint = Some("keys are never read from settings; name a variable with `keyVariable`".to_owned());
        }
        self.problem_without_excerpt(severity, message, position, hint);
    }
}

/// Returns the key to mark as wrong when a key or an object that says who judges, or where everything is kept, is.
fn find_judge_key(key: &'static SettingsKey) -> Option<&'static SettingsKey> {
    match key.id {
        KeyId::Classifier => SettingsKey::of(KeyId::ClassifierProvider),
        KeyId::Fallback => SettingsKey::of(KeyId::FallbackProvider),
        KeyId::Templates => SettingsKey::of(KeyId::TemplateBase),
        KeyId::Store => SettingsKey::of(KeyId::StoreUrl),
        id => names_judge(id).then_some(key),
    }
}
