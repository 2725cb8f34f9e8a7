//! Places whose files may be looked at without a thought: the project, its neighbours, tools and their libraries.
//!
//! Hidden directories of a home, other people's homes, and what the system keeps to itself are not among them.

use super::Scope;
use super::pattern::any;
use crate::lists::places::open::{CACHES, CLOSED_DIRECTORIES, PUBLIC_DIRECTORIES, PUBLIC_FILES};
use crate::path::is_inside;

/// Says whether a file may be looked at without a thought. A pattern is open if the directory it begins in is.
pub fn is_open(path: &str, scope: &Scope) -> bool {
    if scope.is_in_project(path) || scope.is_temporary(path) || super::is_free(path) {
        return true;
    }
    let fixed = path.split(['*', '?', '[', '{']).next().unwrap_or(path);
    if fixed.len() < path.len() && fixed.matches('/').count() < 2 {
        return false;
    }
    if let Some(below) = scope.below_home(path) {
        let is_hidden =
            below.starts_with('.') || below.starts_with("Library/") || below.starts_with("AppData/");
        return is_own_home(path, below, scope) && (!is_hidden || any(CACHES, below));
    }
    if scope.home.as_deref() == Some(path) {
        return false;
    }
    if PUBLIC_FILES.contains(&path) || PUBLIC_DIRECTORIES.iter().any(|directory| is_inside(path, directory)) {
        return true;
    }
    !CLOSED_DIRECTORIES.iter().any(|directory| is_inside(path, directory))
        && path != "/"
        && !path.contains(':')
}

/// Says whether a path lies in the user's own home: the one that is known, or the one the project lies in.
fn is_own_home(path: &str, below: &str, scope: &Scope) -> bool {
    let home = path.strip_suffix(below).unwrap_or(path).trim_end_matches('/');
    scope.home.as_deref() == Some(home) || scope.roots.iter().any(|root| is_inside(root, home))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open_here(path: &str) -> bool {
        let scope = Scope { roots: vec!["/home/me/app".to_owned()], home: Some("/home/me".to_owned()) };
        is_open(path, &scope)
    }

    #[test]
    fn the_project_and_its_neighbours_are_open_and_what_is_personal_is_not() {
        for path in [
            "/home/me/app/src/lib.rs",
            "/home/me/other/README.md",
            "/tmp/build.log",
            "/usr/include/stdio.h",
            "/home/me/.cargo/registry/src/x/lib.rs",
            "/srv/code/x.c",
            "/etc/os-release",
            "/home/me/notes/*.md",
        ] {
            assert!(is_open_here(path), "{path}");
        }
        for path in [
            "/home/me/.config/age/keys.txt",
            "/home/other/notes.txt",
            "/etc/passwd",
            "/proc/1/root/etc/shadow",
            "/root/x",
            "/sys/kernel/x",
            "/*/shadow",
            "/home/me/.*",
            "/",
            "/var/lib/x",
        ] {
            assert!(!is_open_here(path), "{path}");
        }
    }
}
