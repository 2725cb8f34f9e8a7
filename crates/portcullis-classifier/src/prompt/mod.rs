//! What the model is told (spec D9, D10): our words as the system prompt, everybody else's as quoted data.
//!
//! ```text
//! Templates + Sections ────────────────► system    our words, and the prose of user and managed settings
//! SessionFacts ────────────────────────► session   quoted: directories, deny rules, the project's instructions
//! findings of the static analysis ─────► facts     quoted
//! ```
//!
//! INVARIANT: the system prompt holds nothing that a repository or an agent wrote, and the quoted parts hold no tag but
//! ours.

mod build;
mod coverage;
mod critique;
mod excerpt;
mod explainer;
mod section;
mod template;

use serde_json::Value;

pub use build::{FileTracking, PromptSession, build};
pub use coverage::rule_of_finding;
pub use critique::critique_prompt;
pub use explainer::{EXPLAINER_SUFFIX, explainer_answer, explainer_prompt, read_explanation};
pub use section::{CustomLists, DEFAULTS, PromptList, PromptLists, label_of};
pub use template::{PromptTemplates, TemplateError};

/// The version of the built-in prompt: `data/prompts/CHANGELOG.md` says what each changed.
pub const PROMPT_VERSION: u32 = 3;

/// Returns what a text is known by: another text has another fingerprint, unless somebody wants it to have the same.
pub fn fingerprint(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// What a structured answer looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSpec {
    /// The name of the tool or the schema.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its fields as a JSON schema: every one required, no others.
    pub schema: Value,
}

/// A question to the model without the words that make it a stage: the same bytes in every stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Our own words with those of user and managed settings. Nothing a repository or an agent wrote.
    pub system: String,
    /// What holds for the session: directories, deny rules, the project's instructions. Quoted data; may be empty.
    pub session: String,
    /// The transcript before the action, one block an entry, each ending in a line break.
    pub history: Vec<String>,
    /// The action that is judged, in the form of an entry.
    pub action: String,
    /// What is known of the action: findings of the static analysis. Quoted data; may be empty.
    pub facts: String,
}
