//! The keys that were registered, and the challenges that wait for an answer.
//!
//! The file is read when the daemon starts and never again: what somebody writes into it meanwhile counts for nothing.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use portcullis_settings::disk::{FilePrivacy, read_text, replace};
use serde::{Deserialize, Serialize};

use super::webauthn::{AskedSite, PasskeyPublicKey, PasskeyResponse};
use crate::tokens::secret::fresh;
use portcullis_gate::Failure;
use portcullis_gate::daemon_client::Places;

/// The longest file, in bytes.
const LONGEST: u64 = 1 << 20;
/// How many keys there are at most.
const MOST: usize = 32;
/// How many challenges wait at once; the oldest makes room.
const MOST_CHALLENGES: usize = 64;
/// How long a challenge waits, in milliseconds.
const CHALLENGE_MS: u64 = 5 * 60 * 1_000;

/// A key that was registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Passkey {
    id: String,
    site: String,
    key: PasskeyPublicKey,
    counter: u32,
}

/// A challenge that waits for an answer.
#[derive(Debug)]
struct PasskeyChallenge {
    text: String,
    /// Whose it is: what the forms of a session carry; empty for whoever signs in.
    owner: String,
    ends_at_ms: u64,
}

#[derive(Debug, Default)]
struct KeptPasskeys {
    keys: Vec<Passkey>,
    challenges: Vec<PasskeyChallenge>,
}

/// All passkeys.
#[derive(Debug)]
pub(crate) struct Passkeys {
    file: PathBuf,
    kept: Mutex<KeptPasskeys>,
}

impl Passkeys {
    /// Reads the keys. A file that cannot be read has none in it.
    pub(crate) fn open(places: &Places) -> Self {
        let file = places.root().join("passkeys.json");
        let text = read_text(&file, LONGEST).ok().flatten().unwrap_or_default();
        let keys = serde_json::from_str(&text).unwrap_or_default();
        Self { file, kept: Mutex::new(KeptPasskeys { keys, challenges: Vec::new() }) }
    }

    /// Makes a challenge; returns it with the ids of the keys of a site.
    pub(super) fn challenge(
        &self,
        owner: &str,
        site: &AskedSite,
        now_ms: u64,
    ) -> Result<(String, Vec<String>), Failure> {
        let text = fresh()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.challenges.retain(|challenge| challenge.ends_at_ms > now_ms);
        let over = (kept.challenges.len() + 1).saturating_sub(MOST_CHALLENGES);
        kept.challenges.drain(..over);
        let ends_at_ms = now_ms.saturating_add(CHALLENGE_MS);
        kept.challenges.push(PasskeyChallenge { text: text.clone(), owner: owner.to_owned(), ends_at_ms });
        let of_site = kept.keys.iter().filter(|key| key.site == site.name);
        let ids = of_site.map(|key| key.id.clone()).collect();
        Ok((text, ids))
    }

    /// Adds a key; says whether it is one.
    pub(super) fn register(
        &self,
        response: &PasskeyResponse,
        owner: &str,
        site: &AskedSite,
        now_ms: u64,
    ) -> Result<bool, Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(challenge) = kept.take(response, owner, now_ms) else { return Ok(false) };
        let Some((key, counter)) = response.registered(site, &challenge) else { return Ok(false) };
        if kept.keys.len() >= MOST || kept.keys.iter().any(|known| known.id == response.id) {
            return Ok(false);
        }
        kept.keys.push(Passkey { id: response.id.clone(), site: site.name.clone(), key, counter });
        self.write(&kept.keys).map(|()| true)
    }

    /// Says whether the holder of a key answered a challenge.
    pub(super) fn is_used(
        &self,
        response: &PasskeyResponse,
        owner: &str,
        site: &AskedSite,
        now_ms: u64,
    ) -> Result<bool, Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(challenge) = kept.take(response, owner, now_ms) else { return Ok(false) };
        let known = kept.keys.iter_mut().find(|key| key.id == response.id && key.site == site.name);
        let Some(known) = known else { return Ok(false) };
        let Some(counter) = response.verified(&known.key, site, &challenge) else { return Ok(false) };
        // A counter that does not grow is that of a copy; most keys do not count.
        if (counter != 0 || known.counter != 0) && counter <= known.counter {
            return Ok(false);
        }
        let is_counted = known.counter != counter;
        known.counter = counter;
        if is_counted {
            self.write(&kept.keys)?;
        }
        Ok(true)
    }

    /// Takes all keys back; returns how many there were.
    pub(super) fn forget(&self) -> Result<usize, Failure> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let many = std::mem::take(&mut kept.keys).len();
        self.write(&kept.keys).map(|()| many)
    }

    fn write(&self, keys: &[Passkey]) -> Result<(), Failure> {
        let failed = |what: String| Failure::internal(format!("the passkeys were not written: {what}"));
        let before = read_text(&self.file, LONGEST).map_err(|error| failed(error.message))?;
        let text = serde_json::to_string(keys).map_err(|error| failed(error.to_string()))?;
        replace(&self.file, before.as_deref(), &format!("{text}\n"), FilePrivacy::Private)
            .map_err(|error| failed(format!("{error:?}")))
    }
}

