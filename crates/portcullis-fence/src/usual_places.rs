//! The places that every policy begins with: what is secret in a home, which caches may be written, what is protected.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::policy::{FencePolicy, ProtectedName};

const TABLE: &str = include_str!("../data/places.txt");

impl FencePolicy {
    /// Returns the policy for a workspace of the user with this home: its own files may be written, and the caches of
    /// package managers that exist; secrets are masked, and what runs later is protected.
    ///
    /// `masked` are further places that it must not see, such as the state of this program.
    pub fn usual(workspace: PathBuf, home: Option<&Path>, masked: Vec<PathBuf>) -> Self {
        let mut policy = Self::for_workspace(workspace);
        policy.masked = masked;
        if let Some(home) = home {
            let secrets = section("secret").map(|name| home.join(name));
            policy.masked.extend(secrets.filter(|place| !policy.workspace.starts_with(place)));
            let caches = section("cache").map(|name| home.join(name));
            let caches = caches.filter_map(|place| place.canonicalize().ok());
            let is_apart = |place: &PathBuf| {
                !place.starts_with(&policy.workspace) && !policy.workspace.starts_with(place)
            };
            policy.writable = caches.filter(is_apart).collect();
        }
        policy.protected = protected_names();
        policy
    }
}

/// Returns the names that are protected below every workspace.
pub fn protected_names() -> Vec<ProtectedName> {
    section("protected").filter_map(|name| ProtectedName::try_from(name.to_owned()).ok()).collect()
}

/// Returns the names below a `.git` directory under which git keeps its own.
pub(crate) fn names_of_git() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| section("git").collect());
    &NAMES
}

fn section(name: &str) -> impl Iterator<Item = &'static str> {
    let head = format!("[{name}]");
    let lines = TABLE.lines().skip_while(move |line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_its_lines() {
        assert!(section("secret").any(|name| name == ".ssh"));
        assert!(section("cache").any(|name| name == ".npm/_cacache"));
        assert_eq!(section("protected").count(), protected_names().len());
        assert!(protected_names().len() > 20);
    }

    /// Settings by which a tool runs a program the next time somebody starts it outside.
    #[test]
    fn settings_that_run_programs_are_protected() {
        let names = protected_names();
        for path in [
            ".config/nextest.toml",
            "crates/a/.config/nextest.toml",
            "lefthook.toml",
            ".yarn/releases/yarn-4.cjs",
            ".pnpmfile.cjs",
            ".mvn/extensions.xml",
            "Jenkinsfile",
            ".config/mise/config.toml",
            "web/Trunk.toml",
            ".cursorrules",
        ] {
            assert!(crate::protection::is_protected(&names, Path::new(path)), "{path}");
        }
        for path in ["src/main.rs", ".config/other.toml", "package.json", "Makefile", ".yarn/cache/a.zip"] {
            assert!(!crate::protection::is_protected(&names, Path::new(path)), "{path}");
        }
    }

    #[test]
    fn no_cache_holds_programs_that_others_start() {
        for cache in section("cache") {
            assert!(!cache.ends_with("/bin") && cache.contains('/'), "{cache}");
        }
    }

    #[test]
    fn a_workspace_in_a_secret_place_is_still_a_workspace() {
        let policy =
            FencePolicy::usual("/home/a/.claude/skill".into(), Some(Path::new("/home/a")), Vec::new());
        assert_eq!(policy.check(), Ok(()));
        assert!(policy.masked.contains(&PathBuf::from("/home/a/.ssh")));
    }
}
