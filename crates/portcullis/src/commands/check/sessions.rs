//! Sessions of a run whose calls are made in several directories: the settings are loaded once for each.

use std::collections::BTreeMap;

use portcullis_gate::Failure;
use portcullis_gate::{SessionSettings, SettingsFlags};

/// How many directories' settings are kept.
const MOST_SESSIONS: usize = 256;

/// Opens the session of a directory, relative to the one the flags name.
pub(crate) type Opener = fn(&SettingsFlags, &str) -> Result<SessionSettings, Failure>;

/// Sessions by directory.
pub(crate) struct Sessions<'a> {
    arguments: &'a SettingsFlags,
    open_in: Opener,
    /// Relative to the directory the flags name; that one itself is the empty text.
    by_directory: BTreeMap<String, SessionSettings>,
}

impl<'a> Sessions<'a> {
    /// Starts with the session of the directory the flags name.
    pub(crate) fn new(arguments: &'a SettingsFlags, base: SessionSettings, open_in: Opener) -> Self {
        Self { arguments, open_in, by_directory: BTreeMap::from([(String::new(), base)]) }
    }

    /// Finds the session of a directory, relative to the one the flags name.
    pub(crate) fn find(&mut self, cwd: &str) -> Result<&SessionSettings, String> {
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
