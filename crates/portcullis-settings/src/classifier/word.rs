//! The words settings choose with, and what they stand for.

use super::{
    ExplainerSetting, FailureAction, KeyAuth, LimitAction, StageSetting, TranscriptForm, VerdictForm,
};

/// Something settings choose with a word of the key table.
pub(super) trait SettingWord: Copy + Default + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];

    /// Finds the value of a word.
    fn find(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }
}

impl SettingWord for KeyAuth {
    const WORDS: &'static [(&'static str, Self)] = &[("key", Self::Key), ("bearer", Self::Bearer)];
}

impl SettingWord for StageSetting {
    const WORDS: &'static [(&'static str, Self)] =
        &[("both", Self::Both), ("fast", Self::Fast), ("thinking", Self::Thinking)];
}

impl SettingWord for VerdictForm {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("block", Self::Block),
        ("severity", Self::Severity),
        ("tool", Self::Tool),
        ("schema", Self::Schema),
    ];
}

impl SettingWord for FailureAction {
    const WORDS: &'static [(&'static str, Self)] = &[("deny", Self::Deny), ("ask", Self::Ask)];
}

impl SettingWord for LimitAction {
    const WORDS: &'static [(&'static str, Self)] = &[("abort", Self::Abort), ("deny", Self::Deny)];
}

impl SettingWord for TranscriptForm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("jsonl", Self::Jsonl), ("text", Self::Text), ("compact", Self::Compact)];
}

impl SettingWord for ExplainerSetting {
    const WORDS: &'static [(&'static str, Self)] =
        &[("offline", Self::Offline), ("model", Self::Model), ("off", Self::Off)];
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::keys::{KeyId, KeyKind, SettingsKey};

    fn check<T: SettingWord + PartialEq + Debug>(id: KeyId) {
        let key = SettingsKey::of(id).unwrap();
        let KeyKind::Choice(words) = key.kind else { panic!("{}", key.path) };
        let names: Vec<&str> = T::WORDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, words, "{}", key.path);
        let default: String = serde_json::from_str(key.default).unwrap();
        assert_eq!(T::find(&default), Some(T::default()), "{}", key.path);
        assert_eq!(T::find("nonsense"), None, "{}", key.path);
    }

    #[test]
    fn the_words_are_those_of_the_key_table_and_so_are_the_defaults() {
        check::<KeyAuth>(KeyId::ClassifierAuth);
        check::<KeyAuth>(KeyId::FallbackAuth);
        check::<StageSetting>(KeyId::ClassifierStages);
        check::<VerdictForm>(KeyId::ClassifierVerdict);
        check::<FailureAction>(KeyId::ClassifierOnFailure);
        check::<LimitAction>(KeyId::ClassifierOnLimit);
        check::<TranscriptForm>(KeyId::ClassifierTranscript);
        check::<ExplainerSetting>(KeyId::Explainer);
    }
}
