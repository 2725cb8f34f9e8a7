//! Checks on citations of the contract: "spec A7" in a comment, a page or a test must lead to a row of its page.

use std::collections::BTreeSet;

use super::{TidyProblem, markdown};
use crate::repository::{TrackedFile, TrackedTree};

/// The page with the rows.
pub const CONTRACT: &str = "docs/reference/contract.md";

/// What stands before an id, or before the first of several.
const CITING: &[&str] = &["spec ", "step "];

/// A row of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractRow {
    /// The id, such as `A7`.
    pub id: String,
    /// Whether it is not built yet, so that no test can hold it.
    pub is_planned: bool,
}

/// Reads the rows of the contract: those that begin with an anchor.
pub fn contract_rows(page: &TrackedFile) -> Vec<ContractRow> {
    let row = |line: &str| {
        let (_, rest) = line.split_once("| <a id=\"")?;
        let (anchor, rest) = rest.split_once("\"></a>")?;
        let (id, cells) = rest.split_once(" |")?;
        let is_planned = cells.trim_end().ends_with("| planned |");
        (id.to_lowercase() == anchor).then(|| ContractRow { id: id.to_owned(), is_planned })
    };
    markdown::prose_lines(page).filter_map(|(_, line)| row(line)).collect()
}

/// Checks that every cited id is that of a row, or the letter of a section.
pub fn find_lost_citations(tree: &TrackedTree) -> Vec<TidyProblem> {
    let Some(page) = tree.find(CONTRACT) else {
        return vec![TidyProblem::new(CONTRACT, 0, "the contract is missing")];
    };
    let rows = contract_rows(page);
    let ids: BTreeSet<&str> = rows.iter().flat_map(|row| [row.id.as_str(), section(&row.id)]).collect();
    let mut problems = Vec::new();
    for file in tree.files().iter().filter(|file| file.has_extension("rs") || file.has_extension("md")) {
        for (number, line) in file.lines() {
            for id in cited(line).into_iter().filter(|id| !ids.contains(id)) {
                problems.push(TidyProblem::new(&file.path, number, format!("the contract has no row {id}")));
            }
        }
    }
    problems
}

fn section(id: &str) -> &str {
    id.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

/// Returns the ids that a line cites: `spec A7`, `spec A9, C7`, `spec C1–C6`.
fn cited(line: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    for citing in CITING {
        for (_, mut rest) in line.match_indices(citing).map(|(start, _)| line.split_at(start + citing.len()))
        {
            while let Some(id) = leading_id(rest) {
                ids.push(id);
                let after = rest.trim_start_matches(id);
                let next = [", ", "–", " and ", " to "].iter().find_map(|link| after.strip_prefix(link));
                rest = next.unwrap_or_default();
            }
        }
    }
    ids
}

/// Returns the id that a text begins with: a capital and up to two digits, and then no further letter.
fn leading_id(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(text.len());
    let (id, _) = text.split_at(end);
    let digits = id.strip_prefix(|letter: char| letter.is_ascii_uppercase())?;
    (digits.len() <= 2 && digits.chars().all(|letter| letter.is_ascii_digit())).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    const PAGE: &str = "| id | must | today |\n|---|---|---|\n| <a id=\"a7\"></a>A7 | x | yes |\n\
                        | <a id=\"h1\"></a>H1 | y | planned |\n| <a id=\"b\"></a>B | z | partly: planned |\n";

    #[test]
    fn rows_are_read_with_their_state() {
        let tree = TrackedTree::of(&[(CONTRACT, PAGE)]);
        let rows = contract_rows(tree.find(CONTRACT).unwrap());
        let row = |id: &str, is_planned| ContractRow { id: id.to_owned(), is_planned };
        assert_eq!(rows, [row("A7", false), row("H1", true), row("B", false)]);
    }

    #[test]
    fn a_citation_that_leads_nowhere_is_found() {
        let code = "//! x (spec A7, C9), spec B and H1, spec A, step A8: a step Back, spec.A4, inspec A77x\n";
        let tree = TrackedTree::of(&[(CONTRACT, PAGE), ("a.rs", code), ("b.txt", "spec C1")]);
        assert_eq!(
            messages(&find_lost_citations(&tree)),
            ["a.rs:1: the contract has no row C9", "a.rs:1: the contract has no row A8"]
        );
        assert_eq!(
            messages(&find_lost_citations(&TrackedTree::of(&[]))),
            [format!("{CONTRACT}: the contract is missing")]
        );
    }
}
