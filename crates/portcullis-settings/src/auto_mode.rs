//! The prose that steers the classifier (spec D11), collected and not yet interpreted.

use portcullis_core::Origin;

/// Instructions for the classifier; sentences of the strongest source come first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoModeSettings {
    /// What the environment is like.
    pub environment: Vec<SettingSentence>,
    /// What may pass.
    pub allow: Vec<SettingSentence>,
    /// What is blocked unless the user asked for it.
    pub soft_deny: Vec<SettingSentence>,
    /// What is always blocked.
    pub hard_deny: Vec<SettingSentence>,
}

/// One sentence and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingSentence {
    /// The sentence, or `$defaults` for the built-in ones.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}
