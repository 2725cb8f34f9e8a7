//! Whether a person's yes is remembered, and for how long it counts unused.

use crate::classifier::{SettingLookup, number, switch};
use crate::keys::KeyId;

/// What settings say about the memory of what people allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySettings {
    /// Whether anything is remembered, and counts.
    pub is_enabled: bool,
    /// After how many days without a use it is forgotten; at least 1.
    pub expire_days: u32,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self { is_enabled: true, expire_days: 90 }
    }
}

impl MemorySettings {
    /// Finds them among the settings in force. Where only managed rules count, or a rule may be lost, a memory would widen
    /// what settings allow, so it is off.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>, may_widen: bool) -> Self {
        let usual = Self::default();
        Self {
            is_enabled: may_widen && switch(find, KeyId::MemoryEnabled).unwrap_or(usual.is_enabled),
            expire_days: number(find, KeyId::MemoryExpire).unwrap_or(usual.expire_days).max(1),
        }
    }
}
