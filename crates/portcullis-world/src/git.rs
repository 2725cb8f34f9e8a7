//! What git holds of files: which of them it could bring back as they are.
//!
//! The index says what size and time a file had when git last looked, which is also how git itself tells whether a file was
//! changed. No program is started and no object is read; what cannot be told counts as not held.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use portcullis_core::path::may_name;
use portcullis_core::{DiskAnswer, is_rebuilt};

use crate::settings::repository_of;
use crate::text::open_file;

/// The longest index that is read, in bytes.
const LONGEST_INDEX: u64 = 64 << 20;

/// The most files below one path that are looked at.
const MOST_FILES: usize = 20_000;

/// The most lost files that are named.
const MOST_NAMED: usize = 256;

/// What the index says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeldFile {
    seconds: u32,
    nanoseconds: u32,
    size: u32,
}

/// The files of a repository that git holds, by their path below its root.
#[derive(Debug)]
pub(crate) struct GitIndex {
    root: PathBuf,
    files: BTreeMap<String, HeldFile>,
}

/// The indexes that were read, by the folders of their repositories. Many questions are about one repository.
#[derive(Debug, Default)]
pub(crate) struct KnownIndexes(BTreeMap<PathBuf, Option<GitIndex>>);

impl KnownIndexes {
    /// Returns the index of the repository that a path lies in.
    fn of(&mut self, path: &str) -> Option<&GitIndex> {
        let (root, folder) = repository_of(path)?;
        let read = || GitIndex::read(root, &folder);
        self.0.entry(folder.clone()).or_insert_with(read).as_ref()
    }
}

/// Lists the files that a path or pattern names and that git could not bring back as they are.
pub(crate) fn unheld(path: &str, indexes: &mut KnownIndexes) -> DiskAnswer {
    let base = fixed_part(path);
    if fs::symlink_metadata(&base).is_err() {
        return DiskAnswer::Absent;
    }
    let index = indexes.of(&base);
    let mut walk = FileWalk { index, pattern: path, base, lost: Vec::new(), seen: 0 };
    match walk.run() {
        Some(()) => DiskAnswer::Leads(walk.lost),
        None => DiskAnswer::Broken,
    }
}

/// Returns the part of a pattern before its first component with a wildcard.
fn fixed_part(path: &str) -> String {
    let components = path.split('/').filter(|component| !component.is_empty());
    let fixed: Vec<&str> =
        components.take_while(|component| !component.contains(['*', '?', '[', '{'])).collect();
    format!("/{}", fixed.join("/"))
}

struct FileWalk<'a> {
    index: Option<&'a GitIndex>,
    pattern: &'a str,
    /// The part of the pattern that is fixed.
    base: String,
    lost: Vec<String>,
    seen: usize,
}

impl FileWalk<'_> {
    fn run(&mut self) -> Option<()> {
        let is_pattern = self.base != self.pattern.trim_end_matches('/');
        let depth = self.pattern.split('/').filter(|part| !part.is_empty()).count();
        let mut open = vec![self.base.clone()];
        while let Some(path) = open.pop() {
            self.seen += 1;
            if self.seen > MOST_FILES {
                return None;
            }
            let level = path.split('/').filter(|part| !part.is_empty()).count();
            if is_pattern && level == depth && !may_name(self.pattern, &path) {
                continue;
            }
            let found = fs::symlink_metadata(&path).ok()?;
            if found.is_dir() {
                for entry in fs::read_dir(&path).ok()? {
                    let name = entry.ok()?.file_name().into_string().ok()?;
                    let inner = format!("{path}/{name}");
                    if name != ".git" && !self.is_left_out(&inner) {
                        open.push(inner);
                    }
                }
            } else if !is_pattern || level >= depth {
                self.look_at(&path, &found);
            }
        }
        Some(())
    }

    fn is_left_out(&self, path: &str) -> bool {
        // Whoever asks has looked at the names above.
        is_rebuilt(path.strip_prefix(&self.base).unwrap_or(path))
    }

    fn look_at(&mut self, path: &str, found: &Metadata) {
        let is_held = self.index.is_some_and(|index| index.holds(path, found));
        if !is_held && !self.is_left_out(path) && self.lost.len() < MOST_NAMED {
            self.lost.push(path.to_owned());
        }
    }
}

impl GitIndex {
    /// Reads the index of a repository.
    fn read(root: PathBuf, folder: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        open_file(&folder.join("index")).ok()?.take(LONGEST_INDEX).read_to_end(&mut bytes).ok()?;
        Some(Self { root, files: parse(&bytes)? })
    }

    /// Says whether git holds a file as it is.
    fn holds(&self, path: &str, found: &Metadata) -> bool {
        let Ok(below) = Path::new(path).strip_prefix(&self.root) else { return false };
        let Some(held) = below.to_str().and_then(|below| self.files.get(below)) else { return false };
        // The index keeps the low bits alone.
        let is_same_time = i64::from(held.seconds) == found.mtime() & 0xffff_ffff
            && (held.nanoseconds == 0 || i64::from(held.nanoseconds) == found.mtime_nsec());
        is_same_time && u64::from(held.size) == found.size() & 0xffff_ffff
    }
}

