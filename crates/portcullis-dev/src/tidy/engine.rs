//! Checks that a decision is put together in one place: only the engine hands a policy and a case to the core.
//!
//! Whoever called `decide` by itself would also have to think of environment, trust and grants, and forget one.

use super::TidyProblem;
use crate::repository::TrackedTree;
use crate::rust_source::{RustToken, production_tokens, source_files};

/// The engine, and the runner of verdict specifications, which is a test of the core.
pub const CALLERS: &[&str] = &["crates/portcullis-gate/", "crates/portcullis-dev/src/verdict_spec/"];

/// Files that still decide by themselves. One that does not any more fails the check.
pub const STRAY_CALLERS: &[&str] = &[
    "crates/portcullis-daemon/src/api/rules.rs",
    "crates/portcullis-daemon/src/queue/retold.rs",
    "crates/portcullis/src/commands/approvals/words.rs",
    "crates/portcullis/src/commands/eval/worker.rs",
    "crates/portcullis/src/commands/replay/judge.rs",
    "examples/harness/src/gate.rs",
];

/// Checks which files outside the core name its `decide`; those in `strays` must, and no others may.
pub fn find_stray_decisions(tree: &TrackedTree, strays: &[&str]) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    let mut found = Vec::new();
    for source in source_files(tree) {
        let path = source.file.path.as_str();
        let is_allowed = path.starts_with("crates/portcullis-core/")
            || CALLERS.iter().any(|caller| path.starts_with(caller));
        let Some(line) = line_of_decide(&production_tokens(&source.file.text)).filter(|_| !is_allowed) else {
            continue;
        };
        found.push(path);
        if !strays.contains(&path) {
            problems.push(TidyProblem::new(path, line, "decides by itself: the engine does that"));
        }
    }
    for stray in strays.iter().filter(|stray| !found.contains(stray)) {
        problems.push(TidyProblem::new(stray, 0, "does not decide by itself any more: take it off the list"));
    }
    problems
}

/// Finds a path of the core that ends in `decide`, as a call or in a use tree.
fn line_of_decide(all: &[RustToken<'_>]) -> Option<usize> {
    let starts = all.iter().enumerate().filter(|(_, token)| token.text == "portcullis_core");
    starts.into_iter().find_map(|(start, _)| {
        let path = all.iter().skip(start).take_while(|token| !matches!(token.text, ";" | "(" | ")"));
        path.into_iter().find(|token| token.text == "decide").map(|token| token.line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_file_that_decides_by_itself_is_found_and_so_is_one_that_stopped() {
        let tree = TrackedTree::of(&[
            ("crates/portcullis-core/src/world.rs", "use portcullis_core::decide;"),
            ("crates/portcullis-gate/src/judge.rs", "use portcullis_core::{Policy, decide};"),
            ("crates/a/src/lib.rs", "use portcullis_core::{\n    Policy, decide};"),
            ("crates/b/src/lib.rs", "fn f() { portcullis_core::pipeline::decide(x) }"),
            ("crates/c/src/lib.rs", "use portcullis_core::Policy; fn decide() {}"),
            ("crates/d/src/lib.rs", "#[cfg(test)]\nmod tests { use portcullis_core::decide; }"),
        ]);
        assert_eq!(
            messages(&find_stray_decisions(&tree, &["crates/b/src/lib.rs", "crates/c/src/lib.rs"])),
            [
                "crates/a/src/lib.rs:2: decides by itself: the engine does that",
                "crates/c/src/lib.rs: does not decide by itself any more: take it off the list",
            ]
        );
    }
}
