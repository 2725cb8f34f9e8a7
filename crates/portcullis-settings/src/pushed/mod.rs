//! A policy that is pushed through a store: managed settings with a version, signed, and checked by every reader.
//!
//! ```text
//! settings ──sign──► store ──pull──► $state/policy/current.json ──load──► managed settings, `policy version N`
//! ```
//!
//! INVARIANT: what is in force was signed by a key that user or managed settings name, whoever wrote the file. The store
//! and the state directory can hold a policy back or lose it, and then nothing outside managed settings widens.

mod check;
mod files;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::public_key::PublicKey;
pub use check::PolicyCheck;
pub use files::{PolicyFiles, PolicyInstallation};

/// What every signature begins with, so that no signature for something else is one of a policy.
const DOMAIN: &[u8] = b"portcullis policy v1\n";

/// Managed settings with their version, signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedPolicy {
    /// Its version, from 1.
    pub version: u64,
    /// When it was signed, in unix milliseconds.
    pub signed_at_ms: u64,
    /// The settings, as the JSON text that was signed.
    pub settings: String,
    /// What it changes, for people.
    pub note: String,
    /// The name of the key it is signed with.
    pub key: String,
    /// The signature, in base64.
    pub signature: String,
}

/// Which policy is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyStamp {
    /// Its version.
    pub version: u64,
    /// When it was signed, in unix milliseconds.
    pub signed_at_ms: u64,
    /// The name of the key it is signed with.
    pub key: String,
}

/// Why a policy is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyRefusal {
    /// No such key is trusted.
    #[error("policy version {version} is signed by `{key}`, and `store.policyKeys` names no such key")]
    UnknownKey {
        /// The version.
        version: u64,
        /// The name of the key.
        key: String,
    },
    /// The signature does not fit.
    #[error("the signature of policy version {version} is not one of the key `{key}`")]
    WrongSignature {
        /// The version.
        version: u64,
        /// The name of the key.
        key: String,
    },
    /// A later one was seen before.
    #[error("policy version {version} is older than version {seen}, which was in force")]
    Older {
        /// The version.
        version: u64,
        /// The one that was seen.
        seen: u64,
    },
    /// Another policy of the same version was seen before.
    #[error("policy version {version} is not the one that was in force under this number")]
    Changed {
        /// The version.
        version: u64,
    },
    /// The file, or what was read from the store, is no policy.
    #[error("this is no policy: {0}")]
    NotPolicy(String),
    /// The file cannot be read or written, or others may change it.
    #[error("{0}")]
    File(String),
}

impl PushedPolicy {
    /// Returns what is signed. Every field has its length before it, so that nothing can be moved from one to another.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut bytes = DOMAIN.to_vec();
        bytes.extend(self.version.to_be_bytes());
        bytes.extend(self.signed_at_ms.to_be_bytes());
        for field in [&self.key, &self.note, &self.settings] {
            bytes.extend(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
            bytes.extend(field.as_bytes());
        }
        bytes
    }

    /// Checks the signature by the key it names, which must be one of `keys`.
    pub fn verify(&self, keys: &[PublicKey]) -> Result<(), PolicyRefusal> {
        let version = self.version;
        if version == 0 {
            return Err(PolicyRefusal::NotPolicy("versions begin with 1".to_owned()));
        }
        let Some(key) = keys.iter().find(|key| key.name == self.key) else {
            return Err(PolicyRefusal::UnknownKey { version, key: shortened(&self.key) });
        };
        let is_signed = STANDARD
            .decode(&self.signature)
            .is_ok_and(|signature| key.has_signed(&self.signed_bytes(), &signature));
        if is_signed {
            Ok(())
        } else {
            Err(PolicyRefusal::WrongSignature { version, key: shortened(&self.key) })
        }
    }

    /// Returns a text that differs for every two policies.
    pub(crate) fn fingerprint(&self) -> String {
        STANDARD.encode(digest(&SHA256, &self.signed_bytes()))
    }

    /// Says which policy it is.
    pub(crate) fn stamp(&self) -> PolicyStamp {
        PolicyStamp { version: self.version, signed_at_ms: self.signed_at_ms, key: self.key.clone() }
    }

    fn to_text(&self) -> String {
        let Self { version, signed_at_ms, settings, note, key, signature } = self;
        let object = json!({
            "version": version,
            "signedAtMs": signed_at_ms,
            "key": key,
            "signature": signature,
            "note": note,
            "settings": settings,
        });
        format!("{object:#}\n")
    }

    fn parse(text: &str) -> Result<Self, PolicyRefusal> {
        let refuse = |what: &str| PolicyRefusal::NotPolicy(what.to_owned());
        let value: Value = serde_json::from_str(text).map_err(|_| refuse("it is not JSON"))?;
        let number = |name: &str| {
            let number = value.get(name).and_then(Value::as_u64);
            number.ok_or_else(|| refuse(&format!("`{name}` is missing or no number")))
        };
        let text = |name: &str| {
            let text = value.get(name).and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| refuse(&format!("`{name}` is missing or no text")))
        };
        Ok(Self {
            version: number("version")?,
            signed_at_ms: number("signedAtMs")?,
            settings: text("settings")?,
            note: text("note")?,
            key: text("key")?,
            signature: text("signature")?,
        })
    }
}

impl PolicyStamp {
    /// Returns the name its settings have among documents and origins.
    pub fn name(&self) -> String {
        format!("policy version {}", self.version)
    }
}

impl fmt::Display for PolicyStamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, signed by `{}`", self.name(), self.key)
    }
}

/// A name that anybody may have chosen, short enough for a message.
fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
}
