//! Which files git tracks, read from the index of the repository itself: no program is started for it.
//!
//! The index is written by git and can be written by anybody who writes the repository, so what it says is told to a model
//! as a fact and decides nothing by itself.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use portcullis_classifier::prompt::FileTracking;
use portcullis_core::{Context, EffectReport, path};

/// The longest index that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// The fields of an entry before its flags, with a name of the object of 20 bytes.
const FIELDS: usize = 60;

/// The acts that change or take away a file.
const CHANGES: [&str; 6] = ["write", "delete", "delete-tree", "move", "set-mode", "wipe"];

/// Returns the files of the project that a call changes, as far as it names them, with what git knows of them. Nothing is
/// known without a repository.
pub(super) fn changed_files(
    effects: &[EffectReport],
    context: &Context,
    project: &Path,
) -> Vec<(String, FileTracking)> {
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['*', '?', '[', '{', '$', '~', '`']);
    let changed = effects.iter().filter(|effect| CHANGES.contains(&effect.act) && is_plain(&effect.target));
    let place_of = |effect: &EffectReport| {
        path::relative_to(&path::join(&context.cwd, &effect.target), &context.project)
    };
    let names: BTreeSet<String> = changed.filter_map(place_of).filter(|name| is_plain(name)).collect();
    let Some(index) = Some(names).filter(|names| !names.is_empty()).zip(GitIndex::of(project)) else {
        return Vec::new();
    };
    let (names, index) = index;
    let tracking = |name: &String| match index.tracks(name) {
        true => FileTracking::Tracked,
        false if project.join(name).symlink_metadata().is_ok() => FileTracking::Untracked,
        false => FileTracking::Missing,
    };
    names
        .into_iter()
        .map(|name| {
            let known = tracking(&name);
            (name, known)
        })
        .collect()
}

/// The paths that git tracks, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GitIndex(Vec<Vec<u8>>);

impl GitIndex {
    /// Reads the index of a repository that lies in the project itself. `None` if there is none, or it is not understood.
    pub(super) fn of(project: &Path) -> Option<Self> {
        let path = project.canonicalize().ok()?.join(".git/index");
        let metadata = fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() || metadata.nlink() > 1 || metadata.len() > LONGEST {
            return None;
        }
        let mut bytes = Vec::new();
        fs::File::open(&path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Self::parse(&bytes)
    }

    /// Says whether a path below the project, or anything below it, is tracked.
    pub(super) fn tracks(&self, path: &str) -> bool {
        let place = self.0.partition_point(|known| known.as_slice() < path.as_bytes());
        let is_below =
            |known: &Vec<u8>| known.strip_prefix(path.as_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
        // A name such as `a-b` lies between `a` and `a/b`.
        let below = [path.as_bytes(), b"/"].concat();
        let first_below = self.0.partition_point(|known| known.as_slice() < below.as_slice());
        self.0.get(place).is_some_and(|known| known == path.as_bytes())
            || self.0.get(first_below).is_some_and(is_below)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"DIRC")?;
        let version = take_number(&mut rest)?;
        let count = usize::try_from(take_number(&mut rest)?).ok()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut paths: Vec<Vec<u8>> = Vec::with_capacity(count.min(bytes.len() / FIELDS));
        let mut last: Vec<u8> = Vec::new();
        for _ in 0..count {
            let start = bytes.len() - rest.len();
            rest = rest.get(FIELDS..)?;
            let is_extended = *rest.first()? & 0x40 != 0;
            rest = rest.get(if is_extended { 4 } else { 2 }..)?;
            let kept = if version == 4 { last.len().checked_sub(take_offset(&mut rest)?)? } else { 0 };
            let end = memchr(rest)?;
            last.truncate(kept);
            last.extend_from_slice(rest.get(..end)?);
            rest = rest.get(end + 1..)?;
            if version < 4 {
                // An entry ends with one to eight zeros, so that its length can be divided by eight.
                let length = bytes.len() - rest.len() - start;
                rest = rest.get(length.next_multiple_of(8) - length..)?;
            }
            paths.push(last.clone());
        }
        paths.sort();
        Some(Self(paths))
    }
}

fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_be_bytes(*number))
}

/// Takes a number of the form that git writes offsets in: seven bits a byte, and one more for every byte that follows.
fn take_offset(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number = number.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        number = number.checked_add(1)?;
    }
}

fn memchr(rest: &[u8]) -> Option<usize> {
    rest.iter().position(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(project: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "core.hooksPath=/dev/null"]).args(arguments).current_dir(project);
        assert!(command.status().unwrap().success(), "{arguments:?}");
    }

    #[test]
    fn what_git_tracks_is_known_in_every_version_of_the_index() {
        for version in ["2", "3", "4"] {
            let directory = tempfile::tempdir().unwrap();
            let project = directory.path();
            git(project, &["init", "-q"]);
            let tracked = ["a", "src/main.rs", "src/deep/a-b.rs", "src/deep/a/b.rs", "src-gen/x", "ü ö.txt"];
            for name in tracked.iter().chain(&["src/new.rs", "build/out.o"]) {
                fs::create_dir_all(project.join(name).parent().unwrap()).unwrap();
                fs::write(project.join(name), name).unwrap();
            }
            git(
                project,
                &[
                    "-c",
                    &format!("index.version={version}"),
                    "add",
                    "--",
                    "a",
                    "src/main.rs",
                    "src/deep",
                    "src-gen",
                    "ü ö.txt",
                ],
            );
            git(project, &["update-index", "--index-version", version]);
            let index = GitIndex::of(project).unwrap();
            for name in tracked.iter().chain(&["src", "src/deep", "src/deep/a", "src-gen"]) {
                assert!(index.tracks(name), "{version}: {name}");
            }
            for name in ["src/new.rs", "build", "build/out.o", "src/deep/a-b", "sr", "src/main", "b", ""] {
                assert!(!index.tracks(name), "{version}: {name}");
            }
        }
    }

    #[test]
    fn what_is_no_index_says_nothing() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(GitIndex::of(directory.path()), None);
        for broken in [
            b"".as_slice(),
            b"DIRC",
            b"DIRC\0\0\0\x05\0\0\0\0",
            b"DIRC\0\0\0\x02\xff\xff\xff\xff",
            &[b"DIRC\0\0\0\x04\0\0\0\x01".as_slice(), &[0; FIELDS + 2], &[0xff; 20]].concat(),
        ] {
            assert_eq!(GitIndex::parse(broken), None, "{broken:?}");
        }
        assert_eq!(GitIndex::parse(b"DIRC\0\0\0\x02\0\0\0\0"), Some(GitIndex(Vec::new())));
        fs::create_dir_all(directory.path().join(".git")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", directory.path().join(".git/index")).unwrap();
        assert_eq!(GitIndex::of(directory.path()), None);
    }
}
