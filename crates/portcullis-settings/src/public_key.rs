//! Public keys of those who may sign policies, written as `NAME:BASE64`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, UnparsedPublicKey};

/// How long the name of a key may be.
const LONGEST_NAME: usize = 64;
/// How long an Ed25519 public key is.
const LENGTH: usize = 32;

/// A public key and the name it is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The name, which a policy gives to say who signed it.
    pub name: String,
    bytes: [u8; LENGTH],
}

impl PublicKey {
    /// Names a key; `None` if the name has other characters than letters, digits, `.`, `_` and `-`, or the key has
    /// another length.
    pub fn new(name: &str, bytes: &[u8]) -> Option<Self> {
        let is_word =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
        let is_name = (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_word);
        let bytes = bytes.try_into().ok()?;
        is_name.then(|| Self { name: name.to_owned(), bytes })
    }

    /// Reads `NAME:BASE64`, or says what is wrong.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (name, key) = text.split_once(':').ok_or("a key has no name before it")?;
        let bytes = STANDARD.decode(key).map_err(|_| "a key is not in base64")?;
        if bytes.len() != LENGTH {
            return Err("a key does not have the length of an Ed25519 public key");
        }
        Self::new(name, &bytes)
            .ok_or("the name of a key has other characters than letters, digits, `.`, `_`, `-`")
    }

    /// Says whether the owner of the key signed these bytes.
    pub(super) fn has_signed(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.bytes).verify(bytes, signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.name, STANDARD.encode(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = PublicKey::new("ops-2026.a_b", &[7; LENGTH]).unwrap();
        assert_eq!(PublicKey::parse(&key.to_string()), Ok(key));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let fine = STANDARD.encode([7; LENGTH]);
        let long = "n".repeat(LONGEST_NAME + 1);
        for wrong in [
            fine.clone(),
            format!(":{fine}"),
            format!("a b:{fine}"),
            format!("a:b:{fine}"),
            format!("é:{fine}"),
            format!("{long}:{fine}"),
            format!("a: {fine}"),
            format!("a:{}", fine.trim_end_matches('=')),
            format!("a:{}", STANDARD.encode([7; LENGTH - 1])),
            "a:".to_owned(),
        ] {
            assert!(PublicKey::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
