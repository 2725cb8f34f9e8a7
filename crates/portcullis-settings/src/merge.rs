//! Weighing the sources against each other: rules joined and filtered, switches by precedence or by strictness.
//!
//! The filters, in order: managed settings that allow only their own rules (C10), a broken file (C11), and an untrusted
//! workspace (C12). What a filter takes out is listed with its reason.

use std::sync::Arc;

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::secret_form::SecretForm;
use portcullis_core::{DisabledModes, Mode, Planning, Policy, Prose, RuleSet, Sandbox, Source};

use crate::approvals::ApprovalSettings;
use crate::audit::AuditSettings;
use crate::auto_mode::{AutoModeSettings, SettingSentence};
use crate::classifier::{ClassifierLock, ClassifierSettings, assemble, find_explainer};
use crate::daemon::DaemonSettings;
use crate::hooks::PermissionHook;
use crate::keys::{KEYS, KeyId, KeyKind, KeyMerge, KeyScope, SettingsKey};
use crate::layer::{IgnoredReason, IgnoredSetting, Setting, SettingValue, SettingsLayer};
use crate::loaded::{EffectiveValue, LoadedSettings, SettingsDocument};
use crate::location::SettingsOwner;
use crate::memory::MemorySettings;
use crate::problem::SettingsProblem;
use crate::store::StoreSettings;
use crate::trust::WorkspaceTrust;

/// Makes one of all layers, which must come in order of strength.
pub(crate) fn merge(
    mut layers: Vec<SettingsLayer>,
    documents: Vec<SettingsDocument>,
    look_up_trust: impl FnOnce() -> (WorkspaceTrust, Option<SettingsProblem>),
) -> LoadedSettings {
    let mut problems: Vec<SettingsProblem> =
        layers.iter_mut().flat_map(|layer| layer.problems.drain(..)).collect();
    let ignored: Vec<IgnoredSetting> = layers.iter_mut().flat_map(|layer| layer.ignored.drain(..)).collect();
    let damaged = layers.iter().any(|layer| layer.damaged);

    let mut trust = None;
    if layers.iter().any(depends_on_trust) {
        let (answer, problem) = look_up_trust();
        trust = Some(answer);
        problems.extend(problem);
    }

    let mut merger = LayerMerger {
        managed_rules_only: is_on(&layers, KeyId::ManagedRulesOnly),
        damaged,
        trusted: trust.is_some_and(WorkspaceTrust::is_trusted),
        lock: ClassifierLock::new(&layers),
        rules: Vec::new(),
        settings: Vec::new(),
        ignored,
    };
    for (place, layer) in layers.into_iter().enumerate() {
        merger.add(layer, place);
    }
    let disabled_modes = merger.disabled_modes();
    let default_mode = merger.default_mode(disabled_modes);
    let auto_mode = merger.auto_mode();
    let own_mode = merger.own_mode(disabled_modes, &documents);
    let policy = Policy { own_mode, ..merger.policy(default_mode, disabled_modes) };
    let effective = merger.effective(default_mode);
    let classifier = assemble(&|id| merger.strongest(id), merger.lock.is_managed());
    let permission_hooks = merger.permission_hooks();
    let explainer = find_explainer(&|id| merger.strongest(id));
    let contains_commands = merger.switch(KeyId::ContainmentEnabled).unwrap_or(true);
    let audit = AuditSettings::assemble(&|id| merger.strongest(id));
    let store = StoreSettings::assemble(&|id| merger.strongest(id));
    let daemon = DaemonSettings::assemble(&|id| merger.strongest(id));
    let approvals = ApprovalSettings::assemble(&|id| merger.strongest(id));
    let may_widen = !merger.managed_rules_only && !merger.damaged;
    let memory = MemorySettings::assemble(&|id| merger.strongest(id), may_widen);
    let secret_forms = merger.secret_forms();
    let LayerMerger { ignored, .. } = merger;
    LoadedSettings {
        policy,
        profiles: Arc::default(),
        auto_mode,
        classifier,
        explainer,
        contains_commands,
        audit,
        secret_forms,
        store,
        memory,
        pushed: None,
        daemon,
        approvals,
        permission_hooks,
        problems,
        ignored,
        documents,
        effective,
        trust,
        damaged,
    }
}

