//! `portcullis replay`: past sessions of three agents, what is counted, which rules are offered, hostile files.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox};

/// A directory that is not there, so that no disk plays a part.
const GONE: &str = "/home/me/app";

/// Writes a session of Claude Code, a record a line.
struct Claude {
    text: String,
    cwd: String,
    calls: usize,
}

impl Claude {
    fn new(cwd: &str) -> Self {
        Self { text: String::new(), cwd: cwd.to_owned(), calls: 0 }
    }

    fn record(mut self, kind: &str, fields: &Value) -> Self {
        let mut record = json!({
            "type": kind, "uuid": format!("u{}", self.text.len()), "parentUuid": null, "isSidechain": false,
            "cwd": self.cwd, "sessionId": "s", "timestamp": "2026-11-01T10:00:00.000Z",
        });
        record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let _ = writeln!(self.text, "{record}");
        self
    }

    fn say(self, text: &str) -> Self {
        self.record("user", &json!({"message": {"role": "user", "content": text}}))
    }

    fn mode(self, mode: &str) -> Self {
        self.record("permission-mode", &json!({"permissionMode": mode}))
    }

    fn call(self, tool: &str, input: &Value) -> Self {
        self.call_at("2026-11-01T10:00:00.000Z", tool, input)
    }

    fn call_at(mut self, time: &str, tool: &str, input: &Value) -> Self {
        self.calls += 1;
        let block =
            json!({"type": "tool_use", "id": format!("t{}", self.calls), "name": tool, "input": input});
        self.record(
            "assistant",
            &json!({"timestamp": time, "message": {"id": "m", "role": "assistant", "content": [block]}}),
        )
    }

    fn bash(self, command: &str) -> Self {
        self.call("Bash", &json!({"command": command}))
    }

    /// Ends the last call.
    fn end(self, fields: &Value) -> Self {
        let block = json!({"type": "tool_result", "tool_use_id": format!("t{}", self.calls), "content": "x"});
        let mut all = json!({"toolUseResult": "x", "message": {"role": "user", "content": [block]}});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.record("user", &all)
    }
}

fn replay(sandbox: &Sandbox, flags: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["replay"].iter().chain(flags).copied().collect();
    sandbox.run(&arguments)
}

/// Runs with JSON; nothing may stand on standard error.
fn replay_json(sandbox: &Sandbox, flags: &[&str]) -> Value {
    let flags: Vec<&str> = flags.iter().chain(&["--json"]).copied().collect();
    let ran = replay(sandbox, &flags);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Replays one session of Claude Code.
fn replay_claude(session: &Claude, flags: &[&str]) -> Value {
    let sandbox = Sandbox::new();
    sandbox.write_project("logs/a.jsonl", &session.text);
    let flags: Vec<&str> = flags.iter().chain(&["logs"]).copied().collect();
    replay_json(&sandbox, &flags)
}

fn answers(counts: &Value) -> [u64; 4] {
    ["allow", "model", "ask", "deny"].map(|name| counts[name].as_u64().unwrap())
}

/// Returns the rules that end prompts, with how many they end and have ended.
fn rules(json: &Value) -> Vec<(String, u64, u64)> {
    let entries = json["prompts"]["rules"].as_array().unwrap().iter();
    let text = |rules: &Value| {
        let rules = rules.as_array().unwrap().iter().map(|rule| rule.as_str().unwrap().to_owned());
        rules.collect::<Vec<_>>().join(" + ")
    };
    let number = |value: &Value| value.as_u64().unwrap();
    entries.map(|entry| (text(&entry["rules"]), number(&entry["ends"]), number(&entry["ended"]))).collect()
}

const CODEX: &str = r#"{"timestamp":"2026-11-02T10:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/home/me/app","source":"cli"}}
{"timestamp":"2026-11-02T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]}}
{"timestamp":"2026-11-02T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"frobnicate\"}","call_id":"c1"}}
{"timestamp":"2026-11-02T10:00:01.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}
{"timestamp":"2026-11-02T10:00:02.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: .git/hooks/b\n+b\n*** End Patch","call_id":"c2"}}
{"timestamp":"2026-11-02T10:00:03.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"not json","call_id":"c3"}}
"#;

const GEMINI: &str = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-11-03T10:00:00.000Z","kind":"main"}
{"id":"m1","timestamp":"2026-11-03T10:00:00.000Z","type":"user","content":[{"text":"Look around."}]}
{"id":"m2","timestamp":"2026-11-03T10:00:01.000Z","type":"gemini","content":""}
{"id":"m2","timestamp":"2026-11-03T10:00:01.000Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success"},{"id":"c2","name":"run_shell_command","args":{"command":"frobnicate"},"status":"cancelled"}]}
{"id":"m2","timestamp":"2026-11-03T10:00:01.000Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success"}]}
"#;

