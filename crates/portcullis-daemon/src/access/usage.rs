//! How many connections and event streams each token has, so that no token can take all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tokens::SecretHash;

/// What a token has several of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UsageKind {
    /// A connection whose last request came with the token.
    Connection,
    /// A stream of events.
    Stream,
}

/// The token, and what it has; whoever shows none shares one place.
type UsageKey = (UsageKind, [u8; 32]);

/// What is in use, by token.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    counts: Mutex<BTreeMap<UsageKey, usize>>,
}

/// One thing in use, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct UsagePermit {
    usage: Arc<Usage>,
    key: UsageKey,
}

impl Usage {
    /// Takes one more; `None` if so many are in use already.
    pub(crate) fn take(
        self: &Arc<Self>,
        kind: UsageKind,
        token: Option<SecretHash>,
        most: usize,
    ) -> Option<UsagePermit> {
        let key = (kind, token.map(SecretHash::bytes).unwrap_or_default());
        let mut counts = self.counts();
        let count = counts.entry(key).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(UsagePermit { usage: Arc::clone(self), key })
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<UsageKey, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UsagePermit {
    fn drop(&mut self) {
        let mut counts = self.usage.counts();
        let left = counts.get(&self.key).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            counts.remove(&self.key);
        } else {
            counts.insert(self.key, left);
        }
    }
}

/// A connection, and the token that it counts for.
#[derive(Debug, Default)]
pub(crate) struct ConnectionOwner {
    permit: Mutex<Option<UsagePermit>>,
}

impl ConnectionOwner {
    /// Lets the connection count for a token from now on. Says whether the token may have one more.
    pub(crate) fn belong_to(&self, usage: &Arc<Usage>, token: SecretHash, most: usize) -> bool {
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        if permit.as_ref().is_some_and(|permit| permit.key.1 == token.bytes()) {
            return true;
        }
        *permit = usage.take(UsageKind::Connection, Some(token), most);
        permit.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_so_many_and_gives_them_back() {
        let usage = Arc::new(Usage::default());
        let [one, two] = ["one", "two"].map(SecretHash::of);
        let take = |token| usage.take(UsageKind::Stream, Some(token), 2);
        let held = (take(one), take(one));
        assert!(held.0.is_some() && held.1.is_some() && take(one).is_none());
        assert!(take(two).is_some(), "another token has its own");
        assert!(usage.take(UsageKind::Connection, Some(one), 2).is_some(), "and so has another kind");
        drop(held);
        assert!(take(one).is_some());
        assert!(usage.counts().is_empty(), "what nobody has takes no room");
    }

    #[test]
    fn a_connection_counts_once_and_for_the_last_token() {
        let usage = Arc::new(Usage::default());
        let [one, two] = ["one", "two"].map(SecretHash::of);
        let [first, second] = [ConnectionOwner::default(), ConnectionOwner::default()];
        assert!(first.belong_to(&usage, one, 1) && first.belong_to(&usage, one, 1));
        assert!(!second.belong_to(&usage, one, 1));
        assert!(first.belong_to(&usage, two, 1));
        assert!(second.belong_to(&usage, one, 1));
        drop((first, second));
        assert!(usage.counts().is_empty());
    }
}
