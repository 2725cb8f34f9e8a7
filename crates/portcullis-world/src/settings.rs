//! Settings a repository brings along that git and cargo obey.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_core::DiskAnswer;

use crate::text::read_text;

/// Hooks that git runs on a mere look.
const LOOKING_HOOKS: &[&str] = &["post-index-change", "fsmonitor-watchman", "query-watchman"];

/// The most directories above that are looked at.
const MOST_LEVELS: usize = 64;

/// Reads the configuration of the repository a directory lies in.
pub(crate) fn git_settings(directory: &str) -> DiskAnswer {
    let folder = match Path::new(directory).ancestors().take(MOST_LEVELS).find_map(repository_in) {
        None => return DiskAnswer::Absent,
        Some(Err(UnresolvedRepository)) => return DiskAnswer::Broken,
        Some(Ok(folder)) => folder,
    };
    let mut folders = vec![folder.clone()];
    // A linked working tree shares the configuration of the main one.
    match folder.join("commondir").to_str().map(read_text) {
        Some(DiskAnswer::Text(common)) => folders.push(folder.join(common.trim())),
        Some(DiskAnswer::Absent) => {}
        _ => return DiskAnswer::Broken,
    }
    let mut all = String::new();
    for folder in &folders {
        for name in ["config", "config.worktree"] {
            match folder.join(name).to_str().map(read_text) {
                Some(DiskAnswer::Text(text)) => {
                    all.push_str(&text);
                    all.push('\n');
                }
                Some(DiskAnswer::Absent) => {}
                _ => return DiskAnswer::Broken,
            }
        }
        for hook in LOOKING_HOOKS {
            if fs::symlink_metadata(folder.join("hooks").join(hook)).is_ok() {
                all.push_str("[hook]\n");
                all.push_str(hook);
                all.push_str(" = true\n");
            }
        }
    }
    DiskAnswer::Text(all)
}

/// There is a repository that cannot be followed.
struct UnresolvedRepository;

/// Finds the repository that git would take if it looked in a directory.
fn repository_in(directory: &Path) -> Option<Result<PathBuf, UnresolvedRepository>> {
    let dot = directory.join(".git");
    match fs::metadata(&dot) {
        Ok(found) if found.is_dir() => return Some(Ok(dot)),
        Ok(_) => {
            let pointer = dot.to_str().map(read_text);
            let Some(DiskAnswer::Text(text)) = pointer else {
                return Some(Err(UnresolvedRepository));
            };
            let target = text.trim().strip_prefix("gitdir:").map(str::trim);
            return Some(target.map(|target| directory.join(target)).ok_or(UnresolvedRepository));
        }
        Err(_) => {}
    }
    // A bare repository in the tree counts as soon as somebody works in it.
    let is_bare = ["HEAD", "objects", "refs"].iter().all(|name| directory.join(name).exists());
    is_bare.then(|| Ok(directory.to_owned()))
}

/// Returns the working tree that a path lies in and where its repository is kept.
pub(crate) fn repository_of(path: &str) -> Option<(PathBuf, PathBuf)> {
    let above = Path::new(path).ancestors().skip(1).take(MOST_LEVELS);
    let found = std::iter::once(Path::new(path)).chain(above).find_map(|directory| {
        let folder = directory.join(".git").exists().then(|| repository_in(directory)).flatten()?;
        Some((directory.to_owned(), folder))
    });
    found.and_then(|(root, folder)| Some((root, folder.ok()?)))
}

/// Reads the settings of cargo that hold in a directory, the user's own left aside.
pub(crate) fn cargo_settings(directory: &str) -> DiskAnswer {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let mut all = String::new();
    for place in Path::new(directory).ancestors().take(MOST_LEVELS) {
        let folder = place.join(".cargo");
        if Some(&folder) == home.as_ref() {
            continue;
        }
        let files = [
            folder.join("config.toml"),
            folder.join("config"),
            place.join("rust-toolchain.toml"),
            place.join("rust-toolchain"),
        ];
        for file in files {
            match file.to_str().map(read_text) {
                Some(DiskAnswer::Text(text)) => all.push_str(&text),
                Some(DiskAnswer::Absent) => {}
                _ => return DiskAnswer::Broken,
            }
        }
    }
    if all.is_empty() { DiskAnswer::Absent } else { DiskAnswer::Text(all) }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_configuration_of_a_repository_is_found_from_below_and_through_a_pointer() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("main/.git/worktrees/side")).unwrap();
        fs::create_dir_all(root.join("main/src/deep")).unwrap();
        fs::create_dir_all(root.join("side/src")).unwrap();
        fs::write(root.join("main/.git/config"), "[core]\n\tfsmonitor = ./x\n").unwrap();
        fs::write(root.join("main/.git/worktrees/side/commondir"), "../..\n").unwrap();
        let pointer = format!("gitdir: {}\n", root.join("main/.git/worktrees/side").display());
        fs::write(root.join("side/.git"), pointer).unwrap();
        for place in ["main", "main/src/deep", "side", "side/src"] {
            let DiskAnswer::Text(text) = git_settings(root.join(place).to_str().unwrap()) else {
                panic!("{place}");
            };
            assert!(text.contains("fsmonitor"), "{place}: {text}");
        }
        // What is no file is not opened: a pipe would keep whoever reads it waiting.
        fs::remove_file(root.join("main/.git/worktrees/side/commondir")).unwrap();
        fs::create_dir(root.join("main/.git/worktrees/side/commondir")).unwrap();
        assert_eq!(git_settings(root.join("side").to_str().unwrap()), DiskAnswer::Broken);
        fs::write(root.join("side/.git"), "nonsense").unwrap();
        assert_eq!(git_settings(root.join("side").to_str().unwrap()), DiskAnswer::Broken);
    }

    #[test]
    fn a_hook_that_runs_on_a_look_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        fs::write(folder.path().join(".git/hooks/post-index-change"), "#!/bin/sh\n").unwrap();
        let found = git_settings(folder.path().to_str().unwrap());
        assert_eq!(found, DiskAnswer::Text("[hook]\npost-index-change = true\n".to_owned()));
    }

    #[test]
    fn settings_of_cargo_count_from_every_directory_above() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b/.cargo")).unwrap();
        assert_eq!(cargo_settings(folder.path().join("a").to_str().unwrap()), DiskAnswer::Absent);
        fs::write(folder.path().join("rust-toolchain.toml"), "[toolchain]\npath = \"x\"\n").unwrap();
        let found = cargo_settings(folder.path().join("a/b").to_str().unwrap());
        assert_eq!(found, DiskAnswer::Text("[toolchain]\npath = \"x\"\n".to_owned()));
    }
}
