//! What kind of place a path is: the project, temporary files, secrets, start-up files, logs, the system.
//!
//! Everything here goes by the text of an absolute path. A path may be several things at once, so each kind has a
//! question of its own.

mod agent;
mod host;
mod index;
mod later;
mod open;
mod own;
mod pattern;
mod rebuilt;
mod secret;
mod system;
mod windows;

pub use agent::{
    is_agent_directory, is_agent_hold, is_agent_instruction, is_agent_setting, is_agent_shelter,
    is_among_agent_files, names_daemon_socket,
};
pub use host::{is_internal_host, is_loopback, is_metadata, is_one_label};
pub use later::{any_runs_later, runs_later, startup_file};
pub use open::is_open;
pub use own::OwnLocations;
pub(crate) use own::{OwnKinds, OwnPlaces, OwnTouch};
pub(crate) use pattern::any_ending;
pub(crate) use rebuilt::is_cache;
pub use rebuilt::{is_output_folder, is_rebuilt};
pub(crate) use secret::secrecy_by_text;
pub use secret::{Secrecy, secrecy};
pub use system::{is_device, is_free, is_log, is_system};
pub use windows::is_windows_system;

use crate::path::{below, normal};

/// The directories that matter to a judgement. All paths are absolute and normal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// The working directories, and where they lead.
    pub roots: Vec<String>,
    /// The user's home directory.
    pub home: Option<String>,
}

impl Scope {
    /// Says whether a path lies in a working directory.
    pub fn is_in_project(&self, path: &str) -> bool {
        let path = normal(path);
        self.roots.iter().any(|root| below(&path, root).is_some())
    }

    /// Says whether a path is a file of one's own in a directory for temporary files, not that directory itself.
    pub fn is_temporary(&self, path: &str) -> bool {
        let normal = normal(path);
        let is_below = |path: &str, directory: &str| path != directory && below(path, directory).is_some();
        let lies_there = |path: &str| TEMPORARY.iter().any(|directory| is_below(path, directory));
        // In containers a home may lie there, which makes it no less of a home.
        lies_there(&normal) && self.below_own_home(&normal).is_none()
    }

    /// Returns the path below the user's own home directory; empty for that itself.
    pub(crate) fn below_own_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        let home = self.home.as_deref().filter(|home| *home != "/")?;
        below(path, home)
    }

    /// Returns the path below the home directory, of this user or of any.
    pub fn below_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        let own = self.home.as_deref().and_then(|home| path.strip_prefix(home)?.strip_prefix('/'));
        own.or_else(|| below_any_home(path))
    }
}

/// Directories for temporary files.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"];

/// Returns the path below a home directory, going by where systems keep them.
fn below_any_home(path: &str) -> Option<&str> {
    if let Some(rest) = path.strip_prefix("/root/") {
        return Some(rest);
    }
    let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
    rest.split_once('/').map(|(_, below)| below)
}
