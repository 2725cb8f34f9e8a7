//! Where session files are looked for.
//!
//! Directories are walked in the order of their names. Symbolic links inside them are not followed, so there is no loop
//! and nothing outside of what was named is read. A pipe or a device is never opened.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::arguments::ReplayArgs;
use portcullis_gate::Failure;
use portcullis_gate::env_vars;

/// How deep directories are walked.
const DEEPEST: usize = 64;
/// The most files that are taken.
const MOST_FILES: usize = 500_000;

/// A file that may be a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Whether the command line names it, so that it must be a session.
    pub(super) is_named: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In the order they are reported.
    pub(super) files: Vec<Candidate>,
    /// How many bytes they have.
    pub(super) bytes: u64,
    /// What could not be looked at.
    pub(super) problems: Vec<String>,
    /// Whether something that the command line names could not be looked at.
    pub(super) has_lost_named: bool,
    seen: BTreeSet<(u64, u64)>,
}

/// Finds the files that the command line names, or those of the usual places.
pub(super) fn find(arguments: &ReplayArgs) -> Result<Found, Failure> {
    let mut found = Found::default();
    if arguments.paths.is_empty() {
        for place in usual()?.into_iter().filter(|place| place.is_dir()) {
            found.walk(place);
        }
    }
    for name in &arguments.paths {
        found.add_named(Path::new(name));
    }
    if found.files.is_empty() && !found.has_lost_named {
        let message = if arguments.paths.is_empty() {
            "no session of Claude Code, Codex or Gemini CLI was found in the home directory"
        } else {
            "no file was found in what the command line names"
        };
        return Err(Failure::usage(message).with_hint("name a session file, or a directory that holds some"));
    }
    Ok(found)
}

/// Returns where the hosts keep their sessions.
fn usual() -> Result<Vec<PathBuf>, Failure> {
    let home = env_vars::home()?;
    let claude = env_vars::claude_config()?.or_else(|| home.as_ref().map(|home| home.join(".claude")));
    let mut places: Vec<PathBuf> = claude.into_iter().map(|claude| claude.join("projects")).collect();
    if let Some(home) = home {
        places.push(home.join(".codex/sessions"));
        let projects = children(&home.join(".gemini/tmp")).unwrap_or_default();
        places.extend(projects.into_iter().map(|project| project.join("chats")));
    }
    Ok(places)
}

/// Lists a directory in the order of the names.
fn children(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

impl Found {
    /// Says whether a file is among those that were found, under this name or another.
    pub(super) fn holds(&self, metadata: &Metadata) -> bool {
        self.seen.contains(&identity(metadata))
    }

    fn add_named(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.walk(path.to_owned()),
            Ok(metadata) if metadata.is_file() => self.add(path.to_owned(), &metadata, true),
            Ok(_) => self.lose(path, "it is neither a file nor a directory"),
            Err(error) => self.lose(path, &error.to_string()),
        }
    }

    fn lose(&mut self, path: &Path, why: &str) {
        self.has_lost_named = true;
        self.problems.push(format!("{}: {why}", path.display()));
    }

    fn walk(&mut self, root: PathBuf) {
        let mut open = vec![(root, 0)];
        while let Some((directory, depth)) = open.pop() {
            let names = match children(&directory) {
                Ok(names) => names,
                Err(error) => {
                    self.problems.push(format!("{}: {error}", directory.display()));
                    continue;
                }
            };
            let mut inner = Vec::new();
            for path in names {
                match fs::symlink_metadata(&path) {
                    Ok(metadata) if metadata.is_dir() && depth < DEEPEST => inner.push((path, depth + 1)),
                    Ok(metadata) if metadata.is_file() => self.add(path, &metadata, false),
                    Ok(_) | Err(_) => {}
                }
            }
            open.extend(inner.into_iter().rev());
        }
    }

    /// Takes a file that was not taken under another name.
    fn add(&mut self, path: PathBuf, metadata: &Metadata, is_named: bool) {
        if self.seen.insert(identity(metadata)) {
            if self.files.len() >= MOST_FILES {
                self.lose(&path, "it is one file too many");
                return;
            }
            self.bytes += metadata.len();
            self.files.push(Candidate { path, is_named });
        }
    }
}

/// Returns what a file has in common with no other, whatever its names.
fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
