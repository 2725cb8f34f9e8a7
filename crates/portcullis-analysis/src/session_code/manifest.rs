//! What a session put into a manifest: dependencies, which the project then does not declare itself, and commands.

use serde_json::Value;

use super::SessionText;
use crate::lists::tool_files::{
    COMMANDS, MANIFESTS, METADATA, SCRIPT_RUNNERS, SECTIONS, TOOL_COMMANDS, TOOLS,
};
use crate::place::any_ending;

/// Returns a word in what the session put into a manifest by which a run may start something, or reach out of the project:
/// the key of commands, a place, a host. What the manifest declares is left out, since that is judged where it is installed,
/// and so are scripts of `package.json` that are read where they are called.
pub fn starting_word(file: &str, text: &SessionText<'_>, tool: &str, is_called: bool) -> Option<String> {
    let (form, _) = MANIFESTS.iter().find(|(_, names)| any_ending(names, file))?;
    let own = text.own();
    match *form {
        "json" => {
            let is_listed = TOOLS.iter().any(|(_, tools)| tools.contains(&tool));
            let runs_scripts = !is_listed || SCRIPT_RUNNERS.contains(&tool);
            let leaves_scripts = file.ends_with("package.json") && (is_called || !runs_scripts);
            let Ok(Value::Object(manifest)) = serde_json::from_str(text.whole) else {
                // With comments in it, or broken: nobody says what stands where.
                return own.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
            };
            let is_own = |leaf: &str| is_of_session(leaf, text, &own);
            let mut rest = String::new();
            for (key, value) in &manifest {
                let key = key.as_str();
                let is_of_other = is_listed && TOOL_COMMANDS.contains(&key) && !key.starts_with(tool);
                let is_declared = METADATA.contains(&key) || is_section(key);
                let is_left = is_declared || is_of_other || leaves_scripts && key == "scripts";
                if is_left {
                    continue;
                }
                if let Some(key) = command_below(key, value, &is_own) {
                    return Some(key);
                }
                add_leaves(value, &is_own, &mut rest);
            }
            rest.lines().find(|leaf| leads_out(leaf)).map(str::to_owned)
        }
        "toml" => {
            let mut is_command = false;
            text.lines().find_map(|(line, is_own)| {
                let line = line.trim();
                if line.starts_with('[') {
                    is_command = line.split(['.', '[', ']', '"', '\'']).any(|part| COMMANDS.contains(&part));
                }
                let is_entry = is_own && !line.is_empty() && !line.starts_with(['#', '[']);
                let (key, value) =
                    line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value));
                let places = value.split(['"', '\'']).any(leads_out) && !METADATA.contains(&key);
                (is_entry && (is_command || places)).then(|| key.to_owned())
            })
        }
        _ => None,
    }
}

/// Says whether an edit of the session put a text of a manifest there, or a part of it.
fn is_of_session(leaf: &str, text: &SessionText<'_>, own: &str) -> bool {
    let Some(pieces) = text.pieces else { return true };
    let is_sign = |letter: char| letter.is_whitespace() || "\"',:[]{}".contains(letter);
    let is_part = |line: &str| !line.is_empty() && leaf.contains(line);
    let written = format!("\"{leaf}\"");
    // A letter may be spelled by its number.
    own.contains('\\')
        || text.has_hidden_edit()
        || pieces.iter().any(|piece| piece.contains(&written))
        || pieces.iter().flat_map(|piece| piece.lines()).any(|line| is_part(line.trim_matches(is_sign)))
}

/// Says whether a value names a place outside the project, or an address.
fn leads_out(value: &str) -> bool {
    value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..") || value.contains("://")
}

fn is_section(key: &str) -> bool {
    SECTIONS.iter().any(|(_, names)| names.contains(&key))
}

