//! Which entries of a host's settings are ours, whoever wrote them and whatever path they name.

use std::path::Path;

use portcullis_hosts::Host;
use portcullis_hosts::registration::without_guard;
use serde_json::Value;

/// How entries of ours are told from those of others.
#[derive(Debug, Clone)]
pub struct Ours {
    host: Host,
    /// The names our program has, or had, besides its usual one.
    other_names: Vec<String>,
}

/// The command of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registered {
    /// A program and its arguments, started without a shell.
    Words(Vec<String>),
    /// A line that the host hands to a shell.
    Line(String),
    /// The name of a program, which the host looks for by itself.
    Name(String),
}

impl Registered {
    /// Returns the program that is started.
    pub fn program(&self) -> Option<String> {
        match self {
            Self::Words(words) => words.first().cloned(),
            Self::Line(line) => split(without_guard(line))?.into_iter().next(),
            Self::Name(name) => Some(name.clone()),
        }
    }
}

impl Ours {
    /// The names of fields that hold a command line or the name of a program.
    const COMMAND_FIELDS: [&'static str; 4] = ["command", "bash", "powershell", "to"];

    /// Makes it for a host and the program that is or was registered.
    pub fn new(host: Host, program: &Path) -> Self {
        Self { host, other_names: Vec::new() }.or_of(program)
    }

    /// Takes what names a further program, which was registered earlier, for ours too.
    pub(super) fn or_of(mut self, program: &Path) -> Self {
        self.other_names.extend(program.file_name().map(|name| name.to_string_lossy().into_owned()));
        self
    }

    /// Says whether a program is ours, by its name.
    pub(super) fn has_program(&self, program: &Path) -> bool {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        name == "portcullis" || self.other_names.iter().any(|other| *other == name)
    }

    /// Returns the command of an entry if it is ours. The entry itself holds it, or is a group with nothing else in it.
    pub fn command_in(&self, entry: &Value) -> Option<Registered> {
        let object = entry.as_object()?;
        if let Some(command) = self.own_command(entry) {
            return Some(command);
        }
        let lists = object.values().filter_map(Value::as_array);
        lists.flatten().find_map(|inner| self.own_command(inner))
    }

    /// Returns the command that an object itself names, if it is ours.
    pub fn own_command(&self, entry: &Value) -> Option<Registered> {
        let object = entry.as_object()?;
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        if let (Some(program), Some(arguments)) =
            (text("command"), object.get("args").and_then(Value::as_array))
        {
            let rest = arguments.iter().map(|word| word.as_str().map(str::to_owned));
            let words: Option<Vec<String>> = std::iter::once(Some(program.to_owned())).chain(rest).collect();
            return words.filter(|words| self.is_ours(words)).map(Registered::Words);
        }
        Self::COMMAND_FIELDS.iter().filter_map(|name| text(name)).find_map(|line| {
            if Path::new(line).file_name().is_some_and(|name| name == self.host_name().as_str()) {
                return Some(Registered::Name(line.to_owned()));
            }
            let words = split(without_guard(line))?;
            self.is_ours(&words).then(|| Registered::Line(line.to_owned()))
        })
    }

    /// The name of our program that stands for the hook of the host.
    fn host_name(&self) -> String {
        format!("portcullis-{}", self.host.name())
    }

    fn is_ours(&self, words: &[String]) -> bool {
        let [program, command, host, ..] = words else { return false };
        self.has_program(Path::new(program)) && command == "hook" && host == self.host.name()
    }
}

/// Splits a line as a shell would, where it has nothing but words, quotes and backslashes; `None` otherwise.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        other => quoted.push(other),
                    }
                }
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' => quoted.push(characters.next()?),
                        other => quoted.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => return None,
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_of_ours_are_told_from_those_of_others() {
        let table = [
            (json!({"type": "command", "command": "/a/portcullis", "args": ["hook", "codex"]}), true),
            (json!({"command": "'/my tools/portcullis' hook codex --headless"}), true),
            (json!({"bash": "portcullis hook codex"}), true),
            (json!({"bash": "'/my tools/portcullis' hook codex || exit 2"}), true),
            (json!({"bash": "portcullis hook codex || exit 0"}), false),
            (json!({"to": "portcullis-codex"}), true),
            (json!({"to": "/opt/portcullis-codex"}), true),
            (json!({"command": "/opt/gate hook codex"}), true),
            (json!({"hooks": [{"command": "portcullis hook codex"}]}), true),
            (json!({"command": "portcullis hook claude"}), false),
            (json!({"command": "portcullis check codex"}), false),
            (json!({"command": "echo portcullis hook codex"}), false),
            (json!({"command": "other hook codex"}), false),
            (json!({"command": "x; portcullis hook codex"}), false),
            (json!({"command": "/a/portcullis", "args": ["hook", 1]}), false),
            (json!({"command": "'portcullis hook codex"}), false),
            (json!("portcullis hook codex"), false),
        ];
        let ours = Ours::new(Host::Codex, Path::new("/opt/gate"));
        for (entry, expected) in table {
            assert_eq!(ours.command_in(&entry).is_some(), expected, "{entry}");
        }
    }

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        let words = |line: &str| split(line).unwrap();
        assert_eq!(words(r"  '/it'\''s/p' hook "), ["/it's/p", "hook"]);
        assert_eq!(words(r#""a b"c '' d\ e"#), ["a bc", "", "d e"]);
        for line in ["a $b", "a `b`", "a | b", "'a", "a \\"] {
            assert_eq!(split(line), None, "{line}");
        }
    }
}
