//! The file of a private key: PKCS#8 as PEM, with the name of the key in a line before it, and readable for one alone.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use portcullis_settings::disk::{plain, read_text};
use portcullis_settings::{PublicKey, PushedPolicy};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, print_notes};

/// The longest file that is read as a key.
const LONGEST: u64 = 16 * 1024;
const NAME: &str = "portcullis policy key: ";
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

#[derive(Debug, Args)]
pub(super) struct KeygenArgs {
    /// The file for the private key, which must not be there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// What the key is known by: letters, digits, `.`, `_` and `-`; made of the key if it is not given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Somebody who can sign.
pub(super) struct Signer {
    public: PublicKey,
    pair: Ed25519KeyPair,
}

/// Makes a key, writes it and prints its public part.
pub(super) fn run(arguments: &KeygenArgs) -> Result<ExitCode, Failure> {
    let unlucky = |_| Failure::internal("no key could be made: the system has no random numbers");
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(unlucky)?;
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref())
        .map_err(|_| Failure::internal("the key that was made cannot be read"))?;
    let signer = Signer::new(arguments.name.as_deref(), pair)?;
    write_private(&arguments.out, &to_pem(&signer.public.name, document.as_ref()))?;
    print(&format!("{}\n", signer.public))?;
    print_notes([format!(
        "the private key is in {}: keep it off machines that agents work on",
        arguments.out.display()
    )]);
    Ok(ExitCode::Success)
}

impl Signer {
    fn new(name: Option<&str>, pair: Ed25519KeyPair) -> Result<Self, Failure> {
        let bytes = pair.public_key().as_ref();
        let usual = name.map_or_else(|| usual_name(bytes), str::to_owned);
        let public = PublicKey::new(&usual, bytes).ok_or_else(|| {
            Failure::usage(format!("`{usual}` cannot be the name of a key"))
                .with_hint("use up to 64 letters, digits, `.`, `_` and `-`")
        })?;
        Ok(Self { public, pair })
    }

    /// Reads the file of a key. One that others can read is refused: they could have signed anything with it.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refuse =
            |what: &str| Failure::usage(format!("the key `{}` cannot be used: {what}", path.display()));
        let text = read_text(path, LONGEST).map_err(|unreadable| refuse(&unreadable.message))?;
        let text = text.ok_or_else(|| {
            refuse("there is no such file").with_hint("make one with `portcullis policy keygen --out FILE`")
        })?;
        if is_exposed(path) {
            return Err(refuse("others can read or change it").with_hint(
                "make a new key, and `chmod 600` it; anyone who read this one can sign policies",
            ));
        }
        let bytes = of_pem(&text).ok_or_else(|| refuse("it is no private key in PEM"))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes)
            .map_err(|_| refuse("it is no Ed25519 key in PKCS#8"))?;
        Self::new(text.lines().find_map(|line| line.strip_prefix(NAME)).map(str::trim), pair)
    }

    /// Returns the public part.
    pub(super) const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a policy in the name of this key.
    pub(super) fn sign(&self, policy: PushedPolicy) -> PushedPolicy {
        let named = PushedPolicy { key: self.public.name.clone(), ..policy };
        let signature = STANDARD.encode(self.pair.sign(&named.signed_bytes()));
        PushedPolicy { signature, ..named }
    }
}

/// Makes a name that no other key has.
fn usual_name(public: &[u8]) -> String {
    let digest = digest(&SHA256, public);
    digest.as_ref().iter().take(6).fold("key-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

fn to_pem(name: &str, document: &[u8]) -> String {
    format!("{NAME}{name}\n{BEGIN}\n{}\n{END}\n", STANDARD.encode(document))
}

fn of_pem(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}

/// Writes a file that only its owner can read, and that was not there.
fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let refuse = |error: &std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "it is there already".to_owned(),
            _ => plain(error),
        };
        Failure::usage(format!("the key `{}` cannot be written: {why}", path.display()))
            .with_hint("name a file that is not there yet, in a directory of yours")
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path).map_err(|error| refuse(&error))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| refuse(&error))
}

#[cfg(unix)]
fn is_exposed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).map_or(true, |found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_exposed(path: &Path) -> bool {
    fs::metadata(path).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_by_a_key_that_was_written_is_verified_by_the_printed_one() {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ops.key");
        write_private(&path, &to_pem("ops", document.as_ref())).unwrap();
        let signer = Signer::read(&path).unwrap();
        let policy = PushedPolicy {
            version: 1,
            signed_at_ms: 2,
            settings: "{}".to_owned(),
            note: String::new(),
            key: String::new(),
            signature: String::new(),
        };
        let policy = signer.sign(policy);
        let printed = PublicKey::parse(&signer.public().to_string()).unwrap();
        assert_eq!(policy.verify(&[printed]), Ok(()));
        assert!(write_private(&path, "again").is_err());
    }

    #[test]
    fn a_key_without_a_name_gets_one_that_no_other_has() {
        let names: Vec<String> = (0..2_u8).map(|seed| usual_name(&[seed; 32])).collect();
        assert_ne!(names[0], names[1]);
        assert!(PublicKey::new(&names[0], &[0; 32]).is_some());
    }
}
