//! The page with the figures before and after. What stands before an arrow is kept, what stands behind it is renewed,
//! so that the page can be written anew without the old checkout.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::figures::{CrateFigures, HouseFigures};

/// Where the page is.
pub const PAGE: &str = "docs/development/house.md";

const ARROW: &str = " → ";

const HEAD: &str = "\
# The house in figures

What a stranger meets who opens the repository, before and after it was put in order.
Before is commit `96578f1`.

Both columns are taken by the same command, `cargo dev house`: `--tree DIR` reads another checkout, `--write` renews this page.
Types and functions are those of `crates/*/src` outside tests; an associated type has no name of its own.
A module cycle is a set of top-level modules of one crate that name each other, directly or by way of others; a [test](../../crates/portcullis-dev/tests/tidy.rs) allows none.
A share of comments is the share of comment lines among those that are not empty, outside tests.
";

/// Returns the page with these figures behind the arrows. What stands before them comes from `before` or from `old`.
pub fn write_page(old: &str, before: Option<&HouseFigures>, after: &HouseFigures) -> String {
    let earlier = before.map_or_else(|| earlier_cells(old), cells);
    let later = cells(after);
    let value = |row: &str, column: &str| {
        let key = (row.to_owned(), column.to_owned());
        let one = earlier.get(&key).map_or("–", String::as_str);
        let other = later.get(&key).map_or("–", String::as_str);
        format!("{one}{ARROW}{other}")
    };
    let mut page = format!("{HEAD}\n| figure | {WHOLE} |\n|---|---|\n");
    for (label, _) in &after.whole {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| {label} | {} |", value(label, WHOLE));
    }
    let _ = write!(page, "\n| crate | {} |\n|---|---|---|---|---|\n", CrateFigures::LABELS.join(" | "));
    let mut names: Vec<&String> = earlier.keys().chain(later.keys()).map(|(row, _)| row).collect();
    names.retain(|name| !after.whole.iter().any(|(label, _)| label == *name));
    names.sort();
    names.dedup();
    for name in names {
        let values = CrateFigures::LABELS.map(|label| value(name, label));
        let _ = writeln!(page, "| {name} | {} |", values.join(" | "));
    }
    page
}

const WHOLE: &str = "before → after";

type Cells = BTreeMap<(String, String), String>;

fn cells(figures: &HouseFigures) -> Cells {
    let whole = figures.whole.iter().map(|(label, value)| ((label.clone(), WHOLE.to_owned()), value.clone()));
    let crates = figures.crates.iter().flat_map(|(name, figures)| {
        let values = CrateFigures::LABELS.into_iter().zip(figures.values());
        values.map(|(label, value)| ((name.clone(), label.to_owned()), value))
    });
    whole.chain(crates).collect()
}

/// Reads what stands before the arrows of a page.
fn earlier_cells(page: &str) -> Cells {
    let mut found = Cells::new();
    let mut columns: Vec<String> = Vec::new();
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            if line.is_empty() {
                columns.clear();
            }
            continue;
        };
        let mut values = row.split(" | ").map(str::to_owned);
        if columns.is_empty() {
            columns = values.skip(1).collect();
            continue;
        }
        let name = values.next().unwrap_or_default();
        for (column, value) in columns.iter().zip(values) {
            if let Some((before, _)) = value.split_once(ARROW).filter(|(before, _)| *before != "–") {
                found.insert((name.clone(), column.clone()), before.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::TrackedTree;

    #[test]
    fn what_stands_before_the_arrow_outlives_a_new_page() {
        let before = HouseFigures::of(&TrackedTree::of(&[("crates/a/src/lib.rs", "struct A;\n")]));
        let after = HouseFigures::of(&TrackedTree::of(&[("crates/b/src/lib.rs", "struct B;\nstruct C;\n")]));
        let page = write_page("", Some(&before), &after);
        assert!(page.contains("| names of types | 1 → 2 |"), "{page}");
        assert!(page.contains("| a | 1 → – | 0 → – |"), "{page}");
        assert!(page.contains("| b | – → 2 | – → 0 |"), "{page}");
        assert_eq!(write_page(&page, None, &after), page);
    }
}
