//! The address that questions are posted to.

use std::fmt;

use crate::hooks::shown_address;

/// Where questions are posted to.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// The address: `https://`, or `http://` of this machine.
    pub url: String,
    /// Further headers, their values as written: `$NAME` stands for a variable that `variables` names.
    pub headers: Vec<(String, String)>,
    /// The variables that headers may name.
    pub variables: Vec<String>,
}

/// Shows the host alone: the rest of the address and the headers may be secret.
impl fmt::Debug for WebhookSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebhookSettings")
            .field("url", &shown_address(&self.url))
            .finish_non_exhaustive()
    }
}
