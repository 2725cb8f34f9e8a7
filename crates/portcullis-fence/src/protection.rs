//! Finds what is protected below a workspace: files that run later, outside the fence.
//!
//! A name such as `.git/hooks` counts below every directory, since a repository may lie anywhere in another one. Links are
//! not followed: what they lead to is protected where it lies, or outside the workspace and so not writable.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::policy::ProtectedName;

/// What is protected, and the directories on the way to it, which must not be renamed away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ProtectedPlaces {
    /// The protected files and directories that exist.
    pub(crate) found: BTreeSet<PathBuf>,
    /// Every directory between the workspace and one of them; a parent comes before its children.
    pub(crate) parents: BTreeSet<PathBuf>,
}

/// How the names of directories begin in which copies wait that are about to land in the workspace. They were looked at, so
/// nobody may change them.
pub(crate) const STAGING: &str = ".portcullis-commit-";

impl ProtectedPlaces {
    /// Returns what was found with its number, which another file that is put in its place does not have.
    pub(crate) fn numbered(&self) -> BTreeSet<(PathBuf, u64)> {
        let number = |path: &PathBuf| fs::symlink_metadata(path).ok().map(|found| found.ino());
        self.found.iter().filter_map(|path| Some((path.clone(), number(path)?))).collect()
    }
}

/// Returns what exists of the protected names below a workspace.
pub(crate) fn find_protected(workspace: &Path, names: &[ProtectedName]) -> io::Result<ProtectedPlaces> {
    let mut places = ProtectedPlaces::default();
    let names = by_first_component(names);
    let mut open = vec![workspace.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in entries(&directory)? {
            let rests = names.get(entry.file_name().as_os_str()).map(Vec::as_slice).unwrap_or_default();
            let is_directory = entry.file_type()?.is_dir();
            if rests.is_empty() && !is_directory {
                continue;
            }
            let path = entry.path();
            if directory == workspace && entry.file_name().as_encoded_bytes().starts_with(STAGING.as_bytes())
            {
                places.found.insert(path.clone());
            }
            for rest in rests {
                follow(&path, rest, &mut places)?;
            }
            if is_directory && !places.found.contains(&path) {
                open.push(path);
            }
        }
    }
    for found in &places.found {
        let between = found.ancestors().skip(1).take_while(|parent| *parent != workspace);
        places.parents.extend(between.map(Path::to_path_buf));
    }
    // What lies in a protected directory cannot be renamed anyway.
    let found = &places.found;
    places.parents.retain(|parent| !parent.ancestors().any(|above| found.contains(above)));
    Ok(places)
}

/// Says whether a part of a path is what a protected name has there. There are file systems to which both cases are the same,
/// and a repository may be brought to one.
fn is_part(want: &str, have: &str) -> bool {
    want == "*" || want.eq_ignore_ascii_case(have)
}

/// Says whether a path below the workspace is a protected name, lies in one, or is on the way to one that it replaces.
pub(crate) fn is_protected(names: &[ProtectedName], relative: &Path) -> bool {
    let parts: Vec<&str> = relative.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    let tails = (0..parts.len()).filter_map(|start| parts.get(start..));
    let mut tails = tails.flat_map(|tail| names.iter().map(move |name| (tail, name.components())));
    tails.any(|(tail, name)| {
        tail.len() >= name.len() && name.iter().zip(tail).all(|(want, have)| is_part(want, have))
    })
}

/// Says whether a path is on the way to a protected name. What stands there and is no directory, such as a link, brings
/// everything below it from elsewhere.
pub(crate) fn leads_to_protected(names: &[ProtectedName], relative: &Path) -> bool {
    let parts: Vec<&str> = relative.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    let tails = (0..parts.len()).filter_map(|start| parts.get(start..));
    let mut tails = tails.flat_map(|tail| names.iter().map(move |name| (tail, name.components())));
    tails.any(|(tail, name)| {
        tail.len() < name.len() && name.iter().zip(tail).all(|(want, have)| is_part(want, have))
    })
}

