//! Scripts of `package.json`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Entry, Script, value_of};
use crate::invocation::Invocation;
use crate::path;

/// The most scripts of one manifest that call each other and are followed.
const MOST: usize = 32;

/// Returns the manifest whose scripts an installer of packages runs on the way.
pub(super) fn installed(command: &Invocation) -> Vec<Script> {
    if !matches!(command.program_name(), Some("bun" | "npm" | "pnpm" | "yarn")) {
        return Vec::new();
    }
    let elsewhere = value_of(command, &["-C", "--prefix", "--cwd", "--dir"]).unwrap_or(".");
    let directories = command.directories.alternatives().unwrap_or_default();
    let file = |directory: &String| path::join(&path::join(directory, elsewhere), "package.json");
    directories
        .iter()
        .map(|directory| Script { file: file(directory), entry: Entry::Lifecycle, arguments: None })
        .collect()
}

/// Returns the commands a package script runs, with those that run before and after it.
pub(super) fn commands(text: &str, name: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let scripts = manifest.get("scripts")?;
    let mut open = vec![name.to_owned()];
    let mut seen = BTreeSet::new();
    let mut lines: Vec<&str> = Vec::new();
    while let Some(name) = open.pop() {
        if seen.len() >= MOST || !seen.insert(name.clone()) {
            continue;
        }
        let wanted = [format!("pre{name}"), name.clone(), format!("post{name}")];
        let found = wanted.iter().filter_map(|name| scripts.get(name.as_str())).filter_map(Value::as_str);
        for line in found {
            lines.push(line);
            let words = line.split(|letter: char| {
                letter.is_whitespace() || matches!(letter, ';' | '&' | '|' | '(' | ')')
            });
            open.extend(called(words.filter(|word| !word.is_empty())));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Scripts that an installation runs, beside what stands before and after each.
const LIFECYCLE: &[&str] = &["install", "prepare", "prepublish", "dependencies"];

/// Returns the commands that an installation runs; empty if the manifest has none.
pub(super) fn lifecycle(text: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let all = LIFECYCLE.iter().filter_map(|name| commands(text, name)).collect::<Vec<_>>();
    manifest.is_object().then(|| all.join("\n"))
}

/// Returns the names behind words that run other scripts of the same manifest: `npm run x`, `run-s x y`.
fn called<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    const RUNNERS: &[&str] = &["npm-run-all", "pnpm", "run", "run-p", "run-s", "yarn"];
    let mut names = Vec::new();
    let mut is_running = false;
    for word in words {
        if RUNNERS.contains(&word) {
            is_running = true;
        } else if is_running && !word.starts_with('-') {
            names.push(word.trim_matches(['"', '\'']).to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_with_what_stands_before_and_after_it() {
        let text = r#"{"scripts":{"prebuild":"rm -rf dist","build":"tsc","postbuild":"echo ok","x":"y"}}"#;
        assert_eq!(commands(text, "build").as_deref(), Some("rm -rf dist\ntsc\necho ok"));
        let text = r#"{"scripts":{"all":"npm run one && yarn two","one":"x","two":"npm run all"}}"#;
        assert_eq!(commands(text, "all").as_deref(), Some("npm run one && yarn two\nnpm run all\nx"));
        assert_eq!(commands(text, "z"), None);
        assert_eq!(commands("[", "build"), None);
        assert_eq!(commands(r#"{"scripts":[1]}"#, "build"), None);
    }
}
