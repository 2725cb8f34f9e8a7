//! Path patterns against git itself: the same patterns, the same paths, `git check-ignore` as the judge.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the judge is a program that reads files")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portcullis_core::rule::{Behavior, PathAnchors, PathPattern, guarding_pattern};

/// Patterns worth a look each, beside the generated ones.
const PATTERNS: &[&str] = &[
    "a",
    "/a",
    "a/",
    "/a/",
    "a/b",
    "/a/b",
    "a/b/",
    "*",
    "/*",
    "*/",
    "**",
    "/**",
    "**/",
    "a*",
    "*a",
    "*.x",
    "a/*",
    "a/*/b",
    "*/b",
    "*/*/b",
    "a/**",
    "/a/**",
    "a/**/b",
    "**/b",
    "**/a/b",
    "**/b/**",
    "a/**/",
    "a**",
    "a**b",
    "**a",
    "a**/b",
    "a/b**",
    "a/**b",
    "a/b**/c",
    "/a**/b",
    "***",
    "***/b",
    "a/***/b",
    "a/***",
    "**/**/b",
    "?",
    "a?",
    "a/?",
    "??",
    "[ab]",
    "[a-c]",
    "[!a]",
    "[^a]",
    "[]a]",
    "[!]a]",
    "[a-]",
    "[-a]",
    "[a",
    "a[",
    "[a-",
    "[[:alpha:]]",
    "[[:nope:]]",
    "[[:alpha:]",
    "[[:]]",
    "[:a]",
    "[[a]",
    "[\\]]",
    "[a\\-c]",
    "[b-a]",
    "a[/]b",
    "a[!x]b",
    "\\a",
    "\\*",
    "a\\",
    "\\",
    "a\\*b",
    "a\\/b",
    "**\\/b",
    "a\\ ",
    "a ",
    "a  ",
    "\\ ",
    " ",
    " a",
    "#a",
    "\\#a",
    "\\!a",
    "{a,b}",
    "*.{x,y}",
    "a//b",
    "a//",
    "a/./b",
    "a/.",
    ".",
    "..",
    "a/../b",
    ".x",
    "*.*",
    "a.x",
    "A",
    "é",
    "[é]",
    "?é",
    "a b",
    "*/",
    "**/*.x",
    "a/*.x",
    "*/a/*",
    "b/**/*.x",
    "[[:digit:]]*",
    "[a-b]/[!c]",
    "*[ab]",
    "a*b*c",
    "",
    "/",
];

const PATHS: &[&str] = &[
    "a", "b", "c", "ab", "abc", "a.x", ".x", "a/b", "a/c", "b/a", "a/a", "a/b/c", "c/b", "c/a/b", "a/c/b",
    "a/c/d/b", "ab/b", "ab/c/b", "a/bb/c", "a/b.x", "b/c/a.x", "a b", "a ", " ", " a", "#a", "!a", "{a,b}",
    "a{x,y}", "b.{x,y}", "*", "a*b", "a[", "[a", "]", "-", "é", "aé", "A", "1a", "\\", "a\\", "axb", "aab",
    "a-b/c",
];

/// Directories that exist below every pattern's directory, asked about as directories.
const DIRECTORIES: &[&str] = &["dir", "a-dir", "in/dir"];

struct Sandbox(PathBuf);

impl Sandbox {
    fn new(name: &str) -> Self {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(&root).expect("a directory for the test");
        let status = Command::new("git").args(["init", "--quiet"]).current_dir(&root).status();
        assert!(status.expect("git must be installed to run this test").success());
        Self(root)
    }

    fn case_directory(&self, index: usize) -> PathBuf {
        self.0.join(format!("p{index}"))
    }

