//! Codes that show that a person is there: printed in a terminal of theirs, typed once in a browser.
//!
//! They live in memory and are kept as hashes, so that nothing on the disk is one.

use std::sync::{Mutex, PoisonError};

use ring::rand::{SecureRandom as _, SystemRandom};

use super::tokens::SecretHash;
use portcullis_gate::Failure;

/// The letters of a code: none that is taken for another.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How many letters a code has; with 32 of them each is worth five bits.
const LENGTH: usize = 8;
/// How many codes are good at once.
const MOST: usize = 16;
/// How many wrong codes are taken before all that are good stop to be.
const MOST_WRONG: u32 = 20;

#[derive(Debug)]
struct KeptCode {
    hash: SecretHash,
    ends_at_ms: u64,
}

#[derive(Debug, Default)]
struct KeptCodes {
    codes: Vec<KeptCode>,
    wrong: u32,
}

/// The codes that are good.
#[derive(Debug, Default)]
pub(crate) struct PresenceCodes {
    kept: Mutex<KeptCodes>,
}

impl PresenceCodes {
    /// Makes a code, which is good once and until a time.
    pub(crate) fn make(&self, ends_at_ms: u64) -> Result<String, Failure> {
        let mut bytes = [0_u8; LENGTH];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| Failure::internal("the system gives no random numbers, so no code can be made"))?;
        let letter = |byte: &u8| LETTERS.get(usize::from(byte % 32)).copied().map_or('A', char::from);
        let code: String = bytes.iter().map(letter).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let over = (kept.codes.len() + 1).saturating_sub(MOST);
        kept.codes.drain(..over);
        kept.codes.push(KeptCode { hash: SecretHash::of(&code), ends_at_ms });
        kept.wrong = 0;
        let (first, second) = code.split_at_checked(LENGTH / 2).unwrap_or((&code, ""));
        Ok(format!("{first}-{second}"))
    }

    /// Uses up a code that somebody typed; says whether it was one.
    pub(crate) fn take(&self, typed: &str, now_ms: u64) -> bool {
        let typed: String = typed.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
        let hash = SecretHash::of(&typed.to_ascii_uppercase());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.codes.retain(|code| code.ends_at_ms > now_ms);
        let before = kept.codes.len();
        // Every code is looked at, however soon one fits.
        kept.codes.retain(|code| code.hash != hash);
        let is_good = kept.codes.len() < before;
        kept.wrong = if is_good { 0 } else { kept.wrong.saturating_add(1) };
        if kept.wrong >= MOST_WRONG {
            kept.codes.clear();
        }
        is_good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_however_it_is_typed() {
        let codes = PresenceCodes::default();
        let code = codes.make(10).unwrap();
        assert_eq!(code.len(), LENGTH + 1);
        assert!(!codes.take("", 0) && !codes.take("ABCD-EFGH", 0));
        assert!(codes.take(&format!(" {} ", code.to_lowercase().replace('-', " ")), 0));
        assert!(!codes.take(&code, 0));
        let late = codes.make(10).unwrap();
        assert!(!codes.take(&late, 10));
    }

    #[test]
    fn whoever_guesses_ends_every_code() {
        let codes = PresenceCodes::default();
        let code = codes.make(10).unwrap();
        for _ in 0..MOST_WRONG {
            assert!(!codes.take("WRONG234", 0));
        }
        assert!(!codes.take(&code, 0));
        let fresh = codes.make(10).unwrap();
        assert!(codes.take(&fresh, 0));
    }

    #[test]
    fn memory_is_bounded() {
        let codes = PresenceCodes::default();
        for _ in 0..3 * MOST {
            codes.make(10).unwrap();
        }
        assert_eq!(codes.kept.lock().unwrap().codes.len(), MOST);
    }
}