const GEMINI_DOCUMENT: &str = r#"{
  "sessionId": "d",
  "projectHash": "p",
  "messages": [
    {"id": "m1", "timestamp": "2026-11-04T10:00:00.000Z", "type": "gemini", "content": "",
     "toolCalls": [{"id": "c9", "name": "run_shell_command", "args": {"command": "frobnicate"}, "status": "error"}]}
  ]
}
"#;

#[test]
fn sessions_of_three_agents_are_found_in_their_usual_places() {
    let sandbox = Sandbox::new();
    let claude = Claude::new(GONE).say("hi").bash("ls").end(&json!({})).bash("frobnicate");
    sandbox.write_home(".claude/projects/-home-me-app/s.jsonl", &claude.text);
    sandbox.write_home(".claude/projects/-home-me-app/s/tool-results/x.txt", "output");
    sandbox.write_home(".codex/sessions/2026/11/02/rollout-a.jsonl", CODEX);
    sandbox.write_home(".gemini/tmp/app/chats/session-a.jsonl", GEMINI);
    sandbox.write_home(".gemini/tmp/app/chats/session-b.json", GEMINI_DOCUMENT);
    let json = replay_json(&sandbox, &[]);
    let agents: Vec<(&str, [u64; 4])> = json["byAgent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["name"].as_str().unwrap(), answers(agent)))
        .collect();
    assert_eq!(
        agents,
        [("Claude Code", [1, 0, 1, 0]), ("Codex", [0, 0, 3, 0]), ("Gemini CLI", [1, 0, 2, 0])]
    );
    assert_eq!(json["files"]["sessions"], 4);
    assert_eq!(json["files"]["others"], 1);
    assert_eq!(
        json["happened"]["ask"],
        json!({"ran": 0, "failed": 1, "rejected": 1, "denied": 0, "blocked": 0, "unknown": 4})
    );
    // The other place is named by a variable.
    let moved = sandbox.home.join("moved");
    fs::create_dir_all(moved.join("projects/x")).unwrap();
    fs::write(moved.join("projects/x/s.jsonl"), Claude::new(GONE).bash("ls").text).unwrap();
    let output = sandbox.command(&["replay", "--json"]).env("CLAUDE_CONFIG_DIR", &moved).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers(&json["byAgent"][0]), [1, 0, 0, 0]);
}

