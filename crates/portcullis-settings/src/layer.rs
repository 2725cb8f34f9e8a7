//! What one file or one list of given rules contributes, before sources are weighed against each other.

use std::fmt;

use portcullis_core::rule::Rule;
use portcullis_core::{Mode, Origin, Source};

use crate::address::{StoreUrl, without_password};
use crate::hooks::{PermissionHook, WebhookSettings, shown_address};
use crate::keys::{KeyKind, SettingsKey};
use crate::problem::SettingsProblem;
use portcullis_core::visible;

/// The contribution of one place.
#[derive(Debug, Clone)]
pub(crate) struct SettingsLayer {
    pub(crate) source: Source,
    pub(crate) rules: Vec<Rule>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) problems: Vec<SettingsProblem>,
    pub(crate) ignored: Vec<IgnoredSetting>,
    /// Whether restrictions may be lost, because the place could not be read in full.
    pub(crate) damaged: bool,
}

impl SettingsLayer {
    pub(crate) const fn new(source: Source) -> Self {
        Self {
            source,
            rules: Vec::new(),
            settings: Vec::new(),
            problems: Vec::new(),
            ignored: Vec::new(),
            damaged: false,
        }
    }

    /// Takes out the settings of some keys, and lists them with the reason.
    pub(crate) fn ignore_settings(&mut self, is_meant: impl Fn(&SettingsKey) -> bool, reason: IgnoredReason) {
        for setting in self.settings.extract_if(.., |setting| is_meant(setting.key)) {
            let what = format!("`{}`: `{}`", setting.key.path, setting.shown());
            self.ignored.push(IgnoredSetting { what, origin: setting.origin, reason });
        }
    }
}

/// One value, or one entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) key: &'static SettingsKey,
    pub(crate) value: SettingValue,
    pub(crate) origin: Origin,
}

impl Setting {
    /// Returns the value as it is written in a settings file, without quotes.
    pub(crate) fn shown(&self) -> String {
        match (&self.value, self.key.kind) {
            (SettingValue::Switch(true), KeyKind::Disable) => "disable".to_owned(),
            (SettingValue::Switch(value), _) => value.to_string(),
            (SettingValue::Mode(mode), _) => mode.unwrap_or(Mode::Default).as_str().to_owned(),
            (SettingValue::Text(text), KeyKind::Address) => without_password(text),
            (SettingValue::Text(text), KeyKind::StoreAddress) => StoreUrl::new(text.clone()).to_string(),
            (SettingValue::Text(text), _) => text.clone(),
            (SettingValue::Number(number), _) => number.to_string(),
            (SettingValue::Words(words), _) => serde_json::Value::from(words.as_slice()).to_string(),
            (SettingValue::Hook(hook), _) => hook.shown(),
            (SettingValue::Webhook(webhook), _) => shown_address(&webhook.url),
            (SettingValue::Wrong, _) => "not usable".to_owned(),
        }
    }
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingValue {
    Switch(bool),
    /// A mode; `None` for one that is not taken, which leaves the built-in default and not a weaker source's mode.
    Mode(Option<Mode>),
    Text(String),
    Number(u32),
    /// A list that counts as a whole.
    Words(Vec<String>),
    /// Somebody to ask in a person's place.
    Hook(Box<PermissionHook>),
    /// Where questions are sent.
    Webhook(Box<WebhookSettings>),
    /// A value that is wrong and has no strict reading. It beats weaker sources like any other value: none of them is
    /// what its author meant.
    Wrong,
}

/// Something settings say that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// What it is, for example ``allow rule `Bash(ls)` ``.
    pub what: String,
    /// Where it stands.
    pub origin: Origin,
    /// Why it is not used.
    pub reason: IgnoredReason,
}

/// Why something is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoredReason {
    /// It would widen, and the workspace it comes from is not trusted (spec C12).
    UntrustedWorkspace,
    /// It is never taken from files inside the repository (spec C12).
    InsideRepository,
    /// It is only taken from managed settings.
    OnlyManaged,
    /// It is only taken from user and managed settings.
    OnlyUserOrManaged,
    /// Managed settings allow no rules but their own (spec C10).
    ManagedRulesOnly,
    /// A settings file is broken, so nothing outside managed settings may widen (spec C11).
    BrokenSettings,
    /// The mode is taken away by settings (spec B).
    DisabledMode,
    /// Managed settings choose who judges, and nobody else may redirect that.
    ManagedClassifier,
    /// A stronger source chooses who judges, and this belongs to another choice.
    OtherClassifier,
    /// There are managed settings files, and only they may name the keys of policies.
    ManagedPolicyKeys,
    /// A policy that is taken from a store may not say which store that is, or by whose keys.
    PushedStore,
}

impl IgnoredReason {
    /// Says why, in one clause.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UntrustedWorkspace => "this workspace is not trusted",
            Self::InsideRepository => "a file inside the repository may not set it",
            Self::OnlyManaged => "only managed settings may set it",
            Self::OnlyUserOrManaged => "only user and managed settings may set it",
            Self::ManagedRulesOnly => "managed settings allow no rules but their own",
            Self::BrokenSettings => "a settings file is broken, and what it forbids may be lost",
            Self::DisabledMode => "settings take this mode away",
            Self::ManagedClassifier => "managed settings choose the model that judges",
            Self::OtherClassifier => "a stronger source chooses the model that judges",
            Self::ManagedPolicyKeys => {
                "there are managed settings, and only they may name the keys of policies"
            }
            Self::PushedStore => "a policy from a store may not choose the store or the keys",
        }
    }

    /// Says what would change it.
    pub const fn hint(self) -> Option<&'static str> {
        match self {
            Self::UntrustedWorkspace => Some("run `portcullis trust add`"),
            Self::InsideRepository | Self::OnlyUserOrManaged => Some("put it into your user settings"),
            Self::BrokenSettings => Some("repair the file"),
            Self::OtherClassifier => Some("set it where the provider is set"),
            Self::ManagedPolicyKeys => Some("put it into the managed settings file"),
            Self::OnlyManaged
            | Self::ManagedRulesOnly
            | Self::DisabledMode
            | Self::ManagedClassifier
            | Self::PushedStore => None,
        }
    }
}

impl fmt::Display for IgnoredSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, origin) = (visible(&self.what), self.origin.to_string());
        write!(formatter, "not used: {what} ({}): {}", visible(&origin), self.reason.as_str())?;
        match self.reason.hint() {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}
