//! What is recorded of decisions, for how long, and where the end of the record is kept besides.

use std::path::PathBuf;

use crate::classifier::{SettingLookup, file, number, switch, words};
use crate::hooks::WebhookSettings;
use crate::keys::KeyId;
use crate::layer::SettingValue;

/// What settings say about the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether decisions for agents are recorded.
    pub is_enabled: bool,
    /// How many days records are kept; 0 is for ever.
    pub retention_days: u32,
    /// Where the end of the trail is sent.
    pub head: HeadSettings,
}

/// Where the end of the trail is sent, so that nobody has to remember it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadSettings {
    /// After how many records; at least 1.
    pub every: u32,
    /// A file it is appended to.
    pub file: Option<PathBuf>,
    /// A program that is told it, and its arguments; empty for none.
    pub command: Vec<String>,
    /// Whether the system log is told it.
    pub is_syslog: bool,
    /// An address it is posted to; `None` also if what settings say about it is wrong.
    pub webhook: Option<WebhookSettings>,
}

impl HeadSettings {
    /// Says whether it is sent anywhere.
    pub const fn has_place(&self) -> bool {
        self.file.is_some() || self.is_syslog || self.needs_program()
    }

    /// Says whether somebody must be asked who may take long.
    pub const fn needs_program(&self) -> bool {
        !self.command.is_empty() || self.webhook.is_some()
    }
}

impl Default for HeadSettings {
    fn default() -> Self {
        Self { every: 100, file: None, command: Vec::new(), is_syslog: false, webhook: None }
    }
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { is_enabled: true, retention_days: 90, head: HeadSettings::default() }
    }
}

impl AuditSettings {
    /// Finds them among the settings in force. A wrong value is the usual one, which records.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        let usual = Self::default();
        Self {
            is_enabled: switch(find, KeyId::AuditEnabled).unwrap_or(usual.is_enabled),
            retention_days: number(find, KeyId::AuditRetention).unwrap_or(usual.retention_days),
            head: HeadSettings::assemble(find),
        }
    }
}

impl HeadSettings {
    fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        let usual = Self::default();
        let webhook = find(KeyId::AuditHeadWebhook).and_then(|setting| match &setting.value {
            SettingValue::Webhook(webhook) => Some(webhook.as_ref().clone()),
            _ => None,
        });
        Self {
            every: number(find, KeyId::AuditHeadEvery).unwrap_or(usual.every).max(1),
            file: file(find, KeyId::AuditHeadFile),
            command: words(find, KeyId::AuditHeadCommand),
            is_syslog: switch(find, KeyId::AuditHeadSyslog).unwrap_or(usual.is_syslog),
            webhook,
        }
    }
}
