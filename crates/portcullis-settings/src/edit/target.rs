//! The file an edit goes to: links followed to what they lead to, but never out of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_core::Source;

use super::{EditError, RuleDestination};
use crate::disk::{MAXIMUM_SIZE, plain, read_text};
use crate::location::SettingsLocations;
use crate::problem::{ProblemSeverity, SettingsProblem};

/// A settings file about to be edited.
#[derive(Debug, Clone)]
pub(super) struct EditTarget {
    /// The file as people know it.
    pub(super) path: PathBuf,
    /// The file itself.
    pub(super) real_path: PathBuf,
    /// The directory the file itself lies in.
    pub(super) directory: PathBuf,
}

impl EditTarget {
    pub(super) fn find(
        locations: &SettingsLocations,
        destination: RuleDestination,
    ) -> Result<Self, EditError> {
        let file = locations
            .file(destination.source, destination.owner)
            .ok_or(EditError::NotEditable { source_name: destination.source })?;
        let directory = file.path.parent().map(Path::to_path_buf).unwrap_or_default();
        let target = Self { real_path: file.path.clone(), path: file.path, directory };
        // Checked before any directory is made: `.portcullis` may itself be a link.
        target.check_inside(locations, destination.source, &target.nearest_real())?;
        Ok(target)
    }

    /// Follows links; the directory must exist by now.
    pub(super) fn resolve(&self, locations: &SettingsLocations, source: Source) -> Result<Self, EditError> {
        let io = |error: &std::io::Error| EditError::Io { file: self.path.clone(), detail: plain(error) };
        let is_link = fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_symlink());
        let real_path = if is_link || self.path.exists() {
            self.path.canonicalize().map_err(|error| io(&error))?
        } else {
            let directory = self.directory.canonicalize().map_err(|error| io(&error))?;
            directory.join(self.path.file_name().unwrap_or_default())
        };
        self.check_inside(locations, source, &real_path)?;
        let directory = real_path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Self { path: self.path.clone(), real_path, directory })
    }

    /// Reads the text as it is, byte-order mark included.
    pub(super) fn read(&self) -> Result<Option<String>, EditError> {
        read_text(&self.real_path, MAXIMUM_SIZE).map_err(|unreadable| {
            let name: Arc<str> = Arc::from(self.path.to_string_lossy());
            let mut problem = SettingsProblem::new(ProblemSeverity::Error, unreadable.message).in_file(&name);
            problem.hint = unreadable.hint.map(str::to_owned);
            EditError::Broken { problem: Box::new(problem) }
        })
    }

    /// Resolves as much of the path as exists.
    fn nearest_real(&self) -> PathBuf {
        let resolved = self.path.ancestors().find_map(|ancestor| {
            let real = ancestor.canonicalize().ok()?;
            Some(real.join(self.path.strip_prefix(ancestor).ok()?))
        });
        resolved.unwrap_or_else(|| self.path.clone())
    }

    /// A link in a repository must not turn a grant for this project into one for all: the user's settings lie outside.
    fn check_inside(
        &self,
        locations: &SettingsLocations,
        source: Source,
        real_path: &Path,
    ) -> Result<(), EditError> {
        if !source.is_in_repository() || locations.is_inside_workspace(real_path) {
            return Ok(());
        }
        Err(EditError::LeavesRepository { file: self.path.clone(), target: real_path.to_path_buf() })
    }
}