/// How long an entry is before its name, in bytes.
const ENTRY: usize = 62;

/// Reads the entries of an index of version 2, 3 or 4.
fn parse(bytes: &[u8]) -> Option<BTreeMap<String, HeldFile>> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(bytes, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = number(bytes, 8)?;
    let mut files = BTreeMap::new();
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let held = HeldFile {
            seconds: number(bytes, at + 8)?,
            nanoseconds: number(bytes, at + 12)?,
            size: number(bytes, at + 36)?,
        };
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let is_extended = flags & 0x4000 != 0;
        let mut place = at + ENTRY + if is_extended { 2 } else { 0 };
        if version == 4 {
            let (cut, length) = varint(bytes.get(place..)?)?;
            place += length;
            name.truncate(name.len().checked_sub(cut)?);
        } else {
            name.clear();
        }
        let end = bytes.get(place..)?.iter().position(|byte| *byte == 0)?;
        name.extend(bytes.get(place..place + end)?);
        at = if version == 4 { place + end + 1 } else { at + ((place + end - at) / 8 + 1) * 8 };
        // A file in conflict is not held as it is.
        let is_merged = flags & 0x3000 == 0;
        if let (true, Ok(name)) = (is_merged, String::from_utf8(name.clone())) {
            files.insert(name, held);
        }
    }
    Some(files)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a number of variable length, as packs write offsets; returns it with how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, place + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn git(root: &Path, words: &[&str]) {
        let done = Command::new("git").arg("-C").arg(root).args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}");
    }

    /// A repository with a held file, a changed one, one git does not know, and what a build left.
    fn repository(version: &str) -> (TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        git(&root, &["init", "-q"]);
        git(&root, &["config", "index.version", version]);
        fs::create_dir_all(root.join("work/deep")).unwrap();
        for name in ["work/held.rs", "work/changed.rs", "work/deep/held.rs"] {
            fs::write(root.join(name), "fn a() {}\n").unwrap();
        }
        git(&root, &["add", "-A"]);
        fs::write(root.join("work/changed.rs"), "fn a() { b() }\n").unwrap();
        fs::write(root.join("work/new.rs"), "x").unwrap();
        fs::create_dir_all(root.join("work/target")).unwrap();
        fs::write(root.join("work/target/a.rs"), "x").unwrap();
        let root = root.to_str().unwrap().to_owned();
        (folder, root)
    }

    #[test]
    fn what_git_cannot_bring_back_is_named() {
        for version in ["2", "4"] {
            let (_folder, root) = repository(version);
            let mut indexes = KnownIndexes::default();
            let mut lost = |name: &str| match unheld(&format!("{root}/{name}"), &mut indexes) {
                DiskAnswer::Leads(mut lost) => {
                    lost.sort();
                    let below = |path: &String| path.replace(&format!("{root}/"), "");
                    lost.iter().map(below).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(lost("work/held.rs"), Vec::<String>::new());
            assert_eq!(lost("work/deep"), Vec::<String>::new());
            assert_eq!(lost("work"), ["work/changed.rs", "work/new.rs"]);
            assert_eq!(lost("work/n*"), ["work/new.rs"]);
            assert_eq!(lost("work/h*"), Vec::<String>::new());
            assert_eq!(
                super::unheld(&format!("{root}/nothing"), &mut KnownIndexes::default()),
                DiskAnswer::Absent
            );
        }
    }

    #[test]
    fn without_a_repository_nothing_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join("a.rs");
        fs::write(&file, "x").unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(unheld(file, &mut KnownIndexes::default()), DiskAnswer::Leads(vec![file.to_owned()]));
    }

    /// Whoever puts a pipe in the place of the index keeps nobody waiting.
    #[test]
    fn an_index_that_is_a_pipe_holds_nothing() {
        let (_folder, root) = repository("2");
        let index = format!("{root}/.git/index");
        fs::remove_file(&index).unwrap();
        assert!(Command::new("mkfifo").arg(&index).status().unwrap().success());
        let (said, heard) = std::sync::mpsc::channel();
        let file = format!("{root}/{}", "work/held.rs");
        let asked = file.clone();
        std::thread::spawn(move || said.send(unheld(&asked, &mut KnownIndexes::default())));
        let answer = heard.recv_timeout(std::time::Duration::from_secs(10));
        assert_eq!(answer, Ok(DiskAnswer::Leads(vec![file])));
    }

    #[test]
    fn a_broken_index_holds_nothing() {
        assert_eq!(parse(b"DIRC\0\0\0\x02\0\0\0\x01"), None);
        assert_eq!(parse(b"nothing"), None);
        assert_eq!(parse(b"DIRC\0\0\0\x02\0\0\0\0"), Some(BTreeMap::new()));
    }
}
