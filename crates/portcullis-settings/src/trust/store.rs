//! The file of trusted workspaces: `{"version": 1, "trusted": ["/home/me/app"]}`, 0600 in a 0700 directory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{TrustError, contains_home, is_inside};
use crate::disk::{DirectoryLock, FilePrivacy, MAXIMUM_SIZE, create_directory, read_text, replace};
use crate::location::SettingsLocations;

/// The store at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

impl TrustStore {
    /// Names a store; nothing is read yet.
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Names the user's store.
    pub fn of(locations: &SettingsLocations) -> Result<Self, TrustError> {
        let state = locations.state.as_ref().ok_or(TrustError::NoPlace)?;
        Ok(Self::new(state.join("trust.json")))
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the trusted workspaces in order.
    pub fn list(&self) -> Result<Vec<String>, TrustError> {
        Ok(self.read()?.1.into_iter().collect())
    }

    /// Says whether a workspace is trusted.
    pub fn contains(&self, workspace: &Path) -> Result<bool, TrustError> {
        let (_, trusted) = self.read()?;
        Ok(workspace.to_str().is_some_and(|workspace| trusted.contains(workspace)))
    }

    /// Trusts the workspace of these locations; false if it was trusted already.
    pub fn add(&self, locations: &SettingsLocations) -> Result<bool, TrustError> {
        let workspace = locations.workspace();
        if contains_home(workspace, locations) {
            return Err(TrustError::ContainsHome { workspace: workspace.to_path_buf() });
        }
        if is_inside(&self.path, locations) {
            return Err(TrustError::InsideWorkspace { store: self.path.clone() });
        }
        let name =
            workspace.to_str().ok_or_else(|| TrustError::NotUtf8 { workspace: workspace.to_path_buf() })?;
        self.change(|trusted| trusted.insert(name.to_owned()))
    }

    /// Takes trust away; false if there was none. The directory need not exist any more.
    pub fn remove(&self, workspace: &Path) -> Result<bool, TrustError> {
        let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
        let names = [real, workspace.to_path_buf()];
        self.change(|trusted| {
            let before = trusted.len();
            trusted.retain(|entry| !names.iter().any(|name| name.to_str() == Some(entry)));
            trusted.len() < before
        })
    }

    fn change(&self, edit: impl FnOnce(&mut BTreeSet<String>) -> bool) -> Result<bool, TrustError> {
        let refused = |refusal| TrustError::of_refusal(&self.path, refusal);
        let directory = self.path.parent().unwrap_or_else(|| Path::new("."));
        create_directory(directory, FilePrivacy::Private).map_err(|error| refused(error.into()))?;
        let _lock = DirectoryLock::take(directory).map_err(refused)?;
        let (before, mut trusted) = self.read()?;
        if !edit(&mut trusted) {
            return Ok(false);
        }
        let after = format!("{:#}\n", json!({"version": 1, "trusted": trusted}));
        replace(&self.path, before.as_deref(), &after, FilePrivacy::Private).map_err(refused)?;
        Ok(true)
    }

    /// Reads the text and the entries.
    fn read(&self) -> Result<(Option<String>, BTreeSet<String>), TrustError> {
        let corrupt = |detail: String| TrustError::Corrupt { store: self.path.clone(), detail };
        let Some(text) = read_text(&self.path, MAXIMUM_SIZE).map_err(|problem| corrupt(problem.message))?
        else {
            return Ok((None, BTreeSet::new()));
        };
        self.check_exposure()?;
        let value: Value = serde_json::from_str(&text).map_err(|error| corrupt(error.to_string()))?;
        if value.get("version") != Some(&json!(1)) {
            return Err(corrupt("its version is not 1".to_owned()));
        }
        let entries = value.get("trusted").and_then(Value::as_array);
        let names: Option<BTreeSet<String>> = entries
            .and_then(|entries| entries.iter().map(|entry| entry.as_str().map(str::to_owned)).collect());
        let trusted = names.ok_or_else(|| corrupt("`trusted` is not a list of paths".to_owned()))?;
        Ok((Some(text), trusted))
    }

    #[cfg(unix)]
    fn check_exposure(&self) -> Result<(), TrustError> {
        use std::os::unix::fs::PermissionsExt as _;
        let exposed =
            std::fs::metadata(&self.path).map_or(true, |metadata| metadata.permissions().mode() & 0o022 != 0);
        if exposed { Err(TrustError::Exposed { store: self.path.clone() }) } else { Ok(()) }
    }

    #[cfg(not(unix))]
    fn check_exposure(&self) -> Result<(), TrustError> {
        Ok(())
    }
}
