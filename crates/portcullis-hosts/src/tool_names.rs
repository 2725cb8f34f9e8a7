//! The tools of Codex and Gemini CLI as ours: their names and inputs to canonical calls.
//!
//! | Codex | Gemini CLI | ours |
//! |---|---|---|
//! | `shell`, `exec_command`, `local_shell`, … | `run_shell_command` | Bash |
//! | `apply_patch` | `write_file`, `replace` | Write, Edit, and Bash for removals and moves |
//! | `view_image` | `read_file` | Read |
//! | `spawn_agent` | `invoke_agent` | Agent |
//! | | `glob`, `list_directory`, `grep_search` | Glob, Grep |
//! | `web_search` | `google_web_search`, `web_fetch` | `WebSearch`, `WebFetch` |
//! | `update_plan`, `create_goal`, … | `write_todos`, `update_topic`, … | `TodoWrite` |
//! | `wait_agent`, `close_agent` | `read_background_output`, … | `TaskOutput`, `TaskStop`, `TaskList` |
//! | `request_user_input` | `ask_user` | `AskUserQuestion` |
//!
//! A name that is not known stays what it is and is judged as an unknown tool. So does a call that lacks what its tool
//! needs: nothing is made up, and nothing is lost.

use std::collections::BTreeMap;

use portcullis_core::tool::{canonical_name, find_tool};

use crate::shell_word::{joined, quoted};
use portcullis_core::{ToolCall, ToolInput, Value};

/// Returns the canonical name of a tool of an MCP server.
pub fn mcp(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Returns the calls that a call of Codex amounts to: more than one only for a patch of several pieces.
pub fn codex(name: &str, namespace: Option<&str>, input: ToolInput) -> Vec<ToolCall> {
    let mapped = match namespace {
        Some(server) if server.starts_with("mcp__") => {
            return vec![ToolCall::new(&format!("{server}__{name}"), input)];
        }
        Some(namespace) if !namespace.starts_with("multi_agent") && namespace != "functions" => None,
        Some(_) | None => codex_tool(name, &input),
    };
    mapped.unwrap_or_else(|| {
        let full = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}.{name}"));
        vec![ToolCall::new(&full, input)]
    })
}

/// Returns the calls that a call of Gemini CLI amounts to: more than one only if several pages are fetched at once.
///
/// The name of an MCP tool, `mcp_SERVER_TOOL`, is read as if no server had `_` in its name. A caller who is told the
/// server knows better: [`mcp`].
pub fn gemini(name: &str, input: ToolInput) -> Vec<ToolCall> {
    gemini_tool(name, &input).unwrap_or_else(|| vec![gemini_other(name, input)])
}

fn gemini_other(name: &str, input: ToolInput) -> ToolCall {
    let server_and_tool = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'));
    match server_and_tool.and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            ToolCall::new(&mcp(server, tool), input)
        }
        Some(_) | None => foreign("gemini", name, input),
    }
}

fn codex_tool(name: &str, input: &ToolInput) -> Option<Vec<ToolCall>> {
    let one = |call| Some(vec![call]);
    match name {
        "Bash" | "shell" | "shell_command" | "container.exec" | "local_shell" | "exec_command" => {
            shell(input, &["workdir"])
        }
        "apply_patch" => {
            patch(input.text("input").or_else(|| input.text("patch")).or_else(|| input.text("command"))?)
        }
        "view_image" => one(renamed("Read", input, &[("file_path", &["path"])])?),
        "web_search" => one(renamed("WebSearch", input, &[("query", &["query"])])?),
        "web_fetch" => one(renamed("WebFetch", input, &[("url", &["url"])])?),
        "spawn_agent" => {
            let call = renamed(
                "Agent",
                input,
                &[("prompt", &["message", "prompt"]), ("subagent_type", &["agent_type"])],
            );
            one(call?)
        }
        "followup_task" | "send_input" | "send_message" => {
            one(renamed("SendMessage", input, &[("message", &["message"]), ("to", &["id", "target", "to"])])?)
        }
        _ => one(by_table(CODEX_BOOKKEEPING, name, input)?),
    }
}

