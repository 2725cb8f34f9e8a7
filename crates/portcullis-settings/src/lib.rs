//! Settings of Portcullis: found, read, checked, layered, and compiled to a policy; and edited in place.
//!
//! ```text
//! Environment, cwd ──► Locations ──► load ──► Loaded { policy, classifier, problems, ignored, … }
//!                          │
//!                          ├──► add_rule, remove_rule, reset_auto_mode ──► EditReport
//!                          └──► TrustStore, find_trust
//! ```
//!
//! The crate reads and writes files and nothing else: environment variables and arguments reach it as values.
//!
//! ```
//! use portcullis_core::rule::Behavior;
//! use portcullis_settings::{LoadOptions, SettingsEnvironment, SettingsLocations, load_given};
//!
//! let locations = SettingsLocations::new(SettingsEnvironment::default(), "/code/app".as_ref());
//! let options = LoadOptions {
//!     settings: Some(r#"{"permissions": {"deny": ["Bash(git push:*)"]}}"#.to_owned()),
//!     arguments: vec![(Behavior::Allow, "Bash(make *)".to_owned())],
//!     ..LoadOptions::default()
//! };
//! let loaded = load_given(&locations, &options);
//! assert_eq!(loaded.policy.rules.rules().len(), 2);
//! assert!(loaded.problems.is_empty() && !loaded.damaged);
//! ```
//!
//! [`load`] does the same with every settings file that holds in the directory, and is what a program that guards an
//! agent calls. It is called anew when settings may have changed. A caller shows [`LoadedSettings::problems`] to somebody,
//! and takes the [`SettingsEnvironment`] from where a repository cannot write.
//!
//! Loading cannot fail. What is wrong is a [`SettingsProblem`] with its place in the file, what is not used is an
//! [`IgnoredSetting`] with its reason, and neither ever widens what may run.

mod address;
mod approvals;
mod audit;
mod auto_mode;
mod classifier;
mod daemon;
mod directory;
pub mod disk;
mod edit;
mod extract;
mod hooks;
mod json;
mod keys;
mod kind;
mod layer;
mod load;
mod loaded;
mod location;
mod memory;
mod merge;
mod problem;
pub mod profile_draft;
mod profiles;
mod public_key;
mod pushed;
mod repository;
mod schema;
mod store;
mod trust;
mod watched;

pub use address::StoreUrl;
pub use approvals::ApprovalSettings;
pub use audit::{AuditSettings, HeadSettings};
pub use auto_mode::{AutoModeSettings, SettingSentence};
pub use classifier::{
    ClassifierSettings, EndpointSettings, ExplainerSetting, FailureAction, KeyAuth, LimitAction,
    StageSetting, TemplateFiles, TranscriptForm, VerdictForm,
};
pub use daemon::DaemonSettings;
pub use edit::{
    ChangedLine, EditError, EditReport, LineSide, ModeChange, RuleDestination, add_rule, plan_mode,
    remove_rule, reset_auto_mode, set_mode,
};
pub use extract::BROKEN_SETTINGS;
pub use hooks::{HookHandler, PermissionHook, ToolMatcher, WebhookSettings};
pub use keys::{KEYS, KeyId, KeyKind, KeyMerge, KeyScope, SettingsKey};
pub use layer::{IgnoredReason, IgnoredSetting};
pub use load::{load, load_given};
pub use loaded::{
    DocumentState, EffectiveValue, LoadOptions, LoadedSettings, SettingsDocument, TrustQuestion,
};
pub use location::{ManagedDirectories, SettingsEnvironment, SettingsFile, SettingsLocations, SettingsOwner};
pub use memory::MemorySettings;
pub use problem::{ProblemPlace, ProblemSeverity, SettingsProblem};
pub use profiles::{ProfileCheck, check_profiles};
pub use public_key::PublicKey;
pub use pushed::{PolicyCheck, PolicyFiles, PolicyInstallation, PolicyRefusal, PolicyStamp, PushedPolicy};
pub use repository::GitRepository;
pub use schema::settings_schema;
pub use store::StoreSettings;
pub use trust::{TrustError, TrustStore, TrustedBy, WorkspaceTrust, find_trust};
