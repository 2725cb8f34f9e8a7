//! What the shipped code declares: its types with their names, its functions with their lengths.

use std::collections::BTreeMap;

use crate::repository::TrackedTree;
use crate::rust_source::{RustToken, production_tokens, source_files};

/// A name and where types are declared under it: file and line.
pub type TypeNames = BTreeMap<String, Vec<(String, usize)>>;

/// Returns the structs, enums, unions, traits and type aliases of all crates; examples and associated types are not among them.
pub fn type_names(tree: &TrackedTree) -> TypeNames {
    let mut names = TypeNames::new();
    for source in source_files(tree).into_iter().filter(|source| source.crate_path.starts_with("crates/")) {
        for token in declared_types(&production_tokens(&source.file.text)) {
            let place = (source.file.path.clone(), token.line);
            names.entry(token.text.to_owned()).or_default().push(place);
        }
    }
    names
}

fn declared_types<'text>(all: &[RustToken<'text>]) -> Vec<RustToken<'text>> {
    let mut found = Vec::new();
    // For every open brace, whether associated types stand in it.
    let mut blocks: Vec<bool> = Vec::new();
    let mut opens_associated = false;
    let mut before = "";
    for (token, next) in all.iter().zip(all.iter().skip(1)) {
        match token.text {
            "{" => {
                blocks.push(opens_associated);
                opens_associated = false;
            }
            "}" => {
                blocks.pop();
            }
            "impl" | "trait" if matches!(before, "" | "}" | ";" | "]" | ")" | "pub" | "unsafe") => {
                opens_associated = true;
            }
            "fn" | ";" => opens_associated = false,
            _ => {}
        }
        let is_type = match token.text {
            "struct" | "enum" | "trait" => true,
            "type" => blocks.last() != Some(&true),
            _ => false,
        };
        if is_type && next.is_word() && before != "$" {
            found.push(*next);
        }
        before = token.text;
    }
    found
}

/// Says whether a type's name is a single word, such as `Road` or `URL`.
pub fn is_one_word(name: &str) -> bool {
    let letters = name.chars().zip(name.chars().skip(1));
    !letters.into_iter().any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

/// Returns how many lines each function with a body has, shortest first.
pub(super) fn function_lengths(tree: &TrackedTree) -> Vec<usize> {
    let mut lengths = Vec::new();
    for source in source_files(tree).into_iter().filter(|source| source.crate_path.starts_with("crates/")) {
        let all = production_tokens(&source.file.text);
        for (index, token) in all.iter().enumerate() {
            let is_item = token.text == "fn" && all.get(index + 1).is_some_and(|next| next.is_word());
            if let Some(end) = is_item.then(|| body_end(&all, index)).flatten() {
                lengths.push(end - token.line + 1);
            }
        }
    }
    lengths.sort_unstable();
    lengths
}

/// Returns the line in which the body of the function at `index` ends; nothing if it has none.
fn body_end(all: &[RustToken<'_>], index: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for token in all.iter().skip(index) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" {
                    return Some(token.line);
                }
            }
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_and_associated_ones_are_not() {
        let text = "pub struct A;\nenum B { X }\npub(crate) trait C { type Item; fn f(); }\ntype D = A;\n\
                    impl C for A { type Item = B; fn f() { struct E; } }\nfn g() -> impl C { type F = A; A }\n\
                    #[cfg(test)]\nmod tests { struct G; }";
        let tree = TrackedTree::of(&[("crates/a/src/lib.rs", text), ("crates/b/src/lib.rs", "struct A;")]);
        let names = type_names(&tree);
        assert_eq!(names.keys().map(String::as_str).collect::<Vec<_>>(), ["A", "B", "C", "D", "E", "F"]);
        assert_eq!(names.get("A").map(Vec::len), Some(2));
    }

    #[test]
    fn a_word_ends_where_a_capital_follows_a_small_letter() {
        assert!(is_one_word("Road") && is_one_word("URL"));
        assert!(!is_one_word("AuditEntry"));
    }

    #[test]
    fn a_function_is_as_long_as_from_its_name_to_its_brace() {
        let text = "trait T { fn none(&self) -> [u8; 2]; }\nfn two() {\n}\nfn four(\n    a: fn(u8),\n) -> [u8; 2] {\n}\n";
        assert_eq!(function_lengths(&TrackedTree::of(&[("crates/a/src/lib.rs", text)])), [2, 4]);
    }
}
