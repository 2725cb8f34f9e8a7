//! Checks what keeps the house easy to read: no cycles of modules, and few names that stand for several types.

use super::TidyProblem;
use crate::house::{module_cycles, type_names};
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

/// Checks that the top-level modules of a crate form no cycle, so that each can be read after those it stands on.
pub fn find_module_cycles(tree: &TrackedTree) -> Vec<TidyProblem> {
    let problem = |modules: &[String]| format!("these modules name each other: {}", modules.join(", "));
    let cycles = module_cycles(tree).into_iter();
    cycles.map(|cycle| TidyProblem::new(&cycle.crate_path, 0, problem(&cycle.modules))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_cycle_is_found() {
        let tree = TrackedTree::of(&[
            ("crates/a/src/one.rs", "use crate::two;"),
            ("crates/a/src/two.rs", "use crate::one;"),
            ("crates/b/src/one.rs", "use crate::two;"),
            ("crates/b/src/two.rs", ""),
        ]);
        assert_eq!(
            messages(&find_module_cycles(&tree)),
            ["crates/a: these modules name each other: one, two"]
        );
    }

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
