//! Files that hold secrets: keys, tokens, password stores, histories.
//!
//! The lists are in `data/lists/places.toml`. What is harmless is asked first: a public key lies beside a private
//! one.

use super::Scope;
use super::index::PatternIndex;
use super::pattern::{any_named, names_any};
use crate::lists::places::secrets::{ABSOLUTE, ANYWHERE, DIRECTORIES_IN_HOME, HARMLESS, IN_HOME, OF_PROJECT};
use crate::path::is_inside;

/// How secret a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// The project's own settings, which may hold keys it works with.
    Project,
    /// Keys, tokens, passwords of the user or the machine.
    Key,
}

static INDEX_IN_HOME: PatternIndex<{ IN_HOME.len() }> = PatternIndex::of(IN_HOME);
static INDEX_ABSOLUTE: PatternIndex<{ ABSOLUTE.len() }> = PatternIndex::of(ABSOLUTE);
static INDEX_ANYWHERE: PatternIndex<{ ANYWHERE.len() }> = PatternIndex::of(ANYWHERE);
static INDEX_OF_PROJECT: PatternIndex<{ OF_PROJECT.len() }> = PatternIndex::of(OF_PROJECT);
static INDEX_HARMLESS: PatternIndex<{ HARMLESS.len() }> = PatternIndex::of(HARMLESS);

fn is_secret_in_home(below: &str) -> bool {
    INDEX_IN_HOME.fits(below) || any_named(IN_HOME, below) || DIRECTORIES_IN_HOME.contains(&below)
}

/// Says how secret a file is; `None` if nothing says that it is.
pub fn secrecy(path: &str, scope: &Scope) -> Option<Secrecy> {
    if INDEX_HARMLESS.fits_ending(path) {
        return None;
    }
    let is_own_process = path.starts_with("/proc/self/fd/");
    if INDEX_ABSOLUTE.fits(path) && !is_own_process || scope.below_home(path).is_some_and(is_secret_in_home) {
        return Some(Secrecy::Key);
    }
    if INDEX_ANYWHERE.fits_ending(path) {
        return Some(Secrecy::Key);
    }
    if INDEX_OF_PROJECT.fits_ending(path) {
        return Some(Secrecy::Project);
    }
    if let Some(wildcard) = spelled_wildcard(path) {
        return match () {
            () if names_any(ANYWHERE, wildcard) => Some(Secrecy::Key),
            () if names_any(OF_PROJECT, wildcard) => Some(Secrecy::Project),
            () => None,
        };
    }
    path.split_once("/**").and_then(|(start, rest)| among_found(start, rest, scope))
}

/// Returns the last component of a path if it has wildcards of the shell, and so much before them that a name is meant.
fn spelled_wildcard(path: &str) -> Option<&str> {
    let last = path.rsplit('/').next()?;
    let spelled = last.find(['*', '?', '['])?;
    let is_meant = spelled >= 4 || spelled >= 2 && last.starts_with('.');
    (is_meant && !path.contains("/**")).then_some(last)
}

/// Says how secret what a search below a directory may find is.
fn among_found(start: &str, rest: &str, scope: &Scope) -> Option<Secrecy> {
    let last = rest.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or("*");
    let named = |secrets: &[&str]| secrets.iter().any(|secret| may_be_found(last, secret));
    let is_spelled = !last.starts_with(['*', '?', '[']);
    if scope.is_in_project(start) {
        return match () {
            () if is_spelled && named(ANYWHERE) => Some(Secrecy::Key),
            () if is_spelled && named(OF_PROJECT) => Some(Secrecy::Project),
            () => None,
        };
    }
    let holds_home = scope.home.as_deref().is_some_and(|home| is_inside(home, start));
    let in_home = |secret: &&&str| {
        let below = scope.below_home(start).map(|below| format!("{below}/"));
        holds_home || below.is_some_and(|below| secret.starts_with(&below))
    };
    if IN_HOME.iter().filter(in_home).any(|secret| may_be_found(last, secret)) {
        return Some(Secrecy::Key);
    }
    if (is_spelled || holds_home) && named(ANYWHERE) {
        Some(Secrecy::Key)
    } else {
        named(OF_PROJECT).then_some(Secrecy::Project)
    }
}

/// Says whether a pattern of names may find a secret by its last component.
fn may_be_found(pattern: &str, secret: &str) -> bool {
    let secret = secret.rsplit('/').next().unwrap_or(secret);
    if secret == "**" {
        // A file of any name: one with an ending of its own is hardly meant.
        return pattern.ends_with('*');
    }
    let ends = |text: &str| {
        let first = text.find(['*', '?', '[']).unwrap_or(text.len());
        let last = text.rfind(['*', '?', ']']).map_or(0, |at| at + 1);
        let start = text.get(..first).unwrap_or_default().to_ascii_lowercase();
        (start, text.get(last..).unwrap_or_default().to_ascii_lowercase())
    };
    let ((start, end), (secret_start, secret_end)) = (ends(pattern), ends(secret));
    let begins = start.starts_with(&secret_start) || secret_start.starts_with(&start);
    let finishes = end.ends_with(&secret_end) || secret_end.ends_with(&end);
    let is_exact = !secret.contains('*') && !pattern.contains(['*', '?', '[']);
    if is_exact { secret.eq_ignore_ascii_case(pattern) } else { begins && finishes }
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
    let is_key = below.is_some_and(is_secret_in_home) || INDEX_ANYWHERE.fits_ending(rest);
    (is_key && !INDEX_HARMLESS.fits_ending(rest)).then_some(Secrecy::Key)
}
