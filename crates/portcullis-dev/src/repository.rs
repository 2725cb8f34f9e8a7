//! The repository as data: the files git tracks, with their text. Checks work on this, never on the disk, so that a
//! check can be tried on a made-up tree.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// The tracked files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackedTree {
    files: Vec<TrackedFile>,
}

/// One tracked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// The path from the root, with `/`.
    pub path: String,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

impl TrackedFile {
    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Says whether the name ends in this extension.
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// Returns the lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

impl TrackedTree {
    /// Makes a tree of paths and texts.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files =
            files.iter().map(|(path, text)| TrackedFile { path: (*path).into(), text: (*text).into() });
        Self { files: files.collect() }
    }

    /// Reads every file that git tracks below `root`. A file that was deleted but is still tracked is left out.
    pub fn read(root: &Path) -> Result<Self> {
        let listing =
            process::capture(Command::new("git").current_dir(root).args(["ls-files", "-z", "--cached"]))?;
        let mut files = Vec::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            let on_disk = root.join(path);
            if on_disk.is_file() {
                let bytes = std::fs::read(&on_disk).with_context(|| format!("cannot read `{path}`"))?;
                files.push(TrackedFile {
                    path: path.to_owned(),
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                });
            }
        }
        Ok(Self { files })
    }

    /// Returns all files.
    pub fn files(&self) -> &[TrackedFile] {
        &self.files
    }

    /// Returns the files with an extension.
    pub fn with_extension(&self, extension: &'static str) -> impl Iterator<Item = &TrackedFile> {
        self.files.iter().filter(move |file| file.has_extension(extension))
    }

    /// Finds a file by its path.
    pub fn find(&self, path: &str) -> Option<&TrackedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Says whether a path is a tracked file or a directory that holds one.
    pub fn has_path(&self, path: &str) -> bool {
        let directory = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&directory))
    }
}

/// Returns the root of the repository: two levels above this crate.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_counts_as_a_path_only_component_wise() {
        let tree = TrackedTree::of(&[("docs/guides/rules.md", "")]);
        assert!(tree.has_path("docs/guides"));
        assert!(tree.has_path("docs/guides/"));
        assert!(tree.has_path("docs/guides/rules.md"));
        assert!(!tree.has_path("docs/gui"));
    }

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        assert!(root().join("Cargo.toml").is_file());
    }
}
