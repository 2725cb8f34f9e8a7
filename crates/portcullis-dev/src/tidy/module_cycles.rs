//! Checks that the top-level modules of a crate form no cycle, so that each can be read after those it stands on.

use super::TidyProblem;
use crate::house::module_cycles;
use crate::repository::TrackedTree;

/// Checks every crate.
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
}
