//! What a build or a tool makes again, so that nothing is lost with it.

use super::pattern::any_ending;
use crate::lists::places::rebuilt::{CACHES, DIRECTORIES, FILES, OUTPUTS};
use crate::path::{components, file_name, may_name_component};

/// Says whether a path names, or lies in, something that is made again.
pub fn is_rebuilt(path: &str) -> bool {
    let is_directory = |part: &str| {
        DIRECTORIES.iter().any(|name| begins_alike(name, part) && may_name_component(name, part))
    };
    any_ending(FILES, path) || components(path).any(is_directory)
}

/// Says whether a path is a directory that only a tool fills, wherever it lies, or a file that only tools make.
pub(crate) fn is_cache(path: &str) -> bool {
    file_name(path).is_some_and(|name| CACHES.contains(&name) || MADE_FILES.contains(&name))
}

/// Patterns of files that tools make and nobody writes.
const MADE_FILES: &[&str] = &[
    "*$py.class",
    "*.class",
    "*.gcda",
    "*.gcno",
    "*.o",
    "*.orig",
    "*.profraw",
    "*.py[co]",
    "*.pyc",
    "*.pyd",
    "*.pyo",
    "*.rej",
    "*.swo",
    "*.swp",
    "*.tsbuildinfo",
    "*~",
    ".DS_Store",
    "Thumbs.db",
];

/// Says whether a name of the list may fit by its first letter, which tells most of them apart.
fn begins_alike(pattern: &str, name: &str) -> bool {
    match pattern.as_bytes().first() {
        Some(b'*' | b'?' | b'[' | b'{') => true,
        first => first == name.as_bytes().first(),
    }
}

/// Says whether a folder is called as tools call the one that they build into and empty before.
pub fn is_output_folder(path: &str) -> bool {
    components(path).last().is_some_and(|name| OUTPUTS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first letter of such a pattern says nothing.
    #[test]
    fn no_name_of_the_list_has_a_parenthesis() {
        assert!(DIRECTORIES.iter().all(|name| !name.contains('(')));
    }

    #[test]
    fn outputs_are_told_from_work() {
        for path in
            ["target/debug", "web/node_modules/x", "dist", "a/__pycache__", "app.log", "cmake-build-debug/x"]
        {
            assert!(is_rebuilt(path), "{path}");
        }
        for path in ["src/main.rs", ".env", "docs", "tests/test_a.py", "notes.md", "data/users.csv"] {
            assert!(!is_rebuilt(path), "{path}");
        }
        assert!(
            is_output_folder("docs/site/") && !is_output_folder("site/pages") && !is_output_folder("src")
        );
    }
}
