//! Rust files as words: enough to see which items a file declares and which paths it names, without a compiler.
//!
//! Comments and literals are left out, so that nothing that is only spoken of counts. Checks that ask what the shipped
//! code does take [`production_tokens`], which also leaves out whatever is compiled for tests alone.

use crate::repository::{TrackedFile, TrackedTree};

/// A word, `::` or a single sign of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RustToken<'text> {
    /// As it is written.
    pub text: &'text str,
    /// The line it begins in, from 1.
    pub line: usize,
}

impl RustToken<'_> {
    /// Says whether this is a name, a keyword or a number.
    pub fn is_word(self) -> bool {
        self.text.chars().next().is_some_and(is_word_character)
    }
}

fn is_word_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Splits a file into tokens.
pub fn tokens(text: &str) -> Vec<RustToken<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = next_length(rest, first);
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if is_token {
            found.push(RustToken { text: piece, line });
        }
        line += piece.matches('\n').count();
        rest = after;
    }
    found
}

/// Returns how many bytes the next piece has, and whether it is a token at all.
fn next_length(rest: &str, first: char) -> (usize, bool) {
    if first.is_whitespace() {
        return (first.len_utf8(), false);
    }
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), false);
    }
    if rest.starts_with("/*") {
        return (rest.find("*/").map_or(rest.len(), |end| end + 2), false);
    }
    if let Some(length) = literal_length(rest) {
        return (length, false);
    }
    if is_word_character(first) {
        return (rest.find(|character| !is_word_character(character)).unwrap_or(rest.len()), true);
    }
    (if rest.starts_with("::") { 2 } else { first.len_utf8() }, true)
}

/// Returns the length of a string, a character or a lifetime that stands here.
fn literal_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix).unwrap_or_default();
        after.starts_with('"') || (prefix.ends_with('r') && after.trim_start_matches('#').starts_with('"'))
    });
    if let Some(prefix) = prefix {
        let after = rest.get(prefix.len()..)?;
        if prefix.ends_with('r') {
            let hashes = after.len() - after.trim_start_matches('#').len();
            let closing = format!("\"{}", "#".repeat(hashes));
            let body = after.get(hashes + 1..)?;
            let end = body.find(&closing).map_or(body.len(), |end| end + closing.len());
            return Some(prefix.len() + hashes + 1 + end);
        }
        return Some(prefix.len() + 1 + escaped_length(after.get(1..)?, '"'));
    }
    let after = rest.strip_prefix('\'').or_else(|| rest.strip_prefix("b'"))?;
    let opening = rest.len() - after.len();
    let second = after.chars().next()?;
    if second == '\\' || after.get(second.len_utf8()..)?.starts_with('\'') {
        return Some(opening + escaped_length(after, '\''));
    }
    let lifetime = after.find(|character| !is_word_character(character)).unwrap_or(after.len());
    Some(opening + lifetime)
}

/// Returns the length up to and with the closing sign, which a backslash hides.
fn escaped_length(body: &str, closing: char) -> usize {
    let mut is_escaped = false;
    for (index, character) in body.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if character == '\\' {
            is_escaped = true;
        } else if character == closing {
            return index + character.len_utf8();
        }
    }
    body.len()
}

/// Splits a file into tokens and leaves out every item that is compiled for tests alone.
pub fn production_tokens(text: &str) -> Vec<RustToken<'_>> {
    let all = tokens(text);
    let mut kept = Vec::with_capacity(all.len());
    let mut index = 0;
    while let Some(token) = all.get(index) {
        if is_test_attribute(&all, index) {
            index = item_end(&all, index);
        } else {
            kept.push(*token);
            index += 1;
        }
    }
    kept
}

fn is_test_attribute(all: &[RustToken<'_>], index: usize) -> bool {
    let mut words = all.iter().skip(index).map(|token| token.text);
    let opening: Vec<&str> = words.by_ref().take(4).collect();
    let is_condition = opening == ["#", "[", "cfg", "("];
    match words.next() {
        Some("test") => is_condition,
        Some("all") => is_condition && words.take_while(|word| *word != "]").any(|word| word == "test"),
        _ => false,
    }
}

/// Returns the index behind the item that begins with attributes at `index`.
fn item_end(all: &[RustToken<'_>], index: usize) -> usize {
    let mut depth = 0_usize;
    let mut is_attribute = false;
    for (position, token) in all.iter().enumerate().skip(index) {
        match token.text {
            "#" if depth == 0 => is_attribute = true,
            "{" | "(" | "[" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" {
                    // Only a use tree has a semicolon behind its brace.
                    let has_semicolon = all.get(position + 1).is_some_and(|next| next.text == ";");
                    return position + 1 + usize::from(has_semicolon);
                }
                if depth == 0 && token.text == "]" {
                    is_attribute = false;
                }
            }
            ";" | "," if depth == 0 && !is_attribute => return position + 1,
            _ => {}
        }
    }
    all.len()
}

