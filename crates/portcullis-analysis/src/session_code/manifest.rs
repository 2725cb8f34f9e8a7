//! Whether a session put dependencies into a manifest, which the project then does not declare itself.

use super::SessionText;
use crate::lists::tool_files::{MANIFESTS, SECTIONS};
use crate::place::any_ending;

/// Manifests that hold commands beside what they declare, which no reader follows, and the keys of these.
const RUNNING: &[(&[&str], &[&str])] = &[
    (&["composer.json"], &["\"scripts\"", "-cmd\""]),
    (&["deno.json", "deno.jsonc"], &["\"tasks\"", "\"task\""]),
];

/// Says whether a file is a manifest that only declares: what it declares or runs is judged where it is used.
pub fn is_manifest(file: &str) -> bool {
    let declaring = MANIFESTS.iter().filter(|(form, _)| matches!(*form, "json" | "toml" | "lines"));
    declaring.into_iter().any(|(_, names)| any_ending(names, file))
}

/// Says whether a file is a manifest into which the session put what is to be installed, or where that comes from.
pub fn declares_more(file: &str, text: &SessionText<'_>) -> bool {
    let Some((form, _)) = MANIFESTS.iter().find(|(_, names)| any_ending(names, file)) else {
        return false;
    };
    // What a command changed in place may be anything in the file.
    let text = &if text.has_hidden_edit() { SessionText { pieces: None, ..*text } } else { *text };
    let mut own = text.lines().filter(|(line, is_own)| *is_own && !line.trim().is_empty());
    let runs = |line: &str| {
        let of_file = RUNNING.iter().filter(|(names, _)| any_ending(names, file));
        of_file.into_iter().any(|(_, keys)| keys.iter().any(|key| line.contains(key)))
    };
    if text.lines().any(|(line, is_own)| is_own && runs(line)) {
        return true;
    }
    match *form {
        "lines" => own.any(|(line, _)| !is_of_module(line)),
        "json" => in_sections(text, json_section),
        "toml" => in_sections(text, toml_section),
        _ => own.next().is_some(),
    }
}

/// Says whether a line of a file of lines declares nothing: a comment, the name of the module, a version.
fn is_of_module(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    line.trim_start().starts_with(['#', ')'])
        || line.trim_start().starts_with("//")
        || matches!(first, "module" | "go" | "toolchain")
}

/// Where a line stands.
enum LineSection {
    /// It begins a part that declares something.
    Begins,
    /// It begins another part, or ends the last one.
    Ends,
    /// Neither.
    Within,
}

/// Says whether the session put a line into a part of the file that declares something.
fn in_sections(text: &SessionText<'_>, section: fn(&str) -> LineSection) -> bool {
    let mut is_inside = false;
    text.lines().any(|(line, is_own)| {
        match section(line.trim()) {
            LineSection::Begins => is_inside = true,
            LineSection::Ends => is_inside = false,
            LineSection::Within => {}
        }
        let line = line.trim();
        let is_entry = !line.is_empty() && !line.starts_with('#') && !is_bare_start(line);
        is_own && is_inside && is_entry
    })
}

/// Says whether a line only begins a part: `[dependencies]`, `"dependencies": {`, `dependencies = [`, `dependencies = []`.
fn is_bare_start(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
        || line.ends_with(['{', '['])
        || ["{}", "{},", "[]", "[],"].iter().any(|end| line.ends_with(end))
}

fn names_section(name: &str) -> bool {
    let names = SECTIONS.iter().flat_map(|(_, names)| names.iter());
    let mut parts = name.split(['.', '[', ']', '"', '\'']).map(str::trim);
    names.into_iter().any(|wanted| parts.clone().any(|part| part == *wanted))
        || parts.any(|part| part == "tool.uv")
}

fn json_section(line: &str) -> LineSection {
    let names = SECTIONS.iter().flat_map(|(_, names)| names.iter());
    let begins = names.into_iter().any(|name| {
        line.split_once(&format!("\"{name}\"")).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
    });
    match line {
        _ if begins => LineSection::Begins,
        _ if line.starts_with('}') || line.starts_with(']') => LineSection::Ends,
        _ => LineSection::Within,
    }
}

fn toml_section(line: &str) -> LineSection {
    if line.starts_with('[') && line.ends_with(']') {
        return if names_section(line) { LineSection::Begins } else { LineSection::Ends };
    }
    match line.split_once('=') {
        Some((name, _)) if names_section(name.trim()) => LineSection::Begins,
        None if line == "]" => LineSection::Ends,
        _ => LineSection::Within,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_that_were_added_are_told_from_the_rest() {
        let whole = |file: &str, text: &str| declares_more(file, &SessionText { whole: text, pieces: None });
        assert!(whole("/p/requirements.txt", "requests\n"));
        assert!(whole("/p/requirements-dev.txt", "-r base.txt\n"));
        assert!(whole("/p/package.json", "{\"dependencies\":{\"evil\":\"*\"}}"));
        assert!(whole("/p/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nevil = \"1\"\n"));
        assert!(whole("/p/go.mod", "module a\nrequire evil.example/x v1\n"));
        assert!(whole("/p/pyproject.toml", "[project]\nname = \"a\"\ndependencies = [\n \"evil\",\n]\n"));
        assert!(whole("/p/Gemfile.lock", "GEM\n"));
        assert!(!whole("/p/package.json", "{\n\"name\": \"a\",\n\"scripts\": {\n\"test\": \"jest\"\n}\n}"));
        assert!(!whole("/p/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n"));
        assert!(!whole("/p/go.mod", "module a\n\ngo 1.22\n"));
        assert!(!whole("/p/src/a.py", "dependencies = 1"));
    }

    #[test]
    fn an_edit_of_something_else_declares_nothing() {
        let file = "[package]\nversion = \"0.2.0\"\n[dependencies]\nserde = \"1\"\n";
        let edited = |piece: &str| {
            let pieces = [piece.to_owned()];
            declares_more("/p/Cargo.toml", &SessionText { whole: file, pieces: Some(&pieces) })
        };
        assert!(!edited("version = \"0.2.0\""));
        assert!(edited("serde = \"1\""));
    }
}
