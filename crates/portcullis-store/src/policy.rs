//! A policy that is pushed to a fleet: settings as text, with a version and a signature.

use serde::{Deserialize, Serialize};

/// Managed settings with their version, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedPolicy {
    /// Its version; the first is 1, and each is one more than the one before it.
    pub version: u64,
    /// When it was signed, in unix milliseconds.
    pub signed_at_ms: u64,
    /// The settings, as the JSON text that was signed.
    pub settings: String,
    /// What it changes, for people.
    pub note: String,
    /// The id of the key it is signed with.
    pub key: String,
    /// The signature over version, time, note and settings, in base64.
    pub signature: String,
}

/// A version that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyVersion {
    /// The version.
    pub version: u64,
    /// When it was signed.
    pub signed_at_ms: u64,
    /// What it changes.
    pub note: String,
    /// The id of the key.
    pub key: String,
}
