//! Links that answer one question: whoever was sent one may answer that question, and nothing else, while it is open.
//!
//! The key in a link is made of the id by a secret that stays in the daemon's directory, so nothing more has to be kept,
//! and a link works after a restart. It is worth nothing once somebody answered.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use portcullis_gate::daemon_client::Places;
use portcullis_gate::hex;

/// What a key is made for; another use of the secret would need another.
const PURPOSE: &[u8] = b"portcullis approval link v1\n";

/// Makes and checks links.
#[derive(Debug)]
pub(super) struct Links {
    file: PathBuf,
    base: Mutex<Option<String>>,
    secret: OnceLock<Option<hmac::Key>>,
}

impl Links {
    /// Names the file of the secret. Nothing is read or made yet.
    pub(super) fn new(state: &Path) -> Self {
        let file = Places::new(state).root().join("link.secret");
        Self { file, base: Mutex::new(None), secret: OnceLock::new() }
    }

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
        self.secret.get_or_init(|| Some(hmac::Key::new(hmac::HMAC_SHA256, &secret(&self.file)?))).as_ref()
    }
}

fn signed(id: &str) -> Vec<u8> {
    [PURPOSE, id.as_bytes()].concat()
}

/// Reads the secret, or makes one for the user alone.
fn secret(file: &Path) -> Option<[u8; 32]> {
    let read = || {
        let mut bytes = [0; 32];
        let mut opened = OpenOptions::new().read(true).open(file).ok()?;
        opened.read_exact(&mut bytes).ok()?;
        Some(bytes)
    };
    read().or_else(|| {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).ok()?;
        // Written aside and linked, so that no one ever reads half of it, and the first one stays.
        let aside = file.with_extension(format!("secret.{}", std::process::id()));
        let mut made =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside).ok()?;
        made.write_all(&bytes).and_then(|()| made.sync_all()).ok()?;
        let _ = std::fs::hard_link(&aside, file);
        let _ = std::fs::remove_file(&aside);
        read()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_its_own_question_alone_and_outlives_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("daemon")).unwrap();
        let links = Links::new(folder.path());
        assert_eq!(links.link("a1"), None, "nobody said where the page is");
        links.set_base("http://127.0.0.1:7117/");
        let link = links.link("a1").unwrap();
        let (page, key) = link.split_once("?key=").unwrap();
        assert_eq!(page, "http://127.0.0.1:7117/approvals/a1");
        assert!(links.is_key("a1", key));
        assert!(Links::new(folder.path()).is_key("a1", key));
        for (id, wrong) in [
            ("a2", key),
            ("a1", ""),
            ("a1", key.trim_start_matches(|first| key.starts_with(first))),
            ("a1", &"0".repeat(64)),
            ("a1", &"é".repeat(32)),
        ] {
            assert!(!links.is_key(id, wrong), "{id} {wrong}");
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(folder.path().join("daemon/link.secret")).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir(other.path().join("daemon")).unwrap();
        assert!(!Links::new(other.path()).is_key("a1", key));
    }
}
