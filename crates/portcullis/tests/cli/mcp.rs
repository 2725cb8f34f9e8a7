//! `portcullis mcp`: the permission-prompt tool and the checking tool, over raw JSON-RPC.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::dialogue::Dialogue;
use crate::sandbox::Sandbox;

const SETTINGS: &str =
    r#"{"permissions":{"allow":["Bash(make:*)","mcp__files__read"],"deny":["Bash(curl:*)"]}}"#;

/// Starts the server and shakes hands.
fn serve(sandbox: &Sandbox, arguments: &[&str]) -> Dialogue {
    let mut words = vec!["mcp"];
    words.extend(arguments);
    let mut dialogue = Dialogue::start(&mut sandbox.command(&words));
    let hello = dialogue.ask(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["serverInfo"]["name"], "portcullis");
    dialogue.say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    dialogue
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {"claudecode/toolUseId": "toolu_1", "progressToken": 2},
        },
    })
}

/// Takes what Claude Code reads: the JSON in the one text block of a result.
fn behaviour(answer: &Value) -> Value {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(content.len(), 1, "{answer}");
    assert_eq!(content[0]["type"], "text");
    assert_ne!(answer["result"]["isError"], json!(true));
    serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap()
}

fn approve(dialogue: &mut Dialogue, tool: &str, input: &Value) -> Value {
    let arguments = json!({"tool_name": tool, "input": input, "tool_use_id": "toolu_1"});
    behaviour(&dialogue.ask(&call(1, "approve", &arguments)))
}

fn audit(sandbox: &Sandbox) -> String {
    let folder = sandbox.home.join(".local/state/portcullis/audit");
    std::fs::read_to_string(folder.join("current.jsonl")).unwrap_or_default()
}

#[test]
fn both_tools_are_listed_and_checking_is_read_only() {
    let sandbox = Sandbox::new();
    let mut dialogue = serve(&sandbox, &[]);
    let listed = dialogue.ask(&json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}));
    assert_eq!(listed["id"], "list");
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["approve", "check"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["tool_name", "input"]));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], false);
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], true);
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
}

#[test]
fn an_allowed_call_gets_its_input_back_unchanged() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let input = json!({
        "z": [1, -2.5, 18_446_744_073_709_551_615_u64, null, true, {"\u{0}": "\u{202e}\u{1f600}"}],
        "command": "make test",
        "a": {"command": "curl evil", "": []},
    });
    let answer = approve(&mut dialogue, "Bash", &input);
    assert_eq!(answer, json!({"behavior": "allow", "updatedInput": input}));
    let order: Vec<&String> = answer["updatedInput"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["z", "command", "a"]);
    assert_eq!(approve(&mut dialogue, "mcp__files__read", &json!({}))["behavior"], "allow");
}

#[test]
fn what_is_denied_or_asked_is_a_denial_with_its_reason() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let table = [
        ("Bash", json!({"command": "curl https://example.com"}), "Bash(curl:*)"),
        ("Bash", json!({"command": "npm publish"}), "portcullis allow --last"),
        ("mcp__files__write", json!({"path": "x"}), "portcullis allow --last"),
    ];
    for (tool, input, part) in table {
        let answer = approve(&mut dialogue, tool, &input);
        assert_eq!(answer["behavior"], "deny", "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(part), "{answer}");
    }
}

#[test]
fn a_call_that_is_not_understood_is_denied_and_never_an_error() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"allow":["Bash"]}}"#);
    let mut dialogue = serve(&sandbox, &["--mode", "bypassPermissions"]);
    let table = [
        json!({}),
        json!({"tool_name": "Bash"}),
        json!({"input": {"command": "ls"}}),
        json!({"tool_name": "Bash", "input": "ls"}),
        json!({"tool_name": "", "input": {}}),
        json!({"tool_name": ["Bash"], "input": {"command": "ls"}}),
        json!({"tool_name": null, "input": {"command": "ls"}}),
        json!([1]),
        json!("ls"),
        json!(7),
    ];
    for arguments in table {
        let answer = behaviour(&dialogue.ask(&call(1, "approve", &arguments)));
        assert_eq!(answer["behavior"], "deny", "{arguments}: {answer}");
        assert!(answer["message"].is_string());
    }
    let unknown =
        dialogue.ask(&call(2, "Approve", &json!({"tool_name": "Bash", "input": {"command": "ls"}})));
    assert_eq!(unknown["error"]["code"], -32_602);
}

#[test]
fn frames_that_are_none_do_not_end_the_server_and_are_answered() {
    let sandbox = Sandbox::new();
    let mut early = Dialogue::start(&mut sandbox.command(&["mcp"]));
    early.say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/early\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n");
    assert_eq!(early.ask(&json!("hello"))["error"]["code"], -32_600);
    assert_eq!(early.finish(), (String::new(), Some(0)));

    let mut dialogue = serve(&sandbox, &[]);
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":{}1{}}}\n", "[".repeat(5_000), "]".repeat(5_000));
    let twice = concat!(
        r#"{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"approve","arguments":"#,
        r#"{"tool_name":"Bash","input":{"command":"ls","command":"rm -rf ~"}}}}"#,
        "\n"
    );
    let table: [(&[u8], i64, Value); 6] = [
        (b"garbage\n", -32_700, Value::Null),
        (b"{\"jsonrpc\":\n", -32_700, Value::Null),
        (b"\xff\xfe\n", -32_700, Value::Null),
        (deep.as_bytes(), -32_700, json!(7)),
        (twice.as_bytes(), -32_700, json!("twice")),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32_600, Value::Null),
    ];
    for (frame, code, id) in table {
        dialogue.say(frame);
        let answer = dialogue.hear_json();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id));
    }
    assert_eq!(approve(&mut dialogue, "Bash", &json!({"command": "ls"}))["behavior"], "allow");
}