    /// Asks git about many paths at once; the answer says which pattern matched each, if any did.
    fn ask(&self, paths: &[String]) -> BTreeMap<String, Option<String>> {
        let mut child = Command::new("git")
            .args(["-c", "core.ignorecase=false", "-c", "core.excludesFile=/dev/null"])
            .args(["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"])
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("git must be installed to run this test");
        let mut input = child.stdin.take().expect("a pipe");
        let question = paths.join("\0");
        let writer = std::thread::spawn(move || input.write_all(question.as_bytes()));
        let output = child.wait_with_output().expect("an answer from git");
        writer.join().expect("the writer").expect("all paths written");
        assert!(matches!(output.status.code(), Some(0 | 1)), "git failed: {:?}", output.status);
        let text = String::from_utf8(output.stdout).expect("text");
        let fields: Vec<&str> = text.trim_end_matches('\0').split('\0').collect();
        let answers = fields.chunks(4).map(|answer| {
            let matched = Some(answer[2].to_owned()).filter(|_| !answer[0].is_empty());
            (answer[3].to_owned(), matched)
        });
        answers.collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A small generator of numbers, the same in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn text(&mut self, parts: &[&str], longest: usize) -> String {
        let count = 1 + self.below(longest);
        (0..count).map(|_| parts[self.below(parts.len())]).collect()
    }
}

/// Says whether the pattern means in a rule what it means in a `.gitignore` file.
///
/// Anchors are a rule's own, and a rule with `//` inside is refused, though git finds a meaning for a few (`a**//b`).
fn has_same_meaning(pattern: &str) -> bool {
    !["!", "./", "~"].iter().any(|start| pattern.starts_with(start)) && !pattern.contains("//")
}

fn generated_patterns(count: usize) -> Vec<String> {
    let parts = [
        "a", "b", "c", ".x", "*", "*", "**", "?", "/", "/", "/**", "**/", "[ab]", "[!a]", "[a-b]", "[", "]",
        "\\", "\\*", "{a,b}", " ", "é", "#", "-", "a/b",
    ];
    let mut numbers = Lcg(2);
    let mut patterns: Vec<String> = Vec::new();
    while patterns.len() < count {
        let pattern = numbers.text(&parts, 6);
        if has_same_meaning(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

fn generated_paths(numbers: &mut Lcg, count: usize) -> Vec<String> {
    let parts = ["a", "b", "c", "ab", ".x", "a.x", "é", " ", "-", "*", "{a,b}", "]", "\\"];
    (0..count)
        .map(|_| {
            let names = 1 + numbers.below(4);
            (0..names).map(|_| numbers.text(&parts, 2)).collect::<Vec<_>>().join("/")
        })
        .collect()
}

fn write_case(directory: &Path, lines: &str) {
    for name in DIRECTORIES {
        fs::create_dir_all(directory.join(name)).expect("a directory for the test");
    }
    fs::write(directory.join(".gitignore"), lines).expect("a file for the test");
}

fn anchors() -> PathAnchors<'static> {
    PathAnchors { cwd: "/here", project: "/here", home: None, base: None }
}

#[test]
fn allow_patterns_match_what_git_ignores() {
    let sandbox = Sandbox::new("gitignore-single");
    let patterns: Vec<String> =
        PATTERNS.iter().map(|pattern| (*pattern).to_owned()).chain(generated_patterns(250)).collect();
    let mut numbers = Lcg(1);
    let mut questions = Vec::new();
    for (index, pattern) in patterns.iter().enumerate() {
        write_case(&sandbox.case_directory(index), &format!("{pattern}\n"));
        let generated = generated_paths(&mut numbers, 20);
        let known = PATHS.iter().chain(DIRECTORIES).map(|path| (*path).to_owned());
        questions.extend(known.chain(generated).map(|path| (index, path)));
    }
    let asked: Vec<String> = questions.iter().map(|(index, path)| format!("p{index}/{path}")).collect();
    let answers = sandbox.ask(&asked);
    let mut pairs = 0;
    let mut hits = 0;
    for ((index, path), key) in questions.iter().zip(&asked) {
        let pattern = &patterns[*index];
        let expected = answers[key].is_some();
        let slash = if DIRECTORIES.contains(&path.as_str()) { "/" } else { "" };
        let read = PathPattern::parse(pattern, Behavior::Allow);
        let matched = read.is_ok_and(|read| read.matches(&format!("/here/{path}{slash}"), &anchors()));
        assert_eq!(matched, expected, "pattern {pattern:?} on {path:?}: git says {expected}");
        pairs += 1;
        hits += usize::from(expected);
    }
    assert!(pairs >= 20_000 && hits >= 2_000, "{pairs} pairs, {hits} hits");
}

#[test]
fn lists_with_negated_patterns_guard_what_git_ignores() {
    let sandbox = Sandbox::new("gitignore-lists");
    // Only shapes that mean the same in a guard: no directory of any depth, nothing anchored but below `!`.
    let parts = [
        "a", "b", "c", "a*", "*", "?", "a/b", "*/c", "**/b", "b/*", "!a", "!b", "!/a", "!a/b", "!*/c",
        "!a/*", "!c", "!**/b",
    ];
    let mut numbers = Lcg(3);
    let lists: Vec<Vec<&str>> = (0..250)
        .map(|_| {
            let length = 2 + numbers.below(4);
            (0..length).map(|_| parts[numbers.below(parts.len())]).collect()
        })
        .collect();
    let mut questions = Vec::new();
    for (index, list) in lists.iter().enumerate() {
        write_case(&sandbox.case_directory(index), &list.join("\n"));
        let names = ["a", "b", "c", "ab", "x"];
        questions.extend((0..30).map(|_| {
            let depth = 1 + numbers.below(4);
            (index, (0..depth).map(|_| names[numbers.below(names.len())]).collect::<Vec<_>>().join("/"))
        }));
    }
    let asked: Vec<String> = questions.iter().map(|(index, path)| format!("p{index}/{path}")).collect();
    let answers = sandbox.ask(&asked);
    let mut reopened = 0;
    for ((index, path), key) in questions.iter().zip(&asked) {
        let list = &lists[*index];
        let expected = answers[key].as_deref().filter(|pattern| !pattern.starts_with('!'));
        reopened += usize::from(answers[key].as_deref().is_some_and(|pattern| pattern.starts_with('!')));
        let read: Vec<PathPattern> = list
            .iter()
            .map(|pattern| PathPattern::parse(pattern, Behavior::Deny).expect("a pattern"))
            .collect();
        let references: Vec<&PathPattern> = read.iter().collect();
        let guarding = guarding_pattern(&references, &format!("/here/{path}"), &anchors());
        let has_negated = list.iter().any(|pattern| pattern.starts_with('!'));
        let found = guarding.map(|index| list[index]);
        // Without negated patterns the first match is named, with them the last, as git does.
        assert_eq!(found.is_some(), expected.is_some(), "{list:?} on {path}: git says {expected:?}");
        assert!(!has_negated || found == expected, "{list:?} on {path}: {found:?} instead of {expected:?}");
    }
    assert!(reopened >= 300, "{reopened} paths taken out");
}
