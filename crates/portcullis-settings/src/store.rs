//! Where everything that outlives a process is kept, and whose policies are taken from there.

use crate::address::StoreUrl;
use crate::classifier::{SettingLookup, complain, text};
use crate::keys::KeyId;
use crate::layer::SettingValue;

/// What settings say about the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreSettings {
    /// The database that is shared with others; `None` for the files of this machine.
    pub url: Option<StoreUrl>,
    /// The keys whose policies are taken from the store, each as `NAME:BASE64`.
    pub policy_keys: Vec<String>,
    /// Why nothing may be kept: the address is wrong, and files in its place would not be what its author meant. Lower
    /// case, no final period, with its place.
    pub broken: Option<String>,
}

impl StoreSettings {
    /// Says whether everything is kept elsewhere, or was meant to be.
    pub const fn is_shared(&self) -> bool {
        self.url.is_some() || self.broken.is_some()
    }

    /// Finds them among the settings in force.
    pub(crate) fn assemble<'settings>(find: &impl SettingLookup<'settings>) -> Self {
        let wrong = find(KeyId::StoreUrl).filter(|setting| setting.value == SettingValue::Wrong);
        let policy_keys = match find(KeyId::StorePolicyKeys).map(|setting| &setting.value) {
            Some(SettingValue::Words(keys)) => keys.clone(),
            _ => Vec::new(),
        };
        Self { url: text(find, KeyId::StoreUrl).map(StoreUrl::new), policy_keys, broken: wrong.map(complain) }
    }
}
