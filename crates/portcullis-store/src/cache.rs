//! Small files that may be lost: a map from names to something, read without waiting, changed under a lock.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Store;
use crate::disk;
use crate::disk::FileLock;
use crate::error::StoreError;

const VERSION: u32 = 1;
/// More than everything at its longest, every character escaped.
const MAXIMUM_SIZE: u64 = 4 * 1024 * 1024;

/// The longest name, in bytes. What is longer is not kept.
pub(crate) const MOST_NAME: usize = 200;
/// The most entries of a map.
pub(crate) const MOST_ENTRIES: usize = 100;

/// A file in the root of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheFile<'a> {
    store: &'a Store,
    name: &'static str,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheDocument<T> {
    version: u32,
    entries: BTreeMap<String, T>,
}

impl<'a> CacheFile<'a> {
    pub(crate) const fn new(store: &'a Store, name: &'static str) -> Self {
        Self { store, name }
    }

    /// Reads the map; empty if there is no file.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<BTreeMap<String, T>, StoreError> {
        if !disk::has_directory(self.store.root())? {
            return Ok(BTreeMap::new());
        }
        let file = self.file("json");
        let Some(bytes) = disk::read(&file, MAXIMUM_SIZE)? else { return Ok(BTreeMap::new()) };
        match serde_json::from_slice::<CacheDocument<T>>(&bytes) {
            Ok(document) if document.version == VERSION => Ok(document.entries),
            Ok(document) => {
                let detail = format!("its version is {}, and this program knows {VERSION}", document.version);
                Err(StoreError::broken(&file, &detail))
            }
            Err(error) => Err(StoreError::broken(&file, &error.to_string())),
        }
    }

    /// Changes the map. A broken one is begun anew; one that stays as it was is not written.
    pub(crate) fn update<T: DeserializeOwned + Serialize + Clone + PartialEq, R>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, T>) -> R,
    ) -> Result<R, StoreError> {
        disk::make_directory(self.store.root())?;
        let lock = FileLock::take_within(&self.file("lock"), self.store.patience)?;
        let before = match self.read::<T>() {
            Ok(entries) => Some(entries),
            Err(StoreError::Broken { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut entries = before.clone().unwrap_or_default();
        let result = change(&mut entries);
        if before.as_ref() != Some(&entries) {
            let file = self.file("json");
            let bytes = serde_json::to_vec(&CacheDocument { version: VERSION, entries })
                .map_err(|error| StoreError::broken(&file, &error.to_string()))?;
            disk::replace(&lock, &file, &bytes)?;
        }
        Ok(result)
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.store.root().join(format!("{}.{extension}", self.name))
    }
}
