//! Checks on Rust files: header, size, name, expectations with reasons, no test switched off.

use super::TidyProblem;
use crate::repository::{TrackedFile, TrackedTree};
use crate::rust_source::production_lines;

const PRODUCTION_LIMIT: usize = 500;
const FILE_LIMIT: usize = 800;
const MODULE_ROOT_LIMIT: usize = 200;

/// Files that may be longer, with the reason.
const LONGER_FILES: &[(&str, usize, &str)] = &[];

const VAGUE_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc"];

/// Checks that every Rust file begins with `//!`.
pub fn find_missing_headers(tree: &TrackedTree) -> Vec<TidyProblem> {
    let files = tree.with_extension("rs").filter(|file| !file.text.starts_with("//! "));
    files.map(|file| TidyProblem::new(&file.path, 1, "the file does not begin with `//!`")).collect()
}

/// Checks the length of every Rust file and of its part before the tests.
pub fn find_long_files(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for file in tree.with_extension("rs") {
        let exception = LONGER_FILES.iter().find(|(path, ..)| *path == file.path).map(|(_, limit, _)| *limit);
        let whole = file.text.lines().count();
        let production = production_lines(file).len();
        let limits = [
            ("the file has", whole, exception.unwrap_or(FILE_LIMIT)),
            ("its production part has", production, exception.unwrap_or(PRODUCTION_LIMIT)),
        ];
        for (what, lines, limit) in limits {
            if lines > limit {
                problems.push(TidyProblem::new(
                    &file.path,
                    0,
                    format!("{what} {lines} lines, more than {limit}"),
                ));
            }
        }
        if file.name() == "mod.rs" && production > MODULE_ROOT_LIMIT {
            let message = format!("a `mod.rs` of {production} lines, more than {MODULE_ROOT_LIMIT}");
            problems.push(TidyProblem::new(&file.path, 0, message));
        }
    }
    for (path, _, reason) in LONGER_FILES.iter().filter(|(path, ..)| tree.find(path).is_none()) {
        problems.push(TidyProblem::new(path, 0, format!("the exception is not needed any more: {reason}")));
    }
    problems
}

/// Checks that no file has a name that says nothing.
pub fn find_vague_names(tree: &TrackedTree) -> Vec<TidyProblem> {
    let is_vague = |file: &&TrackedFile| {
        file.path.split('/').any(|part| VAGUE_NAMES.contains(&part.strip_suffix(".rs").unwrap_or(part)))
    };
    let files = tree.with_extension("rs").filter(is_vague);
    files.map(|file| TidyProblem::new(&file.path, 0, "the name says nothing about what is inside")).collect()
}

/// Checks that `foo/mod.rs` never stands beside `foo.rs`.
pub fn find_double_modules(tree: &TrackedTree) -> Vec<TidyProblem> {
    let roots = tree.files().iter().filter_map(|file| file.path.strip_suffix("/mod.rs"));
    let doubles = roots.map(|directory| format!("{directory}.rs")).filter(|path| tree.find(path).is_some());
    doubles.map(|path| TidyProblem::new(&path, 0, "stands beside a directory of the same name")).collect()
}

/// Checks that every expected lint says why, and that no lint is silently allowed.
pub fn find_unreasoned_expectations(tree: &TrackedTree) -> Vec<TidyProblem> {
    // Put together here, so that this file does not find itself.
    let openers = [["#", "[expect("].concat(), ["#!", "[expect("].concat()];
    let mut problems = Vec::new();
    for file in tree.with_extension("rs") {
        for opener in &openers {
            for (start, _) in file.text.match_indices(opener.as_str()) {
                let attribute =
                    file.text.get(start..).and_then(|rest| rest.split(")]").next()).unwrap_or_default();
                if !attribute.contains("reason = \"") {
                    problems.push(TidyProblem::new(
                        &file.path,
                        line_of(file, start),
                        "an expectation without a reason",
                    ));
                }
            }
        }
    }
    problems
}

/// Checks that no test is switched off or content with any panic.
pub fn find_weakened_tests(tree: &TrackedTree) -> Vec<TidyProblem> {
    let markers = [["#", "[ignore"].concat(), ["#", "[should_panic"].concat()];
    let mut problems = Vec::new();
    for file in tree.with_extension("rs") {
        for (number, line) in file.lines() {
            if markers.iter().any(|marker| line.trim_start().starts_with(marker)) {
                problems.push(TidyProblem::new(&file.path, number, format!("`{}`", line.trim())));
            }
        }
    }
    problems
}

fn line_of(file: &TrackedFile, offset: usize) -> usize {
    file.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_file_without_header_is_found() {
        let tree =
            TrackedTree::of(&[("a.rs", "//! Good.\n"), ("b.rs", "use std;\n"), ("c.md", "no header\n")]);
        assert_eq!(messages(&find_missing_headers(&tree)), ["b.rs:1: the file does not begin with `//!`"]);
    }

    #[test]
    fn tests_do_not_count_as_production_but_as_file() {
        let code = "x\n".repeat(400);
        let inside = format!("{code}#[cfg(test)]\nmod tests {{\n{}}}\n", "y\n".repeat(300));
        let long = format!("{code}{code}");
        let tree =
            TrackedTree::of(&[("a/src/good.rs", &inside), ("a/src/long.rs", &long), ("a/tests/t.rs", &long)]);
        assert_eq!(
            messages(&find_long_files(&tree)),
            ["a/src/long.rs: its production part has 800 lines, more than 500"]
        );
    }

    #[test]
    fn a_module_root_full_of_logic_is_found() {
        let tree = TrackedTree::of(&[("a/mod.rs", &"x\n".repeat(201))]);
        assert_eq!(messages(&find_long_files(&tree)), ["a/mod.rs: a `mod.rs` of 201 lines, more than 200"]);
    }

    #[test]
    fn names_that_say_nothing_are_found_as_files_and_as_directories() {
        let tree = TrackedTree::of(&[("a/utils.rs", ""), ("a/common/mod.rs", ""), ("a/commonplace.rs", "")]);
        let found: Vec<String> = find_vague_names(&tree).into_iter().map(|problem| problem.file).collect();
        assert_eq!(found, ["a/utils.rs", "a/common/mod.rs"]);
    }

    #[test]
    fn a_module_in_two_places_is_found() {
        let tree = TrackedTree::of(&[("a/rule/mod.rs", ""), ("a/rule.rs", ""), ("a/other.rs", "")]);
        assert_eq!(
            messages(&find_double_modules(&tree)),
            ["a/rule.rs: stands beside a directory of the same name"]
        );
    }

    #[test]
    fn an_expectation_needs_its_reason_even_over_several_lines() {
        let good = ["#", "[expect(\n    clippy::panic,\n    reason = \"r\"\n)]"].concat();
        let bad = ["\n#", "[expect(clippy::panic)]"].concat();
        let tree = TrackedTree::of(&[("good.rs", &good), ("bad.rs", &bad)]);
        assert_eq!(
            messages(&find_unreasoned_expectations(&tree)),
            ["bad.rs:2: an expectation without a reason"]
        );
    }

    #[test]
    fn a_test_that_is_switched_off_is_found() {
        let off = ["    #", "[ignore]\n"].concat();
        let tree = TrackedTree::of(&[("a.rs", &off)]);
        assert_eq!(find_weakened_tests(&tree).len(), 1);
    }
}