/// Returns the lines before the test module; none of a file that is all test.
pub fn production_lines(file: &TrackedFile) -> Vec<&str> {
    let in_test_folder = file.path.split('/').any(|part| part == "tests");
    if in_test_folder || file.name().ends_with("_tests.rs") || file.text.contains("\n#![cfg(test)]") {
        return Vec::new();
    }
    file.text.lines().take_while(|line| *line != "#[cfg(test)]").collect()
}

/// A file of a crate's `src` that is compiled into what is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile<'tree> {
    /// The directory of the crate, such as `crates/portcullis-core`.
    pub crate_path: &'tree str,
    /// The path below `src`, such as `rule/lint.rs`.
    pub path: &'tree str,
    /// The file itself.
    pub file: &'tree TrackedFile,
}

impl SourceFile<'_> {
    /// Returns the modules from the crate's root down to this file; none for the root.
    pub fn module_path(&self) -> Vec<String> {
        module_path(self.path)
    }
}

fn module_path(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    let is_root = parts.len() == 1 && matches!(path, "lib" | "main");
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// Returns the Rust files of all crates that are not tests: no `*_tests.rs`, no module that is declared for tests.
pub fn source_files(tree: &TrackedTree) -> Vec<SourceFile<'_>> {
    let all = all_source_files(tree);
    let test_modules: Vec<(&str, Vec<String>)> = all.iter().flat_map(declared_test_modules).collect();
    all.into_iter().filter(|source| !is_test_file(source, &test_modules)).collect()
}

fn all_source_files(tree: &TrackedTree) -> Vec<SourceFile<'_>> {
    let files = tree.with_extension("rs").filter_map(|file| {
        let (crate_path, path) = file.path.split_once("/src/")?;
        let is_crate = ["crates/", "examples/"].iter().any(|folder| crate_path.starts_with(folder));
        is_crate.then_some(SourceFile { crate_path, path, file })
    });
    files.collect()
}

fn declared_test_modules<'tree>(source: &SourceFile<'tree>) -> Vec<(&'tree str, Vec<String>)> {
    let all = tokens(&source.file.text);
    let mut found = Vec::new();
    for index in (0..all.len()).filter(|index| is_test_attribute(&all, *index)) {
        let item = all.get(index..item_end(&all, index)).unwrap_or_default();
        if let [.., keyword, name, end] = item
            && keyword.text == "mod"
            && end.text == ";"
        {
            let mut path = source.module_path();
            path.push(name.text.to_owned());
            found.push((source.crate_path, path));
        }
    }
    found
}

fn is_test_file(source: &SourceFile<'_>, test_modules: &[(&str, Vec<String>)]) -> bool {
    let path = source.module_path();
    let is_declared = |(crate_path, module): &(&str, Vec<String>)| {
        *crate_path == source.crate_path && path.starts_with(module)
    };
    source.path.ends_with("_tests.rs")
        || source.file.text.contains("\n#![cfg(test)]")
        || test_modules.iter().any(is_declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tokens: &[RustToken<'_>]) -> String {
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        texts.join(" ")
    }

    #[test]
    fn comments_and_literals_are_no_tokens() {
        let text = "let a = r#\"struct \"X\"#; // struct Y\n/* struct Z */ let b: &'a str = \"\\\"struct\"; let c = '\"'; b'\\'';";
        assert_eq!(words(&tokens(text)), "let a = ; let b : & str = ; let c = ; ;");
    }

    #[test]
    fn tokens_know_their_lines() {
        let lines: Vec<usize> = tokens("a\n\"x\n\"\nb::c").into_iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4, 4, 4]);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        let text = "fn a() {}\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\n#[cfg(all(test, unix))]\nmod more { fn b() {} }\n\
                    #[cfg(test)]\nuse crate::x::{y, z};\n#[cfg(unix)]\nfn c() {}";
        assert_eq!(words(&production_tokens(text)), "fn a ( ) { } # [ cfg ( unix ) ] fn c ( ) { }");
    }

    #[test]
    fn files_of_tests_are_no_source_files() {
        let tree = TrackedTree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod support;\nmod rule;"),
            ("crates/a/src/support/mod.rs", ""),
            ("crates/a/src/rule/mod.rs", ""),
            ("crates/a/src/rule/lint_tests.rs", ""),
            ("crates/a/tests/it.rs", ""),
        ]);
        let paths: Vec<&str> = source_files(&tree).into_iter().map(|source| source.path).collect();
        assert_eq!(paths, ["lib.rs", "rule/mod.rs"]);
    }
}