/// Says whether a switch is on in any of the layers.
pub(crate) fn is_on(layers: &[SettingsLayer], id: KeyId) -> bool {
    let mut settings = layers.iter().flat_map(|layer| &layer.settings);
    settings.any(|setting| setting.key.id == id && setting.value == SettingValue::Switch(true))
}

fn depends_on_trust(layer: &SettingsLayer) -> bool {
    layer.source.is_in_repository()
        && (layer.rules.iter().any(|rule| rule.behavior == Behavior::Allow)
            || layer.settings.iter().any(needs_trust))
}

/// Says whether a setting counts from the repository only when the workspace is trusted.
fn needs_trust(setting: &Setting) -> bool {
    setting.key.scope == KeyScope::TrustedRepository && setting.value != SettingValue::Switch(false)
}

struct LayerMerger {
    managed_rules_only: bool,
    /// Whether restrictions may be lost, so that nothing outside managed settings may widen.
    damaged: bool,
    trusted: bool,
    /// Who chooses the model that judges.
    lock: ClassifierLock,
    rules: Vec<Rule>,
    /// Strongest source first; inside one source the later setting is the stronger.
    settings: Vec<Setting>,
    ignored: Vec<IgnoredSetting>,
}

impl LayerMerger {
    fn add(&mut self, layer: SettingsLayer, place: usize) {
        for rule in layer.rules {
            match self.reason_against_rule(&rule) {
                None => self.rules.push(rule),
                Some(reason) => {
                    let what = format!("{} rule `{}`", rule.behavior, rule.source_text);
                    self.ignored.push(IgnoredSetting { what, origin: rule.origin, reason });
                }
            }
        }
        for setting in layer.settings {
            match self.reason_against_setting(&setting, place) {
                None => self.settings.push(setting),
                Some(reason) => {
                    let what = format!("`{}`: `{}`", setting.key.path, setting.shown());
                    self.ignored.push(IgnoredSetting { what, origin: setting.origin, reason });
                }
            }
        }
    }

    fn reason_against_rule(&self, rule: &Rule) -> Option<IgnoredReason> {
        let source = rule.origin.source;
        let allows = rule.behavior == Behavior::Allow;
        if source == Source::Policy {
            None
        } else if self.managed_rules_only {
            Some(IgnoredReason::ManagedRulesOnly)
        } else if self.damaged && allows {
            Some(IgnoredReason::BrokenSettings)
        } else if allows && source.is_in_repository() && !self.trusted {
            Some(IgnoredReason::UntrustedWorkspace)
        } else {
            None
        }
    }

    fn reason_against_setting(&self, setting: &Setting, place: usize) -> Option<IgnoredReason> {
        let source = setting.origin.source;
        if source != Source::Policy && self.damaged && widens(setting) {
            Some(IgnoredReason::BrokenSettings)
        } else if source.is_in_repository() && !self.trusted && needs_trust(setting) {
            Some(IgnoredReason::UntrustedWorkspace)
        } else {
            self.lock.reason_against(setting, place)
        }
    }

