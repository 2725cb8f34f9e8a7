//! Which repository a yes was given in.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_settings::{GitRepository, SettingsLocations};
use portcullis_store::{RememberedYes, redact};

/// The longest configuration of a repository that is read, in bytes.
const LONGEST_CONFIG: u64 = 1024 * 1024;

/// A repository, or a project that is in none, as it is known later.
///
/// A clone elsewhere is another one, and so is one that was put in its place: its first remote is another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RepositoryIdentity {
    /// Its top, links resolved; of worktrees that of the main checkout.
    pub(super) root: String,
    /// The address of its first remote.
    pub(super) remote: Option<String>,
    /// The checkout the session works in, or the project.
    checkout: PathBuf,
}

impl RepositoryIdentity {
    /// Finds the repository of a session. A home directory, or what lies above it, is none: everything is inside.
    pub(super) fn of(locations: &SettingsLocations) -> Option<Self> {
        let root = locations.workspace();
        let home = locations.home.as_ref().and_then(|home| home.canonicalize().ok());
        let is_above_home = home.is_some_and(|home| home.starts_with(root));
        if is_above_home || root == Path::new("/") {
            return None;
        }
        let checkout =
            locations.repository.as_ref().map_or(&locations.real_project, |repository| &repository.checkout);
        let remote = locations.repository.as_ref().map(|repository| first_remote(&repository.main));
        Some(Self {
            root: root.to_str()?.to_owned(),
            remote: remote.unwrap_or_default(),
            checkout: checkout.clone(),
        })
    }

    /// Says whether a yes was given here.
    pub(super) fn is_of(&self, yes: &RememberedYes) -> bool {
        yes.repository == self.root && yes.remote == self.remote
    }

    /// Says whether a directory lies here, links followed, and in no other repository within.
    pub(super) fn holds(&self, directory: &str) -> bool {
        let Ok(real) = Path::new(directory).canonicalize() else { return false };
        let is_same = match GitRepository::find(&real) {
            Some(found) => found.main.to_str() == Some(&self.root) && found.checkout == self.checkout,
            None => true,
        };
        real.starts_with(&self.checkout) && is_same
    }
}

/// Returns the address of the first remote that the configuration of a repository names.
fn first_remote(main: &Path) -> Option<String> {
    let file = main.join(".git/config");
    if fs::metadata(&file).ok()?.len() > LONGEST_CONFIG {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let mut in_remote = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_remote = line.starts_with("[remote ");
        } else if let Some((name, value)) = line.split_once('=')
            && in_remote
            && name.trim().eq_ignore_ascii_case("url")
        {
            // An address may have a key in it, which is none of its name.
            return Some(redact(value.trim()).into_owned());
        }
    }
    None
}
