//! How questions wait for a person, and where else they are shown.

use crate::classifier::{SettingLookup, number, switch};
use crate::hooks::WebhookSettings;
use crate::keys::KeyId;
use crate::layer::SettingValue;

/// What settings say about questions that wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalSettings {
    /// Whether questions wait at all.
    pub is_enabled: bool,
    /// How long a call waits for an answer, from 0 to 75.
    pub wait_seconds: u32,
    /// How long a question can be answered, from 1 to 10,080.
    pub expire_minutes: u32,
    /// Where questions are posted to; `None` also if what settings say about it is wrong.
    pub webhook: Option<WebhookSettings>,
    /// Whether questions are shown as notifications of the desktop.
    pub is_desktop: bool,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self { is_enabled: true, wait_seconds: 60, expire_minutes: 60, webhook: None, is_desktop: false }
    }
}

impl ApprovalSettings {
    /// Finds them among the settings in force.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        let usual = Self::default();
        let webhook = find(KeyId::ApprovalsWebhook).and_then(|setting| match &setting.value {
            SettingValue::Webhook(webhook) => Some(webhook.as_ref().clone()),
            _ => None,
        });
        Self {
            is_enabled: switch(find, KeyId::ApprovalsEnabled).unwrap_or(usual.is_enabled),
            wait_seconds: number(find, KeyId::ApprovalsWait).unwrap_or(usual.wait_seconds),
            expire_minutes: number(find, KeyId::ApprovalsExpire).unwrap_or(usual.expire_minutes),
            webhook,
            is_desktop: switch(find, KeyId::ApprovalsDesktop).unwrap_or(usual.is_desktop),
        }
    }
}
