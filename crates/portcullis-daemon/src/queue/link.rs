//! Links that answer one question: whoever was sent one may answer that question, and nothing else, while it is open.
//!
//! The key in a link is made of the id by a secret that never leaves the daemon's memory: in a file, whoever may read the
//! file could make links of their own. So a link is worth nothing after a restart, nor once somebody answered.

use std::sync::{Mutex, OnceLock, PoisonError};

use ring::hmac;
use ring::rand::SystemRandom;

use portcullis_gate::hex;

/// What a key is made for; another use of the secret would need another.
const PURPOSE: &[u8] = b"portcullis approval link v1\n";

/// Makes and checks links.
#[derive(Debug, Default)]
pub(super) struct Links {
    base: Mutex<Option<String>>,
    secret: OnceLock<Option<hmac::Key>>,
}

impl Links {
    /// Says where the page is.
    pub(super) fn set_base(&self, url: &str) {
        let url = url.trim_end_matches('/').to_owned();
        *self.base.lock().unwrap_or_else(PoisonError::into_inner) = Some(url);
    }

    /// Returns the link of a question; `None` if nobody said where the page is, or there is no secret.
    pub(super) fn link(&self, id: &str) -> Option<String> {
        let base = self.base.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let tag = hmac::sign(self.secret()?, &signed(id));
        Some(format!("{base}/approvals/{id}?key={}", hex(tag.as_ref())))
    }

    /// Says whether a key belongs to a question; takes as long for a wrong one as for a right one.
    pub(super) fn is_key(&self, id: &str, key: &str) -> bool {
        let pair = |pair: &[u8]| {
            let text = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(text, 16).ok()
        };
        if key.len() != 64 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        let Some(tag) = key.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>() else { return false };
        self.secret().is_some_and(|secret| hmac::verify(secret, &signed(id), &tag).is_ok())
    }

    fn secret(&self) -> Option<&hmac::Key> {
        let make = || hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok();
        self.secret.get_or_init(make).as_ref()
    }
}

fn signed(id: &str) -> Vec<u8> {
    [PURPOSE, id.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_its_own_question_alone() {
        let links = Links::default();
        assert_eq!(links.link("a1"), None, "nobody said where the page is");
        links.set_base("http://127.0.0.1:7117/");
        let link = links.link("a1").unwrap();
        let (page, key) = link.split_once("?key=").unwrap();
        assert_eq!(page, "http://127.0.0.1:7117/approvals/a1");
        assert!(links.is_key("a1", key));
        assert!(!Links::default().is_key("a1", key), "another daemon has another secret");
        for (id, wrong) in [
            ("a2", key),
            ("a1", ""),
            ("a1", key.trim_start_matches(|first| key.starts_with(first))),
            ("a1", &"0".repeat(64)),
            ("a1", &"é".repeat(32)),
        ] {
            assert!(!links.is_key(id, wrong), "{id} {wrong}");
        }
    }
}
