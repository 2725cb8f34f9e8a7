//! The policy on this machine: the one in force, and the highest version that ever was.
//!
//! The second file outlives the first, so that whoever deletes or exchanges the policy brings back none that was
//! replaced. It is written last and read first: a reader never takes a policy that is being installed for an old one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{PolicyRefusal, PushedPolicy};
use crate::disk::{
    DirectoryLock, FilePrivacy, MAXIMUM_SIZE, ReplaceError, create_directory, plain, read_text, replace,
};
use crate::location::SettingsLocations;
use crate::public_key::PublicKey;

/// Where the policy of this machine is kept: `policy` in the state directory, 0700.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFiles {
    directory: PathBuf,
}

/// What installing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyInstallation {
    /// The policy is in force from now on.
    New,
    /// It was in force already.
    Already,
}

/// The highest version that was in force.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HighestVersion {
    version: u64,
    fingerprint: String,
}

impl HighestVersion {
    fn of(policy: &PushedPolicy) -> Self {
        Self { version: policy.version, fingerprint: policy.fingerprint() }
    }

    /// Refuses what is older, or is another policy of the same version.
    fn check(&self, policy: &PushedPolicy) -> Result<(), PolicyRefusal> {
        let version = policy.version;
        if version < self.version {
            return Err(PolicyRefusal::Older { version, seen: self.version });
        }
        if version == self.version && policy.fingerprint() != self.fingerprint {
            return Err(PolicyRefusal::Changed { version });
        }
        Ok(())
    }
}

impl PolicyFiles {
    /// Names the places of a user; `None` without a state directory. Nothing is read or made yet.
    pub fn of(locations: &SettingsLocations) -> Option<Self> {
        locations.state.as_ref().map(|state| Self { directory: state.join("policy") })
    }

    /// Returns the file of the policy in force.
    pub fn current(&self) -> PathBuf {
        self.directory.join("current.json")
    }

    /// Returns the file that remembers the highest version.
    pub fn seen(&self) -> PathBuf {
        self.directory.join("seen.json")
    }

    /// Reads the policy and checks it anew; `None` if there is none.
    pub fn read(&self, keys: &[PublicKey]) -> Result<Option<PushedPolicy>, PolicyRefusal> {
        let seen = self.read_seen()?;
        let Some(text) = read_own(&self.current())? else { return Ok(None) };
        let policy = PushedPolicy::parse(&text)?;
        policy.verify(keys)?;
        if let Some(seen) = seen {
            seen.check(&policy)?;
        }
        Ok(Some(policy))
    }

    /// Puts a policy in force if one of `keys` signed it and no later one was in force. Otherwise nothing changes.
    pub fn install(
        &self,
        policy: &PushedPolicy,
        keys: &[PublicKey],
    ) -> Result<PolicyInstallation, PolicyRefusal> {
        policy.verify(keys)?;
        let text = policy.to_text();
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAXIMUM_SIZE {
            return Err(PolicyRefusal::NotPolicy("it is too large".to_owned()));
        }
        create_directory(&self.directory, FilePrivacy::Private)
            .map_err(|error| cannot_write(&self.directory, &error.into()))?;
        let _lock =
            DirectoryLock::take(&self.directory).map_err(|error| cannot_write(&self.directory, &error))?;
        let seen = self.read_seen()?;
        if let Some(seen) = &seen {
            seen.check(policy)?;
        }
        // A policy that cannot be read or checked any more is replaced; one that can sets the least version.
        let current = self.read(keys).ok().flatten();
        if let Some(current) = &current {
            HighestVersion::of(current).check(policy)?;
        }
        let now = HighestVersion::of(policy);
        if current.as_ref() == Some(policy) && seen.as_ref() == Some(&now) {
            return Ok(PolicyInstallation::Already);
        }
        write(&self.current(), &text)?;
        let remembered = json!({"version": now.version, "fingerprint": now.fingerprint});
        write(&self.seen(), &format!("{remembered:#}\n"))?;
        Ok(PolicyInstallation::New)
    }

    fn read_seen(&self) -> Result<Option<HighestVersion>, PolicyRefusal> {
        let path = self.seen();
        let Some(text) = read_own(&path)? else { return Ok(None) };
        let value: Option<Value> = serde_json::from_str(&text).ok();
        let version = value.as_ref().and_then(|value| value.get("version")).and_then(Value::as_u64);
        let fingerprint = value.as_ref().and_then(|value| value.get("fingerprint")).and_then(Value::as_str);
        match (version, fingerprint) {
            (Some(version), Some(fingerprint)) => {
                Ok(Some(HighestVersion { version, fingerprint: fingerprint.to_owned() }))
            }
            _ => Err(PolicyRefusal::File(format!(
                "`{}` does not say which policy was in force; remove it if nobody tampered with it",
                path.display()
            ))),
        }
    }
}

/// Reads a file that only its owner can have written; `None` if there is none.
fn read_own(path: &Path) -> Result<Option<String>, PolicyRefusal> {
    let refuse = |what: &str| PolicyRefusal::File(format!("`{}`: {what}", path.display()));
    let text = read_text(path, MAXIMUM_SIZE).map_err(|unreadable| refuse(&unreadable.message))?;
    if text.is_some() && !is_own(path) {
        return Err(refuse("others can change this file, or it is a link"));
    }
    Ok(text)
}

/// Says whether nobody but the owner of the directory can write a file.
#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = path.parent().and_then(|directory| fs::metadata(directory).ok()).map(|found| found.uid());
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.mode() & 0o022 == 0 && Some(found.uid()) == owner)
}

#[cfg(not(unix))]
fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// Replaces a file of ours, whatever is there.
fn write(path: &Path, text: &str) -> Result<(), PolicyRefusal> {
    let refuse = |refusal: ReplaceError| cannot_write(path, &refusal);
    // What others may have written is no model for who may read the new one.
    if fs::symlink_metadata(path).is_ok() && !is_own(path) {
        fs::remove_file(path).map_err(|error| refuse(error.into()))?;
    }
    let mut before = None;
    if let Ok(bytes) = fs::read(path) {
        before = String::from_utf8(bytes).ok();
        if before.is_none() {
            fs::remove_file(path).map_err(|error| refuse(error.into()))?;
        }
    }
    replace(path, before.as_deref(), text, FilePrivacy::Private).map_err(refuse)
}

fn cannot_write(path: &Path, refusal: &ReplaceError) -> PolicyRefusal {
    let why = match refusal {
        ReplaceError::Locked => "somebody else holds its lock".to_owned(),
        ReplaceError::Changed => "somebody else changed it meanwhile".to_owned(),
        ReplaceError::Io(error) => plain(error),
    };
    PolicyRefusal::File(format!("`{}` cannot be written: {why}", path.display()))
}
