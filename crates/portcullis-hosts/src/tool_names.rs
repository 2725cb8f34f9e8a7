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
//! | `update_plan` | `write_todos` | `TodoWrite` |
//!
//! A name that is not known stays what it is and is judged as an unknown tool. So does a call that lacks what its tool
//! needs: nothing is made up, and nothing is lost.

use std::collections::BTreeMap;

use portcullis_core::{Input, ToolCall, Value};

/// Returns the canonical name of a tool of an MCP server.
pub fn mcp(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Returns the calls that a call of Codex amounts to: more than one only for a patch of several pieces.
pub fn codex(name: &str, namespace: Option<&str>, input: Input) -> Vec<ToolCall> {
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
pub fn gemini(name: &str, input: Input) -> Vec<ToolCall> {
    gemini_tool(name, &input).unwrap_or_else(|| vec![ToolCall::new(&gemini_name(name), input)])
}

fn gemini_name(name: &str) -> String {
    let server_and_tool = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'));
    match server_and_tool.and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => mcp(server, tool),
        Some(_) | None => name.to_owned(),
    }
}

fn codex_tool(name: &str, input: &Input) -> Option<Vec<ToolCall>> {
    let one = |call| Some(vec![call]);
    match name {
        "Bash" | "shell" | "shell_command" | "container.exec" | "local_shell" | "exec_command" => {
            shell(input)
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
        "send_input" | "send_message" => {
            one(renamed("SendMessage", input, &[("message", &["message"]), ("to", &["id", "target", "to"])])?)
        }
        "update_plan" => one(ToolCall::new("TodoWrite", input.clone())),
        "request_user_input" => one(ToolCall::new("AskUserQuestion", input.clone())),
        "list_mcp_resources" | "list_mcp_resource_templates" => {
            one(ToolCall::new("ListMcpResourcesTool", input.clone()))
        }
        "read_mcp_resource" => one(ToolCall::new("ReadMcpResourceTool", input.clone())),
        _ => None,
    }
}

fn gemini_tool(name: &str, input: &Input) -> Option<Vec<ToolCall>> {
    const FILE: Renaming<'_> = ("file_path", &["file_path", "absolute_path", "path"]);
    const PATTERN: Renaming<'_> = ("pattern", &["pattern"]);
    const FOLDER: Renaming<'_> = ("path", &["dir_path", "path"]);
    let one = |call| Some(vec![call]);
    match name {
        "run_shell_command" => shell(input),
        "write_file" => one(renamed("Write", input, &[FILE, ("content", &["content"])])?),
        "replace" => {
            let texts = [FILE, ("old_string", &["old_string"]), ("new_string", &["new_string"])];
            one(with_flag(renamed("Edit", input, &texts)?, "replace_all", replaces_all(input)))
        }
        "read_file" => one(renamed("Read", input, &[FILE])?),
        "glob" => one(renamed("Glob", input, &[PATTERN, FOLDER])?),
        "list_directory" => one(renamed("Glob", input, &[FOLDER])?),
        "grep_search" | "search_file_content" => one(renamed("Grep", input, &[PATTERN, FOLDER])?),
        "google_web_search" => one(renamed("WebSearch", input, &[("query", &["query"])])?),
        "web_fetch" => fetches(input),
        "invoke_agent" => {
            one(renamed("Agent", input, &[("prompt", &["prompt"]), ("subagent_type", &["agent_name"])])?)
        }
        "activate_skill" => one(renamed("Skill", input, &[("skill", &["name"])])?),
        "write_todos" => one(ToolCall::new("TodoWrite", input.clone())),
        "ask_user" => one(ToolCall::new("AskUserQuestion", input.clone())),
        "enter_plan_mode" => one(ToolCall::new("EnterPlanMode", input.clone())),
        "exit_plan_mode" => one(ToolCall::new("ExitPlanMode", input.clone())),
        _ => None,
    }
}

/// Our name of a field, and theirs.
type Renaming<'a> = (&'a str, &'a [&'a str]);