impl KeptPasskeys {
    /// Uses up the challenge that a response answers.
    fn take(&mut self, response: &PasskeyResponse, owner: &str, now_ms: u64) -> Option<String> {
        let answered = response.challenge()?;
        let is_it = |challenge: &PasskeyChallenge| {
            challenge.text == answered && challenge.owner == owner && challenge.ends_at_ms > now_ms
        };
        let at = self.challenges.iter().position(is_it)?;
        Some(self.challenges.remove(at).text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::webauthn::tests::{Authenticator, site};
    use super::*;

    fn opened() -> (tempfile::TempDir, Passkeys) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("daemon")).unwrap();
        let keys = Passkeys::open(&Places::new(folder.path()));
        (folder, keys)
    }

    #[test]
    fn a_key_is_registered_used_and_forgotten() {
        let (folder, keys) = opened();
        let key = Authenticator::es256();
        let (challenge, none) = keys.challenge("s", &site(), 0).unwrap();
        assert!(none.is_empty());
        assert!(keys.register(&key.register(&challenge), "s", &site(), 0).unwrap());
        let again = Passkeys::open(&Places::new(folder.path()));
        for keys in [&keys, &again] {
            let (challenge, ids) = keys.challenge("s", &site(), 0).unwrap();
            assert_eq!(ids.len(), 1);
            assert!(keys.is_used(&key.answer(&challenge, 0), "s", &site(), 0).unwrap());
        }
        assert_eq!(keys.forget().unwrap(), 1);
        let (challenge, _) = keys.challenge("s", &site(), 0).unwrap();
        assert!(!keys.is_used(&key.answer(&challenge, 0), "s", &site(), 0).unwrap());
    }

    #[test]
    fn a_challenge_is_answered_once_by_whom_it_was_given_to_and_in_time() {
        let (_folder, keys) = opened();
        let key = Authenticator::eddsa();
        let (challenge, _) = keys.challenge("s", &site(), 0).unwrap();
        assert!(!keys.register(&key.register(&challenge), "other", &site(), 0).unwrap());
        assert!(keys.register(&key.register(&challenge), "s", &site(), 0).unwrap());
        let (challenge, _) = keys.challenge("s", &site(), 0).unwrap();
        let answer = key.answer(&challenge, 0);
        assert!(!keys.is_used(&answer, "s", &site(), CHALLENGE_MS).unwrap(), "too late");
        assert!(keys.is_used(&answer, "s", &site(), 0).unwrap());
        assert!(!keys.is_used(&answer, "s", &site(), 0).unwrap(), "a second time");
        assert!(!keys.is_used(&key.answer("made up", 0), "s", &site(), 0).unwrap());
    }

    #[test]
    fn a_copy_of_a_key_is_found_by_its_counter() {
        let (_folder, keys) = opened();
        let key = Authenticator::es256();
        let (challenge, _) = keys.challenge("s", &site(), 0).unwrap();
        assert!(keys.register(&key.register(&challenge), "s", &site(), 0).unwrap());
        for (counter, is_good) in [(5, true), (5, false), (4, false), (0, false), (6, true)] {
            let (challenge, _) = keys.challenge("s", &site(), 0).unwrap();
            assert_eq!(
                keys.is_used(&key.answer(&challenge, counter), "s", &site(), 0).unwrap(),
                is_good,
                "{counter}"
            );
        }
    }
}
