//! The settings of directories, kept while none of their files changed.
//!
//! Where the files are is worked out anew for every call, and every file that was looked at, there or not, is asked for
//! its state. A file that was changed so shortly before it was read that a second change might look the same is not
//! relied on: the settings are loaded anew until it is old enough. What a person granted for a while is never kept here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use portcullis_hosts::HookSession;
use portcullis_settings::{LoadOptions, SettingsLocations};
use portcullis_store::Store;

use super::stamp::Standing;
use portcullis_gate::Failure;
use portcullis_gate::session_settings::{SessionSettings, SettingsFlags, SettingsPlan};

/// How many directories' settings are kept.
const MOST: usize = 512;

/// Settings by directory and project.
#[derive(Debug, Default)]
pub(crate) struct SettingsCache {
    kept: Mutex<BTreeMap<Key, Arc<CachedSettings>>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// A directory, and the project it is worked in from.
type Key = (String, Option<String>);

/// Settings with what must not have changed.
#[derive(Debug)]
struct CachedSettings {
    session: Arc<SessionSettings>,
    options: LoadOptions,
    files: Vec<(PathBuf, Standing)>,
}

impl SettingsCache {
    /// Returns the settings of a call's directory, as they are now.
    pub(crate) fn open(
        &self,
        arguments: &SettingsFlags,
        place: &HookSession,
        store: &Store,
    ) -> Result<Arc<SessionSettings>, Failure> {
        let project = place.project.as_ref().map(PathBuf::from);
        let mut plan = SettingsPlan::new(arguments, &place.cwd, project)?;
        plan.add_grants(store, &place.id);
        if plan.has_grants() {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::new(plan.load()?.with_store(store.clone())));
        }
        let key = (place.cwd.clone(), place.project.clone());
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(kept) = known.filter(|kept| kept.is_still_so(&plan)) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::clone(&kept.session));
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let options = plan.options.clone();
        // What the files are like is noted before they are read: a change in between makes them look changed later.
        let (before, early) = (SystemTime::now(), watched(&plan.locations, &[]));
        let session = Arc::new(plan.load()?.with_store(store.clone()));
        let names: Vec<PathBuf> =
            session.loaded.documents.iter().map(|document| PathBuf::from(&*document.name)).collect();
        let files = watched(&session.locations, &names);
        let is_settled = early.iter().all(|file| files.contains(file))
            && files.iter().all(|(_, standing)| standing.is_settled(before));
        if is_settled {
            let kept = CachedSettings { session: Arc::clone(&session), options, files };
            let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, Arc::new(kept));
        }
        Ok(session)
    }

    /// Returns how often settings were at hand, and how often they were loaded.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }
}

impl CachedSettings {
    fn is_still_so(&self, plan: &SettingsPlan) -> bool {
        self.session.locations == plan.locations
            && self.options == plan.options
            && self.files.iter().all(|(path, standing)| Standing::of(path) == *standing)
    }
}

/// Notes what every file looks like that settings may come from, and every other one that was looked at.
fn watched(locations: &SettingsLocations, others: &[PathBuf]) -> Vec<(PathBuf, Standing)> {
    let mut paths: Vec<PathBuf> = locations.watched();
    paths.extend(others.iter().cloned());
    paths.sort();
    paths.dedup();
    let mut seen: Vec<(PathBuf, Standing)> = Vec::with_capacity(paths.len());
    for path in paths {
        // Where a whole directory is missing, so is all that would be in it, and one look says so.
        let is_told =
            seen.iter().any(|(above, standing)| *standing == Standing::Missing && path.starts_with(above));
        if !is_told {
            seen.push(first_missing(path));
        }
    }
    seen
}

/// Looks at a place. If nothing is there, the answer is about the highest place above it where nothing is either.
fn first_missing(path: PathBuf) -> (PathBuf, Standing) {
    let standing = Standing::of(&path);
    let mut missing = path;
    while standing == Standing::Missing
        && let Some(above) = missing.parent()
        && Standing::of(above) == Standing::Missing
    {
        missing = above.to_path_buf();
    }
    (missing, standing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_by_the_highest_directory_that_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/settings.json");
        let above = folder.path().join("a");
        assert_eq!(first_missing(path.clone()), (above.clone(), Standing::Missing));
        std::fs::create_dir(&above).unwrap();
        assert_ne!(Standing::of(&above), Standing::Missing, "a directory that appears is a change");
        assert_eq!(first_missing(path.clone()), (above.join("b"), Standing::Missing));
        std::fs::create_dir(above.join("b")).unwrap();
        assert_eq!(first_missing(path.clone()), (path.clone(), Standing::Missing));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(first_missing(path.clone()), (path.clone(), Standing::of(&path)));
    }
}
