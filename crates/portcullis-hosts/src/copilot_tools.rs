//! The tools of Copilot CLI and of VS Code as ours.
//!
//! A path with a scheme, such as `file:///etc/hosts`, means another file to VS Code than to everybody else, and is not
//! understood.

use portcullis_core::tool::find_tool;
use portcullis_core::{ToolCall, ToolInput, Value};

use crate::call_parts::{foreign_calls, listing, one_by_one};
use crate::shell_word::joined;
use crate::tool_names::{ToolTranslation, by_table, mcp, not_understood, patch_or_refusal};

/// The tools of both as ours. Lists, patches, MCP tools and what the table lacks are left to [`calls`].
const TOOLS: &[ToolTranslation] = &[
    ToolTranslation {
        theirs: &["bash", "run_in_terminal"],
        ours: "Bash",
        fields: &[("command", &["command"])],
    },
    ToolTranslation { theirs: &["powershell"], ours: "PowerShell", fields: &[("command", &["command"])] },
    ToolTranslation { theirs: &["view"], ours: "Read", fields: &[("file_path", &["path"])] },
    ToolTranslation { theirs: &["read_file"], ours: "Read", fields: &[("file_path", &["filePath"])] },
    ToolTranslation {
        theirs: &["create"],
        ours: "Write",
        fields: &[("file_path", &["path"]), ("content", &["file_text"])],
    },
    ToolTranslation {
        theirs: &["create_file"],
        ours: "Write",
        fields: &[("file_path", &["filePath"]), ("content", &["content"])],
    },
    ToolTranslation {
        theirs: &["edit", "str_replace", "str_replace_editor"],
        ours: "Edit",
        fields: &[("file_path", &["path"]), ("old_string", &["old_str"]), ("new_string", &["new_str"])],
    },
    ToolTranslation {
        theirs: &["replace_string_in_file"],
        ours: "Edit",
        fields: &[
            ("file_path", &["filePath"]),
            ("old_string", &["oldString"]),
            ("new_string", &["newString"]),
        ],
    },
    ToolTranslation {
        theirs: &["insert_edit_into_file"],
        ours: "Edit",
        fields: &[("file_path", &["filePath"]), ("new_string", &["code"])],
    },
    ToolTranslation {
        theirs: &["edit_notebook_file"],
        ours: "NotebookEdit",
        fields: &[("notebook_path", &["filePath"])],
    },
    ToolTranslation {
        theirs: &["glob"],
        ours: "Glob",
        fields: &[("pattern", &["pattern"]), ("path", &["paths", "path"])],
    },
    ToolTranslation {
        theirs: &["grep", "rg"],
        ours: "Grep",
        fields: &[("pattern", &["pattern"]), ("path", &["paths", "path"]), ("glob", &["glob"])],
    },
    ToolTranslation { theirs: &["file_search"], ours: "Glob", fields: &[("pattern", &["query"])] },
    ToolTranslation { theirs: &["grep_search"], ours: "Grep", fields: &[("pattern", &["query"])] },
    ToolTranslation {
        theirs: &["fetch_webpage", "web_fetch"],
        ours: "WebFetch",
        fields: &[("url", &["url"])],
    },
    ToolTranslation { theirs: &["web_search"], ours: "WebSearch", fields: &[("query", &["query"])] },
    ToolTranslation { theirs: &["runSubagent", "task"], ours: "Agent", fields: &[("prompt", &["prompt"])] },
    ToolTranslation { theirs: &["skill"], ours: "Skill", fields: &[("skill", &["skill"])] },
    ToolTranslation { theirs: &["read_agent", "read_bash"], ours: "TaskOutput", fields: &[] },
    ToolTranslation { theirs: &["stop_bash"], ours: "TaskStop", fields: &[] },
    ToolTranslation { theirs: &["list_agents", "list_bash"], ours: "TaskList", fields: &[] },
    ToolTranslation { theirs: &["ask_user"], ours: "AskUserQuestion", fields: &[] },
    ToolTranslation { theirs: &["exit_plan_mode"], ours: "ExitPlanMode", fields: &[] },
    // What it tells of is Copilot CLI itself.
    ToolTranslation { theirs: &["fetch_copilot_cli_documentation"], ours: "ToolSearch", fields: &[] },
    ToolTranslation {
        theirs: &["manage_todo_list", "report_intent", "update_todo"],
        ours: "TodoWrite",
        fields: &[],
    },
];