/// The tools of Codex that keep lists for the agent itself, look after its subagents or talk to its user. One that runs
/// code, as `js_repl` does, is not among them.
const CODEX_BOOKKEEPING: &[ToolTranslation] = &[
    ToolTranslation {
        theirs: &["create_goal", "get_context_remaining", "get_goal", "update_goal", "update_plan"],
        ours: "TodoWrite",
        fields: &[],
    },
    ToolTranslation { theirs: &["request_user_input"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["list_agents"], ours: "TaskList", fields: &[] },
    ToolTranslation { theirs: &["wait_agent"], ours: "TaskOutput", fields: &[] },
    ToolTranslation { theirs: &["close_agent", "interrupt_agent"], ours: "TaskStop", fields: &[] },
    // It starts a subagent that was closed anew; what it then does is judged call by call.
    ToolTranslation { theirs: &["resume_agent"], ours: "Agent", fields: &[] },
    ToolTranslation { theirs: &["tool_search"], ours: "ToolSearch", fields: &[] },
    ToolTranslation {
        theirs: &["list_mcp_resource_templates", "list_mcp_resources"],
        ours: "ListMcpResourcesTool",
        fields: &[],
    },
    ToolTranslation { theirs: &["read_mcp_resource"], ours: "ReadMcpResourceTool", fields: &[] },
];

fn gemini_tool(name: &str, input: &ToolInput) -> Option<Vec<ToolCall>> {
    const FILE: FieldRenaming<'_> = ("file_path", &["file_path", "absolute_path", "path"]);
    const PATTERN: FieldRenaming<'_> = ("pattern", &["pattern"]);
    const FOLDER: FieldRenaming<'_> = ("path", &["dir_path", "path"]);
    let one = |call| Some(vec![call]);
    match name {
        "run_shell_command" => shell(input, &["dir_path"]),
        "write_file" => one(renamed("Write", input, &[FILE, ("content", &["content"])])?),
        "replace" => {
            let texts = [FILE, ("old_string", &["old_string"]), ("new_string", &["new_string"])];
            one(with_flag(renamed("Edit", input, &texts)?, "replace_all", replaces_all(input)))
        }
        "read_file" => one(renamed("Read", input, &[FILE])?),
        "read_many_files" => reads(input),
        "glob" => one(renamed("Glob", input, &[PATTERN, FOLDER])?),
        "list_directory" => one(renamed("Glob", input, &[FOLDER])?),
        "grep_search" | "search_file_content" => one(renamed("Grep", input, &[PATTERN, FOLDER])?),
        "google_web_search" => one(renamed("WebSearch", input, &[("query", &["query"])])?),
        "web_fetch" => fetches(input),
        "invoke_agent" => {
            one(renamed("Agent", input, &[("prompt", &["prompt"]), ("subagent_type", &["agent_name"])])?)
        }
        "activate_skill" => one(renamed("Skill", input, &[("skill", &["name"])])?),
        _ => one(by_table(GEMINI_BOOKKEEPING, name, input)?),
    }
}

/// The tools of Gemini CLI that keep lists for the agent itself, look at what it started or talk to its user.
const GEMINI_BOOKKEEPING: &[ToolTranslation] = &[
    ToolTranslation {
        theirs: &[
            "complete_task",
            "tracker_add_dependency",
            "tracker_create_task",
            "tracker_get_task",
            "tracker_list_tasks",
            "tracker_update_task",
            "tracker_visualize",
            "update_topic",
            "write_todos",
        ],
        ours: "TodoWrite",
        fields: &[],
    },
    ToolTranslation { theirs: &["list_background_processes"], ours: "TaskList", fields: &[] },
    ToolTranslation { theirs: &["read_background_output"], ours: "TaskOutput", fields: &[] },
    // What it tells of is Gemini CLI itself.
    ToolTranslation { theirs: &["get_internal_docs"], ours: "ToolSearch", fields: &[] },
    ToolTranslation { theirs: &["list_mcp_resources"], ours: "ListMcpResourcesTool", fields: &[] },
    ToolTranslation { theirs: &["read_mcp_resource"], ours: "ReadMcpResourceTool", fields: &[] },
    ToolTranslation { theirs: &["ask_user"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["enter_plan_mode"], ours: "EnterPlanMode", fields: &[] },
    ToolTranslation { theirs: &["exit_plan_mode"], ours: "ExitPlanMode", fields: &[] },
];

/// Our name of a field, and theirs.
pub(crate) type FieldRenaming<'a> = (&'a str, &'a [&'a str]);