/// Says whether a path lies in a `.git` directory under a name that git does not keep its own under: what stands there may
/// lead git elsewhere, or be run by it later.
pub(crate) fn is_strange_to_git(known: &[&str], relative: &Path) -> bool {
    let parts: Vec<&str> = relative.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    let repositories = parts.iter().enumerate().filter(|(_, part)| **part == ".git");
    let mut below = repositories.filter_map(|(at, _)| parts.get(at + 1..)).filter(|below| !below.is_empty());
    below.any(|below| !is_known_to_git(known, below))
}

/// Says whether git keeps its own under a name: in the repository, in that of a linked worktree or in that of a submodule,
/// whose name may have several parts.
fn is_known_to_git(known: &[&str], below: &[&str]) -> bool {
    match below {
        ["worktrees", _, rest @ ..] if !rest.is_empty() => is_known_to_git(known, rest),
        ["modules", _, rest @ ..] => {
            (0..rest.len()).filter_map(|start| rest.get(start..)).any(|rest| is_known_to_git(known, rest))
        }
        _ => {
            let path = below.join("/");
            let is_it = |name: &str| match name.strip_suffix('*') {
                Some(start) => path.starts_with(start),
                None => path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            };
            let is_excepted = known.iter().filter_map(|name| name.strip_prefix('!')).any(is_it);
            !is_excepted && known.iter().any(|name| is_it(name))
        }
    }
}

/// What makes git run a program, in a directory that has a `HEAD` and so may be a repository by another name than `.git`.
const STEERS_REPOSITORY: [&str; 4] = ["config", "config.worktree", "commondir", "hooks"];

/// Says whether a path makes a directory one that git takes for a repository with settings of its own. `is_there` says
/// whether something lies at a path.
pub(crate) fn makes_repository(relative: &Path, is_there: impl Fn(&Path) -> bool) -> bool {
    relative.ancestors().any(|path| {
        let (Some(name), Some(directory)) = (path.file_name(), path.parent()) else { return false };
        if name == "HEAD" && path == relative {
            let is_gits = directory.file_name().is_some_and(|name| name == ".git") || is_inner(directory);
            return !is_gits && STEERS_REPOSITORY.iter().any(|name| is_there(&directory.join(name)));
        }
        let is_named = directory.file_name().is_some_and(|name| name == ".git");
        !is_named
            && STEERS_REPOSITORY.iter().any(|steers| name == *steers)
            && is_there(&directory.join("HEAD"))
    })
}

/// Says whether a directory is where git keeps the repositories of linked worktrees and submodules.
fn is_inner(directory: &Path) -> bool {
    let mut inside = directory.iter().skip_while(|part| *part != ".git").skip(1);
    inside.next().is_some_and(|part| part == "worktrees" || part == "modules")
}

/// Returns what follows the first component of each name: a tree has many more files than there are names.
fn by_first_component(names: &[ProtectedName]) -> BTreeMap<&OsStr, Vec<&[String]>> {
    let mut table: BTreeMap<&OsStr, Vec<&[String]>> = BTreeMap::new();
    for (first, rest) in names.iter().filter_map(|name| name.components().split_first()) {
        table.entry(OsStr::new(first)).or_default().push(rest);
    }
    table
}

/// Follows the rest of a name. Where a directory should be and a file or a link is (the `.git` of a worktree), that is
/// what is protected.
fn follow(path: &Path, rest: &[String], places: &mut ProtectedPlaces) -> io::Result<()> {
    let Some((next, rest)) = rest.split_first() else {
        places.found.insert(path.to_path_buf());
        return Ok(());
    };
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.is_dir() {
        places.found.insert(path.to_path_buf());
        return Ok(());
    }
    if next == "*" {
        for entry in entries(path)? {
            follow(&entry.path(), rest, places)?;
        }
    } else if fs::symlink_metadata(path.join(next)).is_ok() {
        follow(&path.join(next), rest, places)?;
    }
    Ok(())
}

