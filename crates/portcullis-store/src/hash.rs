//! The hash that stands for text which is too long to keep, and for names which are no file names.

use sha2::{Digest as _, Sha256};

/// What stands before a hash that is kept in the place of a text.
const MARK: &str = "sha256:";

/// Returns the SHA-256 of a text or of bytes in hexadecimal.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Writes bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    let mut hex = String::with_capacity(bytes.len() * 2);
    hex.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    hex
}

/// Returns what is kept of a text: itself, or its hash if it is longer than `most` bytes or looks like such a hash.
pub(crate) fn kept(text: &str, most: usize) -> String {
    if text.len() > most || text.starts_with(MARK) { hashed(text) } else { text.to_owned() }
}

/// Returns the hash that stands for a text.
pub(crate) fn hashed(text: &str) -> String {
    format!("{MARK}{}", sha256(text))
}

/// A text that is compared with kept ones. It is hashed once, and only if it must be.
#[derive(Debug)]
pub(crate) struct HashedText<'a> {
    text: &'a str,
    hash: std::cell::OnceCell<String>,
}

impl<'a> HashedText<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, hash: std::cell::OnceCell::new() }
    }

    /// Says whether a kept text is this one.
    pub(crate) fn is(&self, kept: &str) -> bool {
        match kept.strip_prefix(MARK) {
            Some(hash) => self.hash.get_or_init(|| sha256(self.text)) == hash,
            None => kept == self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_hash_is_sha256_in_hexadecimal() {
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_text_is_found_again_however_it_is_kept() {
        let mark = format!("sha256:{}", sha256("abc"));
        for text in ["", "abc", "a longer text", &mark] {
            let other = format!("{text} ");
            for kept in [kept(text, 5), kept(text, 100), hashed(text)] {
                assert!(HashedText::new(text).is(&kept), "{text} {kept}");
                assert!(!HashedText::new(&other).is(&kept), "{text} {kept}");
            }
        }
    }

    #[test]
    fn a_text_cannot_pass_for_the_hash_of_another() {
        let forged = kept("abc", 2);
        assert!(forged.starts_with("sha256:"));
        assert!(!HashedText::new(&forged).is(&kept("abc", 2)));
        assert!(!HashedText::new("abc").is(&kept(&forged, 1_000)));
    }
}
