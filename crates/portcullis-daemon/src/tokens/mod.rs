//! Tokens: who may ask for what. Two are made for this user's own hooks and commands, others by `portcullis tokens`.
//!
//! The files are looked at for every request that brings a token, so that one that was taken back stops to hold at once.
//!
//! INVARIANT: a file that cannot be read, or that others could have read, lets nobody in.

pub mod named;
pub mod secret;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use portcullis_settings::disk::{DirectoryLock, FilePrivacy, create_directory, plain, read_text, replace};

pub use self::secret::SecretHash;
use super::stamp::Stamp;
use portcullis_gate::Failure;
use portcullis_gate::daemon_client::{Places, Role};

/// The longest file with one token.
const LONGEST: u64 = 1024;
/// The longest secret that is looked at.
const LONGEST_SECRET: usize = 512;

/// A token that holds.
#[derive(Debug, Clone)]
struct Known {
    name: Arc<str>,
    role: Role,
    hash: SecretHash,
    expires_at_ms: Option<u64>,
}

#[derive(Debug, Default)]
struct Loaded {
    stamps: Option<[Option<Stamp>; 3]>,
    known: Vec<Known>,
}

/// Every token that holds.
#[derive(Debug)]
pub struct Tokens {
    places: Places,
    /// The files that are looked at for every request.
    files: [PathBuf; 3],
    loaded: RwLock<Loaded>,
}

impl Tokens {
    /// Names the files, and makes the two tokens of this user if they are not there.
    pub fn open(places: &Places) -> Result<Self, Failure> {
        prepare(places)?;
        for path in [places.person_token(), places.hook_token()] {
            let is_private = is_private(&path);
            if !matches!(is_private, Some(true)) || read_secret(&path).is_none() {
                renew(places, &path)?;
            }
        }
        let files = [places.person_token(), places.hook_token(), places.tokens()];
        Ok(Self { places: places.clone(), files, loaded: RwLock::default() })
    }

    /// Finds whose secret this is; `None` if nobody's.
    pub fn find(&self, secret: &str, now_ms: u64) -> Option<(Arc<str>, Role)> {
        if secret.len() > LONGEST_SECRET {
            return None;
        }
        let hash = SecretHash::of(secret);
        self.among_known(|known| look_up(known, hash, now_ms))
    }

    /// Says whether a token with this hash holds.
    pub fn holds(&self, hash: SecretHash, now_ms: u64) -> bool {
        self.among_known(|known| look_up(known, hash, now_ms)).is_some()
    }

    /// Returns the hash of the token of a person, if there is one.
    pub fn person(&self) -> Option<SecretHash> {
        let is_person = |token: &&Known| token.role == Role::Person && &*token.name == "person";
        self.among_known(|known| known.iter().find(is_person).map(|token| token.hash))
    }

    /// Looks among the tokens as the files say now.
    fn among_known<T>(&self, look: impl FnOnce(&[Known]) -> T) -> T {
        let stamps = self.stamps();
        {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            if loaded.stamps == Some(stamps) {
                return look(&loaded.known);
            }
        }
        // The stamps are older than what is read now, so a change in between is seen by the next request.
        let fresh = Loaded { stamps: Some(stamps), known: self.load() };
        let found = look(&fresh.known);
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        found
    }

    fn stamps(&self) -> [Option<Stamp>; 3] {
        self.files.each_ref().map(|path| Stamp::of(path))
    }

    fn load(&self) -> Vec<Known> {
        let own = [
            (self.places.person_token(), "person", Role::Person),
            (self.places.hook_token(), "hook", Role::Decide),
        ];
        let own = own.into_iter().filter_map(|(path, name, role)| {
            let secret = read_secret(&path).filter(|_| is_private(&path) == Some(true))?;
            Some(Known { name: name.into(), role, hash: SecretHash::of(&secret), expires_at_ms: None })
        });
        let named = named::list(&self.places).unwrap_or_default().into_iter().filter_map(|token| {
            let hash = SecretHash::read(&token.hash)?;
            Some(Known {
                name: token.name.into(),
                role: token.role,
                hash,
                expires_at_ms: token.expires_at_ms,
            })
        });
        own.chain(named).collect()
    }
}

/// Looks at every token, however soon one fits, so that the time says nothing.
fn look_up(known: &[Known], hash: SecretHash, now_ms: u64) -> Option<(Arc<str>, Role)> {
    let mut found = None;
    for token in known {
        let is_over = token.expires_at_ms.is_some_and(|end| end <= now_ms);
        if token.hash == hash && !is_over {
            found = Some((Arc::clone(&token.name), token.role));
        }
    }
    found
}

