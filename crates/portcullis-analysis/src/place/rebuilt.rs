//! What a build or a tool makes again, so that nothing is lost with it.

use super::pattern::any_ending;
use crate::lists::places::rebuilt::{DIRECTORIES, FILES};
use crate::path::{components, may_name_component};

/// Says whether a path names, or lies in, something that is made again.
pub fn is_rebuilt(path: &str) -> bool {
    let is_directory = |part: &str| DIRECTORIES.iter().any(|name| may_name_component(name, part));
    any_ending(FILES, path) || components(path).any(is_directory)
}

#[cfg(test)]
mod tests {
    use super::is_rebuilt;

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
    }
}
