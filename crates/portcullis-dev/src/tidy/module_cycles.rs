//! Checks that the top-level modules of a crate form no cycle, so that each can be read after those it stands on.

use super::TidyProblem;
use crate::house::module_cycles;
use crate::repository::TrackedTree;

/// Crates whose modules are still tangled. A crate that stands here without a cycle fails the check.
pub const TANGLED: &[&str] = &["crates/portcullis", "crates/portcullis-daemon"];

/// Checks every crate; those in `tangled` must have a cycle, all others none.
pub fn find_module_cycles(tree: &TrackedTree, tangled: &[&str]) -> Vec<TidyProblem> {
    let cycles = module_cycles(tree);
    let unexpected = cycles.iter().filter(|cycle| !tangled.contains(&cycle.crate_path.as_str()));
    let mut problems: Vec<TidyProblem> = unexpected
        .map(|cycle| {
            let message = format!("these modules name each other: {}", cycle.modules.join(", "));
            TidyProblem::new(&cycle.crate_path, 0, message)
        })
        .collect();
    for crate_path in tangled.iter().filter(|path| !cycles.iter().any(|cycle| cycle.crate_path == **path)) {
        problems.push(TidyProblem::new(crate_path, 0, "has no cycle any more: take it off the list"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_cycle_is_found_and_so_is_a_crate_that_was_untangled() {
        let tree = TrackedTree::of(&[
            ("crates/a/src/one.rs", "use crate::two;"),
            ("crates/a/src/two.rs", "use crate::one;"),
            ("crates/b/src/one.rs", "use crate::two;"),
            ("crates/b/src/two.rs", ""),
        ]);
        assert_eq!(
            messages(&find_module_cycles(&tree, &[])),
            ["crates/a: these modules name each other: one, two"]
        );
        assert_eq!(
            messages(&find_module_cycles(&tree, &["crates/a", "crates/b"])),
            ["crates/b: has no cycle any more: take it off the list"]
        );
    }
}