/// Makes the daemon's directory, for this user alone.
pub fn prepare(places: &Places) -> Result<(), Failure> {
    let root = places.root();
    let failed = |error: &std::io::Error| {
        Failure::internal(format!("the directory `{}` cannot be used: {}", root.display(), plain(error)))
    };
    create_directory(root, FilePrivacy::Private).map_err(|error| failed(&error))?;
    let seen = fs::symlink_metadata(root).map_err(|error| failed(&error))?;
    if !seen.is_dir() {
        return Err(Failure::usage(format!("`{}` is not a directory", root.display()))
            .with_hint("remove it, and the daemon makes its own"));
    }
    if is_open(&seen) {
        fs::set_permissions(root, fs::Permissions::from_mode(0o700)).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Puts a fresh secret in the place of one of this user's own tokens.
pub fn renew(places: &Places, path: &Path) -> Result<(), Failure> {
    prepare(places)?;
    let _lock = DirectoryLock::take(places.root()).map_err(|refusal| named::unwritten(path, &refusal))?;
    // What others could read goes first: the new file must not take over how open it was.
    if is_private(path) == Some(false) {
        fs::remove_file(path).map_err(|error| named::unwritten(path, &error.into()))?;
    }
    let before = read_text(path, LONGEST)
        .map_err(|error| Failure::internal(format!("`{}`: {}", path.display(), error.message)))?;
    replace(path, before.as_deref(), &format!("{}\n", secret::fresh()?), FilePrivacy::Private)
        .map_err(|refusal| named::unwritten(path, &refusal))
}

/// Reads the secret of one of this user's own tokens; `None` if there is none.
pub fn read_secret(path: &Path) -> Option<String> {
    let text = read_text(path, LONGEST).ok()??;
    Some(text.trim().to_owned()).filter(|secret| secret.len() >= 32)
}

/// Says whether others may do anything with a file.
fn is_open(seen: &fs::Metadata) -> bool {
    seen.mode() & 0o077 != 0
}

/// Says whether a file is a regular one that this user alone can read; `None` if there is none.
fn is_private(path: &Path) -> Option<bool> {
    let seen = fs::symlink_metadata(path).ok()?;
    Some(seen.is_file() && !is_open(&seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_760_000_000_000;

    fn opened() -> (tempfile::TempDir, Places, Tokens) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(folder.path());
        let tokens = Tokens::open(&places).unwrap();
        (folder, places, tokens)
    }

    fn role(tokens: &Tokens, secret: &str) -> Option<Role> {
        tokens.find(secret, NOW).map(|(_, role)| role)
    }

    #[test]
    fn own_tokens_are_made_once_and_private() {
        let (_folder, places, tokens) = opened();
        let person = read_secret(&places.person_token()).unwrap();
        let hook = read_secret(&places.hook_token()).unwrap();
        assert_eq!(role(&tokens, &person), Some(Role::Person));
        assert_eq!(role(&tokens, &hook), Some(Role::Decide));
        assert_eq!(is_private(&places.person_token()), Some(true));
        let again = Tokens::open(&places).unwrap();
        assert_eq!(role(&again, &person), Some(Role::Person));
    }

    #[test]
    fn what_is_no_token_lets_nobody_in() {
        let (_folder, places, tokens) = opened();
        let person = read_secret(&places.person_token()).unwrap();
        for wrong in [
            "",
            " ",
            person.trim_end_matches(char::is_alphanumeric),
            &format!("{person}\n"),
            &"a".repeat(1 << 20),
        ] {
            assert_eq!(role(&tokens, wrong), None);
        }
    }

    #[test]
    fn a_change_is_seen_at_once() {
        let (_folder, places, tokens) = opened();
        let old = read_secret(&places.person_token()).unwrap();
        assert_eq!(role(&tokens, &old), Some(Role::Person));
        renew(&places, &places.person_token()).unwrap();
        assert_eq!(role(&tokens, &old), None);
        let named = named::create(&places, "grafana", Role::Read, NOW, None).unwrap();
        assert_eq!(role(&tokens, &named), Some(Role::Read));
        named::revoke(&places, "grafana").unwrap();
        assert_eq!(role(&tokens, &named), None);
    }

    #[test]
    fn a_token_ends_with_its_time() {
        let (_folder, places, tokens) = opened();
        let secret = named::create(&places, "week", Role::Decide, NOW - 10, Some(NOW)).unwrap();
        assert!(tokens.find(&secret, NOW - 1).is_some());
        assert!(tokens.find(&secret, NOW).is_none());
    }

    #[test]
    fn a_token_that_others_could_read_is_replaced() {
        let (_folder, places, _) = opened();
        let old = read_secret(&places.person_token()).unwrap();
        fs::set_permissions(places.person_token(), fs::Permissions::from_mode(0o644)).unwrap();
        let tokens = Tokens::open(&places).unwrap();
        assert_eq!(role(&tokens, &old), None);
        assert_eq!(is_private(&places.person_token()), Some(true));
    }

    #[test]
    fn a_broken_list_lets_none_of_its_tokens_in() {
        let (_folder, places, tokens) = opened();
        let secret = named::create(&places, "one", Role::Person, NOW, None).unwrap();
        assert_eq!(role(&tokens, &secret), Some(Role::Person));
        let text = fs::read_to_string(places.tokens()).unwrap();
        assert!(!text.contains(&secret), "only the hash is kept");
        fs::write(places.tokens(), text.replace("\"role\"", "\"rôle\"")).unwrap();
        assert_eq!(role(&tokens, &secret), None);
        let person = read_secret(&places.person_token()).unwrap();
        assert_eq!(role(&tokens, &person), Some(Role::Person));
    }

    #[test]
    fn names_are_plain_and_used_once() {
        let (_folder, places, _) = opened();
        for wrong in ["", "a b", "a/b", "\u{1b}[31m", "person", "hook", &"a".repeat(65)] {
            assert!(named::create(&places, wrong, Role::Read, NOW, None).is_err(), "{wrong:?}");
        }
        named::create(&places, "a", Role::Read, NOW, Some(NOW + 1)).unwrap();
        assert!(named::create(&places, "a", Role::Read, NOW, None).is_err());
        named::create(&places, "a", Role::Read, NOW + 1, None).unwrap();
        assert!(named::revoke(&places, "b").is_err());
    }
}
