//! Whether settings can be a policy, before somebody signs them for a whole fleet.

use std::sync::Arc;

use portcullis_core::Source;

use crate::extract::{SettingsText, extract};
use crate::layer::{IgnoredReason, IgnoredSetting};
use crate::location::{SettingsLocations, SettingsOwner};
use crate::problem::{ProblemSeverity, SettingsProblem};

/// What is wrong with settings that are about to become a policy.
#[derive(Debug, Clone)]
pub struct PolicyCheck {
    /// Mistakes, and what is worth knowing.
    pub problems: Vec<SettingsProblem>,
    /// What would not be used.
    pub ignored: Vec<IgnoredSetting>,
    /// How many rules there are.
    pub rules: usize,
}

impl PolicyCheck {
    /// Reads a text as the managed settings it is to become. The name is shown in problems.
    pub fn new(text: &str, name: &str, locations: &SettingsLocations) -> Self {
        let name: Arc<str> = Arc::from(name);
        let root: Arc<str> = Arc::from("/");
        let mut layer = extract(SettingsText {
            source: Source::Policy,
            owner: SettingsOwner::Portcullis,
            text,
            label: &name,
            // It has no directory once it is in a store, so that relative paths are mistakes here as well.
            file: None,
            base: Some(&root),
            home: locations.home.as_deref(),
            project: &locations.project,
        });
        layer.ignore_settings(|key| key.parent() == Some("store"), IgnoredReason::PushedStore);
        Self { problems: layer.problems, ignored: layer.ignored, rules: layer.rules.len() }
    }

    /// Says whether everything it says would hold. An entry that is skipped may be a restriction that is lost.
    pub fn is_fine(&self) -> bool {
        self.ignored.is_empty()
            && self.problems.iter().all(|problem| problem.severity < ProblemSeverity::Warning)
    }
}
