//! Ids of traces and spans: by chance, and without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

use ring::rand::{SecureRandom as _, SystemRandom};

/// The step of the sequence: an odd number, so that no value comes twice before all have come.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where ids come from. They tell things apart and are no secrets.
#[derive(Debug)]
pub(super) struct Ids {
    next: AtomicU64,
    salt: u64,
}

impl Ids {
    /// Begins at a place that nobody else begins at.
    pub(super) fn new() -> Self {
        let mut seed = [0; 16];
        if SystemRandom::new().fill(&mut seed).is_err() {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            seed = (now.as_nanos() ^ u128::from(std::process::id()) << 64).to_be_bytes();
        }
        let [next, salt] = halves(seed);
        Self { next: AtomicU64::new(next), salt }
    }

    /// Makes the id of a trace.
    pub(super) fn trace(&self) -> [u8; 16] {
        let (high, low) = (self.number(), self.number());
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    /// Makes the id of a span.
    pub(super) fn span(&self) -> [u8; 8] {
        self.number().to_be_bytes()
    }

    /// Mixes the bits of the next number of the sequence. None is zero, which would be no id.
    fn number(&self) -> u64 {
        let mut number = self.next.fetch_add(STEP, Ordering::Relaxed);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^= (number >> 31) ^ self.salt;
        number.max(1)
    }
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let number = u128::from_be_bytes(bytes);
    let low = u64::try_from(number & u128::from(u64::MAX)).unwrap_or_default();
    [u64::try_from(number >> 64).unwrap_or_default(), low]
}

/// Writes an id in hexadecimal digits, as OTLP has it in JSON.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn no_id_comes_twice_and_none_is_zero() {
        let ids = Ids::new();
        let made: BTreeSet<[u8; 8]> = (0..10_000).map(|_| ids.span()).collect();
        assert_eq!(made.len(), 10_000);
        assert!(!made.contains(&[0; 8]));
        assert_ne!(Ids::new().trace(), Ids::new().trace());
    }

    #[test]
    fn ids_are_written_in_lower_case() {
        assert_eq!(hex(&[0, 0xab, 0x10]), "00ab10");
    }
}
