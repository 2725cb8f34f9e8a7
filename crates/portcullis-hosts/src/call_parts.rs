//! The parts of a call of a host: each file, command and address that it names becomes a call of its own.
//!
//! A host may hand over a list where our tools take one thing, and a tool that nobody knows may carry a command, a file or
//! an address all the same. Every part must be allowed.

use portcullis_core::{ToolCall, ToolInput, Value};

use crate::shell_word::joined;
use crate::tool_names::{foreign, not_understood, translated};

/// The fields of tools that nobody knows which hold a command line.
const COMMAND_FIELDS: [&str; 5] = ["cmd", "command", "commands", "command_line", "shell_command"];

/// Those which name a file or a folder.
const FILE_FIELDS: [&str; 20] = [
    "absolute_path",
    "dir_path",
    "directory",
    "directory_path",
    "file",
    "filePath",
    "file_path",
    "file_paths",
    "filepath",
    "files",
    "folder",
    "input_path",
    "input_paths",
    "notebook_path",
    "output_path",
    "path",
    "paths",
    "scriptPath",
    "target_file",
    "workspacePath",
];

/// Those which name an address.
const ADDRESS_FIELDS: [&str; 3] = ["uri", "url", "urls"];

/// Parts an input whose field holds a list into one input for each element; any other input stays as it is.
pub(crate) fn one_by_one(input: &ToolInput, field: &str) -> Vec<ToolInput> {
    let Some(Value::List(elements)) = input.field(field) else { return vec![input.clone()] };
    if elements.is_empty() {
        return vec![input.clone()];
    }
    let with_one = |element: &Value| {
        let others = input.fields().filter(|(name, _)| *name != field);
        let others = others.map(|(name, value)| (name.to_owned(), value.clone()));
        others.chain([(field.to_owned(), element.clone())]).collect()
    };
    elements.iter().map(with_one).collect()
}

/// Makes a call of each thing that a field names, as one text or a list; none if it names none.
pub(crate) fn calls_of(tool: &str, ours: &str, input: &ToolInput, field: &str) -> Vec<ToolCall> {
    match input.field(field) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(things)) if things.is_empty() => Vec::new(),
        Some(_) => {
            let one = |input: &ToolInput| translated(input, &[(ours, &[field])]);
            let things = one_by_one(input, field);
            things
                .iter()
                .map(|thing| ToolCall::new(tool, one(thing).unwrap_or_else(not_understood)))
                .collect()
        }
    }
}

/// Makes a Read call of every file that a field names.
pub(crate) fn files_read(input: &ToolInput, field: &str) -> Vec<ToolCall> {
    calls_of("Read", "file_path", input, field)
}

/// Makes a Glob call of the folder that one of the fields names; the current one if none does.
pub(crate) fn listing(input: &ToolInput, folder: &[&str]) -> ToolCall {
    let is_named = |name: &&str| input.field(name).is_some_and(|value| *value != Value::Null);
    if !folder.iter().any(is_named) {
        return ToolCall::new("Glob", ToolInput::of_text("path", "."));
    }
    ToolCall::new("Glob", translated(input, &[("path", folder)]).unwrap_or_else(not_understood))
}

/// Makes a Bash call that runs the JavaScript of a field; none if there is no such text.
pub(crate) fn javascript(input: &ToolInput, field: &str) -> Option<ToolCall> {
    Some(ToolCall::bash(&joined(["node", "-e", input.text(field)?])))
}

/// Makes calls of a tool that a host's table does not have: the tool itself, which nobody knows, and what it carries.
/// What it does to a file is not known either, so the file is read and written.
pub(crate) fn foreign_calls(host: &str, name: &str, input: ToolInput) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    let texts = |field: &str| -> Vec<String> {
        let parts = one_by_one(&input, field);
        parts.iter().filter_map(|part| part.text(field).map(str::to_owned)).collect()
    };
    let of = |tool: &str, ours: &str, text: &str| ToolCall::new(tool, ToolInput::of_text(ours, text));
    for command in COMMAND_FIELDS.iter().flat_map(|field| texts(field)) {
        calls.push(ToolCall::bash(&command));
    }
    for file in FILE_FIELDS.iter().flat_map(|field| texts(field)) {
        calls.push(of("Read", "file_path", &file));
        calls.push(of("Edit", "file_path", &file));
    }
    for address in ADDRESS_FIELDS.iter().flat_map(|field| texts(field)) {
        calls.push(of("WebFetch", "url", &address));
    }
    std::iter::once(foreign(host, name, input)).chain(calls).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;
    use crate::shown_calls::shown;

    fn input(text: &str) -> ToolInput {
        json::parse_input(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_an_unknown_tool_carries_is_judged_beside_it() {
        assert_eq!(
            shown(&foreign_calls(
                "droid",
                "spin",
                input(r#"{"command":"ls","paths":["/a",7],"url":"https://a"}"#)
            )),
            "spin {\"command\":\"ls\",\"paths\":[\"/a\",7],\"url\":\"https://a\"}\n\
             Bash {\"command\":\"ls\"}\nRead {\"file_path\":\"/a\"}\nEdit {\"file_path\":\"/a\"}\n\
             WebFetch {\"url\":\"https://a\"}"
        );
        assert_eq!(shown(&foreign_calls("droid", "Read", input("{}"))), "droid.Read {}");
    }

    #[test]
    fn every_element_of_a_list_is_a_call_and_what_is_no_text_is_refused() {
        for (text, expected) in [
            (r#"{"files":"/a"}"#, "Read {\"file_path\":\"/a\"}"),
            (r#"{"files":["/a",{}]}"#, "Read {\"file_path\":\"/a\"}\nRead {\"file_path\":null}"),
            (r#"{"files":7}"#, "Read {\"file_path\":null}"),
            (r#"{"files":[]}"#, ""),
            (r#"{"files":null}"#, ""),
            ("{}", ""),
        ] {
            assert_eq!(shown(&files_read(&input(text), "files")), expected, "{text}");
        }
    }

    #[test]
    fn a_folder_that_is_not_named_is_the_current_one() {
        assert_eq!(shown(&[listing(&input("{}"), &["path"])]), r#"Glob {"path":"."}"#);
        assert_eq!(shown(&[listing(&input(r#"{"path":"/a"}"#), &["path"])]), r#"Glob {"path":"/a"}"#);
        assert_eq!(shown(&[listing(&input(r#"{"path":7}"#), &["path"])]), r#"Glob {"file_path":null}"#);
    }
}
