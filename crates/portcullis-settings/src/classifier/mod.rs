//! The model that judges in auto mode, as settings describe it (spec D6–D15): plain values, nothing is connected here.
//!
//! INVARIANT: who judges is decided by one source. Its provider is never combined with the address or the key of a
//! weaker one, and a value that is wrong makes the classifier unusable instead of handing over to another.

mod assemble;
mod lock;
mod word;

use std::path::PathBuf;

pub use portcullis_core::{FailureAction, LimitAction};

pub(crate) use assemble::{
    SettingLookup, assemble, complain, file, find_explainer, number, switch, text, words,
};
pub(crate) use lock::{ClassifierLock, names_judge};

/// Everything settings say about the classifier. [`Classifier::default`] is what holds when they say nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings, each its own key")]
pub struct ClassifierSettings {
    /// Whom to ask.
    pub endpoint: EndpointSettings,
    /// Whom to ask when that one is unavailable; `None` also if what settings say about it is wrong.
    pub fallback: Option<EndpointSettings>,
    /// Certificate authorities to trust besides the usual ones, absolute; of both endpoints.
    pub ca_file: Option<PathBuf>,
    /// The proxy of both endpoints; it may carry a password, so it is not for showing.
    pub proxy: Option<String>,
    /// Rows about models of the user's own, absolute.
    pub models_file: Option<PathBuf>,
    /// Files in place of built-in parts of the prompt.
    pub templates: TemplateFiles,
    /// Which stages judge.
    pub stages: StageSetting,
    /// The form of the answer.
    pub verdict: VerdictForm,
    /// The severity that blocks, from 1 to 100.
    pub severity_threshold: u32,
    /// How long a judgement may take, from 1 to 60.
    pub timeout_seconds: u32,
    /// Whether settings say so themselves: then it holds for the first answer of a server on this machine too.
    pub has_own_timeout: bool,
    /// What a failure leads to.
    pub on_failure: FailureAction,
    /// What too many denials lead to when nobody can be asked.
    pub on_limit: LimitAction,
    /// The form of the transcript.
    pub transcript: TranscriptForm,
    /// How long the transcript may be, from 500 to 200,000.
    pub transcript_tokens: u32,
    /// Whether the instruction files of the project are shown, as data.
    pub project_instructions: bool,
    /// Whether requests and answers are written down.
    pub dump: bool,
    /// Whether managed settings choose who judges: then neither an option nor the environment may choose another.
    pub is_managed: bool,
    /// Why nobody may be asked: a value that says who judges is wrong. Lower case, no final period, with its place.
    pub broken: Option<String>,
}

/// One model and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointSettings {
    /// Its provider as settings name it; `None` if there is none.
    pub provider: Option<String>,
    /// Its id; `None` for the provider's default.
    pub model: Option<String>,
    /// Its address; `None` for the provider's own. It begins with `https://` or `http://` and carries no password.
    pub base_url: Option<String>,
    /// How the key is sent.
    pub auth: KeyAuth,
    /// The variable that holds the key; `None` for the provider's usual one.
    pub key_variable: Option<String>,
    /// The program that prints the key and its arguments; empty if there is none. A path in it is absolute.
    pub key_command: Vec<String>,
}

/// Files in place of built-in parts of the prompt, absolute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TemplateFiles {
    /// Who the model is and what it looks at.
    pub base: Option<PathBuf>,
    /// What the user wants.
    pub intent: Option<PathBuf>,
    /// What is blocked and what may pass.
    pub permissions: Option<PathBuf>,
}

/// How a key is sent to an Anthropic address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyAuth {
    /// In the header for keys.
    #[default]
    Key,
    /// As a bearer token.
    Bearer,
}

/// Which stages judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StageSetting {
    /// The fast one, and the thinking one when it does not clear the action.
    #[default]
    Both,
    /// The fast one.
    Fast,
    /// The thinking one.
    Thinking,
}

/// The form in which the model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerdictForm {
    /// What suits the model.
    #[default]
    Auto,
    /// A word in a tag.
    Block,
    /// A severity in a tag.
    Severity,
    /// A tool call.
    Tool,
    /// JSON that follows a schema.
    Schema,
}

/// The form of the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TranscriptForm {
    /// A JSON line for each entry.
    #[default]
    Jsonl,
    /// Plain text.
    Text,
    /// The last entries, cut short.
    Compact,
}

/// Who explains a command to the person who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExplainerSetting {
    /// The static analysis.
    #[default]
    Offline,
    /// The model of the classifier.
    Model,
    /// Nobody.
    Off,
}

impl Default for ClassifierSettings {
    fn default() -> Self {
        Self {
            endpoint: EndpointSettings::default(),
            fallback: None,
            ca_file: None,
            proxy: None,
            models_file: None,
            templates: TemplateFiles::default(),
            stages: StageSetting::default(),
            verdict: VerdictForm::default(),
            severity_threshold: 50,
            timeout_seconds: 25,
            has_own_timeout: false,
            on_failure: FailureAction::default(),
            on_limit: LimitAction::default(),
            transcript: TranscriptForm::default(),
            transcript_tokens: 12_000,
            project_instructions: true,
            dump: false,
            is_managed: false,
            broken: None,
        }
    }
}
