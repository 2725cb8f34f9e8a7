//! Checks that the name of a type leads to that type: few names stand for several.

use super::TidyProblem;
use crate::house::type_names;
use crate::repository::TrackedTree;

/// How many of a thousand names may stand for more than one type.
pub const SHARED_NAMES_LIMIT: usize = 80;

/// Checks the names of all types in all crates.
pub fn find_shared_names(tree: &TrackedTree, limit: usize) -> Vec<TidyProblem> {
    let names = type_names(tree);
    let shared: Vec<_> = names.iter().filter(|(_, places)| places.len() > 1).collect();
    if shared.len() * 1000 <= names.len() * limit {
        return Vec::new();
    }
    let problems = shared.iter().flat_map(|(name, places)| {
        places.iter().map(move |(file, line)| {
            TidyProblem::new(file, *line, format!("`{name}` stands for several types"))
        })
    });
    problems.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_names_count_only_above_the_limit() {
        let tree = TrackedTree::of(&[
            ("crates/a/src/lib.rs", "struct A;\nstruct B;"),
            ("crates/b/src/lib.rs", "struct A;"),
        ]);
        assert_eq!(find_shared_names(&tree, 500), []);
        assert_eq!(find_shared_names(&tree, 499).len(), 2);
    }
}