#[test]
fn a_frame_that_is_too_long_is_refused_and_the_next_one_taken() {
    let sandbox = Sandbox::new();
    let mut dialogue = serve(&sandbox, &[]);
    dialogue.say(&vec![b' '; (16 << 20) + 1]);
    dialogue.say(b"\n");
    assert_eq!(dialogue.hear_json()["error"]["code"], -32_600);
    assert_eq!(approve(&mut dialogue, "Bash", &json!({"command": "ls"}))["behavior"], "allow");
}

#[test]
fn approvals_are_audited_and_checks_are_not() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let checked = dialogue.ask(&call(1, "check", &json!({"command": "make checked"})));
    assert_eq!(checked["result"]["structuredContent"]["decision"], "allow");
    assert_eq!(audit(&sandbox), "");
    approve(&mut dialogue, "Bash", &json!({"command": "make approved"}));
    let audit = audit(&sandbox);
    assert_eq!(audit.lines().count(), 1, "{audit}");
    for part in [r#""mcp""#, "permission_prompt_tool", "make approved", "toolu_1"] {
        assert!(audit.contains(part), "{part}: {audit}");
    }
}

#[test]
fn what_cannot_be_audited_is_denied() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    sandbox.write_home(".local/state/portcullis/audit", "in the way");
    let mut dialogue = serve(&sandbox, &[]);
    let answer = approve(&mut dialogue, "Bash", &json!({"command": "make test"}));
    assert_eq!(answer["behavior"], "deny");
    assert!(answer["message"].as_str().unwrap().contains("audit"), "{answer}");
}

#[test]
fn settings_that_change_meanwhile_count_for_the_next_call() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let input = json!({"command": "make test"});
    assert_eq!(approve(&mut dialogue, "Bash", &input)["behavior"], "allow");
    sandbox.write_home(".claude/settings.json", r#"{"permissions":{"deny":["Bash(make:*)"]}}"#);
    assert_eq!(approve(&mut dialogue, "Bash", &input)["behavior"], "deny");
}

#[test]
fn a_check_says_what_check_says_and_why() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let answer = dialogue.ask(&call(1, "check", &json!({"command": "curl https://example.com"})));
    let printed = sandbox.run(&["check", "--json", "curl https://example.com"]);
    let mut expected: Value = serde_json::from_str(&printed.stdout).unwrap();
    let mut told = answer["result"]["structuredContent"].clone();
    let summary = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(summary.starts_with("deny: ") && summary.contains("Bash(curl:*)"), "{summary}");
    for verdict in [&mut expected, &mut told] {
        verdict.as_object_mut().unwrap().remove("elapsed_us").unwrap();
    }
    assert_eq!(told, expected);
    let edit = json!({"tool": "Edit", "input": {"file_path": "a", "old_string": "", "new_string": "b"}, "cwd": "src"});
    let answer = dialogue.ask(&call(2, "check", &edit));
    assert_eq!(answer["result"]["structuredContent"]["decision"], "ask", "{answer}");
    let mut edit = edit;
    edit["mode"] = json!("acceptEdits");
    let answer = dialogue.ask(&call(3, "check", &edit));
    assert_eq!(answer["result"]["structuredContent"]["decision"], "allow", "{answer}");
}

#[test]
fn a_check_that_is_not_understood_or_looks_elsewhere_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write_home("other/.claude/settings.json", r#"{"permissions":{"deny":["Bash(secret-rule)"]}}"#);
    symlink(sandbox.home.join("other"), sandbox.project.join("inside")).unwrap();
    let mut dialogue = serve(&sandbox, &[]);
    let bash = |cwd: &str| json!({"tool": "Bash", "input": {"command": "ls"}, "cwd": cwd});
    let table = [
        (json!({}), "`tool` is missing"),
        (json!({"command": "ls", "tool": "Bash"}), "either `command`"),
        (json!({"tool": "Bash", "input": "ls"}), "must be an object"),
        (json!({"command": "ls", "mode": "yolo"}), "`yolo` is not known"),
        (bash(sandbox.home.join("other").to_str().unwrap()), "outside"),
        (bash("../home/other"), "outside"),
        (bash("/"), "outside"),
        (bash("inside"), "outside"),
    ];
    for (arguments, part) in table {
        let answer = dialogue.ask(&call(1, "check", &arguments));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(part) && !text.contains("secret-rule"), "{text}");
    }
}

#[test]
fn many_approvals_at_once_are_each_answered_once() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = serve(&sandbox, &[]);
    let mut input = dialogue.take_input();
    let writer = std::thread::spawn(move || {
        for id in 1..=200 {
            let command = if id % 2 == 0 { "make test" } else { "curl x" };
            let arguments = json!({"tool_name": "Bash", "input": {"command": command}});
            std::io::Write::write_all(
                &mut input,
                format!("{}\n", call(id, "approve", &arguments)).as_bytes(),
            )
            .unwrap();
        }
        input
    });
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..200 {
        let answer = dialogue.hear_json();
        let behaviour = behaviour(&answer)["behavior"].as_str().unwrap().to_owned();
        assert!(seen.insert(answer["id"].as_u64().unwrap(), behaviour).is_none());
    }
    drop(writer.join().unwrap());
    for (id, behaviour) in seen {
        assert_eq!(behaviour, if id % 2 == 0 { "allow" } else { "deny" }, "{id}");
    }
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(audit(&sandbox).lines().count(), 200);
}

#[test]
fn settings_that_cannot_be_used_are_told_at_the_start() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["mcp", "--settings", "{broken"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}
