//! Where everything that outlives a process is kept, and whose policies are taken from there.

use std::fmt;

use crate::classifier::{SettingLookup, complain, text};
use crate::keys::KeyId;
use crate::layer::{SettingValue, without_password};

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

/// The address of a store. It may carry a password, so that showing it leaves out everything but the place.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// Wraps an address.
    pub const fn new(address: String) -> Self {
        Self(address)
    }

    /// Returns the address with its password, for connecting.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the parameters too, which can carry a password as well.
        let place = without_password(&self.0);
        formatter.write_str(place.split('?').next().unwrap_or_default())
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "StoreUrl({self})")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_anything_secret() {
        for (address, shown) in [
            ("postgres://db.example.com/fleet", "postgres://db.example.com/fleet"),
            ("postgres://me:secret@db.example.com:5432/fleet", "postgres://…@db.example.com:5432/fleet"),
            ("postgres://me:secret@db/fleet?sslmode=require", "postgres://…@db/fleet"),
            ("postgres://db/fleet?sslpassword=secret", "postgres://db/fleet"),
        ] {
            let url = StoreUrl::new(address.to_owned());
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("StoreUrl({shown})"));
            assert_eq!(url.expose(), address);
        }
    }
}
