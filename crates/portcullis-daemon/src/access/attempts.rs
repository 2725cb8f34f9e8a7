//! Wrong tokens: whoever tries many from one address waits ever longer for each answer, and nobody else does.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Peer;
use portcullis_gate::clock::now_ms;

/// How many wrong tokens are answered at once.
const FREE: u32 = 10;
/// After how long without a wrong token an address starts anew.
const FORGOTTEN_MS: u64 = 60_000;
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(2);
/// How many addresses are remembered; when there are more, the oldest go.
const MOST: usize = 1_024;

#[derive(Debug, Clone, Copy)]
struct Seen {
    count: u32,
    last_ms: u64,
}

/// The wrong tokens of late, by address.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    seen: Mutex<HashMap<IpAddr, Seen>>,
}

impl Attempts {
    /// Counts a wrong token and waits for as long as that takes. Processes of this user do not wait.
    pub(crate) async fn slow_down(&self, peer: Peer) {
        let Peer::Network(address) = peer else { return };
        let wait = self.wrong(address, now_ms());
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
    }

    /// Counts a wrong token and returns how long its answer waits.
    fn wrong(&self, address: IpAddr, now_ms: u64) -> Duration {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&address) {
            all.retain(|_, seen| now_ms.saturating_sub(seen.last_ms) < FORGOTTEN_MS);
            if all.len() >= MOST {
                // Too many addresses at once to tell them apart.
                return LONGEST;
            }
        }
        let seen = all.entry(address).or_insert(Seen { count: 0, last_ms: now_ms });
        if now_ms.saturating_sub(seen.last_ms) >= FORGOTTEN_MS {
            seen.count = 0;
        }
        *seen = Seen { count: seen.count.saturating_add(1), last_ms: now_ms };
        let over = seen.count.saturating_sub(FREE);
        LONGEST.min(Duration::from_millis(50).saturating_mul(over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_wrong_tokens_wait_longer_and_nobody_else_does() {
        let attempts = Attempts::default();
        let (one, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        for _ in 0..FREE {
            assert_eq!(attempts.wrong(one, 0), Duration::ZERO);
        }
        assert_eq!(attempts.wrong(one, 0), Duration::from_millis(50));
        assert_eq!(attempts.wrong(one, 0), Duration::from_millis(100));
        assert_eq!(attempts.wrong(other, 0), Duration::ZERO);
        for _ in 0..1_000 {
            assert!(attempts.wrong(one, 1) <= LONGEST);
        }
        assert_eq!(attempts.wrong(one, 1), LONGEST);
        assert_eq!(attempts.wrong(one, 1 + FORGOTTEN_MS), Duration::ZERO);
    }

    #[test]
    fn memory_is_bounded_however_many_addresses_try() {
        let attempts = Attempts::default();
        for number in 0..5_000_u32 {
            attempts.wrong(IpAddr::from(number.to_be_bytes()), 0);
        }
        assert_eq!(attempts.seen.lock().unwrap().len(), MOST);
        assert_eq!(attempts.wrong(IpAddr::from([9, 9, 9, 9]), FORGOTTEN_MS), Duration::ZERO);
    }
}