/// The tools of VS Code that do one thing to each element of a list: the field that has it, and the tool for one.
const LISTS: &[(&str, &str, &str)] = &[
    ("fetch_webpage", "urls", "fetch_webpage"),
    ("multi_replace_string_in_file", "replacements", "replace_string_in_file"),
];

/// Returns the calls that a call amounts to; never none.
pub(crate) fn calls(tool: &str, input: ToolInput) -> Vec<ToolCall> {
    if tool == "apply_patch" {
        return patch_or_refusal(input.text("input")).into_iter().map(without_scheme).collect();
    }
    if let Some(calls) = listed_calls(tool, &input).or_else(|| mcp_calls(tool, &input)) {
        return calls;
    }
    if let Some(line) = typed_line(tool, &input) {
        return vec![ToolCall::new(tool, input), ToolCall::bash(&line)];
    }
    match tool {
        // They search in one place, in several, or in the current one.
        "glob" | "grep" | "rg" => {
            one_by_one(&input, "paths").iter().filter_map(|one| known(tool, one)).collect()
        }
        "list_dir" => vec![without_scheme(listing(&input, &["path"]))],
        "sql" | "session_store_sql" => vec![query(&input)],
        "write_agent" => messages(&input),
        _ => known(tool, &input).map_or_else(|| foreign_calls("copilot", tool, input), |call| vec![call]),
    }
}

fn known(tool: &str, input: &ToolInput) -> Option<ToolCall> {
    by_table(TOOLS, tool, input).map(without_scheme)
}

/// A query runs in a database of the session, in which the agent keeps its lists and nothing of the user's is. What could
/// reach files from there is judged as a query of the same text would be that a shell runs.
fn query(input: &ToolInput) -> ToolCall {
    const REACHING_OUT: [&str; 6] = ["attach", "edit(", "load_extension", "readfile", "vacuum", "writefile"];
    let Some(text) = input.text("query") else { return ToolCall::new("Bash", not_understood()) };
    let lower = text.to_ascii_lowercase();
    if REACHING_OUT.iter().any(|word| lower.contains(word)) {
        return ToolCall::bash(&joined(["sqlite3", ":memory:", text]));
    }
    ToolCall::new("TodoWrite", ToolInput::of_text("query", text))
}

/// A message goes to one agent or to several.
fn messages(input: &ToolInput) -> Vec<ToolCall> {
    const MESSAGE: ToolTranslation = ToolTranslation {
        theirs: &["write_agent"],
        ours: "SendMessage",
        fields: &[("message", &["message"]), ("to", &["agent_ids", "agent_id"])],
    };
    one_by_one(input, "agent_ids").iter().filter_map(|one| by_table(&[MESSAGE], "write_agent", one)).collect()
}

/// Makes one call of each element of a list. A list that is missing or empty is one element that is not understood.
fn listed_calls(tool: &str, input: &ToolInput) -> Option<Vec<ToolCall>> {
    let (_, field, single) = LISTS.iter().find(|(name, ..)| *name == tool)?;
    let elements = match input.field(field) {
        Some(Value::List(elements)) if !elements.is_empty() => elements.as_slice(),
        _ => &[Value::Null],
    };
    let one = |element: &Value| {
        let element = match element {
            Value::Text(url) => ToolInput::of_text("url", url),
            Value::Object(fields) => fields.clone().into_iter().collect(),
            _ => ToolInput::default(),
        };
        known(single, &element)
    };
    elements.iter().map(one).collect()
}