/// Makes a call of the texts of another; the first one it must have.
fn renamed(tool: &str, input: &Input, fields: &[Renaming<'_>]) -> Option<ToolCall> {
    let mut values = BTreeMap::new();
    for (index, (ours, theirs)) in fields.iter().enumerate() {
        match theirs.iter().find_map(|name| input.text(name)) {
            Some(text) => {
                values.insert((*ours).to_owned(), Value::Text(text.to_owned()));
            }
            None if index == 0 => return None,
            None => {}
        }
    }
    Some(ToolCall::new(tool, values.into_iter().collect()))
}

fn with_flag(call: ToolCall, name: &str, is_on: bool) -> ToolCall {
    if !is_on {
        return call;
    }
    let fields = call.input().fields().map(|(name, value)| (name.to_owned(), value.clone()));
    ToolCall::new(call.tool(), fields.chain([(name.to_owned(), Value::Bool(true))]).collect())
}

fn replaces_all(input: &Input) -> bool {
    match input.field("allow_multiple").or_else(|| input.field("expected_replacements")) {
        Some(Value::Bool(is_on)) => *is_on,
        Some(Value::Number(count)) => count != "1" && count != "0",
        Some(_) | None => false,
    }
}

/// Makes one call for every address in the text that says what to fetch.
fn fetches(input: &Input) -> Option<Vec<ToolCall>> {
    let prompt = input.text("prompt").or_else(|| input.text("url"))?;
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '<' | '>' | '`' | ')');
    let addresses = prompt.split(ends).filter_map(|word| {
        let start = ["https://", "http://"].iter().filter_map(|scheme| word.find(scheme)).min()?;
        word.get(start..)
    });
    let fields = |address: &str| {
        [("url", address), ("prompt", prompt)]
            .map(|(name, text)| (name.to_owned(), Value::Text(text.to_owned())))
    };
    // The host fetches at most twenty.
    let calls: Vec<ToolCall> = addresses
        .take(MOST_ADDRESSES)
        .map(|address| ToolCall::new("WebFetch", fields(address).into_iter().collect()))
        .collect();
    (!calls.is_empty()).then_some(calls)
}

/// How many pages one call may fetch.
const MOST_ADDRESSES: usize = 20;