    fn all(&self, id: KeyId) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(move |setting| setting.key.id == id)
    }

    /// Finds the setting of the strongest source, the last one inside it.
    fn secret_forms(&self) -> Vec<SecretForm> {
        let forms = self.all(KeyId::RedactionForms).filter_map(|setting| match &setting.value {
            SettingValue::Text(text) => SecretForm::parse(text).ok(),
            _ => None,
        });
        forms.collect()
    }

    fn strongest(&self, id: KeyId) -> Option<&Setting> {
        // Of several equal minima `min_by_key` gives the first, so the search runs backwards.
        let settings: Vec<&Setting> = self.all(id).collect();
        settings.into_iter().rev().min_by_key(|setting| setting.origin.source)
    }

    fn switch(&self, id: KeyId) -> Option<bool> {
        self.strongest(id).and_then(|setting| match setting.value {
            SettingValue::Switch(value) => Some(value),
            _ => None,
        })
    }

    fn any(&self, id: KeyId, value: bool) -> bool {
        self.all(id).any(|setting| setting.value == SettingValue::Switch(value))
    }

    fn disabled_modes(&self) -> DisabledModes {
        DisabledModes {
            bypass: self.damaged || self.any(KeyId::DisableBypass, true),
            auto: self.damaged
                || self.any(KeyId::DisableAuto, true)
                || self.any(KeyId::DisableAutoInPermissions, true),
        }
    }

    fn default_mode(&mut self, disabled: DisabledModes) -> Option<Mode> {
        let setting = self.strongest(KeyId::DefaultMode)?;
        let SettingValue::Mode(Some(mode)) = setting.value else { return None };
        if !disabled.contains(mode) {
            return Some(mode);
        }
        let reason = if self.damaged { IgnoredReason::BrokenSettings } else { IgnoredReason::DisabledMode };
        let what = format!("`{}`: `{mode}`", setting.key.path);
        let origin = setting.origin.clone();
        self.ignored.push(IgnoredSetting { what, origin, reason });
        None
    }

    /// Finds the mode that settings of our own name, unless a stronger source names one too.
    fn own_mode(&self, disabled: DisabledModes, documents: &[SettingsDocument]) -> Option<Mode> {
        let is_own = |setting: &&Setting| {
            let file = setting.origin.file.as_ref();
            let is_hosts = |document: &SettingsDocument| {
                Some(&document.name) == file && document.owner != SettingsOwner::Portcullis
            };
            !documents.iter().any(is_hosts)
        };
        let strongest = self.strongest(KeyId::DefaultMode)?.origin.source;
        let own: Vec<&Setting> = self.all(KeyId::DefaultMode).filter(is_own).collect();
        let own = own.into_iter().rev().min_by_key(|setting| setting.origin.source)?;
        match own.value {
            SettingValue::Mode(mode) if own.origin.source <= strongest => {
                mode.filter(|mode| !disabled.contains(*mode))
            }
            _ => None,
        }
    }

    fn policy(&mut self, default_mode: Option<Mode>, disabled_modes: DisabledModes) -> Policy {
        let sandboxed = self.switch(KeyId::SandboxEnabled).unwrap_or(false);
        Policy {
            rules: RuleSet::new(std::mem::take(&mut self.rules)),
            default_mode,
            own_mode: None,
            disabled_modes,
            bypass_protected_paths: self.switch(KeyId::BypassProtectedPaths).unwrap_or(false),
            block_reads_outside: self.any(KeyId::BlockReadsOutside, true),
            auto_during_plan: if self.any(KeyId::AutoDuringPlan, false) {
                Planning::Person
            } else {
                Planning::Classifier
            },
            additional_directories: self.directories(),
            sandbox: Sandbox {
                enabled: sandboxed,
                auto_allow: sandboxed && self.switch(KeyId::SandboxAutoAllow).unwrap_or(true),
            },
            power_shell_auto: self.switch(KeyId::AutoPowerShell).unwrap_or(false),
            prose: self.prose(),
            classify_all_shell: self.switch(KeyId::AutoClassifyAllShell).unwrap_or(false),
            contains_project_code: self
                .strongest(KeyId::ContainmentProjectCode)
                .is_some_and(|setting| setting.shown() == "contain"),
            // Without a model there is nobody to review anything.
            reviews_findings: self.switch(KeyId::ClassifierReviewFindings).unwrap_or(false)
                && self.strongest(KeyId::ClassifierProvider).is_some_and(|setting| setting.shown() != "none"),
            has_permission_hooks: !self.permission_hooks().is_empty(),
        }
    }

    fn directories(&self) -> Vec<String> {
        let mut directories: Vec<String> = Vec::new();
        for setting in self.all(KeyId::AdditionalDirectories) {
            if let SettingValue::Text(directory) = &setting.value
                && !directories.contains(directory)
            {
                directories.push(directory.clone());
            }
        }
        directories
    }

    /// Returns who is asked in a person's place, managed hooks first.
    fn permission_hooks(&self) -> Vec<PermissionHook> {
        let managed_only = self.any(KeyId::ManagedHooksOnly, true);
        let disabled_by = |managed: bool| {
            self.all(KeyId::DisableAllHooks).any(|setting| {
                setting.value == SettingValue::Switch(true)
                    && (setting.origin.source == Source::Policy) == managed
            })
        };
        let in_force = self.all(KeyId::Hooks).filter(|setting| {
            let managed = setting.origin.source == Source::Policy;
            !disabled_by(true) && (managed || (!managed_only && !disabled_by(false)))
        });
        in_force
            .filter_map(|setting| match &setting.value {
                SettingValue::Hook(hook) => Some(hook.as_ref().clone()),
                _ => None,
            })
            .collect()
    }

    fn sentences(&self, id: KeyId) -> Option<Vec<SettingSentence>> {
        self.all(id).next()?;
        let sentences = self.all(id).filter_map(|setting| match &setting.value {
            SettingValue::Text(text) => {
                Some(SettingSentence { text: text.clone(), origin: setting.origin.clone() })
            }
            _ => None,
        });
        Some(sentences.collect())
    }

    /// Returns the user's own sentences that only a judge can apply.
    fn prose(&self) -> Prose {
        let auto_mode = self.auto_mode();
        Prose { prohibitions: auto_mode.prohibitions(), permissions: auto_mode.permissions() }
    }

    fn auto_mode(&self) -> AutoModeSettings {
        AutoModeSettings {
            environment: self.sentences(KeyId::AutoEnvironment),
            allow: self.sentences(KeyId::AutoAllow),
            soft_deny: self.sentences(KeyId::AutoSoftDeny),
            hard_deny: self.sentences(KeyId::AutoHardDeny),
        }
    }

    /// Lists the values that count with who set them: of switches and the mode one, of lists all.
    fn effective(&self, default_mode: Option<Mode>) -> Vec<EffectiveValue> {
        let mut effective = Vec::new();
        for key in KEYS.iter().filter(|key| key.merge != KeyMerge::None && key.kind != KeyKind::Rules) {
            let in_force: Vec<&Setting> = match key.merge {
                KeyMerge::Joined => self.all(key.id).collect(),
                _ if key.id == KeyId::DefaultMode && default_mode.is_none() => Vec::new(),
                _ => self.winner(key).into_iter().collect(),
            };
            if in_force.is_empty() {
                effective.push(EffectiveValue { key, value: None, origin: None });
            }
            effective.extend(in_force.into_iter().map(|setting| EffectiveValue {
                key,
                value: Some(setting.shown()),
                origin: Some(setting.origin.clone()),
            }));
        }
        effective
    }

    /// Finds the setting that decides a switch or the mode.
    fn winner(&self, key: &SettingsKey) -> Option<&Setting> {
        let strict = SettingValue::Switch(key.strict_value());
        let strictest =
            self.all(key.id).find(|setting| key.merge == KeyMerge::Strictest && setting.value == strict);
        strictest.or_else(|| self.strongest(key.id))
    }
}

