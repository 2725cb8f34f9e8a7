//! Words of a command made targets: paths resolved, hosts taken out of URLs.
//!
//! A path has one absolute spelling for each directory that the command may run in, and none if nobody knows: whoever asks
//! whether it lies somewhere must ask all of them, and an empty list is never inside.

use super::{Classified, PathTarget, Target};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::path;
use crate::place::{Scope, Secrecy, secrecy, secrecy_by_text};
use crate::shape::Shape;

/// A word that may name files in more places than this is not followed.
const MOST_PATHS: usize = 64;

/// What an act is done to, by its nature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Path,
    Host,
    Name,
}

fn kind_of(act: Act) -> TargetKind {
    match act {
        Act::Read
        | Act::List
        | Act::Write
        | Act::Delete
        | Act::DeleteTree
        | Act::Move
        | Act::SetMode
        | Act::Link
        | Act::Wipe
        | Act::Execute
        | Act::Disk
        | Act::Mount
        | Act::LoadCode => TargetKind::Path,
        Act::Fetch | Act::Send | Act::Connect | Act::RemoteRun | Act::Listen | Act::Tunnel => {
            TargetKind::Host
        }
        _ => TargetKind::Name,
    }
}

/// Makes a word the target of an act.
pub(crate) fn of_word(act: Act, word: &Argument, directories: &Directories, home: Option<&str>) -> Target {
    match kind_of(act) {
        TargetKind::Path => Target::Path(path_of(word, directories, home)),
        TargetKind::Host => host_of(word),
        TargetKind::Name => Target::Name(word.text.clone()),
    }
}

