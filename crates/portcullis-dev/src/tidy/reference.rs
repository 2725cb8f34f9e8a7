//! Checks on pages that name tests or files: the spec coverage, the known bypasses, the recipes. What is named must exist.
//!
//! A test is named as `crates/x/src/y.rs::test_name` or as `specs/verdicts/topic.md#heading`.

use std::collections::BTreeSet;

use super::contract::{CONTRACT, contract_rows};
use super::{TidyProblem, markdown};
use crate::repository::{TrackedFile, TrackedTree};

const COVERAGE: &str = "docs/development/spec-coverage.md";
const BYPASSES: &str = "docs/reference/known-bypasses.md";
const RECIPES: &str = "CONTRIBUTING.md";

/// Checks that every row of the contract that is built has a row in the coverage table, and that the tests in it exist.
pub fn find_coverage_gaps(tree: &TrackedTree) -> Vec<TidyProblem> {
    let Some(file) = tree.find(COVERAGE) else {
        return vec![TidyProblem::new(COVERAGE, 0, "the coverage table is missing")];
    };
    let mut problems = find_unknown_tests(tree, file);
    let listed: BTreeSet<&str> = table_rows(file).filter_map(|(_, cells)| cells.first().copied()).collect();
    let rows = tree.find(CONTRACT).map(contract_rows).unwrap_or_default();
    for row in rows.iter().filter(|row| !row.is_planned && !listed.contains(row.id.as_str())) {
        problems.push(TidyProblem::new(COVERAGE, 0, format!("row {} of the contract has no line", row.id)));
    }
    problems
}

/// Checks that every known bypass names tests that exist.
pub fn find_untested_bypasses(tree: &TrackedTree) -> Vec<TidyProblem> {
    match tree.find(BYPASSES) {
        Some(file) => find_unknown_tests(tree, file),
        None => vec![TidyProblem::new(BYPASSES, 0, "the list of known bypasses is missing")],
    }
}

/// Checks that the files a recipe touches exist, up to the part of a name that each user of the recipe fills in.
pub fn find_lost_recipe_files(tree: &TrackedTree) -> Vec<TidyProblem> {
    let Some(file) = tree.find(RECIPES) else {
        return vec![TidyProblem::new(RECIPES, 0, "the recipes are missing")];
    };
    let lists = markdown::prose_lines(file).filter(|(_, line)| line.starts_with("Files: "));
    let names = lists.flat_map(|(number, line)| code_spans(line).map(move |name| (number, name)));
    names
        .filter(|(_, name)| !tree.has_path(fixed_part(name)))
        .map(|(number, name)| TidyProblem::new(RECIPES, number, format!("there is no file `{name}`")))
        .collect()
}

/// Returns the path up to the last directory before a part in angle brackets.
fn fixed_part(name: &str) -> &str {
    let fixed = match name.split_once('<') {
        Some((before, _)) => before.rsplit_once('/').map_or("", |(directory, _)| directory),
        None => name,
    };
    fixed.trim_end_matches('/')
}

fn find_unknown_tests(tree: &TrackedTree, file: &TrackedFile) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for (number, cells) in table_rows(file) {
        let names: Vec<&str> = cells.last().map(|cell| code_spans(cell).collect()).unwrap_or_default();
        if names.is_empty() {
            problems.push(TidyProblem::new(&file.path, number, "the row names no test"));
        }
        for name in names.into_iter().filter(|name| !is_test(tree, name)) {
            problems.push(TidyProblem::new(&file.path, number, format!("there is no test `{name}`")));
        }
    }
    problems
}

/// Returns the cells of each table row below a header, with its line number.
fn table_rows(file: &TrackedFile) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let lines: Vec<(usize, &str)> = markdown::prose_lines(file).collect();
    let mut rows = Vec::new();
    let mut below_header = false;
    for (number, line) in lines {
        let is_row = line.starts_with('|');
        let is_rule = is_row && line.chars().all(|letter| matches!(letter, '|' | '-' | ' ' | ':'));
        if is_row && below_header && !is_rule {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            rows.push((number, inner.split(" | ").map(str::trim).collect()));
        }
        below_header = is_row && (below_header || is_rule);
    }
    rows.into_iter()
}

fn code_spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Says whether a name is that of an existing test.
fn is_test(tree: &TrackedTree, name: &str) -> bool {
    if let Some((path, fragment)) = name.split_once('#') {
        return tree.find(path).is_some_and(|page| markdown::has_heading(page, fragment));
    }
    let Some((path, rest)) = name.split_once("::") else {
        return false;
    };
    let function = rest.rsplit("::").next().unwrap_or(rest);
    tree.find(path).is_some_and(|file| has_test_function(file, function))
}

fn has_test_function(file: &TrackedFile, function: &str) -> bool {
    let opening = format!("fn {function}(");
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let places = lines.iter().enumerate().filter(|(_, line)| line.starts_with(&opening));
    places.into_iter().any(|(index, _)| {
        let above = lines.iter().take(index).rev();
        above
            .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
            .any(|line| *line == "#[test]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    const CODE: &str = "//! x\n#[test]\nfn it_holds() {}\n\nfn support() {}\n";

    #[test]
    fn a_row_must_name_a_test_that_exists() {
        let table = "| bypass | test |\n|---|---|\n| a | `a.rs::it_holds` |\n| b | `a.rs::support` |\n| c | none |\n\
                     | d | `s.md#one-two` |\n| e | `s.md#three` |\n";
        let tree = TrackedTree::of(&[(BYPASSES, table), ("a.rs", CODE), ("s.md", "## One two\n")]);
        assert_eq!(
            messages(&find_untested_bypasses(&tree)),
            [
                "docs/reference/known-bypasses.md:4: there is no test `a.rs::support`",
                "docs/reference/known-bypasses.md:5: the row names no test",
                "docs/reference/known-bypasses.md:7: there is no test `s.md#three`",
            ]
        );
    }

    #[test]
    fn a_recipe_that_names_a_file_which_moved_is_found() {
        let recipe = "Files: `src/<name>.rs`, `src/a.rs`, `src/b/`, `gone/<name>.rs`, `src/lost.rs`; generated: `a.md`.\n";
        let tree =
            TrackedTree::of(&[(RECIPES, recipe), ("src/a.rs", CODE), ("src/b/c.rs", CODE), ("a.md", "")]);
        assert_eq!(
            messages(&find_lost_recipe_files(&tree)),
            [
                "CONTRIBUTING.md:1: there is no file `gone/<name>.rs`",
                "CONTRIBUTING.md:1: there is no file `src/lost.rs`",
            ]
        );
    }

    #[test]
    fn a_forgotten_row_of_the_contract_is_found() {
        let table = "| row | what | tests |\n|---|---|---|\n| A0 | abort | `a.rs::it_holds` |\n";
        let row = |id: &str, state| format!("| <a id=\"{}\"></a>{id} | x | {state} |\n", id.to_lowercase());
        let contract = [row("A0", "yes"), row("D1", "partly: x"), row("H1", "planned")].concat();
        let tree = TrackedTree::of(&[(COVERAGE, table), (CONTRACT, &contract), ("a.rs", CODE)]);
        assert_eq!(
            messages(&find_coverage_gaps(&tree)),
            ["docs/development/spec-coverage.md: row D1 of the contract has no line"]
        );
    }
}
