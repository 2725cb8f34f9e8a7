//! Checks that a decision is put together in one place: only the engine hands a policy and a case to the core.
//!
//! Whoever called `decide` by itself would also have to think of environment, trust and grants, and forget one.

use super::TidyProblem;
use crate::repository::TrackedTree;
use crate::rust_source::{RustToken, production_tokens, source_files};

/// The engine, and what measures or tests the core: the runner of verdict specifications, and the simulation of a memory.
pub const CALLERS: &[&str] = &[
    "crates/portcullis-gate/",
    "crates/portcullis-dev/src/verdict_spec/",
    "crates/portcullis-dev/src/command/recollection.rs",
];

/// Checks that no file outside the core and the engine calls `decide`.
pub fn find_stray_decisions(tree: &TrackedTree) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    for source in source_files(tree) {
        let path = source.file.path.as_str();
        let is_allowed = path.starts_with("crates/portcullis-core/")
            || CALLERS.iter().any(|caller| path.starts_with(caller));
        let Some(line) = line_of_decide(&production_tokens(&source.file.text)).filter(|_| !is_allowed) else {
            continue;
        };
        problems.push(TidyProblem::new(path, line, "decides by itself: the engine does that"));
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
    fn a_file_that_decides_by_itself_is_found() {
        let tree = TrackedTree::of(&[
            ("crates/portcullis-core/src/case.rs", "fn f(case: &Case) { case.decide(policy) }"),
            ("crates/portcullis-gate/src/judge.rs", "fn f(case: &Case) { case.decide(policy) }"),
            ("crates/a/src/lib.rs", "fn f(case: &Case) {\n    case.decide(policy)\n}"),
            ("crates/b/src/lib.rs", "fn f() { cases.map(Case::decide); }"),
            ("crates/c/src/lib.rs", "fn decide() {}\nfn f() { self.decide(line) }"),
            ("crates/d/src/lib.rs", "#[cfg(test)]\nmod tests { fn f() { case.decide(policy) } }"),
        ]);
        assert_eq!(
            messages(&find_stray_decisions(&tree)),
            [
                "crates/a/src/lib.rs:2: decides by itself: the engine does that",
                "crates/b/src/lib.rs:1: decides by itself: the engine does that",
            ]
        );
    }
}