/// Returns the entries of a directory; none if it may not be read, since the command may not read it either.
fn entries(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Vec<ProtectedName> {
        texts.iter().map(|text| ProtectedName::try_from((*text).to_owned()).expect("a name")).collect()
    }

    #[test]
    fn a_name_counts_at_every_depth_and_pins_the_way_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for directory in [".git/hooks", "a/b/.git/hooks", "a/b/.git/modules/x/hooks", "src"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        fs::write(root.join("src/.envrc"), "").expect("a file");
        fs::write(root.join("src/.git"), "gitdir: elsewhere").expect("a file");
        let names = names(&[".git/hooks", ".git/modules/*/hooks", ".envrc"]);
        let places = find_protected(root, &names).expect("it can be read");
        let relative = |paths: &BTreeSet<PathBuf>| -> Vec<String> {
            let paths = paths.iter().filter_map(|path| path.strip_prefix(root).ok());
            paths.map(|path| path.display().to_string()).collect()
        };
        let found = [".git/hooks", "a/b/.git/hooks", "a/b/.git/modules/x/hooks", "src/.envrc", "src/.git"];
        assert_eq!(relative(&places.found), found);
        let parents = [".git", "a", "a/b", "a/b/.git", "a/b/.git/modules", "a/b/.git/modules/x", "src"];
        assert_eq!(relative(&places.parents), parents);
    }

    #[test]
    fn a_change_is_protected_by_its_own_path() {
        let names = names(&[".git/hooks", ".git/modules/*/hooks", ".envrc"]);
        for path in
            [".git/hooks", "x/.git/hooks/pre-commit", ".git/modules/m/hooks/a", "a/.envrc", ".Git/HOOKS/a"]
        {
            assert!(is_protected(&names, Path::new(path)), "{path}");
        }
        for path in ["git/hooks", ".git/index", ".git/modules/m/index", "a.envrc", "hooks"] {
            assert!(!is_protected(&names, Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_stands_in_the_way_to_a_protected_name_leads_to_it() {
        let names = names(&[".hg/hgrc", ".git/modules/*/hooks", ".envrc"]);
        for path in [".hg", "a/.hg", ".git", ".git/modules", ".git/modules/m"] {
            assert!(leads_to_protected(&names, Path::new(path)), "{path}");
        }
        for path in ["hg", ".hg/store", ".git/objects", ".envrc", "a", ".git/modules/m/objects"] {
            assert!(!leads_to_protected(&names, Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_git_does_not_keep_is_strange() {
        let known = ["HEAD", "index", "sharedindex.*", "objects", "logs", "!objects/info/alternates"];
        for path in [
            ".git/commondir",
            ".git/objects/info/alternates",
            "a/.git/remotes/origin",
            ".git/HEADER",
            ".git/rebase-merge/git-rebase-todo",
            ".git/modules/a/b/config",
            ".git/worktrees/w/commondir",
            ".git/objects/x/.git/y",
        ] {
            assert!(is_strange_to_git(&known, Path::new(path)), "{path}");
        }
        for path in [
            ".git",
            "src/commondir",
            ".git/HEAD",
            ".git/sharedindex.0a",
            ".git/objects/info/packs",
            ".git/modules/libs/foo/index",
            ".git/worktrees/w/logs/HEAD",
            ".gitignore",
        ] {
            assert!(!is_strange_to_git(&known, Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_repository_by_another_name_is_known_by_its_parts() {
        let is_there = |paths: &'static [&'static str]| {
            move |path: &Path| paths.iter().any(|one| path == Path::new(one))
        };
        for (change, there) in [
            ("sub/config", &["sub/HEAD"][..]),
            ("sub/hooks/pre-commit", &["sub/HEAD"]),
            ("sub/HEAD", &["sub/config"]),
            ("HEAD", &["hooks"]),
            (".git/objects/x/config", &[".git/objects/x/HEAD"]),
            (".git/objects/x/HEAD", &[".git/objects/x/commondir"]),
        ] {
            assert!(makes_repository(Path::new(change), is_there(there)), "{change}");
        }
        for (change, there) in [
            ("sub/config", &["HEAD"][..]),
            ("sub/HEAD", &["config"]),
            (".git/HEAD", &[".git/config"]),
            (".git/worktrees/w/HEAD", &[".git/worktrees/w/commondir"]),
            ("hooks/x", &[]),
        ] {
            assert!(!makes_repository(Path::new(change), is_there(there)), "{change}");
        }
    }
}
