//! Files of a project that run later, elsewhere or unasked, so that writing them is more than an edit.

use super::index::{PatternIndex, first_words};
use super::pattern::Endings;
use crate::lists::places::later::WRITTEN;

static INDEX: PatternIndex<{ WRITTEN.len() }> = PatternIndex::of(&first_words::<{ WRITTEN.len() }>(WRITTEN));

/// Says what a file is that runs later, elsewhere or unasked; `None` for any other.
pub fn runs_later(path: &str) -> Option<&'static str> {
    if !INDEX.fits_ending(path) {
        return None;
    }
    let endings = Endings::of(path);
    WRITTEN.iter().find(|(pattern, _)| endings.fit(pattern)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_is_told_from_ordinary_files() {
        for (path, what) in [
            ("/code/app/.github/workflows/ci.yml", Some("a build on a server")),
            ("/code/app/services/a/.gitlab-ci.yml", Some("a build on a server")),
            ("/code/app/AGENTS.md", Some("what agents are told")),
            ("/code/app/node_modules/x/index.js", Some("installed code")),
            ("/code/app/app.code-workspace", Some("settings of an editor")),
            ("/code/app/.github/ISSUE_TEMPLATE/bug.md", None),
            ("/code/app/src/vendor.rs", None),
            ("/code/app/Dockerfile", None),
            ("/code/app/README.md", None),
        ] {
            assert_eq!(runs_later(path), what, "{path}");
        }
    }
}