/// Makes a Bash call of a command line or a list of words.
fn shell(input: &Input) -> Option<Vec<ToolCall>> {
    let command = match input.field("command").or_else(|| input.field("cmd"))? {
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
    let directory = ["workdir", "dir_path", "directory", "cwd"].iter().find_map(|name| input.text(name));
    let command = match directory.filter(|directory| !directory.is_empty()) {
        Some(directory) => format!("cd {} && {command}", quoted(directory)),
        None => command,
    };
    let has_no_sandbox = input.text("sandbox_permissions") == Some("require_escalated")
        || input.field("with_escalated_permissions") == Some(&Value::Bool(true));
    Some(vec![with_flag(ToolCall::bash(&command), "dangerouslyDisableSandbox", has_no_sandbox)])
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
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Writes a word so that a shell reads it as it is.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'+')
    };
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One file of a patch while its lines are read.
enum Piece<'a> {
    Added { path: &'a str, content: String },
    Changed { path: &'a str, old: String, new: String, is_open: bool },
}

/// Reads a patch in Codex's form. A patch that is not understood to its last line is `None`.
fn patch(text: &str) -> Option<Vec<ToolCall>> {
    let body = text.trim().strip_prefix("*** Begin Patch")?.strip_suffix("*** End Patch")?;
    let mut calls = Vec::new();
    let mut piece: Option<Piece<'_>> = None;
    for line in body.strip_prefix('\r').unwrap_or(body).strip_prefix('\n')?.split_terminator('\n') {
        let header = line.trim_end_matches('\r');
        if let Some(path) = header.strip_prefix("*** Add File: ") {
            finish(piece.take(), &mut calls);
            piece = Some(Piece::Added { path, content: String::new() });
        } else if let Some(path) = header.strip_prefix("*** Update File: ") {
            finish(piece.take(), &mut calls);
            piece = Some(Piece::Changed { path, old: String::new(), new: String::new(), is_open: false });
        } else if let Some(path) = header.strip_prefix("*** Delete File: ") {
            finish(piece.take(), &mut calls);
            calls.push(ToolCall::bash(&format!("rm -- {}", quoted(path))));
        } else if let Some(target) = header.strip_prefix("*** Move to: ") {
            let Some(Piece::Changed { path, .. }) = &piece else {
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
fn take_line(piece: &mut Piece<'_>, line: &str, calls: &mut Vec<ToolCall>) -> Option<()> {
    match piece {
        Piece::Added { content, .. } => {
            content.push_str(line.strip_prefix('+')?);
            content.push('\n');
        }
        Piece::Changed { path, old, new, is_open } => {
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

fn finish(piece: Option<Piece<'_>>, calls: &mut Vec<ToolCall>) {
    match piece {
        Some(Piece::Added { path, content }) => {
            let fields = [("file_path", path), ("content", &content)];
            calls.push(call_of("Write", &fields));
        }
        Some(Piece::Changed { path, old, new, is_open: true }) => calls.push(edit(path, &old, &new)),
        Some(Piece::Changed { is_open: false, .. }) | None => {}
    }
}

fn edit(path: &str, old: &str, new: &str) -> ToolCall {
    call_of("Edit", &[("file_path", path), ("old_string", old), ("new_string", new)])
}

fn call_of(tool: &str, fields: &[(&str, &str)]) -> ToolCall {
    let fields = fields.iter().map(|(name, text)| ((*name).to_owned(), Value::Text((*text).to_owned())));
    ToolCall::new(tool, fields.collect())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;

    fn input(text: &str) -> Input {
        json::parse_input(text.as_bytes()).unwrap()
    }

    /// Writes calls as `Tool {input}`, one a line.
    fn shown(calls: &[ToolCall]) -> String {
        let one = |call: &ToolCall| {
            let fields =
                call.input().fields().map(|(name, value)| (name.to_owned(), value.clone())).collect();
            let mut text = format!("{} ", call.tool());
            json::write_value(&mut text, &Value::Object(fields));
            text
        };
        calls.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn codex_tools_become_ours() {
        for (name, text, expected) in [
            ("exec_command", r#"{"cmd":"ls -la"}"#, r#"Bash {"command":"ls -la"}"#),
            (
                "shell_command",
                r#"{"command":"ls","workdir":"/a b"}"#,
                r#"Bash {"command":"cd '/a b' && ls"}"#,
            ),
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
            (
                "run_shell_command",
                r#"{"command":"ls","dir_path":"sub"}"#,
                r#"Bash {"command":"cd sub && ls"}"#,
            ),
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
            ("write_file", r#"{"content":"b"}"#, r#"write_file {"content":"b"}"#),
        ] {
            assert_eq!(shown(&gemini(name, input(text))), expected, "{name} {text}");
        }
    }

    #[test]
    fn a_patch_becomes_what_it_does_to_each_file() {
        let text = "*** Begin Patch\n*** Add File: new.txt\n+a\n+b\n*** Update File: x.rs\n*** Move to: y.rs\n@@ fn f\n \
                    keep\n-old\n+new\n@@\n-gone\n*** Delete File: z z\n*** End Patch";
        let calls = codex("apply_patch", None, Input::of_text("input", text));
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
            "rm -rf /",
        ] {
            let expected = Input::of_text("input", text);
            let calls = codex("apply_patch", None, expected.clone());
            assert_eq!(calls, [ToolCall::new("apply_patch", expected)], "{text}");
        }
    }
}
