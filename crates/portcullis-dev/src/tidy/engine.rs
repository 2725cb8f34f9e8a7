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
    "crates/portcullis/src/commands/approvals/words.rs",
    "crates/portcullis/src/commands/check/remedy.rs",
    "crates/portcullis/src/commands/eval/worker.rs",
    "crates/portcullis/src/commands/replay/judge.rs",
];

/// Checks which files outside the core call `decide`; those in `strays` must, and no others may.
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

/// Finds a call of `decide` on a case, as a method or as a path; a method of one's own, on `self`, is none.
fn line_of_decide(all: &[RustToken<'_>]) -> Option<usize> {
    all.windows(4).find_map(|tokens| match tokens {
        [receiver, separator, name, next] if name.text == "decide" => {
            let is_method = separator.text == "." && receiver.text != "self" && next.text == "(";
            let is_path = separator.text == "::" && receiver.text == "Case";
            (is_method || is_path).then_some(name.line)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::messages;

    #[test]
    fn a_file_that_decides_by_itself_is_found_and_so_is_one_that_stopped() {
        let tree = TrackedTree::of(&[
            ("crates/portcullis-core/src/case.rs", "fn f(case: &Case) { case.decide(policy) }"),
            ("crates/portcullis-gate/src/judge.rs", "fn f(case: &Case) { case.decide(policy) }"),
            ("crates/a/src/lib.rs", "fn f(case: &Case) {\n    case.decide(policy)\n}"),
            ("crates/b/src/lib.rs", "fn f() { cases.map(Case::decide); }"),
            ("crates/c/src/lib.rs", "fn decide() {}\nfn f() { self.decide(line) }"),
            ("crates/d/src/lib.rs", "#[cfg(test)]\nmod tests { fn f() { case.decide(policy) } }"),
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
