//! The figures themselves, as they are printed.

use std::collections::BTreeMap;

use super::declaration::{function_lengths, is_one_word, type_names};
use super::module_graph::module_cycles;
use crate::repository::{TrackedFile, TrackedTree};
use crate::rust_source::production_lines;

/// Where the program is that is installed.
const BINARY: &str = "crates/portcullis/src/";

/// The figures of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HouseFigures {
    /// Of the tree as a whole: a label and a value.
    pub whole: Vec<(String, String)>,
    /// Of each crate, by its name.
    pub crates: BTreeMap<String, CrateFigures>,
}

/// The figures of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CrateFigures {
    /// Lines of `src` outside tests.
    pub production: usize,
    /// Lines of tests, inside `src` and beside it.
    pub tests: usize,
    /// How many of the lines of `src` outside tests are comments.
    pub comments: usize,
    /// How many of them are code.
    pub code: usize,
    /// Top-level modules that stand in a cycle.
    pub modules_in_cycles: usize,
}

impl CrateFigures {
    /// The labels of [`Self::values`].
    pub const LABELS: [&str; 4] = ["lines of src", "lines of tests", "comment lines", "modules in cycles"];

    /// Returns the figures as they are printed.
    pub fn values(&self) -> [String; 4] {
        [
            grouped(self.production),
            grouped(self.tests),
            percent(self.comments, self.comments + self.code),
            self.modules_in_cycles.to_string(),
        ]
    }
}

impl HouseFigures {
    /// Takes the figures of a tree.
    pub fn of(tree: &TrackedTree) -> Self {
        Self { whole: whole(tree), crates: crates(tree) }
    }
}

fn whole(tree: &TrackedTree) -> Vec<(String, String)> {
    let names = type_names(tree);
    let shared = names.values().filter(|places| places.len() > 1).count();
    let one_word = names.keys().filter(|name| is_one_word(name)).count();
    let lengths = function_lengths(tree);
    let binary = tree.with_extension("rs").filter(|file| file.path.starts_with(BINARY));
    let binary_lines: usize = binary.map(|file| file.text.lines().count()).sum();
    let length =
        |share: usize| lengths.get((lengths.len() * share / 100).min(lengths.len().saturating_sub(1)));
    let rows = [
        ("files in the repository", grouped(tree.files().len())),
        ("lines of the binary crate's `src`", grouped(binary_lines)),
        ("names of types", grouped(names.len())),
        ("names that stand for more than one type", percent(shared, names.len())),
        ("names of one word", percent(one_word, names.len())),
        ("functions", grouped(lengths.len())),
        ("lines of a function, half have at most", length(50).map(ToString::to_string).unwrap_or_default()),
        (
            "lines of a function, nine of ten have at most",
            length(90).map(ToString::to_string).unwrap_or_default(),
        ),
        ("lines of the longest function", length(100).map(ToString::to_string).unwrap_or_default()),
        ("cycles between top-level modules", module_cycles(tree).len().to_string()),
    ];
    rows.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

fn crates(tree: &TrackedTree) -> BTreeMap<String, CrateFigures> {
    let mut crates: BTreeMap<String, CrateFigures> = BTreeMap::new();
    for file in tree.with_extension("rs") {
        let Some((name, inside)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        let figures = crates.entry(name.to_owned()).or_default();
        let production = if inside.starts_with("src/") { production_lines(file) } else { Vec::new() };
        figures.production += production.len();
        figures.tests += test_lines(file, inside, production.len());
        let filled = production.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        let (comments, code): (Vec<&str>, Vec<&str>) = filled.partition(|line| line.starts_with("//"));
        figures.comments += comments.len();
        figures.code += code.len();
    }
    for cycle in module_cycles(tree) {
        let name = cycle.crate_path.trim_start_matches("crates/");
        if let Some(figures) = crates.get_mut(name) {
            figures.modules_in_cycles += cycle.modules.len();
        }
    }
    crates
}

fn test_lines(file: &TrackedFile, inside: &str, production: usize) -> usize {
    let is_counted = inside.starts_with("src/") || inside.starts_with("tests/");
    if is_counted { file.text.lines().count() - production } else { 0 }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn percent(part: usize, whole: usize) -> String {
    let thousandths = (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_code_and_tests_are_told_apart() {
        let text = "//! A.\n\n/// B.\nstruct A;\nstruct B;\n#[cfg(test)]\nmod tests {}\n";
        let tree = TrackedTree::of(&[("crates/a/src/lib.rs", text), ("crates/a/tests/it.rs", "x\n")]);
        let figures = HouseFigures::of(&tree).crates.remove("a").unwrap_or_default();
        assert_eq!(figures.values(), ["5", "3", "50.0 %", "0"]);
    }

    #[test]
    fn numbers_are_grouped_and_shares_are_rounded() {
        assert_eq!(
            ["7", "123", "4,630", "1,234,567"],
            [7, 123, 4630, 1_234_567].map(grouped).each_ref().map(String::as_str)
        );
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }
}
