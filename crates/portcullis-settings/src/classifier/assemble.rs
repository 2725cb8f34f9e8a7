//! From the settings in force to a [`Classifier`].

use std::path::PathBuf;

use super::word::SettingWord;
use super::{ClassifierSettings, EndpointSettings, ExplainerSetting, TemplateFiles, names_judge};
use crate::keys::{KEYS, KeyId, SettingsKey};
use crate::layer::{Setting, SettingValue};

/// Finds the setting in force of a key.
pub(crate) trait SettingLookup<'settings>: Fn(KeyId) -> Option<&'settings Setting> {}

impl<'settings, F: Fn(KeyId) -> Option<&'settings Setting>> SettingLookup<'settings> for F {}

/// Makes the classifier of the settings in force.
pub(crate) fn assemble<'settings>(
    find: &impl SettingLookup<'settings>,
    is_managed: bool,
) -> ClassifierSettings {
    let usual = ClassifierSettings::default();
    ClassifierSettings {
        endpoint: EndpointSettings {
            provider: provider(find, KeyId::ClassifierProvider),
            model: text(find, KeyId::ClassifierModel),
            base_url: text(find, KeyId::ClassifierBaseUrl),
            auth: word(find, KeyId::ClassifierAuth),
            key_variable: text(find, KeyId::ClassifierKeyVariable),
            key_command: words(find, KeyId::ClassifierKeyCommand),
        },
        fallback: fallback(find),
        ca_file: file(find, KeyId::ClassifierCaFile),
        proxy: text(find, KeyId::ClassifierProxy),
        models_file: file(find, KeyId::ClassifierModelsFile),
        templates: TemplateFiles {
            base: file(find, KeyId::TemplateBase),
            intent: file(find, KeyId::TemplateIntent),
            permissions: file(find, KeyId::TemplatePermissions),
        },
        stages: word(find, KeyId::ClassifierStages),
        verdict: word(find, KeyId::ClassifierVerdict),
        severity_threshold: number(find, KeyId::ClassifierSeverityThreshold)
            .unwrap_or(usual.severity_threshold),
        timeout_seconds: number(find, KeyId::ClassifierTimeout).unwrap_or(usual.timeout_seconds),
        has_own_timeout: number(find, KeyId::ClassifierTimeout).is_some(),
        on_failure: word(find, KeyId::ClassifierOnFailure),
        on_limit: word(find, KeyId::ClassifierOnLimit),
        transcript: word(find, KeyId::ClassifierTranscript),
        transcript_tokens: number(find, KeyId::ClassifierTranscriptTokens).unwrap_or(usual.transcript_tokens),
        project_instructions: switch(find, KeyId::ClassifierProjectInstructions)
            .unwrap_or(usual.project_instructions),
        dump: switch(find, KeyId::ClassifierDump).unwrap_or(usual.dump),
        is_managed,
        broken: find_wrong(find, |key| !is_of_fallback(key)).map(complain),
    }
}

/// Returns who explains.
pub(crate) fn find_explainer<'settings>(find: &impl SettingLookup<'settings>) -> ExplainerSetting {
    word(find, KeyId::Explainer)
}

/// Makes the fallback; a wrong one is none, since whoever it was meant to be is not known.
fn fallback<'settings>(find: &impl SettingLookup<'settings>) -> Option<EndpointSettings> {
    let provider = provider(find, KeyId::FallbackProvider)?;
    if find_wrong(find, is_of_fallback).is_some() {
        return None;
    }
    Some(EndpointSettings {
        provider: Some(provider),
        model: text(find, KeyId::FallbackModel),
        base_url: text(find, KeyId::FallbackBaseUrl),
        auth: word(find, KeyId::FallbackAuth),
        key_variable: text(find, KeyId::FallbackKeyVariable),
        key_command: words(find, KeyId::FallbackKeyCommand),
    })
}

fn is_of_fallback(key: &SettingsKey) -> bool {
    key.parent() == Some("classifier.fallback")
}

/// Finds a wrong value among the keys that say who judges.
fn find_wrong<'settings>(
    find: &impl SettingLookup<'settings>,
    is_asked_for: impl Fn(&SettingsKey) -> bool,
) -> Option<&'settings Setting> {
    let keys = KEYS.iter().filter(|key| names_judge(key.id) && is_asked_for(key));
    keys.filter_map(|key| find(key.id)).find(|setting| setting.value == SettingValue::Wrong)
}

/// Says which value is wrong and where it stands.
pub(crate) fn complain(setting: &Setting) -> String {
    format!("the value of `{}` is wrong ({}); repair it", setting.key.path, setting.origin)
}

pub(crate) fn text<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Option<String> {
    match &find(id)?.value {
        SettingValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn provider<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Option<String> {
    text(find, id).filter(|provider| provider != "none")
}

pub(crate) fn file<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Option<PathBuf> {
    text(find, id).map(PathBuf::from)
}

fn word<'settings, T: SettingWord>(find: &impl SettingLookup<'settings>, id: KeyId) -> T {
    text(find, id).and_then(|word| T::find(&word)).unwrap_or_default()
}

pub(crate) fn number<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Option<u32> {
    match find(id)?.value {
        SettingValue::Number(number) => Some(number),
        _ => None,
    }
}

pub(crate) fn switch<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Option<bool> {
    match find(id)?.value {
        SettingValue::Switch(value) => Some(value),
        _ => None,
    }
}

pub(crate) fn words<'settings>(find: &impl SettingLookup<'settings>, id: KeyId) -> Vec<String> {
    match find(id).map(|setting| &setting.value) {
        Some(SettingValue::Words(words)) => words.clone(),
        _ => Vec::new(),
    }
}