/// Resolves a word that names a file.
pub(crate) fn path_of(word: &Argument, directories: &Directories, home: Option<&str>) -> PathTarget {
    let written = word.as_written().to_owned();
    let unknown = PathTarget::new(written.clone(), Vec::new());
    let text = match word.knowledge {
        Knowledge::Dynamic => {
            return word.shape().and_then(|shape| path_of_shape(word, shape, directories)).unwrap_or(unknown);
        }
        Knowledge::Tilde | Knowledge::Glob if is_in_home(word) => match (home, word.text.strip_prefix('~')) {
            (Some(home), Some(rest)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => return unknown,
        },
        Knowledge::Fixed | Knowledge::Glob | Knowledge::Tilde => word.text.clone(),
    };
    // A name with a dollar in it is more likely one that somebody meant to be expanded.
    let is_address = text.contains("://") && !text.starts_with("file:");
    if is_address || text.contains('$') {
        return unknown;
    }
    let is_pattern = word.knowledge == Knowledge::Glob;
    // Going up from a directory that a pattern chooses leads to where nobody knows.
    if is_pattern && after_pattern(&text).split('/').any(|component| component == "..") {
        return unknown;
    }
    PathTarget { written, is_pattern, ..path_of_text(&text, directories) }
}

/// Returns the path of an address of a file, behind `file:`; `None` if a host or an encoded letter stands in it.
fn of_file_address(rest: &str) -> Option<&str> {
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    let path = match path.strip_prefix("//") {
        Some(behind) => behind
            .strip_prefix("localhost")
            .unwrap_or(behind)
            .strip_prefix('/')
            .and(behind.find('/').and_then(|at| behind.get(at..)))?,
        None => path,
    };
    (!path.contains('%')).then_some(path)
}

/// Resolves the text of a path, in which nothing is expanded any more.
pub(crate) fn path_of_text(text: &str, directories: &Directories) -> PathTarget {
    if is_of_windows(text) {
        return PathTarget::new(text, vec![text.replace('\\', "/")]);
    }
    // Some programs take a file as an address.
    let text = match text.strip_prefix("file:").map(of_file_address) {
        Some(Some(path)) => path,
        Some(None) => return PathTarget::new(text, Vec::new()),
        None => text,
    };
    let is_absolute = text.starts_with('/');
    let climbs = text.split('/').any(|component| component == "..");
    let (paths, windings) = match directories.alternatives() {
        _ if is_absolute => (vec![path::normalize(text)], vec![text.to_owned()]),
        Some(directories) => (
            directories.iter().map(|directory| path::join(directory, text)).collect(),
            directories.iter().map(|directory| format!("{directory}/{text}")).collect(),
        ),
        None => (Vec::new(), Vec::new()),
    };
    let windings = if climbs { windings } else { Vec::new() };
    PathTarget { windings, ..PathTarget::new(text, paths) }
}

/// Returns what follows the first sign of a pattern.
fn after_pattern(text: &str) -> &str {
    text.find(['*', '?', '[', '{', '(']).and_then(|at| text.get(at..)).unwrap_or_default()
}

/// Resolves all paths that a word may name.
fn path_of_shape(word: &Argument, shape: &Shape, directories: &Directories) -> Option<PathTarget> {
    let mut paths = Vec::new();
    let mut windings = Vec::new();
    for pattern in shape.path_patterns()? {
        // What looks like an address is none of a file.
        if pattern.contains("://") {
            return None;
        }
        let places: Vec<&str> = match directories.alternatives() {
            _ if pattern.starts_with('/') => vec!["/"],
            Some(directories) => directories.iter().map(String::as_str).collect(),
            None => return None,
        };
        let climbs = pattern.split('/').any(|component| component == "..");
        for place in places {
            paths.push(path::join(place, &pattern));
            if climbs {
                windings.push(format!("{}/{pattern}", place.trim_end_matches('/')));
            }
        }
    }
    paths.dedup();
    (paths.len() <= MOST_PATHS).then(|| PathTarget {
        is_pattern: true,
        is_single: shape.is_single(),
        windings,
        ..PathTarget::new(word.as_written(), paths)
    })
}

/// Says whether a path is absolute as Windows writes it: `C:\x`, `\\host\share`, `HKLM:\x`.
pub(crate) fn is_of_windows(text: &str) -> bool {
    let drive = text.split_once(':').map(|(drive, rest)| (drive, rest.starts_with(['\\', '/'])));
    let has_drive = drive.is_some_and(|(drive, is_rooted)| {
        is_rooted && !drive.is_empty() && drive.chars().all(|letter| letter.is_ascii_alphabetic())
    });
    has_drive || text.starts_with("\\\\")
}

/// Says whether a word begins with a home directory: a pattern may too.
fn is_in_home(word: &Argument) -> bool {
    word.knowledge == Knowledge::Tilde || word.as_written().starts_with('~')
}

/// Takes the host out of a URL, of `user@host:path` or of a bare name.
pub(crate) fn host_of(word: &Argument) -> Target {
    let written = word.text.clone();
    let host = host_in(&written).filter(|host| word.is_known() || !host.contains(['$', '`', '…']));
    Target::Host { host: host.unwrap_or_default(), written }
}

/// Returns the host a text names, in lower case.
pub(crate) fn host_in(text: &str) -> Option<String> {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or(after_scheme);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, _)) => inside,
        None => authority.split(':').next().unwrap_or(authority),
    };
    let is_host = !host.is_empty() && !host.contains(char::is_whitespace);
    is_host.then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

impl PathTarget {
    fn secrecy_of_spellings(&self, scope: &Scope) -> Option<Secrecy> {
        let by_path = self.paths.iter().filter_map(|path| secrecy(path, scope)).max();
        by_path.or_else(|| self.paths.is_empty().then(|| secrecy_by_text(&self.written)).flatten())
    }

    /// Returns how secret it is: as much as the most secret of its spellings.
    pub(crate) fn secrecy_in(&self, scope: &Scope) -> Option<Secrecy> {
        match self.secrecy {
            Classified::As(known) => known,
            Classified::NotYet => self.secrecy_of_spellings(scope),
        }
    }
}
