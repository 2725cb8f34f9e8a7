//! Documents as files: read without waiting, changed under a lock beside them, replaced in one step.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::FileBackend;
use crate::StoreError;
use crate::backend::{DocumentChange, DocumentKey, DocumentUpdate, SessionExpiry};
use crate::disk;
use crate::disk::FileLock;
use crate::facts::SessionFactLog;
use crate::state::{SessionGlance, session_name};

impl FileBackend {
    pub(super) fn read_document(&self, key: &DocumentKey, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let is_there = match key {
            DocumentKey::Session(_) | DocumentKey::Facts(_) => self.has_sessions()?,
            DocumentKey::Grants => disk::has_directory(&self.root)?,
        };
        if is_there { disk::read(&self.document_file(key), most) } else { Ok(None) }
    }

    pub(super) fn change_document(
        &self,
        key: &DocumentKey,
        most: u64,
        changing: DocumentUpdate<'_>,
    ) -> Result<(), StoreError> {
        disk::make_directory(&self.root)?;
        if !matches!(key, DocumentKey::Grants) {
            disk::make_directory(&self.sessions())?;
        }
        let file = self.document_file(key);
        let lock = FileLock::take_within(&self.lock_file(key), self.patience)?;
        match changing(disk::read(&file, most)?)? {
            DocumentChange::Keep => Ok(()),
            DocumentChange::Write(bytes) => disk::replace(&lock, &file, &bytes),
            DocumentChange::Remove => disk::remove(&lock, &file),
        }
    }

    /// Lists the names of the sessions in order, also where only a lock is left. A file that is not named like one of
    /// ours is none.
    pub(super) fn names(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut names = BTreeSet::new();
        if !self.has_sessions()? {
            return Ok(names);
        }
        let directory = self.sessions();
        let failed = |error| StoreError::of_io("list", &directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let file = entry.map_err(failed)?.file_name();
            let name =
                file.to_str().and_then(|file| file.strip_suffix(".json").or(file.strip_suffix(".lock")));
            names.extend(name.filter(|name| session_name(name) == **name).map(str::to_owned));
        }
        Ok(names)
    }

    /// Removes a session with its lock. One that somebody changes just now is not old.
    pub(super) fn forget(&self, name: &str, is_old: SessionExpiry<'_>) -> Result<bool, StoreError> {
        if !self.has_sessions()? {
            return Ok(false);
        }
        let keys = [DocumentKey::Session(name.to_owned()), DocumentKey::Facts(name.to_owned())];
        let [state, facts] = keys.each_ref().map(|key| self.document_file(key));
        let [key, _] = keys;
        let Some(lock) = FileLock::try_take(&self.lock_file(&key))? else { return Ok(false) };
        let documents = (
            disk::read(&state, SessionGlance::MAXIMUM_SIZE)?,
            disk::read(&facts, SessionFactLog::MAXIMUM_SIZE)?,
        );
        if !is_old(documents.0.as_deref(), documents.1.as_deref())? {
            return Ok(false);
        }
        disk::remove(&lock, &state)?;
        disk::remove(&lock, &facts)?;
        lock.remove()?;
        Ok(documents.0.is_some() || documents.1.is_some())
    }

    /// Returns the file of a document. Facts stand beside the state, because every call reads them, and the state may be
    /// long.
    pub(super) fn document_file(&self, key: &DocumentKey) -> PathBuf {
        match key {
            DocumentKey::Session(name) => self.sessions().join(format!("{name}.json")),
            DocumentKey::Facts(name) => self.sessions().join(format!("{name}.facts.json")),
            DocumentKey::Grants => self.root.join("grants.json"),
        }
    }

    fn lock_file(&self, key: &DocumentKey) -> PathBuf {
        match key {
            DocumentKey::Session(name) | DocumentKey::Facts(name) => {
                self.sessions().join(format!("{name}.lock"))
            }
            DocumentKey::Grants => self.root.join("grants.lock"),
        }
    }

    fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    fn has_sessions(&self) -> Result<bool, StoreError> {
        Ok(disk::has_directory(&self.root)? && disk::has_directory(&self.sessions())?)
    }
}