/// Makes a call of the texts of another; `None` if it lacks the first one. What is not understood is a call that nothing
/// allows.
fn renamed(tool: &str, input: &ToolInput, fields: &[FieldRenaming<'_>]) -> Option<ToolCall> {
    let (_, first) = fields.first()?;
    first.iter().find_map(|name| input.field(name))?;
    Some(ToolCall::new(tool, translated(input, fields).unwrap_or_else(not_understood)))
}

/// A tool of a host: its names there, our name, and what its fields are called.
pub(crate) struct ToolTranslation {
    /// Its names there.
    pub(crate) theirs: &'static [&'static str],
    /// Our name.
    pub(crate) ours: &'static str,
    /// Our names of the fields, each with theirs. The first one it must have. If there are none, the input stays.
    pub(crate) fields: &'static [FieldRenaming<'static>],
}

/// Returns the call that a tool of a table amounts to; `None` if the table does not have it.
pub(crate) fn by_table(table: &[ToolTranslation], name: &str, input: &ToolInput) -> Option<ToolCall> {
    let row = table.iter().find(|row| row.theirs.contains(&name))?;
    if row.fields.is_empty() {
        return Some(ToolCall::new(row.ours, input.clone()));
    }
    Some(ToolCall::new(row.ours, translated(input, row.fields).unwrap_or_else(not_understood)))
}

