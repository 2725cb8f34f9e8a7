//! Sessions of a run whose calls are made in several directories: the settings are loaded once for each.

use std::collections::BTreeMap;

use crate::failure::Failure;
use crate::session::{Session, SessionArgs};

/// How many directories' settings are kept.
const MOST_SESSIONS: usize = 256;

/// Opens the session of a directory, relative to the one the flags name.
pub(crate) type Opener = fn(&SessionArgs, &str) -> Result<Session, Failure>;

/// Sessions by directory.
pub(crate) struct Sessions<'a> {
    arguments: &'a SessionArgs,
    open_in: Opener,
    /// Relative to the directory the flags name; that one itself is the empty text.
    by_directory: BTreeMap<String, Session>,
}

impl<'a> Sessions<'a> {
    /// Starts with the session of the directory the flags name.
    pub(crate) fn new(arguments: &'a SessionArgs, base: Session, open_in: Opener) -> Self {
        Self { arguments, open_in, by_directory: BTreeMap::from([(String::new(), base)]) }
    }

    /// Finds the session of a directory, relative to the one the flags name.
    pub(crate) fn find(&mut self, cwd: &str) -> Result<&Session, String> {
        if !self.by_directory.contains_key(cwd) {
            if self.by_directory.len() >= MOST_SESSIONS {
                self.by_directory.retain(|directory, _| directory.is_empty());
            }
            let session = (self.open_in)(self.arguments, cwd).map_err(|failure| failure.message)?;
            self.by_directory.insert(cwd.to_owned(), session);
        }
        self.by_directory.get(cwd).ok_or_else(|| "the settings could not be kept".to_owned())
    }
}