#[test]
fn where_there_is_nothing_to_read_it_says_so() {
    let sandbox = Sandbox::new();
    let ran = replay(&sandbox, &[]);
    assert_eq!(ran.code, Some(64));
    assert!(
        ran.stderr.contains("no session of Claude Code, Codex or Gemini CLI was found"),
        "{}",
        ran.stderr
    );
    let ran = replay(&sandbox, &["gone.jsonl"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stdout.contains("gone.jsonl: No such file"), "{}", ran.stdout);
}

#[test]
fn the_mode_on_record_counts_unless_a_flag_gives_one() {
    let edit = json!({"file_path": "/home/me/app/a.rs", "old_string": "a", "new_string": "b"});
    let session = Claude::new(GONE)
        .call("Edit", &edit)
        .mode("acceptEdits")
        .call("Edit", &edit)
        .mode("plan")
        .call("Edit", &edit)
        .mode("bypassPermissions")
        .bash("frobnicate");
    let json = replay_claude(&session, &[]);
    let modes: Vec<(&str, [u64; 4])> = json["byMode"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mode| (mode["name"].as_str().unwrap(), answers(mode)))
        .collect();
    assert_eq!(modes[0], ("default", [0, 0, 1, 0]));
    assert_eq!((modes[1].0, modes[1].1[0]), ("plan", 0));
    assert_eq!(modes[2], ("acceptEdits", [1, 0, 0, 0]));
    assert_eq!(modes[3], ("bypassPermissions", [1, 0, 0, 0]));
    assert_eq!(json["prompts"]["runByAcceptEdits"], 1);
    let json = replay_claude(&session, &["--mode", "dontAsk"]);
    assert_eq!(answers(&json["totals"]), [0, 0, 0, 4]);
    let json = replay_claude(&session, &["--mode", "auto"]);
    assert_eq!(answers(&json["totals"]), [3, 1, 0, 0]);
}

#[test]
fn the_rules_that_end_the_most_prompts_come_first_and_are_enough() {
    let mut session = Claude::new(GONE);
    for _ in 0..3 {
        session = session.bash("npm test").bash("frobnicate a").bash("frobnicate b");
    }
    session = session.bash("npm test && tinker x").bash("tinker y");
    // A rule for one of these would let anything run, or there is none.
    session = session.bash("bash -c \"$x\"").bash("python3 x.py").bash("rm -rf /").bash("sudo frobnicate");
    session = session.call("strange_tool", &json!({"a": 1})).call("mcp__srv__do", &json!({"a": 1}));
    let json = replay_claude(&session, &[]);
    let row = |rule: &str, ends, ended| (rule.to_owned(), ends, ended);
    assert_eq!(
        rules(&json),
        [
            row("Bash(frobnicate *)", 6, 6),
            row("Bash(npm test *)", 3, 9),
            row("Bash(tinker *)", 2, 11),
            row("mcp__srv__do", 1, 12),
        ]
    );
    assert_eq!(json["prompts"]["asked"], 17);
    // What is promised holds.
    let allow = ["--allow", "Bash(frobnicate *)", "--allow", "Bash(npm test *)", "--allow", "Bash(tinker *)"];
    assert_eq!(replay_claude(&session, &allow)["totals"]["ask"], 6);
    assert_eq!(rules(&replay_claude(&session, &["--limit", "1"])).len(), 1);
}

#[test]
fn what_the_analysis_found_is_never_offered_a_rule() {
    let session = Claude::new(GONE).bash("git push --force origin main").bash("git push --force origin main");
    let json = replay_claude(&session, &[]);
    assert_eq!(rules(&json), []);
    assert_eq!(json["prompts"]["noRule"][0]["calls"], 2);
    assert_eq!(json["findings"][0]["code"], "PC007");
    assert_eq!(json["findings"][0]["examples"][0]["call"], "Bash git push --force origin main");
    let denied = replay_claude(&session, &["--mode", "auto"]);
    assert_eq!((&denied["denied"][0]["why"], &denied["denied"][0]["calls"]), (&json!("PC007"), &json!(2)));
}

#[test]
fn the_users_words_before_the_call_count_and_later_ones_do_not() {
    let push = "git push --force origin main";
    let silent = Claude::new(GONE).bash(push).say(&format!("now {push}"));
    let told = Claude::new(GONE).say(&format!("please {push}")).bash(push);
    let auto = ["--mode", "auto"];
    assert_eq!(answers(&replay_claude(&silent, &auto)["totals"])[3], 1);
    assert_eq!(answers(&replay_claude(&told, &auto)["totals"])[3], 0);
    // A subagent is spoken to by an agent.
    let words =
        json!({"isSidechain": true, "message": {"role": "user", "content": format!("please {push}")}});
    let agent = Claude::new(GONE).record("user", &words).bash(push);
    assert_eq!(answers(&replay_claude(&agent, &auto)["totals"])[3], 1);
}

#[test]
fn what_the_user_forbade_holds_in_every_mode_as_in_the_hook() {
    let allowed = ["--allow", "Bash(git push *)"];
    for mode in ["default", "acceptEdits", "auto"] {
        let flags = [["--mode", mode], allowed].concat();
        let free = Claude::new(GONE).say("fix the tests").bash("git push origin topic");
        assert_eq!(answers(&replay_claude(&free, &flags)["totals"])[0], 1, "{mode}");
        let bound = Claude::new(GONE)
            .bash("git push origin topic")
            .say("fix the tests, but don't push")
            .bash("git push origin topic");
        let json = replay_claude(&bound, &flags);
        assert_eq!(answers(&json["totals"])[0], 1, "{mode}: {}", json["totals"]);
        assert_eq!(json["totals"]["calls"], 2);
    }
}

#[test]
fn the_report_is_the_same_for_any_number_of_workers() {
    let sandbox = Sandbox::new();
    for number in 0..40 {
        let mut session = Claude::new(GONE).say("go on");
        for call in 0..12 {
            session = match (number * 7 + call * 5) % 6 {
                0 => session.bash("ls").end(&json!({})),
                1 => session.bash(&format!("frobnicate {number}")),
                2 => session.bash(&format!("tool{} x && npm test", call % 3)),
                3 => session
                    .bash("git push --force origin main")
                    .end(&json!({"toolDenialKind": "user-rejected"})),
                4 => session.mode("auto").bash(&format!("python3 x{number}.py")),
                _ => session.call("Write", &json!({"file_path": format!("src/{call}/a"), "content": "x"})),
            };
        }
        sandbox.write_project(&format!("logs/{}/{number}.jsonl", number % 5), &session.text);
        sandbox.write_project(&format!("logs/{}/{number}.bad.jsonl", number % 5), "garbage\n");
    }
    let compare = r#"{"permissions":{"deny":["Bash(npm test *)"]}}"#;
    let report = |jobs: &str, form: &[&str]| {
        let page = sandbox.project.join("page.html");
        let mut flags = vec!["--jobs", jobs, "--compare", compare, "--html", page.to_str().unwrap(), "logs"];
        flags.extend(form);
        let ran = replay(&sandbox, &flags);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        (ran.stdout, fs::read_to_string(page).unwrap())
    };
    let one = report("1", &["--json"]);
    assert!(one.0.contains("PC007") && one.1.contains("PC007"));
    for jobs in ["2", "3", "4"] {
        assert_eq!(one, report(jobs, &["--json"]), "{jobs}");
    }
    let text = report("1", &[]);
    assert!(text.0.contains("PC007"));
    assert_eq!(text, report("4", &[]));
    let json: Value = serde_json::from_str(&one.0).unwrap();
    assert_eq!((&json["files"]["sessions"], &json["files"]["failed"]), (&json!(40), &json!(40)));
    assert_eq!(json["totals"]["calls"], 480);
}

#[test]
fn a_page_holds_no_script_whatever_stands_in_a_session() {
    let sandbox = Sandbox::new();
    let script = "<script>alert('x')</script>";
    let session = Claude::new(GONE)
        .bash(&format!("frobnicate \"{script}\""))
        .bash(&format!("denyme '{script}'"))
        .call("mcp__<img src=x onerror=alert(1)>__do", &json!({"a": script}))
        .call("Write", &json!({"file_path": format!("/home/me/app/{script}\"&.txt"), "content": ""}))
        .bash("frobnicate --token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB")
        .bash("frobnicate \u{1b}[31m\u{202e}x");
    sandbox.write_project("logs/<script>alert(1)<\u{2215}script>.jsonl", &session.text);
    sandbox.write_project("logs/<b onclick=x>.jsonl", "garbage");
    let ran =
        replay(&sandbox, &["logs", "--html", "page.html", "--deny", &format!("Bash(denyme *{script}*)")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let page = fs::read_to_string(sandbox.project.join("page.html")).unwrap();
    for (text, name) in [(&page, "page"), (&ran.stdout, "report")] {
        assert!(!text.contains("ghp_0123456789"), "a secret on the {name}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "a hidden character on the {name}");
    }
    for wrong in ["<script", "<img", "<b ", "\"&.txt"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    for (part, times) in
        [("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;", 4), ("&lt;img src=x", 1), ("&lt;b onclick", 1)]
    {
        assert!(page.matches(part).count() >= times, "{part}: {}", page.matches(part).count());
    }
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    for word in ["http:", "https:", "src=\"", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    // A box that scrolls can be reached with the keyboard, and every table says what it is.
    assert_eq!(page.matches("<table>").count(), page.matches("<caption>").count());
    assert_eq!(page.matches("<table>").count(), page.matches("role=\"region\"").count());
}

#[test]
fn hostile_files_are_counted_and_named_and_never_end_the_run() {
    let sandbox = Sandbox::new();
    let good = Claude::new(GONE).bash("ls");
    sandbox.write_project("logs/good.jsonl", &good.text);
    sandbox.write_project("logs/empty.jsonl", "");
    sandbox.write_project("logs/notes.txt", "hello");
    sandbox.write_project("logs/deep.jsonl", &"[".repeat(100_000));
    let logs = sandbox.project.join("logs");
    fs::write(logs.join("binary.jsonl"), [0xff, 0xfe, 0x00, 0x0a, 0xc3]).unwrap();
    let mut torn = good.text.clone().into_bytes();
    torn.extend(b"\xff\xfe{\n{\"type\":\"assistant\",\"uuid\":\"a\"\n[]\n");
    torn.extend(vec![b'x'; (8 << 20) + 1]);
    torn.extend(b"\n");
    torn.extend(Claude::new(GONE).bash("frobnicate").text.replace("t1", "t2").into_bytes());
    fs::write(logs.join("torn.jsonl"), torn).unwrap();
    fs::write(logs.join("long.json"), format!("{{\n\"messages\":[\"{}\"]}}", "x".repeat(9 << 20))).unwrap();
    fs::create_dir(logs.join("folder.jsonl")).unwrap();
    symlink(&logs, logs.join("loop")).unwrap();
    symlink("nowhere", logs.join("dangling.jsonl")).unwrap();
    symlink("/etc/passwd", logs.join("outside.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(logs.join("pipe.jsonl")).status().unwrap().success());
    let json = replay_json(&sandbox, &["logs", "logs/good.jsonl"]);
    assert_eq!(answers(&json["totals"]), [2, 0, 1, 0]);
    let files = &json["files"];
    assert_eq!((&files["sessions"], &files["linesTooLong"]), (&json!(3), &json!(2)));
    assert_eq!(files["linesSkipped"], 3);
    let problems: Vec<&str> =
        files["problems"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(
        problems,
        [
            "logs/binary.jsonl: it is not a session of an agent",
            "logs/deep.jsonl: it is not a session of an agent",
            "logs/empty.jsonl: it is not a session of an agent",
        ]
    );
    // What is named must be readable, and the rest is read all the same.
    for name in ["logs/pipe.jsonl", "logs/dangling.jsonl", "logs/notes.txt", "/dev/zero"] {
        let ran = replay(&sandbox, &["logs/good.jsonl", name, "--json"]);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, answers(&json["totals"])), (Some(64), [1, 0, 0, 0]), "{name}");
        assert!(json["files"]["problems"][0].as_str().unwrap().starts_with(name), "{json}");
    }
}

#[test]
fn two_policies_are_compared_call_by_call() {
    let session = Claude::new(GONE).bash("frobnicate").bash("frobnicate").bash("npm test").bash("ls");
    let other = r#"{"permissions":{"allow":["Bash(frobnicate *)"],"deny":["Bash(ls *)"]}}"#;
    let json = replay_claude(&session, &["--compare", other]);
    let changes: Vec<(&str, &str, u64)> = json["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            (
                change["before"].as_str().unwrap(),
                change["after"].as_str().unwrap(),
                change["calls"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(changes, [("allow", "deny", 1), ("ask", "allow", 2)]);
    assert_eq!(json["changes"][1]["examples"][0]["call"], "Bash frobnicate");
    assert_eq!(replay_claude(&session, &[]).get("changes"), None);
    let sandbox = Sandbox::new();
    sandbox.write_project("a.jsonl", &session.text);
    let ran = replay(&sandbox, &["a.jsonl", "--compare", "gone.json"]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("--compare"), "{}", ran.stderr);
}

#[test]
fn only_calls_of_the_time_that_was_asked_for_count() {
    let ls = json!({"command": "ls"});
    let session = Claude::new(GONE)
        .call_at("2026-10-31T23:59:59.999Z", "Bash", &ls)
        .call_at("2026-11-01T00:00:00.000Z", "Bash", &ls)
        .call_at("2026-11-01T23:59:59.999Z", "Bash", &ls)
        .call_at("2026-11-02T00:00:00.000Z", "Bash", &ls)
        .call_at("soon", "Bash", &ls);
    for (flags, calls) in [
        (["--since", "2026-11-01"].as_slice(), 3),
        (&["--until", "2026-11-01"], 3),
        (&["--since", "2026-11-01", "--until", "2026-11-01"], 2),
        (&["--since", "2026-11-02T00:00:00Z"], 1),
        (&["--since", "100000d"], 4),
    ] {
        let json = replay_claude(&session, flags);
        assert_eq!(
            (&json["totals"]["calls"], &json["totals"]["leftOut"]),
            (&json!(calls), &json!(5 - calls)),
            "{flags:?}"
        );
    }
    let sandbox = Sandbox::new();
    assert_eq!(replay(&sandbox, &["--since", "yesterday", "a"]).code, Some(64));
}

#[test]
fn the_disk_of_today_counts_below_the_directory_of_the_session_only() {
    let sandbox = Sandbox::new();
    symlink("/etc", sandbox.project.join("out")).unwrap();
    let project = sandbox.project.to_str().unwrap().to_owned();
    let session = |cwd: &str| {
        let write = json!({"file_path": format!("{cwd}/out/x.conf"), "content": ""});
        Claude::new(cwd).mode("acceptEdits").call("Write", &write).text
    };
    sandbox.write_home("here.jsonl", &session(&project));
    sandbox.write_home("gone.jsonl", &session(GONE));
    let replayed = |name: &str, flags: &[&str]| {
        let file = sandbox.home.join(name);
        let flags: Vec<&str> = flags.iter().copied().chain([file.to_str().unwrap()]).collect();
        answers(&replay_json(&sandbox, &flags)["totals"])
    };
    assert_eq!(replayed("here.jsonl", &[]), [0, 0, 1, 0]);
    assert_eq!(replayed("here.jsonl", &["--neutral"]), [1, 0, 0, 0]);
    assert_eq!(replayed("gone.jsonl", &[]), [1, 0, 0, 0]);
}

#[test]
fn settings_of_the_user_and_of_the_sessions_own_project_count_unless_it_is_neutral() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(frobnicate *)"]}}"#);
    sandbox.write_project("other/.claude/settings.json", r#"{"permissions":{"deny":["Bash(tinker *)"]}}"#);
    let other = sandbox.project.join("other");
    fs::create_dir(other.join(".git")).unwrap();
    let calls = |cwd: &str| Claude::new(cwd).bash("frobnicate").bash("tinker");
    sandbox.write_home("a.jsonl", &calls(other.to_str().unwrap()).text);
    sandbox.write_home("b.jsonl", &calls(GONE).text);
    let replayed = |name: &str, flags: &[&str]| {
        let file = sandbox.home.join(name);
        let flags: Vec<&str> = flags.iter().copied().chain([file.to_str().unwrap()]).collect();
        answers(&replay_json(&sandbox, &flags)["totals"])
    };
    assert_eq!(replayed("a.jsonl", &[]), [0, 0, 0, 2]);
    assert_eq!(replayed("b.jsonl", &[]), [0, 0, 1, 1]);
    assert_eq!(replayed("a.jsonl", &["--neutral"]), [0, 0, 2, 0]);
    assert_eq!(replayed("a.jsonl", &["--neutral", "--deny", "Bash(tinker *)"]), [0, 0, 1, 1]);
}

#[test]
fn nothing_is_written_but_the_page_and_nothing_is_run() {
    let sandbox = Sandbox::new();
    let marker = sandbox.project.join("marker");
    let session = Claude::new(sandbox.project.to_str().unwrap())
        .mode("auto")
        .bash(&format!("touch {}", marker.display()))
        .bash("git push --force origin main");
    sandbox.write_project("logs/a.jsonl", &session.text);
    let listed = |sandbox: &Sandbox| {
        let mut names = Vec::new();
        for root in [&sandbox.home, &sandbox.project, &sandbox.project.join("logs")] {
            names.extend(fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()));
        }
        names.sort();
        names
    };
    let before = listed(&sandbox);
    replay_json(&sandbox, &["logs"]);
    assert_eq!(listed(&sandbox), before);
    fs::hard_link(sandbox.project.join("logs/a.jsonl"), sandbox.project.join("twin.html")).unwrap();
    std::os::unix::fs::symlink("logs/a.jsonl", sandbox.project.join("link.html")).unwrap();
    for page in ["logs/a.jsonl", "logs/../logs/a.jsonl", "twin.html", "link.html"] {
        let ran = replay(&sandbox, &["logs", "--html", page]);
        assert_eq!(ran.code, Some(64));
        assert!(ran.stderr.contains("is one of the files that are read"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(sandbox.project.join("logs/a.jsonl")).unwrap(), session.text);
    assert_eq!(replay(&sandbox, &["logs", "--html", "gone/page.html"]).code, Some(70));
}