/// Says whether a setting lets more run than its absence.
fn widens(setting: &Setting) -> bool {
    match (&setting.value, setting.key.id) {
        (SettingValue::Mode(mode), _) => {
            mode.is_some_and(|mode| mode.is_risky() || mode == Mode::AcceptEdits)
        }
        (_, KeyId::AdditionalDirectories | KeyId::AutoAllow | KeyId::AutoEnvironment) => true,
        (
            SettingValue::Switch(value),
            KeyId::BypassProtectedPaths
            | KeyId::SandboxEnabled
            | KeyId::SandboxAutoAllow
            | KeyId::AutoPowerShell
            | KeyId::ClassifierReviewFindings,
        ) => *value,
        (SettingValue::Hook(_) | SettingValue::Webhook(_), _) => true,
        // Without a model that judges, a person does.
        (SettingValue::Text(provider), KeyId::ClassifierProvider | KeyId::FallbackProvider) => {
            provider != "none"
        }
        (_, KeyId::TemplateBase | KeyId::TemplateIntent | KeyId::TemplatePermissions) => true,
        (SettingValue::Text(word), KeyId::ClassifierOnFailure) => word == "ask",
        (SettingValue::Number(number), KeyId::ClassifierSeverityThreshold) => {
            *number > ClassifierSettings::default().severity_threshold
        }
        _ => false,
    }
}
