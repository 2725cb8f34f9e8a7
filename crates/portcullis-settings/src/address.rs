//! Addresses that may carry a password, and how they are shown without it.

use std::fmt;

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

/// Leaves out the user and the password an address may carry, wherever it was meant to end.
pub(crate) fn without_password(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        (_, None) => address.to_owned(),
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

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, shown) in [
            ("http://proxy.example.com:8080", "http://proxy.example.com:8080"),
            ("http://me:secret@proxy.example.com:8080/x", "http://…@proxy.example.com:8080/x"),
            ("http://me:s@cret@proxy.example.com", "http://…@proxy.example.com"),
            ("http://me:sec/ret@proxy.example.com", "http://…@proxy.example.com"),
            ("me:secret@proxy.example.com", "…@proxy.example.com"),
            ("https://token@example.com", "https://…@example.com"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
