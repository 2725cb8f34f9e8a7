//! Signing settings and publishing them as the next version.

use std::path::PathBuf;

use clap::Args;
use portcullis_settings::disk::{MAXIMUM_SIZE, read_text};
use portcullis_settings::{PolicyCheck, PublicKey, PushedPolicy};
use portcullis_store::SignedPolicy;

use super::Fleet;
use super::key_file::Signer;
use crate::exit_code::ExitCode;
use portcullis_daemon::policy::{of_store, trusted_keys};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::terminal::{print, print_error, print_notes};

/// How long a note may be.
const LONGEST_NOTE: usize = 1_000;

/// How long settings may be: escaped in a file, they are still read.
const LONGEST_SETTINGS: usize = 1024 * 1024;

#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// The settings file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file of the private key
    #[arg(long, value_name = "KEYFILE")]
    key: PathBuf,
    /// What it changes, for people
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

#[derive(Debug, Args)]
pub(super) struct RollbackArgs {
    /// The version whose settings are to hold again
    #[arg(value_name = "VERSION")]
    version: u64,
    /// The file of the private key
    #[arg(long, value_name = "KEYFILE")]
    key: PathBuf,
    /// What it changes, for people
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Publishes a settings file.
pub(super) fn run(arguments: &PublishArgs) -> Result<ExitCode, Failure> {
    let signer = Signer::read(&arguments.key)?;
    let name = arguments.file.display().to_string();
    let refuse = |what: &str| Failure::usage(format!("`{name}` cannot be published: {what}"));
    let text = read_text(&arguments.file, MAXIMUM_SIZE).map_err(|unreadable| refuse(&unreadable.message))?;
    let text = text.ok_or_else(|| refuse("there is no such file"))?;
    publish(&Fleet::open()?, &signer, &name, text, &arguments.note)
}

/// Publishes the settings of an earlier version again.
pub(super) fn roll_back(arguments: &RollbackArgs) -> Result<ExitCode, Failure> {
    let signer = Signer::read(&arguments.key)?;
    let fleet = Fleet::open()?;
    let version = arguments.version;
    let found = fleet.store.backend().policy(version).map_err(|error| Failure::from(&error))?;
    let found = found.ok_or_else(|| {
        Failure::usage(format!("there is no policy version {version}"))
            .with_hint("`portcullis policy list` lists them")
    })?;
    // Whoever can write to the store must not get their own text signed.
    let old = of_store(found);
    let mut keys = trusted_keys(&fleet.session.loaded).map_err(Failure::usage)?;
    if !keys.iter().any(|key| key.name == signer.public().name) {
        keys.push(signer.public().clone());
    }
    old.verify(&keys).map_err(|refusal| Failure::usage(refusal.to_string()))?;
    if old.version != version {
        return Err(Failure::usage(format!("the store answered with version {} instead", old.version)));
    }
    let note = arguments.note.clone().unwrap_or_else(|| format!("the settings of version {version}"));
    publish(&fleet, &signer, &format!("policy version {version}"), old.settings, &note)
}

fn publish(
    fleet: &Fleet,
    signer: &Signer,
    name: &str,
    settings: String,
    note: &str,
) -> Result<ExitCode, Failure> {
    check(fleet, name, &settings, note)?;
    let failed = |error| Failure::from(&error);
    let backend = fleet.store.backend();
    let latest = backend.latest_policy().map_err(failed)?.map_or(0, |latest| latest.version);
    let version = latest.checked_add(1).ok_or_else(|| Failure::internal("there is no higher version"))?;
    let policy = signer.sign(PushedPolicy {
        version,
        signed_at_ms: now_ms(),
        settings,
        note: note.to_owned(),
        key: String::new(),
        signature: String::new(),
    });
    backend.publish_policy(&to_store(policy)).map_err(failed)?;
    print(&format!("policy version {version} is published at {}\n", backend.place()))?;
    let trusted = trusted_keys(&fleet.session.loaded).unwrap_or_default();
    print_notes(doubt(&trusted, signer.public()));
    Ok(ExitCode::Success)
}

/// Refuses settings that would not hold as they are written.
fn check(fleet: &Fleet, name: &str, settings: &str, note: &str) -> Result<(), Failure> {
    if note.len() > LONGEST_NOTE || settings.len() > LONGEST_SETTINGS {
        let message = format!("a note has at most {LONGEST_NOTE} bytes, and a policy {LONGEST_SETTINGS}");
        return Err(Failure::usage(message));
    }
    let found = PolicyCheck::new(settings, name, &fleet.session.locations);
    for problem in &found.problems {
        print_error(&format!("{problem}\n\n"));
    }
    for ignored in &found.ignored {
        print_error(&format!("{ignored}\n\n"));
    }
    if found.is_fine() {
        return Ok(());
    }
    Err(Failure::usage(format!("`{name}` is not published: some of it would not hold"))
        .with_hint("mend what is listed above; a rule that is skipped may be one that forbids"))
}

/// Says why machines with the settings of this one would not take what was signed.
fn doubt(trusted: &[PublicKey], signer: &PublicKey) -> Option<String> {
    match trusted.iter().find(|key| key.name == signer.name) {
        Some(key) if key == signer => None,
        Some(_) => Some(format!(
            "`store.policyKeys` has another key named `{}`, so this machine refuses it",
            signer.name
        )),
        None if trusted.is_empty() => None,
        None => {
            Some(format!("`store.policyKeys` does not name `{}`, so this machine refuses it", signer.name))
        }
    }
}

fn to_store(policy: PushedPolicy) -> SignedPolicy {
    let PushedPolicy { version, signed_at_ms, settings, note, key, signature } = policy;
    SignedPolicy { version, signed_at_ms, settings, note, key, signature }
}
