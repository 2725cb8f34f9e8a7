//! What is recorded of decisions, and for how long.

use crate::classifier::{SettingLookup, number, switch};
use crate::keys::KeyId;

/// What settings say about the audit trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditSettings {
    /// Whether decisions for agents are recorded.
    pub is_enabled: bool,
    /// How many days records are kept; 0 is for ever.
    pub retention_days: u32,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { is_enabled: true, retention_days: 90 }
    }
}

impl AuditSettings {
    /// Finds them among the settings in force. A wrong value is the usual one, which records.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        let usual = Self::default();
        Self {
            is_enabled: switch(find, KeyId::AuditEnabled).unwrap_or(usual.is_enabled),
            retention_days: number(find, KeyId::AuditRetention).unwrap_or(usual.retention_days),
        }
    }
}
