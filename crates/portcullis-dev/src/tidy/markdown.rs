//! Checks on Markdown: links lead somewhere, and a line holds one sentence.

use super::TidyProblem;
use crate::repository::{TrackedFile, TrackedTree};

/// Checks that every relative link names a tracked file, and its fragment a heading in it.
pub fn find_broken_links(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for file in tree.with_extension("md") {
        for (number, line) in prose_lines(file) {
            for target in link_targets(line) {
                if let Some(message) = check_link(tree, file, target) {
                    problems.push(TidyProblem::new(&file.path, number, message));
                }
            }
        }
    }
    problems
}

fn check_link(tree: &TrackedTree, file: &TrackedFile, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let full = if path.is_empty() { file.path.clone() } else { resolve(&file.path, path) };
    if !tree.has_path(&full) {
        return Some(format!("`{target}` leads nowhere"));
    }
    let page = tree.find(&full).filter(|file| file.has_extension("md"));
    match page {
        Some(page) if !fragment.is_empty() && !has_heading(page, fragment) => {
            Some(format!("`{target}`: no such heading"))
        }
        _ => None,
    }
}

/// Resolves a link relative to the directory of the page it stands on.
fn resolve(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Says whether a page has a heading or an anchor with this fragment.
pub fn has_heading(page: &TrackedFile, fragment: &str) -> bool {
    let anchor = format!("<a id=\"{fragment}\"></a>");
    prose_lines(page).any(|(_, line)| line.contains(&anchor))
        || prose_lines(page)
            .filter(|(_, line)| line.starts_with('#'))
            .any(|(_, line)| slug(line.trim_start_matches('#').trim()) == fragment)
}

/// Turns a heading into the fragment that leads to it.
pub fn slug(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Checks that no line of prose holds two sentences.
pub fn find_crowded_lines(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for file in tree.with_extension("md") {
        for (number, line) in prose_lines(file) {
            if !line.trim_start().starts_with('|') && holds_two_sentences(line) {
                problems.push(TidyProblem::new(&file.path, number, "two sentences on one line"));
            }
        }
    }
    problems
}

fn holds_two_sentences(line: &str) -> bool {
    let outside_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let letters: Vec<char> = outside_code.chars().collect();
    letters.windows(4).any(|window| {
        matches!(window, [before, '.' | '?' | '!', ' ', after]
            if after.is_uppercase() && (before.is_lowercase() || matches!(before, ')' | '"')))
    })
}

/// Returns the lines outside fenced blocks, with their numbers.
pub fn prose_lines(file: &TrackedFile) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    file.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence {
            inside = !inside;
        }
        !is_fence && !inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn links_are_followed_to_files_directories_and_headings() {
        let page =
            "[a](other.md) [b](../README.md#what-it-is) [c](#here) [d](https://x.example/y)\n\n# Here\n";
        let tree = TrackedTree::of(&[
            ("docs/page.md", page),
            ("docs/other.md", ""),
            ("README.md", "## What it is\n"),
        ]);
        assert_eq!(messages(&find_broken_links(&tree)), Vec::<String>::new());
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found_outside_code_blocks_only() {
        let page = "```text\n[a](gone.md)\n```\n[b](gone.md)\n[c](#gone)\n";
        let tree = TrackedTree::of(&[("page.md", page)]);
        assert_eq!(
            messages(&find_broken_links(&tree)),
            ["page.md:4: `gone.md` leads nowhere", "page.md:5: `#gone`: no such heading"]
        );
    }

    #[test]
    fn fragments_are_made_like_those_of_code_hosts() {
        assert_eq!(slug("A deny rule, `Bash(rm:*)`, holds"), "a-deny-rule-bashrm-holds");
    }

    #[test]
    fn two_sentences_are_found_and_abbreviations_and_code_are_not() {
        for line in ["One. Two.", "Is it? It is.", "(So it is.) Yes (it is). No."] {
            assert!(holds_two_sentences(line), "{line}");
        }
        for line in ["One sentence.", "e.g. this one", "Run `a. B` now.", "Version 1. 2", "See A. B."] {
            assert!(!holds_two_sentences(line), "{line}");
        }
    }
}
