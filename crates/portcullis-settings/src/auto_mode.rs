//! The prose that steers the classifier (spec D11), collected and not yet interpreted.

use portcullis_core::Origin;

/// Instructions for the classifier; sentences of the strongest source come first. A list that nobody set is not there, and
/// an empty one replaces the built-in sentences by none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoModeSettings {
    /// What the environment is like.
    pub environment: Option<Vec<SettingSentence>>,
    /// What may pass.
    pub allow: Option<Vec<SettingSentence>>,
    /// What is blocked unless the user asked for it.
    pub soft_deny: Option<Vec<SettingSentence>>,
    /// What is always blocked.
    pub hard_deny: Option<Vec<SettingSentence>>,
}

impl AutoModeSettings {
    /// Returns the user's own sentences of what is not to be done.
    pub(crate) fn prohibitions(&self) -> Vec<String> {
        own(&[&self.hard_deny, &self.soft_deny])
    }

    /// Returns the user's own sentences of what may pass, and of what surrounds the agent.
    pub(crate) fn permissions(&self) -> Vec<String> {
        own(&[&self.allow, &self.environment])
    }
}

fn own(lists: &[&Option<Vec<SettingSentence>>]) -> Vec<String> {
    let sentences = lists.iter().copied().flatten().flatten();
    sentences.map(|sentence| sentence.text.clone()).filter(|text| text != BUILT_IN).collect()
}

/// Stands for the built-in sentences of a list.
const BUILT_IN: &str = "$defaults";

/// One sentence and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingSentence {
    /// The sentence, or `$defaults` for the built-in ones.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}