/// Returns what a tool types into a shell that runs already, or has a task run. What it does depends on more than that,
/// so it stays an unknown tool and what must not run is stopped all the same.
fn typed_line(tool: &str, input: &ToolInput) -> Option<String> {
    match (tool, input.field("task")) {
        ("write_bash", _) => input.text("input").map(str::to_owned),
        ("create_and_run_task", Some(Value::Object(task))) => {
            let command = task.get("command").and_then(Value::as_text)?;
            let words = match task.get("args") {
                Some(Value::List(words)) => words.iter().filter_map(Value::as_text).collect(),
                _ => Vec::new(),
            };
            Some(std::iter::once(command).chain(words).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// Makes calls of a tool of an MCP server: `mcp_SERVER_TOOL` in VS Code, `SERVER-TOOL` in Copilot CLI, whose own tools have
/// no `-` in their names. Where the server's name ends is not said, so every way to read it must be allowed.
fn mcp_calls(tool: &str, input: &ToolInput) -> Option<Vec<ToolCall>> {
    let of_code = tool.strip_prefix("mcp_").map(|rest| (rest, '_'));
    let (rest, sign) = of_code.unwrap_or((tool, '-'));
    let names = rest.match_indices(sign).filter_map(|(at, _)| {
        let (server, tool) = rest.split_at_checked(at)?;
        let tool = tool.strip_prefix(sign)?;
        Some((server, tool)).filter(|_| !server.is_empty() && !tool.is_empty() && !server.starts_with('_'))
    });
    let calls: Vec<ToolCall> =
        names.map(|(server, tool)| ToolCall::new(&mcp(server, tool), input.clone())).collect();
    (!calls.is_empty()).then_some(calls)
}

/// Refuses a file that is named by a scheme.
fn without_scheme(call: ToolCall) -> ToolCall {
    let primary = find_tool(call.tool()).and_then(|info| info.primary_field);
    let file = primary.filter(|name| name.ends_with("path")).and_then(|name| call.input().text(name));
    if file.is_some_and(|file| file.contains("://")) {
        return ToolCall::new(call.tool(), not_understood());
    }
    call
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::json;
    use crate::shown_calls;

    /// Writes calls as `Tool {input}`, one a line.
    fn shown(tool: &str, input: &str) -> String {
        shown_calls::shown(&calls(tool, json::parse_input(input.as_bytes()).unwrap()))
    }

    #[test]
    fn tools_become_ours() {
        for (tool, input, expected) in [
            ("bash", r#"{"command":"ls","cwd":"/"}"#, r#"Bash {"command":"ls"}"#),
            ("powershell", r#"{"command":"ls"}"#, r#"PowerShell {"command":"ls"}"#),
            ("view", r#"{"path":"/a"}"#, r#"Read {"file_path":"/a"}"#),
            ("create", r#"{"path":"/a","file_text":"b"}"#, r#"Write {"content":"b","file_path":"/a"}"#),
            ("edit", r#"{"path":["/a"]}"#, r#"Edit {"file_path":null}"#),
            ("read_file", r#"{"filePath":"file:///etc/passwd"}"#, r#"Read {"file_path":null}"#),
            (
                "insert_edit_into_file",
                r#"{"filePath":"/a","code":"b","explanation":"c"}"#,
                r#"Edit {"file_path":"/a","new_string":"b"}"#,
            ),
            (
                "multi_replace_string_in_file",
                r#"{"replacements":[{"filePath":"/a","oldString":"b","newString":"c"},{"filePath":"/d"},7]}"#,
                "Edit {\"file_path\":\"/a\",\"new_string\":\"c\",\"old_string\":\"b\"}\n\
                 Edit {\"file_path\":\"/d\"}\nEdit {\"file_path\":null}",
            ),
            (
                "fetch_webpage",
                r#"{"urls":["https://docs.rs","https://evil.example"],"query":"q"}"#,
                "WebFetch {\"url\":\"https://docs.rs\"}\nWebFetch {\"url\":\"https://evil.example\"}",
            ),
            ("fetch_webpage", r#"{"urls":[],"url":"https://docs.rs"}"#, r#"WebFetch {"file_path":null}"#),
            (
                "apply_patch",
                r#"{"input":"*** Begin Patch\n*** Add File: file:///a\n+b\n*** End Patch"}"#,
                r#"Write {"file_path":null}"#,
            ),
            ("mcp_tracker_close", "{}", "mcp__tracker__close {}"),
            ("mcp_a_b_c", "{}", "mcp__a__b_c {}\nmcp__a_b__c {}"),
            ("mcp_a", "{}", "mcp_a {}"),
            ("tracker-close_it", "{}", "mcp__tracker__close_it {}"),
            ("a-b-c", "{}", "mcp__a__b-c {}\nmcp__a-b__c {}"),
            ("-a", "{}", "-a {}"),
            ("mcp__a__b", "{}", "copilot.mcp__a__b {}"),
            ("run_notebook_cell", "{}", "run_notebook_cell {}"),
            ("str_replace_editor", r#"{"command":"create","path":"/a"}"#, r#"Edit {"file_path":"/a"}"#),
            ("write_bash", r#"{"input":"ls"}"#, "write_bash {\"input\":\"ls\"}\nBash {\"command\":\"ls\"}"),
            (
                "create_and_run_task",
                r#"{"task":{"command":"rm","args":["-r","a"]}}"#,
                "create_and_run_task {\"task\":{\"args\":[\"-r\",\"a\"],\"command\":\"rm\"}}\nBash {\"command\":\"rm -r a\"}",
            ),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }
    #[test]
    fn tools_of_the_command_line_become_ours() {
        for (tool, input, expected) in [
            (
                "grep",
                r#"{"pattern":"x","paths":["/a","/b"],"glob":"*.rs"}"#,
                "Grep {\"glob\":\"*.rs\",\"path\":\"/a\",\"pattern\":\"x\"}\n\
                 Grep {\"glob\":\"*.rs\",\"path\":\"/b\",\"pattern\":\"x\"}",
            ),
            ("grep", r#"{"pattern":"x","paths":"/a"}"#, r#"Grep {"path":"/a","pattern":"x"}"#),
            ("grep", r#"{"pattern":"x"}"#, r#"Grep {"pattern":"x"}"#),
            ("grep", r#"{"pattern":"x","paths":"/a","path":"/b"}"#, r#"Grep {"file_path":null}"#),
            ("glob", r#"{"pattern":"*","paths":["/a"]}"#, r#"Glob {"path":"/a","pattern":"*"}"#),
            ("read_bash", r#"{"shellId":"1","delay":5}"#, r#"TaskOutput {"delay":5,"shellId":"1"}"#),
            ("list_bash", "{}", "TaskList {}"),
            ("skill", r#"{"skill":"a"}"#, r#"Skill {"skill":"a"}"#),
            (
                "write_agent",
                r#"{"agent_ids":["a","b"],"message":"go"}"#,
                "SendMessage {\"message\":\"go\",\"to\":\"a\"}\nSendMessage {\"message\":\"go\",\"to\":\"b\"}",
            ),
            ("write_agent", r#"{"agent_id":"a","message":"go"}"#, r#"SendMessage {"message":"go","to":"a"}"#),
            ("sql", r#"{"description":"d","query":"select 1"}"#, r#"TodoWrite {"query":"select 1"}"#),
            (
                "sql",
                r#"{"query":"ATTACH '/a' AS b"}"#,
                r#"Bash {"command":"sqlite3 :memory: 'ATTACH '\\''/a'\\'' AS b'"}"#,
            ),
            ("session_store_sql", "{}", r#"Bash {"file_path":null}"#),
        ] {
            assert_eq!(shown(tool, input), expected, "{tool} {input}");
        }
    }
}
