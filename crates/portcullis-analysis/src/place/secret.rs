//! Files that hold secrets: keys, tokens, password stores, histories.
//!
//! The lists are in `data/lists/places/secrets.toml`. What is harmless is asked first: a public key lies beside a private
//! one.

use super::Scope;
use super::pattern::{any, any_ending, any_named};
use crate::lists::places::secrets::{ABSOLUTE, ANYWHERE, DIRECTORIES_IN_HOME, HARMLESS, IN_HOME, OF_PROJECT};

/// How secret a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// The project's own settings, which may hold keys it works with.
    Project,
    /// Keys, tokens, passwords of the user or the machine.
    Key,
}

fn is_secret_in_home(below: &str) -> bool {
    any(IN_HOME, below) || any_named(IN_HOME, below) || DIRECTORIES_IN_HOME.contains(&below)
}

/// Says how secret a file is; `None` if nothing says that it is.
pub fn secrecy(path: &str, scope: &Scope) -> Option<Secrecy> {
    if any_ending(HARMLESS, path) {
        return None;
    }
    let is_own_process = path.starts_with("/proc/self/fd/");
    if any(ABSOLUTE, path) && !is_own_process || scope.below_home(path).is_some_and(is_secret_in_home) {
        return Some(Secrecy::Key);
    }
    if any_ending(ANYWHERE, path) {
        return Some(Secrecy::Key);
    }
    any_ending(OF_PROJECT, path).then_some(Secrecy::Project)
}

/// Says how secret a file is whose directory is only known when the command runs: `%APPDATA%\\Mozilla\\key4.db`.
pub(crate) fn secrecy_by_text(written: &str) -> Option<Secrecy> {
    const VARIABLES: &[(&str, &str)] =
        &[("localappdata", "AppData/Local"), ("appdata", "AppData/Roaming"), ("userprofile", "")];
    let path = written.trim_matches(['"', '\'']).replace('\\', "/");
    let (first, rest) = path.split_once('/')?;
    let name = first.trim_matches('%').to_ascii_lowercase();
    let name = name.trim_start_matches("$env:").trim_start_matches("${env:").trim_end_matches('}');
    let known = VARIABLES.iter().find(|(variable, _)| *variable == name).map(|(_, directory)| *directory);
    let below = known.map(|directory| format!("{directory}/{rest}"));
    let below = below.as_deref().map(|below| below.trim_start_matches('/'));
    let is_key = below.is_some_and(is_secret_in_home) || any_ending(ANYWHERE, rest);
    (is_key && !any_ending(HARMLESS, rest)).then_some(Secrecy::Key)
}
