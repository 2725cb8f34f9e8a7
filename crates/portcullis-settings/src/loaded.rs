//! What goes into loading beside files, and what comes out of it.

use std::sync::Arc;

use portcullis_core::profile::Profiles;
use portcullis_core::rule::Behavior;
use portcullis_core::secret_form::SecretForm;
use portcullis_core::{Origin, Policy, Source};

use crate::approvals::ApprovalSettings;
use crate::audit::AuditSettings;
use crate::auto_mode::AutoModeSettings;
use crate::classifier::{ClassifierSettings, ExplainerSetting};
use crate::daemon::DaemonSettings;
use crate::hooks::PermissionHook;
use crate::keys::SettingsKey;
use crate::layer::IgnoredSetting;
use crate::location::SettingsOwner;
use crate::memory::MemorySettings;
use crate::problem::{ProblemSeverity, SettingsProblem};
use crate::pushed::PolicyStamp;
use crate::store::StoreSettings;
use crate::trust::WorkspaceTrust;

/// What the caller brings beside files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// The value of `--settings`: a file, or JSON text when it begins with `{`.
    pub settings: Option<String>,
    /// Rules given as command-line arguments.
    pub arguments: Vec<(Behavior, String)>,
    /// Rules granted in this session.
    pub session: Vec<(Behavior, String)>,
    /// The file of such rules and what is wrong with it, if it could not be read: what it forbids is lost.
    pub lost: Option<(String, String)>,
    /// Rules granted by a slash command or skill.
    pub command: Vec<(Behavior, String)>,
    /// Whether the workspace is trusted.
    pub trust: TrustQuestion,
}

/// How trust in the workspace is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustQuestion {
    /// The stores are asked, if anything depends on it.
    #[default]
    Look,
    /// The caller says that it is trusted.
    Trusted,
    /// The caller says that it is not.
    Untrusted,
}

/// Everything that came of loading.
#[derive(Debug, Clone)]
pub struct LoadedSettings {
    /// What the pipeline needs.
    pub policy: Policy,
    /// What is known of programs: files that were added, and the built-in profiles. It belongs into every context.
    pub profiles: Arc<Profiles>,
    /// What the classifier is told.
    pub auto_mode: AutoModeSettings,
    /// Which model the classifier is, and how it judges.
    pub classifier: ClassifierSettings,
    /// Who explains commands.
    pub explainer: ExplainerSetting,
    /// Whether commands may be contained instead of being asked about.
    pub contains_commands: bool,
    /// What is recorded, and for how long.
    pub audit: AuditSettings,
    /// Where everything is kept.
    pub store: StoreSettings,
    /// Whether what people allowed is remembered.
    pub memory: MemorySettings,
    /// What further secrets look like, besides those that are known.
    pub secret_forms: Vec<SecretForm>,
    /// The policy of the store that is in force; `None` also if there is one that is not taken.
    pub pushed: Option<PolicyStamp>,
    /// Where the daemon listens.
    pub daemon: DaemonSettings,
    /// How questions wait for a person.
    pub approvals: ApprovalSettings,
    /// Who is asked when nobody is there.
    pub permission_hooks: Vec<PermissionHook>,
    /// What is wrong, file by file.
    pub problems: Vec<SettingsProblem>,
    /// What settings say that is not used.
    pub ignored: Vec<IgnoredSetting>,
    /// Every place that was looked at.
    pub documents: Vec<SettingsDocument>,
    /// Which value of each key is in force, and who says so; a list has one for each entry. Rules are in the policy.
    pub effective: Vec<EffectiveValue>,
    /// Whether the workspace is trusted; `None` if nothing depends on it.
    pub trust: Option<WorkspaceTrust>,
    /// Whether a file could not be read in full, so that what it forbids may be lost. Then bypass and auto mode are
    /// off, and nothing outside managed settings widens: no allow rules, no additional directories, no `acceptEdits`
    /// by default, no sandbox auto-allow, no lifted safety checks, no model that judges.
    pub damaged: bool,
}

impl LoadedSettings {
    /// Returns the worst severity of all problems.
    pub fn worst(&self) -> Option<ProblemSeverity> {
        self.problems.iter().map(|problem| problem.severity).max()
    }
}

/// A place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsDocument {
    /// The source it belongs to.
    pub source: Source,
    /// Whose file it is.
    pub owner: SettingsOwner,
    /// The file, or the option the text was given with.
    pub name: Arc<str>,
    /// What was found.
    pub state: DocumentState,
    /// How many of its rules compiled.
    pub rules: usize,
    /// How many programs it describes.
    pub programs: usize,
}

/// What was found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentState {
    /// Nothing.
    Missing,
    /// Settings, perhaps with entries that were skipped.
    Read,
    /// Something that is not settings; at most its restrictions count.
    Broken,
}

/// The value of a key that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveValue {
    /// The key.
    pub key: &'static SettingsKey,
    /// Its value as text; `None` for the default, which is in the key's row.
    pub value: Option<String>,
    /// Who says so; `None` for the default.
    pub origin: Option<Origin>,
}
