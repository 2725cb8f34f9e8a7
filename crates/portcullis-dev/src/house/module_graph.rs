//! Which top-level module of a crate names which, and the cycles among them.
//!
//! An edge is a path: `crate::rule::…`, or as many `super` as lead to the root. A name that the root takes from a
//! module, as in `pub use rule::Rule`, stands for that module. The root itself is no module: it may name all of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::TrackedTree;
use crate::rust_source::{RustToken, SourceFile, production_tokens, source_files};

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Modules of one crate that each lead to every other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleCycle {
    /// The directory of the crate.
    pub crate_path: String,
    /// The modules, sorted.
    pub modules: Vec<String>,
}

/// Returns the cycles of all crates.
pub fn module_cycles(tree: &TrackedTree) -> Vec<ModuleCycle> {
    let mut by_crate: BTreeMap<&str, Vec<SourceFile<'_>>> = BTreeMap::new();
    for source in source_files(tree) {
        by_crate.entry(source.crate_path).or_default().push(source);
    }
    let cycles = by_crate.into_iter().flat_map(|(crate_path, sources)| {
        let found = cycles_of(&edges(&sources));
        found.into_iter().map(|modules| ModuleCycle { crate_path: crate_path.to_owned(), modules })
    });
    cycles.collect()
}

fn edges(sources: &[SourceFile<'_>]) -> Edges {
    let modules: BTreeSet<String> =
        sources.iter().filter_map(|source| source.module_path().into_iter().next()).collect();
    let mut aliases = BTreeMap::new();
    for source in sources.iter().filter(|source| source.module_path().is_empty()) {
        let all = production_tokens(&source.file.text);
        for index in (0..all.len()).filter(|index| word(&all, *index) == "use") {
            let start = if word(&all, index + 1) == "crate" { index + 3 } else { index + 1 };
            let module = word(&all, start);
            if modules.contains(module) {
                let names = all.iter().skip(start).take_while(|token| token.text != ";");
                aliases.extend(names.map(|token| (token.text.to_owned(), module.to_owned())));
            }
        }
    }
    let mut edges = Edges::new();
    for source in sources {
        let path = source.module_path();
        let Some(module) = path.first() else { continue };
        for name in names_at_root(&production_tokens(&source.file.text), path.len()) {
            let target = if modules.contains(&name) { Some(&name) } else { aliases.get(&name) };
            if let Some(target) = target.filter(|target| *target != module) {
                edges.entry(module.clone()).or_default().insert(target.clone());
            }
        }
    }
    edges
}

fn word<'text>(all: &[RustToken<'text>], index: usize) -> &'text str {
    all.get(index).map_or("", |token| token.text)
}

/// Returns the first name of every path that begins at the crate's root, seen from a module `depth` levels below it.
fn names_at_root(all: &[RustToken<'_>], depth: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for index in 0..all.len() {
        if index > 0 && word(all, index - 1) == "::" {
            continue;
        }
        let mut position = index;
        if word(all, index) == "crate" {
            position += 1;
        } else {
            let supers = (0..depth).take_while(|step| {
                word(all, index + 2 * step) == "super" && word(all, index + 2 * step + 1) == "::"
            });
            if depth == 0 || supers.count() < depth {
                continue;
            }
            position += 2 * depth - 1;
        }
        if word(all, position) == "::" {
            collect_first_names(all, position + 1, &mut names);
        }
    }
    names
}

/// Collects the first name of each branch of a use tree that begins here.
fn collect_first_names(all: &[RustToken<'_>], start: usize, names: &mut BTreeSet<String>) {
    if word(all, start) != "{" {
        names.insert(word(all, start).to_owned());
        return;
    }
    let mut depth = 0_usize;
    let mut before = "";
    for token in all.iter().skip(start) {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && matches!(before, "{" | ",") => {
                names.insert(name.to_owned());
            }
            _ => {}
        }
        if depth == 0 {
            return;
        }
        before = token.text;
    }
}

/// Returns the sets of modules that lead to each other.
fn cycles_of(edges: &Edges) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|module| (module, reachable(edges, module))).collect();
    let leads = |from: &String, to: &String| reached.get(from).is_some_and(|targets| targets.contains(to));
    let mut cycles = BTreeSet::new();
    for module in edges.keys().filter(|module| leads(module, module)) {
        let members = edges.keys().filter(|other| leads(module, other) && leads(other, module));
        cycles.insert(members.cloned().collect::<Vec<String>>());
    }
    cycles.into_iter().collect()
}

fn reachable<'edges>(edges: &'edges Edges, start: &String) -> BTreeSet<&'edges String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = edges.get(start).into_iter().flatten().collect();
    while let Some(module) = open.pop() {
        if seen.insert(module) {
            open.extend(edges.get(module).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        module_cycles(&TrackedTree::of(files)).into_iter().map(|cycle| cycle.modules).collect()
    }

    #[test]
    fn paths_from_the_root_and_upwards_make_a_cycle() {
        for back in [
            "use crate::rule::Rule;",
            "use crate::{other::X, rule};",
            "fn f() { crate::rule::g() }",
            "use super::rule::Rule;",
            "use crate::Rule;",
        ] {
            let found = cycles(&[
                ("crates/a/src/lib.rs", "mod rule;\nmod call;\npub use rule::{Rule, lint::Lint};"),
                ("crates/a/src/rule/mod.rs", ""),
                ("crates/a/src/rule/lint.rs", "use super::super::call;"),
                ("crates/a/src/call.rs", back),
                ("crates/a/src/other.rs", "use crate::rule::Rule;"),
            ]);
            assert!(found.iter().any(|cycle| cycle.starts_with(&["call".to_owned()])), "{back}: {found:?}");
        }
    }

    #[test]
    fn one_way_and_tests_and_the_root_make_none() {
        let found = cycles(&[
            ("crates/a/src/lib.rs", "mod rule;\nmod call;\nuse rule::Rule;"),
            ("crates/a/src/rule/mod.rs", "use crate::call::Call;\nuse super::call;"),
            ("crates/a/src/rule/lint.rs", "use super::Rule;"),
            ("crates/a/src/call.rs", "// crate::rule\n#[cfg(test)]\nmod tests { use crate::rule::Rule; }"),
            ("crates/b/src/call.rs", "use crate::rule::Rule;"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new());
    }
}
