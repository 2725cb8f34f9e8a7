//! Where a path leads.
//!
//! A path is followed one component at a time, so that every symbolic-link hop is reported and not only the last
//! one. What does not exist is resolved as far as it exists. What cannot be told (a loop, a directory that may not
//! be searched, a name that is not text) is [`DiskAnswer::Broken`], which counts as the unsafe answer.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::path::Path;

use portcullis_core::{DiskAnswer, path};

/// The most symbolic links that are followed for one path.
const MOST_HOPS: usize = 64;

/// The most entries that are kept in mind.
const MOST_KNOWN: usize = 100_000;

/// What was found on the way along paths. The paths of a call mostly lie in one directory, and the way to it is looked
/// at once.
#[derive(Debug, Default)]
pub(crate) struct KnownLinks(BTreeMap<String, PathEntry>);

impl KnownLinks {
    fn look(&mut self, path: &str) -> Result<PathEntry, Unresolvable> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let found = read_link(path)?;
        if self.0.len() >= MOST_KNOWN {
            self.0.clear();
        }
        self.0.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

/// Follows an absolute path to where it leads.
pub(crate) fn resolve(path: &str, links: &mut KnownLinks) -> DiskAnswer {
    if !path.starts_with('/') || path.contains('\0') {
        return DiskAnswer::Broken;
    }
    let mut walk = LinkWalk::new(path, links);
    match walk.run() {
        Ok(()) => DiskAnswer::Leads(walk.into_leads(path)),
        Err(Unresolvable) => DiskAnswer::Broken,
    }
}

/// A path that cannot be followed to its end.
struct Unresolvable;

struct LinkWalk<'a> {
    /// The part that has been followed: real, without a final slash, empty for the root.
    real: String,
    /// The components still to be followed.
    rest: VecDeque<String>,
    /// The spellings met on the way.
    leads: Vec<String>,
    links: &'a mut KnownLinks,
}

impl<'a> LinkWalk<'a> {
    fn new(path: &str, links: &'a mut KnownLinks) -> Self {
        let rest = path.split('/').map(str::to_owned).collect();
        Self { real: String::new(), rest, leads: Vec::new(), links }
    }

    fn run(&mut self) -> Result<(), Unresolvable> {
        let mut hops = 0;
        while let Some(component) = self.rest.pop_front() {
            match component.as_str() {
                "" | "." => {}
                ".." => self.leave(),
                _ => {
                    let here = format!("{}/{component}", self.real);
                    match self.links.look(&here)? {
                        PathEntry::Link(target) => {
                            hops += 1;
                            if hops > MOST_HOPS {
                                return Err(Unresolvable);
                            }
                            self.follow(&target);
                        }
                        PathEntry::Other => self.real = here,
                    }
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self) {
        let parent = self.real.rfind('/').unwrap_or(0);
        self.real.truncate(parent);
    }

    fn follow(&mut self, target: &str) {
        if target.starts_with('/') {
            self.real.clear();
        }
        for component in target.split('/').rev() {
            self.rest.push_front(component.to_owned());
        }
        let rest: Vec<&str> = self.rest.iter().map(String::as_str).collect();
        let spelling = path::normalize(&format!("{}/{}", self.real, rest.join("/")));
        self.leads.push(spelling);
    }

    /// Returns every spelling but the one that was asked about.
    fn into_leads(mut self, asked: &str) -> Vec<String> {
        let real = if self.real.is_empty() { "/".to_owned() } else { self.real };
        self.leads.push(real);
        let mut unique: Vec<String> = Vec::with_capacity(self.leads.len());
        for lead in self.leads {
            if lead != asked && !unique.contains(&lead) {
                unique.push(lead);
            }
        }
        unique
    }
}

#[derive(Debug, Clone)]
enum PathEntry {
    Link(String),
    /// Anything else, or nothing.
    Other,
}

fn read_link(path: &str) -> Result<PathEntry, Unresolvable> {
    match Path::new(path).read_link() {
        Ok(target) => target.into_os_string().into_string().map(PathEntry::Link).map_err(|_| Unresolvable),
        Err(error) => match error.kind() {
            // It is there but no link, or it is not there, or its parent is a file.
            ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(PathEntry::Other),
            _ => Err(Unresolvable),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    /// A real directory with a file, a folder and links of every kind.
    fn folder() -> (TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/deep")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        symlink("real", root.join("relative")).unwrap();
        symlink(root.join("real/deep"), root.join("absolute")).unwrap();
        symlink("relative", root.join("twice")).unwrap();
        symlink("real/deep/../file", root.join("dots")).unwrap();
        symlink("nowhere/at/all", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let root = root.to_str().unwrap().to_owned();
        (folder, root)
    }

    #[test]
    fn every_hop_and_the_real_path_are_reported() {
        let (_folder, root) = folder();
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("real/file", &[]),
            ("relative/file", &["real/file"]),
            ("absolute", &["real/deep"]),
            ("absolute/new/file", &["real/deep/new/file"]),
            ("twice/file", &["relative/file", "real/file"]),
            ("dots", &["real/file"]),
            ("dangling", &["nowhere/at/all"]),
            ("dangling/more", &["nowhere/at/all/more"]),
            ("missing/thing", &[]),
            ("real/file/below-a-file", &[]),
            ("absolute/../file", &["real/file"]),
        ];
        for (asked, expected) in table {
            let asked = if asked.is_empty() { root.clone() } else { format!("{root}/{asked}") };
            let expected: Vec<String> = expected.iter().map(|lead| format!("{root}/{lead}")).collect();
            assert_eq!(resolve(&asked, &mut KnownLinks::default()), DiskAnswer::Leads(expected), "{asked}");
        }
        assert_eq!(resolve("/", &mut KnownLinks::default()), DiskAnswer::Leads(Vec::new()));
    }

    #[test]
    fn what_cannot_be_told_is_broken() {
        let (_folder, root) = folder();
        let long = "x".repeat(5_000);
        for asked in ["loop", "loop/inside", "real/\0", &long] {
            assert_eq!(
                resolve(&format!("{root}/{asked}"), &mut KnownLinks::default()),
                DiskAnswer::Broken,
                "{asked}"
            );
        }
        assert_eq!(resolve("relative/path", &mut KnownLinks::default()), DiskAnswer::Broken);
    }

    #[test]
    fn a_chain_longer_than_the_limit_is_broken() {
        let (_folder, root) = folder();
        symlink("real", format!("{root}/link0")).unwrap();
        for index in 1..=MOST_HOPS {
            symlink(format!("link{}", index - 1), format!("{root}/link{index}")).unwrap();
        }
        let mut links = KnownLinks::default();
        assert!(matches!(
            resolve(&format!("{root}/link{}", MOST_HOPS - 1), &mut links),
            DiskAnswer::Leads(_)
        ));
        assert_eq!(resolve(&format!("{root}/link{MOST_HOPS}"), &mut links), DiskAnswer::Broken);
    }
}
