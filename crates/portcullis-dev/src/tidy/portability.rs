//! Checks that nothing tracked depends on one machine: no absolute home or checkout paths, no registry hosts.

use super::TidyProblem;
use crate::repository::TrackedTree;

/// Checks every tracked file.
pub fn find_machine_traces(tree: &TrackedTree) -> Vec<TidyProblem> {
    // Put together here, so that this file does not find itself.
    let traces = [
        ["/wo", "rk/"].concat(),
        ["/ro", "ot/."].concat(),
        ["crates", ".io/api"].concat(),
        ["index.", "crates", ".io"].concat(),
        ["static.", "crates", ".io"].concat(),
        ["registry.", "npmjs"].concat(),
        ["files.", "pythonhosted"].concat(),
        ["deb.", "debian"].concat(),
    ];
    let mut problems = Vec::new();
    for file in tree.files() {
        for (number, line) in file.lines() {
            for trace in traces.iter().filter(|trace| line.contains(trace.as_str())) {
                problems.push(TidyProblem::new(&file.path, number, format!("names `{trace}`")));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_path_of_one_machine_is_found() {
        let line = ["see /wo", "rk/main\n"].concat();
        let tree = TrackedTree::of(&[("a.md", &line), ("b.md", "homework/main\n")]);
        let found = messages(&find_machine_traces(&tree));
        assert_eq!(found.iter().filter(|message| message.starts_with("a.md:1:")).count(), 1);
    }
}
