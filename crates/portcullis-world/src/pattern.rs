//! Where the links lead that a shell pattern names.
//!
//! The pattern is walked component by component, as the shell does, and every link on the way is followed. Names are
//! compared roughly, so that rather too many links count than too few. Past a number of entries the answer is
//! [`DiskAnswer::Broken`], which counts as the unsafe one.

use std::fs;
use std::io::ErrorKind;

use portcullis_core::DiskAnswer;
use portcullis_core::pattern::may_name_component;

use crate::path::{KnownLinks, resolve};

/// The most directory entries that are looked at for one pattern.
const MOST_ENTRIES: usize = 20_000;

/// Follows every link that an absolute pattern names or passes through.
pub(crate) fn resolve_pattern(pattern: &str, links: &mut KnownLinks) -> DiskAnswer {
    if !pattern.starts_with('/') || pattern.contains('\0') {
        return DiskAnswer::Broken;
    }
    let mut walk = PatternWalk { leads: Vec::new(), looked_at: 0, links };
    let mut paths = vec![String::new()];
    for component in pattern.split('/').filter(|component| !component.is_empty()) {
        match walk.step(&paths, component) {
            Some(next) => paths = next,
            None => return DiskAnswer::Broken,
        }
    }
    DiskAnswer::Leads(walk.leads)
}

struct PatternWalk<'a> {
    leads: Vec<String>,
    looked_at: usize,
    links: &'a mut KnownLinks,
}

impl PatternWalk<'_> {
    /// Returns the paths one component further; `None` if something cannot be told.
    fn step(&mut self, paths: &[String], component: &str) -> Option<Vec<String>> {
        let mut next = Vec::new();
        let is_pattern = component.contains(['*', '?', '[', '(', '{']);
        for path in paths {
            let names = if is_pattern { self.names(path, component)? } else { vec![component.to_owned()] };
            for name in names {
                self.count()?;
                let here = format!("{path}/{name}");
                self.follow(&here)?;
                next.push(here);
            }
        }
        Some(next)
    }

    /// Lists the entries of a directory that a component could name; none if it is no directory.
    fn names(&mut self, directory: &str, component: &str) -> Option<Vec<String>> {
        let entries = match fs::read_dir(format!("{directory}/")) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Some(Vec::new());
            }
            Err(_) => return None,
        };
        let mut names = Vec::new();
        for entry in entries {
            self.count()?;
            let name = entry.ok()?.file_name().into_string().ok()?;
            if may_name_component(component, &name) {
                names.push(name);
            }
        }
        names.sort();
        Some(names)
    }

    /// Notes where a path leads if it is a link.
    fn follow(&mut self, path: &str) -> Option<()> {
        if !fs::symlink_metadata(path).is_ok_and(|status| status.is_symlink()) {
            return Some(());
        }
        match resolve(path, self.links) {
            DiskAnswer::Leads(leads) => {
                self.leads.extend(leads);
                Some(())
            }
            DiskAnswer::Text(_) | DiskAnswer::Absent | DiskAnswer::Broken => None,
        }
    }

    fn count(&mut self) -> Option<()> {
        self.looked_at += 1;
        (self.looked_at <= MOST_ENTRIES).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn links_that_a_pattern_names_or_passes_through_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let root = root.to_str().unwrap();
        fs::create_dir_all(format!("{root}/a/deep")).unwrap();
        fs::write(format!("{root}/a/file"), "").unwrap();
        symlink("/etc/passwd", format!("{root}/link")).unwrap();
        symlink("/etc", format!("{root}/a/door")).unwrap();
        symlink("/etc/hosts", format!("{root}/a/deep/leaf")).unwrap();
        fs::create_dir(format!("{root}/b")).unwrap();
        symlink("loop", format!("{root}/b/loop")).unwrap();
        let table: &[(&str, Vec<String>)] = &[
            ("li*", vec!["/etc/passwd".to_owned()]),
            ("x*", Vec::new()),
            ("a/f*", Vec::new()),
            ("a/d*", vec!["/etc".to_owned()]),
            ("*/door", vec!["/etc/passwd".to_owned(), "/etc".to_owned()]),
            ("a/*/leaf", vec!["/etc".to_owned(), "/etc/hosts".to_owned()]),
            ("missing/*", Vec::new()),
            ("link/*", vec!["/etc/passwd".to_owned()]),
        ];
        for (pattern, expected) in table {
            assert_eq!(
                resolve_pattern(&format!("{root}/{pattern}"), &mut KnownLinks::default()),
                DiskAnswer::Leads(expected.clone()),
                "{pattern}"
            );
        }
        assert_eq!(resolve_pattern(&format!("{root}/b/*"), &mut KnownLinks::default()), DiskAnswer::Broken);
        assert_eq!(resolve_pattern("relative/*", &mut KnownLinks::default()), DiskAnswer::Broken);
    }
}
