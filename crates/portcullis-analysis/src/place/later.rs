//! Files that run later, elsewhere or unasked, so that writing them is more than an edit: those of a project, and those
//! of a machine, such as start-up files, schedules, hooks, keys that let people in.

use super::Scope;
use super::index::{PatternIndex, first_words};
use super::pattern::{Beginning, Endings, spelled_parts};
use crate::lists::places::later::WRITTEN;
use crate::lists::places::startup;

static INDEX: PatternIndex<{ WRITTEN.len() }> = PatternIndex::of(&first_words::<{ WRITTEN.len() }>(WRITTEN));

/// Says what a file of a project is that runs later, elsewhere or unasked; `None` for any other.
pub fn runs_later(path: &str) -> Option<&'static str> {
    if !INDEX.fits_ending(path) {
        return None;
    }
    let endings = Endings::of(path);
    WRITTEN.iter().find(|(pattern, _)| endings.fit(pattern)).map(|(_, what)| *what)
}

/// Says the same of all that a pattern of paths may name, if it spells out a part of such a place.
pub fn any_runs_later(pattern: &str) -> Option<&'static str> {
    if !pattern.contains(['*', '?', '[']) {
        return runs_later(pattern);
    }
    let is_one = |entry: &str| spelled_parts(entry, pattern).is_some_and(|parts| !parts.is_empty());
    WRITTEN.iter().find(|(entry, _)| is_one(entry)).map(|(_, what)| *what)
}

/// Says what a file makes run later or lets in, if it does.
pub fn startup_file(path: &str, scope: &Scope) -> Option<&'static str> {
    let below = scope.below_home(path);
    let in_home =
        below.map(Beginning::of).and_then(|below| find(startup::IN_HOME, |pattern| below.fits(pattern)));
    let (beginning, endings) = (Beginning::of(path), Endings::of(path));
    let absolute = || find(startup::ABSOLUTE, |pattern| beginning.fits(pattern));
    in_home.or_else(absolute).or_else(|| find(startup::ANYWHERE, |pattern| endings.fit(pattern)))
}

/// Returns what the first pattern stands for that passes a test.
fn find(patterns: &[(&str, &'static str)], test: impl Fn(&str) -> bool) -> Option<&'static str> {
    patterns.iter().find(|(pattern, _)| test(pattern)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_what_runs_later_where_it_spells_out_a_part_of_it() {
        for (pattern, expected) in [
            ("/code/app/.github/**/*.yml", true),
            ("/code/app/.github/*/ci.yml", true),
            ("/code/app/.github/work*/ci.yml", true),
            ("/code/app/**/AGENTS.md", true),
            ("/code/app/.github/ISSUE_TEMPLATE/*.md", false),
            ("/code/app/**/*.md", false),
            ("/code/app/**/*.yml", false),
            ("/code/app/src/**", false),
            ("/code/app/**", false),
        ] {
            assert_eq!(any_runs_later(pattern).is_some(), expected, "{pattern}");
        }
        let long = format!("/code/app/{}AGENTS.md", "**/".repeat(20_000));
        assert!(any_runs_later(&long).is_some());
    }

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
