//! The index of the trail, kept open: brought up to date by one at a time, and read by several at once.

use std::sync::{Mutex, PoisonError};

use super::FileBackend;
use crate::StoreError;
use crate::audit::index::Index;

/// How many connections that only read are kept.
const MOST_READERS: usize = 4;

/// The open index.
#[derive(Debug, Default)]
pub(super) struct OpenIndex {
    /// What takes in new records.
    writer: Mutex<Option<Index>>,
    /// What is not in use just now.
    readers: Mutex<Vec<Index>>,
}

impl FileBackend {
    /// Reads from the index as it is after everything that was recorded by now.
    pub(super) fn reading<T>(
        &self,
        read: impl FnOnce(&Index) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let reader = self.reader()?;
        let outcome = read(&reader);
        let mut readers = self.index.readers.lock().unwrap_or_else(PoisonError::into_inner);
        match &outcome {
            Ok(_) if readers.len() < MOST_READERS => readers.push(reader),
            Ok(_) => {}
            // It is looked through, and made anew if it must be, when it is next opened.
            Err(_) => {
                readers.clear();
                drop(readers);
                *self.index.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
        outcome
    }

    /// Brings the index up to date and returns a connection to it.
    fn reader(&self) -> Result<Index, StoreError> {
        let mut writer = self.index.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = match writer.as_mut() {
            Some(index) => self.trail.update_index(index)?,
            None => false,
        };
        if !is_current {
            *writer = None;
            *writer = Some(self.trail.open_index()?);
        }
        let Some(index) = writer.as_ref() else { return Err(StoreError::Unsupported { what: "an index" }) };
        let mut readers = self.index.readers.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of a file that was removed are of no use any more.
        readers.retain(|reader| reader.is_of_same_file(index));
        readers.pop().map_or_else(|| index.reader(), Ok)
    }
}
