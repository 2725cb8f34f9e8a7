//! What the judge sees of a call, tool by tool.

use portcullis_classifier::transcript::encode;
use portcullis_core::ToolCall;
use portcullis_core::tool::find_tool;
use pretty_assertions::assert_eq;

use crate::call;

#[test]
fn every_tool_is_written_in_its_own_way() {
    for (tool, input, expected) in [
        ("Bash", r#"{"command":"npm test","description":"harmless"}"#, "npm test"),
        (
            "Bash",
            r#"{"command":"npm test","timeout":5,"dangerouslyDisableSandbox":true}"#,
            "npm test\n[with dangerouslyDisableSandbox=true]",
        ),
        ("PowerShell", r#"{"command":"Get-Process"}"#, "Get-Process"),
        ("Edit", r#"{"file_path":"src/main.py","old_string":"a","new_string":"b"}"#, "src/main.py:\n-a\n+b"),
        (
            "Edit",
            r#"{"file_path":"a","old_string":"x\ny","new_string":"","replace_all":true}"#,
            "a (everywhere):\n-x\n-y",
        ),
        (
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"b","new_string":"c"},{"old_string":"d","new_string":"e"}]}"#,
            "a:\n-b\n+c\n-d\n+e",
        ),
        ("Write", r#"{"file_path":"src/new.py","content":"new_code"}"#, "src/new.py: new_code"),
        (
            "NotebookEdit",
            r#"{"notebook_path":"nb.ipynb","new_source":"cell_code","edit_mode":"insert"}"#,
            "nb.ipynb insert: cell_code",
        ),
        ("NotebookEdit", r#"{"notebook_path":"n","new_source":"x","cell_id":"c3"}"#, "n replace c3: x"),
        ("NotebookEdit", r#"{"notebook_path":"n","edit_mode":"delete","cell_id":"c3"}"#, "n delete c3: "),
        (
            "Agent",
            r#"{"subagent_type":"worker","mode":"default","prompt":"Fix bug","description":"x"}"#,
            "(worker, mode=default): Fix bug",
        ),
        ("Task", r#"{"subagent_type":"worker","prompt":"Fix bug"}"#, "(worker): Fix bug"),
        ("Agent", r#"{"prompt":"Fix bug"}"#, "Fix bug"),
        ("WebFetch", r#"{"url":"https://api.com","prompt":"extract data"}"#, "https://api.com: extract data"),
        ("WebFetch", r#"{"url":"https://api.com"}"#, "https://api.com"),
        ("WebSearch", r#"{"query":"best practices"}"#, "best practices"),
        ("Grep", r#"{"pattern":"password","path":"src/"}"#, "password in src/"),
        ("Grep", r#"{"pattern":"password"}"#, "password"),
        ("Config", r#"{"setting":"model","value":"opus"}"#, "model = opus"),
        ("Config", r#"{"setting":"verbose","value":false}"#, "verbose = false"),
        ("Config", r#"{"setting":"model"}"#, "model"),
        ("CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check deploys"}"#, "*/5 * * * *: check deploys"),
        ("SendMessage", r#"{"to":"worker-1","message":"continue"}"#, "to worker-1: continue"),
        ("SendMessage", r#"{"to":"w","message":{"type":"stop"}}"#, r#"to w: {"type":"stop"}"#),
        ("mcp__slack__post", r#"{"message":"hello","channel":"general"}"#, "channel=general message=hello"),
        ("mcp__a__b", r#"{"z":[1,{"y":null}],"a":1.5,"m":true}"#, r#"a=1.5 m=true z=[1,{"y":null}]"#),
        ("SomethingNew", r#"{"do":"it"}"#, "do=it"),
    ] {
        assert_eq!(encode(&call(tool, input)), expected, "{tool} {input}");
    }
}

#[test]
fn only_known_harmless_tools_are_written_as_nothing() {
    let tools = ["Read", "Glob", "LSP", "TodoWrite", "TaskCreate", "KillShell", "ToolSearch", "Sleep"];
    for tool in tools {
        assert_eq!(encode(&call(tool, r#"{"x":"y"}"#)), "", "{tool}");
    }
    for tool in
        ["read", "Read ", "Reаd", "TeamCreate", "AskUserQuestion", "ExitPlanMode", "mcp__Read", "", "Unknown"]
    {
        assert_ne!(encode(&call(tool, "{}")), "", "{tool}");
        assert_ne!(encode(&call(tool, r#"{"a":""}"#)), "", "{tool}");
    }
}

#[test]
fn a_call_that_lacks_what_its_row_needs_is_written_with_all_it_has() {
    for (tool, input, expected) in [
        ("Bash", r#"{"command":["rm","-rf"]}"#, r#"command=["rm","-rf"]"#),
        ("Bash", r#"{"cmd":"rm"}"#, "cmd=rm"),
        ("Bash", r#"{"command":"  "}"#, "command=  "),
        ("Bash", "{}", "no input"),
        ("Write", r#"{"file_path":"a"}"#, "file_path=a"),
        ("Edit", r#"{"file_path":"a","new_string":"b"}"#, "file_path=a new_string=b"),
        ("MultiEdit", r#"{"file_path":"a","edits":[]}"#, "edits=[] file_path=a"),
        ("MultiEdit", r#"{"file_path":"a","edits":[1]}"#, "edits=[1] file_path=a"),
        ("NotebookEdit", r#"{"notebook_path":"n"}"#, "notebook_path=n"),
        ("Agent", r#"{"task":"x"}"#, "task=x"),
        ("WebFetch", r#"{"prompt":"x"}"#, "prompt=x"),
        ("Grep", r#"{"path":"x"}"#, "path=x"),
        ("CronCreate", r#"{"cron":"* * * * *"}"#, "cron=* * * * *"),
        ("SendMessage", r#"{"message":"x"}"#, "message=x"),
    ] {
        assert_eq!(encode(&call(tool, input)), expected, "{tool} {input}");
    }
}

#[test]
fn a_path_stays_on_its_line() {
    let text = encode(&call("Write", r#"{"file_path":"a\n+b\u202e","content":"c"}"#));
    assert_eq!(text, "a\\n+b\\u{202e}: c");
}

#[test]
fn an_encoding_is_empty_exactly_for_the_harmless_tools_without_a_row() {
    for name in
        ["Bash", "Edit", "Grep", "Read", "TodoWrite", "REPL", "Skill", "Cd", "CronDelete", "EndConversation"]
    {
        let is_harmless = find_tool(name).is_some_and(|info| info.is_harmless) && name != "Grep";
        let text = encode(&ToolCall::new(name, crate::input(r#"{"a":"b"}"#)));
        assert_eq!(text.is_empty(), is_harmless, "{name}");
    }
}