/// Returns the first key that holds commands and below which something is the session's own.
fn command_below(key: &str, value: &Value, is_own: &impl Fn(&str) -> bool) -> Option<String> {
    let is_command = COMMANDS.contains(&key) || key.ends_with("-cmd");
    let mut leaves = String::new();
    add_leaves(value, is_own, &mut leaves);
    if is_command && !leaves.is_empty() {
        return Some(key.to_owned());
    }
    match value {
        Value::Object(inner) => inner.iter().find_map(|(key, value)| command_below(key, value, is_own)),
        Value::Array(inner) => inner.iter().find_map(|value| command_below("", value, is_own)),
        _ => None,
    }
}

/// Adds the texts below a value that are the session's own.
fn add_leaves(value: &Value, is_own: &impl Fn(&str) -> bool, texts: &mut String) {
    match value {
        Value::String(text) if is_own(text) => {
            texts.push_str(text);
            texts.push('\n');
        }
        Value::Object(inner) => {
            for (key, value) in inner {
                if is_own(key) {
                    texts.push_str(key);
                    texts.push('\n');
                }
                add_leaves(value, is_own, texts);
            }
        }
        Value::Array(inner) => inner.iter().for_each(|value| add_leaves(value, is_own, texts)),
        _ => {}
    }
}

/// Says whether a file is a manifest that is read by its parts: what it declares is judged where it is installed.
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
    fn commands_that_were_added_are_found_where_something_runs_them() {
        let word = |file: &str, tool: &str, is_called: bool, text: &str| {
            starting_word(file, &SessionText { whole: text, pieces: None }, tool, is_called)
        };
        let scripts = r#"{"name":"a","homepage":"https://a.example","scripts":{"test":"rm -r x"}}"#;
        assert_eq!(word("/p/composer.json", "composer", false, scripts).as_deref(), Some("scripts"));
        assert_eq!(word("/p/package.json", "turbo", false, scripts).as_deref(), Some("scripts"));
        assert_eq!(word("/p/package.json", "some-runner", false, scripts).as_deref(), Some("scripts"));
        assert_eq!(word("/p/package.json", "npm", true, scripts), None);
        assert_eq!(word("/p/package.json", "jest", false, scripts), None);
        let staged = r#"{"lint-staged":{"*.ts":["eslint","rm -r x"]}}"#;
        assert_eq!(word("/p/package.json", "lint-staged", false, staged).as_deref(), Some("lint-staged"));
        assert_eq!(word("/p/package.json", "npm", true, staged), None);
        assert_eq!(word("/p/package.json", "npm", false, scripts).as_deref(), Some("scripts"));
        let setup = r#"{"jest":{"globalSetup":"/opt/x.js"}}"#;
        assert!(word("/p/package.json", "jest", false, setup).is_some());
        let plain = r#"{"jest":{"testEnvironment":"node"},"devDependencies":{"a":"1"}}"#;
        assert_eq!(word("/p/package.json", "jest", false, plain), None);
        assert_eq!(word("/p/Pipfile", "pipenv", false, "[scripts]\nx = \"rm\"\n").as_deref(), Some("x"));
        let build = "[package]\nbuild = \"../other/x.rs\"\nhomepage = \"https://a.example\"\n";
        assert_eq!(word("/p/Cargo.toml", "cargo", false, build).as_deref(), Some("build"));
        assert_eq!(word("/p/Pipfile", "pipenv", false, "[packages]\nx = \"*\"\n"), None);
    }

    #[test]
    fn a_command_of_the_project_is_none_of_the_session() {
        let whole = "{\n\"name\": \"z\",\n\"scripts\": {\n\"a\": \"wc x\",\n\"b\": \"rm y\"\n}\n}";
        let edited = |piece: &str| {
            let pieces = [piece.to_owned()];
            starting_word(
                "/p/composer.json",
                &SessionText { whole, pieces: Some(&pieces) },
                "composer",
                false,
            )
        };
        assert!(edited("\"b\": \"rm y\"").is_some());
        assert_eq!(edited("\"name\": \"z\""), None);
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
