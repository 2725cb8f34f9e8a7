//! What a program watches that keeps settings: every place whose content says what is loaded.

use std::path::PathBuf;

use portcullis_core::Source;

use crate::location::SettingsLocations;
use crate::pushed::PolicyFiles;
use crate::trust::store_path;

impl SettingsLocations {
    /// Returns every place whose content may change what is loaded, there or not: settings files, the directories of
    /// managed ones, the policy of the store, and what says which workspaces are trusted.
    pub fn watched(&self) -> Vec<PathBuf> {
        let sources = [Source::Policy, Source::Local, Source::Project, Source::User];
        let mut paths: Vec<PathBuf> =
            sources.iter().flat_map(|source| self.files(*source)).map(|file| file.path).collect();
        let managed = self.files(Source::Policy);
        paths.extend(managed.iter().map(|file| file.path.with_extension("d")));
        paths.extend(self.profile_folders().into_iter().map(|(_, folder)| folder));
        paths.extend(self.claude_state.clone());
        paths.extend(store_path(self));
        paths.extend(PolicyFiles::of(self).into_iter().flat_map(|files| [files.current(), files.seen()]));
        paths
    }
}
