//! Workspace trust: whether files inside a repository may widen anything (spec C12).
//!
//! Trust is given by a person to one workspace: the main checkout of a repository, or a directory outside any. It is
//! kept in a private file of the user's, never in the repository, and never for the home directory or anything above it.
//! What Claude Code remembers as trusted counts too, and is only read. Any doubt means untrusted.

mod claude;
mod store;

use std::path::{Path, PathBuf};

pub use store::TrustStore;

use crate::disk::ReplaceError;
use crate::location::SettingsLocations;

/// Whether a workspace is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceTrust {
    /// It is, and who says so.
    Trusted(TrustedBy),
    /// It is not.
    Untrusted,
}

impl WorkspaceTrust {
    /// Says whether files inside the repository may widen.
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Trusted(_))
    }
}

/// Who says that a workspace is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedBy {
    /// Our own store: `portcullis trust add`.
    Portcullis,
    /// Claude Code's dialog, accepted earlier.
    ClaudeCode,
    /// The caller, who knows by other means.
    Caller,
}

/// Why trust could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no place for the store.
    #[error("there is no home directory to keep trust in")]
    NoPlace,
    /// The home directory, or a directory above it.
    #[error("`{}` cannot be trusted: it contains your home directory", workspace.display())]
    ContainsHome {
        /// The workspace.
        workspace: PathBuf,
    },
    /// The store would be the repository's to write.
    #[error("the trust store `{}` lies inside the workspace it would trust", store.display())]
    InsideWorkspace {
        /// The store.
        store: PathBuf,
    },
    /// A path that JSON cannot hold.
    #[error("`{}` is not valid UTF-8", workspace.display())]
    NotUtf8 {
        /// The workspace.
        workspace: PathBuf,
    },
    /// The store cannot be understood.
    #[error("the trust store `{}` is broken: {detail}", store.display())]
    Corrupt {
        /// The store.
        store: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Others may write the store.
    #[error("the trust store `{}` can be written by others", store.display())]
    Exposed {
        /// The store.
        store: PathBuf,
    },
    /// Another process keeps the lock.
    #[error("the trust store `{}` is being changed by another process", store.display())]
    Locked {
        /// The store.
        store: PathBuf,
    },
    /// The operating system said no.
    #[error("cannot change the trust store `{}`: {detail}", store.display())]
    Io {
        /// The store.
        store: PathBuf,
        /// What it said.
        detail: String,
    },
}

impl TrustError {
    /// Says how to go on.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoPlace => Some("set `HOME` or `XDG_STATE_HOME`"),
            Self::ContainsHome { .. } => Some("trust the project's own directory"),
            Self::InsideWorkspace { .. } => Some("set `XDG_STATE_HOME` to a directory outside it"),
            Self::Corrupt { .. } => Some("remove it and trust your workspaces again"),
            Self::Exposed { .. } => Some("look through it, then `chmod 600` it"),
            Self::Locked { .. } => Some("try again"),
            Self::NotUtf8 { .. } | Self::Io { .. } => None,
        }
    }

    fn of_refusal(store: &Path, refusal: ReplaceError) -> Self {
        let store = store.to_path_buf();
        match refusal {
            ReplaceError::Locked | ReplaceError::Changed => Self::Locked { store },
            ReplaceError::Io(error) => Self::Io { store, detail: crate::disk::plain(&error) },
        }
    }
}

/// Finds out whether the workspace of these locations is trusted. An error counts as untrusted.
pub fn find_trust(locations: &SettingsLocations) -> Result<WorkspaceTrust, TrustError> {
    let workspace = locations.workspace();
    if contains_home(workspace, locations) {
        return Ok(WorkspaceTrust::Untrusted);
    }
    if let Ok(store) = TrustStore::of(locations)
        && !is_inside(store.path(), locations)
        && store.contains(workspace)?
    {
        return Ok(WorkspaceTrust::Trusted(TrustedBy::Portcullis));
    }
    match &locations.claude_state {
        Some(file) if !is_inside(file, locations) && claude::trusts(file, workspace) => {
            Ok(WorkspaceTrust::Trusted(TrustedBy::ClaudeCode))
        }
        _ => Ok(WorkspaceTrust::Untrusted),
    }
}

/// Returns the file of the workspaces that were trusted, if there is a place for it.
pub(crate) fn store_path(locations: &SettingsLocations) -> Option<std::path::PathBuf> {
    TrustStore::of(locations).ok().map(|store| store.path().to_path_buf())
}

/// Says whether a file that decides about trust is one the repository could have written; links are resolved.
fn is_inside(file: &Path, locations: &SettingsLocations) -> bool {
    let resolved = file.ancestors().find_map(|ancestor| {
        let real = ancestor.canonicalize().ok()?;
        Some(real.join(file.strip_prefix(ancestor).ok()?))
    });
    resolved.is_none_or(|resolved| locations.is_inside_workspace(&resolved))
}

fn contains_home(workspace: &Path, locations: &SettingsLocations) -> bool {
    let Some(home) = &locations.home else { return false };
    let real = home.canonicalize();
    home.starts_with(workspace) || real.is_ok_and(|real| real.starts_with(workspace))
}
