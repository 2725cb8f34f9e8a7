//! Secrets: made of 256 random bits, kept as hashes, compared without telling how far they agree.

use std::fmt;
use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use ring::rand::{SecureRandom as _, SystemRandom};

use portcullis_gate::Failure;

/// How many random bytes a secret has.
const RANDOM_BYTES: usize = 32;
/// How many bytes a hash has.
const HASH_BYTES: usize = 32;

/// Makes a secret that nobody can guess, in letters that need no escape anywhere.
pub fn fresh() -> Result<String, Failure> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Failure::internal("the system gives no random numbers, so no secret can be made"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The hash of a secret. It is all that is kept where the secret itself is not needed again.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; HASH_BYTES]);

impl SecretHash {
    /// Returns its bytes, to count by. Whoever compares two of them to let somebody in uses `==`.
    pub(crate) const fn bytes(self) -> [u8; HASH_BYTES] {
        self.0
    }

    /// Hashes a secret.
    pub fn of(secret: &str) -> Self {
        let mut bytes = [0_u8; HASH_BYTES];
        let hash = digest::digest(&digest::SHA256, secret.as_bytes());
        for (byte, hashed) in bytes.iter_mut().zip(hash.as_ref()) {
            *byte = *hashed;
        }
        Self(bytes)
    }

    /// Reads a hash that was written as text.
    pub fn read(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        let differing = self.0.iter().zip(&other.0).fold(0_u8, |seen, (left, right)| seen | (left ^ right));
        black_box(differing) == 0
    }
}

impl Eq for SecretHash {}

impl fmt::Display for SecretHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_recognised_by_their_hash() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
        assert_eq!(SecretHash::of(&one), SecretHash::of(&one));
        assert_ne!(SecretHash::of(&one), SecretHash::of(&other));
        assert_eq!(SecretHash::read(&SecretHash::of(&one).to_string()), Some(SecretHash::of(&one)));
        for broken in ["", "x", "AAAA", &"A".repeat(44)] {
            assert_eq!(SecretHash::read(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_hash_is_not_shown_by_accident() {
        assert_eq!(format!("{:?}", SecretHash::of("secret")), "SecretHash(..)");
    }
}
