//! Checks the changelog: Keep a Changelog headings, and a star with a direction on what can change a verdict.

use super::TidyProblem;
use crate::repository::TrackedTree;

const FILE: &str = "CHANGELOG.md";
const STAR: &str = "★";
const DIRECTIONS: &[&str] = &["(stricter)", "(milder)", "(stricter and milder)", "(new)"];
const SECTIONS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// Checks `CHANGELOG.md`.
pub fn find_changelog_problems(tree: &TrackedTree) -> Vec<TidyProblem> {
    let Some(file) = tree.find(FILE) else {
        return vec![TidyProblem::new(FILE, 0, "the changelog is missing")];
    };
    let mut problems = Vec::new();
    if !file.text.contains("\n## [Unreleased]")
        && !file.text.contains("\n## [0.")
        && !file.text.contains("\n## [1.")
    {
        problems.push(TidyProblem::new(FILE, 0, "there is no release heading"));
    }
    for (number, line) in file.lines() {
        if let Some(section) = line.strip_prefix("### ") {
            if !SECTIONS.contains(&section) {
                problems.push(TidyProblem::new(
                    FILE,
                    number,
                    format!("`{section}` is not one of {SECTIONS:?}"),
                ));
            }
        } else if let Some(entry) = line.strip_prefix("- ") {
            problems.extend(check_entry(entry).map(|message| TidyProblem::new(FILE, number, message)));
        }
    }
    problems
}

fn check_entry(entry: &str) -> Option<String> {
    let has_star = entry.starts_with(STAR);
    let has_direction = DIRECTIONS.iter().any(|direction| entry.contains(direction));
    match (has_star, has_direction) {
        (true, false) => Some(format!("a starred entry says none of {DIRECTIONS:?}")),
        (false, true) => Some(format!("an entry with a direction does not begin with `{STAR}`")),
        (true, true) | (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    fn check(entry: &str) -> Vec<String> {
        let text = format!("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- {entry}\n");
        messages(&find_changelog_problems(&TrackedTree::of(&[(FILE, &text)])))
    }

    #[test]
    fn star_and_direction_go_together() {
        assert!(check("A command.").is_empty());
        assert!(check("★ (stricter) `env -S` is looked through.").is_empty());
        assert_eq!(check("★ `env -S` is looked through.").len(), 1);
        assert_eq!(check("(milder) `ls` runs.").len(), 1);
    }

    #[test]
    fn an_unknown_section_is_found() {
        let tree = TrackedTree::of(&[(FILE, "# C\n\n## [Unreleased]\n\n### News\n")]);
        assert_eq!(find_changelog_problems(&tree).len(), 1);
    }
}
