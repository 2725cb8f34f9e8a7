//! Every environment variable Portcullis reads. They are read here and nowhere else, and handed down as values.
//!
//! `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` are read by the terminal library. There is no variable that names the
//! managed settings or switches anything off: whoever can set a variable must not be able to weaken the policy.

use std::path::PathBuf;

/// The user's home directory: `~` in rules, and where the user's own settings are. Since 0.1.
pub(crate) const HOME: &str = "HOME";

/// Where the user's own settings are, instead of `~/.config`. Since 0.1.
pub(crate) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Where the list of trusted workspaces is, instead of `~/.local/state`. Since 0.1.
pub(crate) const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Where Claude Code's user settings are, instead of `~/.claude`. Since 0.1.
pub(crate) const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The project of the session, set by Claude Code for its hooks; read by `hook claude` only. Since 0.1.
pub(crate) const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// Reads a variable that names a directory; one that is empty or not absolute counts as unset.
pub(crate) fn directory(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