/// Translates the fields of an input. A field that is no text or has two values, as two spellings of its name can give
/// it, is not understood, and neither is an input without the first field.
pub(crate) fn translated(input: &ToolInput, fields: &[FieldRenaming<'_>]) -> Option<ToolInput> {
    let mut values = BTreeMap::new();
    for (index, (ours, theirs)) in fields.iter().enumerate() {
        let mut found =
            theirs.iter().filter_map(|name| input.field(name)).filter(|value| **value != Value::Null);
        match found.next() {
            Some(value @ Value::Text(_)) if found.all(|other| other == value) => {
                values.insert((*ours).to_owned(), value.clone());
            }
            None if index > 0 => {}
            Some(_) | None => return None,
        }
    }
    Some(values.into_iter().collect())
}

/// The input of a call that runs something, touches a file or fetches a page and does not say what: nothing allows it.
pub(crate) fn not_understood() -> ToolInput {
    std::iter::once(("file_path".to_owned(), Value::Null)).collect()
}

/// Returns what a patch does to each file. A patch that is not understood is an edit that nothing allows.
pub(crate) fn patch_or_refusal(text: Option<&str>) -> Vec<ToolCall> {
    text.and_then(patch).unwrap_or_else(|| vec![ToolCall::new("Edit", not_understood())])
}

fn with_flag(call: ToolCall, name: &str, is_on: bool) -> ToolCall {
    if !is_on {
        return call;
    }
    let fields = call.input().fields().map(|(name, value)| (name.to_owned(), value.clone()));
    ToolCall::new(call.tool(), fields.chain([(name.to_owned(), Value::Bool(true))]).collect())
}

fn replaces_all(input: &ToolInput) -> bool {
    match input.field("allow_multiple").or_else(|| input.field("expected_replacements")) {
        Some(Value::Bool(is_on)) => *is_on,
        Some(Value::Number(count)) => count != "1" && count != "0",
        Some(_) | None => false,
    }
}

/// Makes one call for every file or pattern of a list of files to read; `None` if there is no list.
pub(crate) fn reads(input: &ToolInput) -> Option<Vec<ToolCall>> {
    let mut calls = Vec::new();
    for name in ["include", "paths"] {
        let Some(Value::List(files)) = input.field(name) else { continue };
        calls.extend(files.iter().map(|file| match file.as_text() {
            Some(file) if file.contains(['*', '?', '[', '{']) => {
                ToolCall::new("Glob", ToolInput::of_text("pattern", file))
            }
            Some(file) => ToolCall::new("Read", ToolInput::of_text("file_path", file)),
            None => ToolCall::new("Read", not_understood()),
        }));
    }
    (!calls.is_empty()).then_some(calls)
}

/// Makes one call for every address in the texts that say what to fetch.
fn fetches(input: &ToolInput) -> Option<Vec<ToolCall>> {
    let texts: Vec<&str> = ["prompt", "url"].iter().filter_map(|name| input.text(name)).collect();
    let prompt = *texts.first()?;
    let mut addresses: Vec<Option<&str>> = Vec::new();
    for word in texts.iter().flat_map(|text| text.split(is_blank)).filter(|word| word.contains("://")) {
        let found = addresses_in(word);
        // The host may read an address where none is seen here.
        let found = if found.is_empty() { vec![None] } else { found.into_iter().map(Some).collect() };
        for address in found {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    // The host fetches no more, and which of them is its choice.
    if addresses.len() > MOST_ADDRESSES {
        addresses = vec![None];
    }
    let fields = |address: &str| {
        [("url", address), ("prompt", prompt)]
            .map(|(name, text)| (name.to_owned(), Value::Text(text.to_owned())))
    };
    let one = |address: Option<&str>| {
        let input = address.map_or_else(not_understood, |address| fields(address).into_iter().collect());
        ToolCall::new("WebFetch", input)
    };
    let calls: Vec<ToolCall> = addresses.into_iter().map(one).collect();
    (!calls.is_empty()).then_some(calls)
}

/// Says whether a letter parts words for the host, which knows one blank more.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Returns the addresses in a word. A scheme may be in capitals, and what encloses an address is not part of it.
fn addresses_in(word: &str) -> Vec<&str> {
    let ends = |letter: char| matches!(letter, '"' | '\'' | '<' | '>' | '`' | ')');
    let address = |part| -> Option<&str> {
        let part: &str = part;
        let lower = part.to_ascii_lowercase();
        let start = ["https://", "http://"].iter().filter_map(|scheme| lower.find(scheme)).min()?;
        part.get(start..)
    };
    word.split(ends).filter_map(address).collect()
}

/// How many pages one call may fetch.
const MOST_ADDRESSES: usize = 20;

/// Makes a Bash call of a command line or a list of words, run in the directory that one of the fields names. A field
/// that the host does not look at must not be among them.
fn shell(input: &ToolInput, directories: &[&str]) -> Option<Vec<ToolCall>> {
    let lines = (input.field("command"), input.field("cmd"));
    if let (Some(one), Some(other)) = lines
        && one != other
    {
        // Which of them the host runs depends on its version.
        return Some(vec![ToolCall::new("Bash", not_understood())]);
    }
    let command = match lines.0.or(lines.1)? {
        Value::Text(line) => line.clone(),
        Value::List(words) => {
            let words: Vec<&str> = words.iter().map(Value::as_text).collect::<Option<_>>()?;
            if let [program, text] = words.as_slice()
                && matches!(*program, "apply_patch" | "applypatch")
                && let Some(calls) = patch(text)
            {
                return Some(calls);
            }
            line_of(&words)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let command = match input.text("shell").filter(|shell| !is_usual_shell(shell)) {
        Some(shell) => format!("{} -c {}", quoted(shell), quoted(&command)),
        None => command,
    };
    let directory = directories.iter().find_map(|name| input.text(name));
    let command = match directory.filter(|directory| !directory.is_empty()) {
        Some(directory) => in_directory(directory, &command),
        None => command,
    };
    let has_no_sandbox = input.text("sandbox_permissions") == Some("require_escalated")
        || input.field("with_escalated_permissions") == Some(&Value::Bool(true));
    Some(vec![with_flag(ToolCall::bash(&command), "dangerouslyDisableSandbox", has_no_sandbox)])
}

/// Writes a command line that is run in a directory. A line of its own holds for all that follows, also behind `&`.
pub(crate) fn in_directory(directory: &str, command: &str) -> String {
    format!("cd {}\n{command}", quoted(directory))
}

/// Says whether a shell is one of the system's. Any other is a program like any other.
fn is_usual_shell(shell: &str) -> bool {
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| shell.strip_prefix(folder)).unwrap_or(shell);
    matches!(name, "bash" | "sh" | "zsh" | "dash" | "")
}

/// Writes words as a command line; the script of a shell that was given one is the line itself.
fn line_of(words: &[&str]) -> String {
    if let [shell, "-c" | "-lc", script] = words
        && is_usual_shell(shell)
    {
        return (*script).to_owned();
    }
    joined(words.iter().copied())
}

/// One file of a patch while its lines are read.
enum PatchedFile<'a> {
    Added { path: &'a str, content: String },
    Changed { path: &'a str, old: String, new: String, is_open: bool },
}

/// What stands before a path in a patch.
const HEADERS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Reads a patch in Codex's form. A patch that is not understood to its last line is `None`.
fn patch(text: &str) -> Option<Vec<ToolCall>> {
    let body = text.trim().strip_prefix("*** Begin Patch")?.strip_suffix("*** End Patch")?;
    let mut calls = Vec::new();
    let mut piece: Option<PatchedFile<'_>> = None;
    for line in body.strip_prefix('\r').unwrap_or(body).strip_prefix('\n')?.split_terminator('\n') {
        let header = line.trim_end_matches('\r');
        // Codex takes blanks off a header, other readers leave them: such a path names two files.
        if HEADERS.iter().filter_map(|start| header.strip_prefix(start)).any(|path| path.trim() != path) {
            return None;
        }
        if let Some(path) = header.strip_prefix("*** Add File: ") {
            finish(piece.take(), &mut calls);
            piece = Some(PatchedFile::Added { path, content: String::new() });
        } else if let Some(path) = header.strip_prefix("*** Update File: ") {
            finish(piece.take(), &mut calls);
            piece =
                Some(PatchedFile::Changed { path, old: String::new(), new: String::new(), is_open: false });
        } else if let Some(path) = header.strip_prefix("*** Delete File: ") {
            finish(piece.take(), &mut calls);
            calls.push(ToolCall::bash(&format!("rm -- {}", quoted(path))));
        } else if let Some(target) = header.strip_prefix("*** Move to: ") {
            let Some(PatchedFile::Changed { path, .. }) = &piece else {
                return None;
            };
            calls.push(ToolCall::bash(&format!("mv -- {} {}", quoted(path), quoted(target))));
        } else if header == "*** End of File" || header.starts_with("*** Environment ID: ") {
            // It says where a hunk ends or where a command runs, not what is changed.
        } else {
            take_line(piece.as_mut()?, line, &mut calls)?;
        }
    }
    finish(piece, &mut calls);
    (!calls.is_empty()).then_some(calls)
}

/// Takes a line of a file's piece. A new hunk ends the one before.
fn take_line(piece: &mut PatchedFile<'_>, line: &str, calls: &mut Vec<ToolCall>) -> Option<()> {
    match piece {
        PatchedFile::Added { content, .. } => {
            content.push_str(line.strip_prefix('+')?);
            content.push('\n');
        }
        PatchedFile::Changed { path, old, new, is_open } => {
            if line.starts_with("@@") {
                if std::mem::replace(is_open, false) {
                    calls.push(edit(path, &std::mem::take(old), &std::mem::take(new)));
                }
                return Some(());
            }
            let mut letters = line.chars();
            let sign = letters.next();
            for (part, is_in) in [(old, sign != Some('+')), (new, sign != Some('-'))] {
                if is_in {
                    part.push_str(letters.as_str());
                    part.push('\n');
                }
            }
            if !matches!(sign, Some('+' | '-' | ' ' | '\r') | None) {
                return None;
            }
            *is_open = true;
        }
    }
    Some(())
}

fn finish(piece: Option<PatchedFile<'_>>, calls: &mut Vec<ToolCall>) {
    match piece {
        Some(PatchedFile::Added { path, content }) => {
            let fields = [("file_path", path), ("content", &content)];
            calls.push(call_of("Write", &fields));
        }
        // A file without a change is named all the same, so that nothing in a patch goes unjudged.
        Some(PatchedFile::Changed { path, old, new, .. }) => calls.push(edit(path, &old, &new)),
        None => {}
    }
}

fn edit(path: &str, old: &str, new: &str) -> ToolCall {
    call_of("Edit", &[("file_path", path), ("old_string", old), ("new_string", new)])
}

fn call_of(tool: &str, fields: &[(&str, &str)]) -> ToolCall {
    let fields = fields.iter().map(|(name, text)| ((*name).to_owned(), Value::Text((*text).to_owned())));
    ToolCall::new(tool, fields.collect())
}

/// Makes a Bash call of the fields that hold a command line and the directory it runs in. One that is not understood is
/// a command that nothing allows.
pub(crate) fn command_line(input: &ToolInput, command: &[&str], directory: &[&str]) -> ToolCall {
    let Some(fields) = translated(input, &[("command", command), ("directory", directory)]) else {
        return ToolCall::new("Bash", not_understood());
    };
    let command = fields.text("command").unwrap_or_default();
    match fields.text("directory").filter(|directory| !directory.is_empty()) {
        Some(directory) => ToolCall::bash(&in_directory(directory, command)),
        None => ToolCall::bash(command),
    }
}

/// Makes a Bash call that removes the file that one of the fields names.
pub(crate) fn removal(input: &ToolInput, file: &[&str]) -> ToolCall {
    match translated(input, &[("file_path", file)]).as_ref().and_then(|fields| fields.text("file_path")) {
        Some(path) => ToolCall::bash(&format!("rm -- {}", quoted(path))),
        None => ToolCall::new("Bash", not_understood()),
    }
}

/// Makes a call of a tool that a host's table does not have. If its name is one of ours, or that of an MCP server's tool,
/// it stands for something else there: the host's name goes before it, so that no rule or proof takes it for ours.
pub(crate) fn foreign(host: &str, name: &str, input: ToolInput) -> ToolCall {
    if find_tool(canonical_name(name)).is_some() || name.starts_with("mcp__") {
        ToolCall::new(&format!("{host}.{name}"), input)
    } else {
        ToolCall::new(name, input)
    }
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

    /// Writes calls as `Tool {input}`, one a line.
    #[test]
    fn codex_tools_become_ours() {
        for (name, text, expected) in [
            ("exec_command", r#"{"cmd":"ls -la"}"#, r#"Bash {"command":"ls -la"}"#),
            ("shell_command", r#"{"command":"ls","workdir":"/a b"}"#, r#"Bash {"command":"cd '/a b'\nls"}"#),
            ("shell", r#"{"command":["bash","-lc","ls | wc"]}"#, r#"Bash {"command":"ls | wc"}"#),
            (
                "shell",
                r#"{"command":["rm","-rf","a b","it's"]}"#,
                r#"Bash {"command":"rm -rf 'a b' 'it'\\''s'"}"#,
            ),
            ("shell", r#"{"command":["./evil/bash","-c","ls"]}"#, r#"Bash {"command":"./evil/bash -c ls"}"#),
            (
                "exec_command",
                r#"{"cmd":"ls","shell":"/r/evil.sh"}"#,
                r#"Bash {"command":"/r/evil.sh -c ls"}"#,
            ),
            (
                "exec_command",
                r#"{"cmd":"ls","sandbox_permissions":"require_escalated","justification":"trust me"}"#,
                r#"Bash {"command":"ls","dangerouslyDisableSandbox":true}"#,
            ),
            ("view_image", r#"{"path":"a.png"}"#, r#"Read {"file_path":"a.png"}"#),
            ("spawn_agent", r#"{"message":"go"}"#, r#"Agent {"prompt":"go"}"#),
            ("send_input", r#"{"id":"x","message":"go"}"#, r#"SendMessage {"message":"go","to":"x"}"#),
            ("update_plan", r#"{"plan":[]}"#, r#"TodoWrite {"plan":[]}"#),
            ("write_stdin", r#"{"chars":"y\n"}"#, r#"write_stdin {"chars":"y\n"}"#),
            ("exec", r#"{"input":"tools.exec()"}"#, r#"exec {"input":"tools.exec()"}"#),
            ("mcp__a__b", "{}", "mcp__a__b {}"),
        ] {
            assert_eq!(shown(&codex(name, None, input(text))), expected, "{name} {text}");
        }
    }

    #[test]
    fn a_namespace_is_part_of_the_name_unless_it_is_codexs_own() {
        assert_eq!(shown(&codex("echo", Some("mcp__rc"), input("{}"))), "mcp__rc__echo {}");
        assert_eq!(
            shown(&codex("spawn_agent", Some("multi_agent_v1"), input(r#"{"message":"go"}"#))),
            r#"Agent {"prompt":"go"}"#
        );
        assert_eq!(
            shown(&codex("update_plan", Some("evil"), input(r#"{"plan":1}"#))),
            r#"evil.update_plan {"plan":1}"#
        );
    }

    #[test]
    fn gemini_tools_become_ours() {
        for (name, text, expected) in [
            ("run_shell_command", r#"{"command":"ls","description":"x"}"#, r#"Bash {"command":"ls"}"#),
            ("run_shell_command", r#"{"command":"ls","dir_path":"sub"}"#, r#"Bash {"command":"cd sub\nls"}"#),
            ("write_file", r#"{"file_path":"a","content":"b"}"#, r#"Write {"content":"b","file_path":"a"}"#),
            (
                "replace",
                r#"{"file_path":"a","old_string":"b","new_string":"c","instruction":"x","allow_multiple":true}"#,
                r#"Edit {"file_path":"a","new_string":"c","old_string":"b","replace_all":true}"#,
            ),
            ("read_file", r#"{"absolute_path":"/a"}"#, r#"Read {"file_path":"/a"}"#),
            ("list_directory", r#"{"dir_path":"/a"}"#, r#"Glob {"path":"/a"}"#),
            ("grep_search", r#"{"pattern":"x","dir_path":"s"}"#, r#"Grep {"path":"s","pattern":"x"}"#),
            ("google_web_search", r#"{"query":"q"}"#, r#"WebSearch {"query":"q"}"#),
            (
                "web_fetch",
                r#"{"prompt":"sum https://a.b/c and (http://d)"}"#,
                "WebFetch {\"prompt\":\"sum https://a.b/c and (http://d)\",\"url\":\"https://a.b/c\"}\n\
                 WebFetch {\"prompt\":\"sum https://a.b/c and (http://d)\",\"url\":\"http://d\"}",
            ),
            (
                "web_fetch",
                r#"{"prompt":"http://evil/https://good"}"#,
                r#"WebFetch {"prompt":"http://evil/https://good","url":"http://evil/https://good"}"#,
            ),
            ("web_fetch", r#"{"prompt":"nothing"}"#, r#"web_fetch {"prompt":"nothing"}"#),
            (
                "invoke_agent",
                r#"{"agent_name":"g","prompt":"p"}"#,
                r#"Agent {"prompt":"p","subagent_type":"g"}"#,
            ),
            ("mcp_rc_create_issue", "{}", "mcp__rc__create_issue {}"),
            ("mcp_rc", "{}", "mcp_rc {}"),
            ("save_memory", r#"{"fact":"f"}"#, r#"save_memory {"fact":"f"}"#),
            ("TodoWrite", "{}", "gemini.TodoWrite {}"),
            ("Task", "{}", "gemini.Task {}"),
            ("mcp__a__b", "{}", "gemini.mcp__a__b {}"),
            (
                "run_shell_command",
                r#"{"command":"rm -rf .","directory":"/tmp/x","cwd":"/tmp/x"}"#,
                r#"Bash {"command":"rm -rf ."}"#,
            ),
            ("write_file", r#"{"content":"b"}"#, r#"write_file {"content":"b"}"#),
        ] {
            assert_eq!(shown(&gemini(name, input(text))), expected, "{name} {text}");
        }
    }

    #[test]
    fn what_gemini_could_read_otherwise_is_not_understood() {
        let many: Vec<String> = (0..21).map(|number| format!("http://a{number}")).collect();
        let many = format!(r#"{{"prompt":"{}"}}"#, many.join(" "));
        for (name, text, expected) in [
            ("read_file", r#"{"file_path":"/b","absolute_path":"/a"}"#, r#"Read {"file_path":null}"#),
            ("read_file", r#"{"file_path":["/a"]}"#, r#"Read {"file_path":null}"#),
            (
                "read_many_files",
                r#"{"include":["a","b*"]}"#,
                "Read {\"file_path\":\"a\"}\nGlob {\"pattern\":\"b*\"}",
            ),
            ("read_many_files", r#"{"paths":[7]}"#, r#"Read {"file_path":null}"#),
            ("read_many_files", "{}", "read_many_files {}"),
            ("run_shell_command", r#"{"command":"ls","cmd":"rm a"}"#, r#"Bash {"file_path":null}"#),
            (
                "web_fetch",
                r#"{"prompt":"see HTTPS://evil http:\\\\worse/:// and","url":"http://third"}"#,
                "WebFetch {\"prompt\":\"see HTTPS://evil http:\\\\\\\\worse/:// and\",\"url\":\"HTTPS://evil\"}\n\
                 WebFetch {\"file_path\":null}\n\
                 WebFetch {\"prompt\":\"see HTTPS://evil http:\\\\\\\\worse/:// and\",\"url\":\"http://third\"}",
            ),
            ("web_fetch", &many, r#"WebFetch {"file_path":null}"#),
        ] {
            assert_eq!(shown(&gemini(name, input(text))), expected, "{name} {text}");
        }
    }

    #[test]
    fn a_patch_becomes_what_it_does_to_each_file() {
        let text = "*** Begin Patch\n*** Add File: new.txt\n+a\n+b\n*** Update File: x.rs\n*** Move to: y.rs\n@@ fn f\n \
                    keep\n-old\n+new\n@@\n-gone\n*** Delete File: z z\n*** End Patch";
        let calls = codex("apply_patch", None, ToolInput::of_text("input", text));
        assert_eq!(
            shown(&calls),
            "Write {\"content\":\"a\\nb\\n\",\"file_path\":\"new.txt\"}\n\
             Bash {\"command\":\"mv -- x.rs y.rs\"}\n\
             Edit {\"file_path\":\"x.rs\",\"new_string\":\"keep\\nnew\\n\",\"old_string\":\"keep\\nold\\n\"}\n\
             Edit {\"file_path\":\"x.rs\",\"new_string\":\"\",\"old_string\":\"gone\\n\"}\n\
             Bash {\"command\":\"rm -- 'z z'\"}"
        );
        let list = vec![Value::Text("apply_patch".to_owned()), Value::Text(text.to_owned())];
        let by_shell = [("command".to_owned(), Value::List(list))].into_iter().collect();
        assert_eq!(codex("shell", None, by_shell), calls);
    }

    #[test]
    fn a_patch_that_is_not_understood_stays_a_patch() {
        for text in [
            "",
            "*** Begin Patch",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n+a\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nb\n*** End Patch",
            "*** Begin Patch\n*** Update File: a\n?b\n*** End Patch",
            "*** Begin Patch\n*** Move to: a\n*** End Patch",
            "*** Begin Patch\n*** Delete File: .env \n*** End Patch",
            "*** Begin Patch\n*** Add File:  a\n+b\n*** End Patch",
            "*** Begin Patch\n*** Delete File: a\n *** Delete File: b\n*** End Patch",
            "rm -rf /",
        ] {
            let expected = ToolInput::of_text("input", text);
            let calls = codex("apply_patch", None, expected.clone());
            assert_eq!(calls, [ToolCall::new("apply_patch", expected)], "{text}");
        }
    }
}
