//! The words settings choose with, and what they stand for.

use super::{Explainer, KeyAuth, OnFailure, OnLimit, Stages, TranscriptForm, VerdictForm};

/// Something settings choose with a word of the key table.
pub(super) trait Word: Copy + Default + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];

    /// Finds the value of a word.
    fn find(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }
}

impl Word for KeyAuth {
    const WORDS: &'static [(&'static str, Self)] = &[("key", Self::Key), ("bearer", Self::Bearer)];
}

impl Word for Stages {
    const WORDS: &'static [(&'static str, Self)] =
        &[("both", Self::Both), ("fast", Self::Fast), ("thinking", Self::Thinking)];
}

impl Word for VerdictForm {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("block", Self::Block),
        ("severity", Self::Severity),
        ("tool", Self::Tool),
        ("schema", Self::Schema),
    ];
}

impl Word for OnFailure {
    const WORDS: &'static [(&'static str, Self)] = &[("deny", Self::Deny), ("ask", Self::Ask)];
}

impl Word for OnLimit {
    const WORDS: &'static [(&'static str, Self)] = &[("abort", Self::Abort), ("deny", Self::Deny)];
}

impl Word for TranscriptForm {
    const WORDS: &'static [(&'static str, Self)] =
        &[("jsonl", Self::Jsonl), ("text", Self::Text), ("compact", Self::Compact)];
}

impl Word for Explainer {
    const WORDS: &'static [(&'static str, Self)] =
        &[("offline", Self::Offline), ("model", Self::Model), ("off", Self::Off)];
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::keys::{Key, KeyId, Kind};

    fn check<T: Word + PartialEq + Debug>(id: KeyId) {
        let key = Key::of(id).unwrap();
        let Kind::Choice(words) = key.kind else { panic!("{}", key.path) };
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
        check::<Stages>(KeyId::ClassifierStages);
        check::<VerdictForm>(KeyId::ClassifierVerdict);
        check::<OnFailure>(KeyId::ClassifierOnFailure);
        check::<OnLimit>(KeyId::ClassifierOnLimit);
        check::<TranscriptForm>(KeyId::ClassifierTranscript);
        check::<Explainer>(KeyId::Explainer);
    }
}
