//! The failure table of auto mode (spec D13), from outside: `check --mode auto` with and without a person, and the
//! hook of Claude Code, against a model server that misbehaves. In no row does the action run.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use portcullis_testkit::{ModelScript, ScriptedServer};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox, ran};
use super::self_test_record;

/// A command that no rule and no proof settles.
const ACTION: &str = "frobnicate --now";

/// Rows that are tried at once. Most of their time they wait.
const WORKERS: usize = 6;

/// Time enough for everything that ends by itself, in seconds.
const LONG: u32 = 20;

/// What becomes of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// `classifier.onFailure` decides; without a person it is denied.
    Gate,
    /// It is denied, whatever the settings.
    Deny,
    /// A person is asked, whatever the settings; without one the run ends.
    TooLong,
}

/// What goes wrong, and what becomes of it.
#[derive(Debug, Clone, Copy)]
struct Row {
    name: &'static str,
    script: &'static str,
    seconds: u32,
    fate: Fate,
    says: &'static str,
    requests: usize,
}

const fn fails(name: &'static str, script: &'static str, says: &'static str, requests: usize) -> Row {
    Row { name, script, seconds: LONG, fate: Fate::Gate, says, requests }
}

const fn hangs(name: &'static str, script: &'static str) -> Row {
    Row { name, script, seconds: 1, fate: Fate::Gate, says: "(timed out: no answer from", requests: 1 }
}

const fn unclear(name: &'static str, script: &'static str, says: &'static str) -> Row {
    Row { name, script, seconds: LONG, fate: Fate::Deny, says, requests: 2 }
}

const fn too_long(name: &'static str, script: &'static str, says: &'static str) -> Row {
    Row { name, script, seconds: LONG, fate: Fate::TooLong, says, requests: 1 }
}

const ROWS: &[Row] = &[
    fails("400", r#"[{"status": 400}]"#, "(request refused: anthropic answered 400", 1),
    fails("401", r#"[{"status": 401}]"#, "(key not accepted: anthropic does not accept the key (401)", 1),
    fails("402", r#"[{"status": 402}]"#, "(spend limit reached: anthropic answered 402", 1),
    fails("403", r#"[{"status": 403}]"#, "(not permitted: anthropic answered 403", 1),
    fails("404", r#"[{"status": 404}]"#, "(model or address not found: anthropic answered 404", 1),
    too_long("413", r#"[{"status": 413}]"#, "too long for the classifier (anthropic answered 413"),
    fails("429", r#"[{"status": 429}]"#, "(rate-limited: anthropic answered 429", 3),
    fails(
        "429 with a time to wait",
        r#"[{"status": 429, "headers": {"retry-after-ms": "50"}}]"#,
        "(rate-limited: anthropic answered 429",
        3,
    ),
    fails(
        "429 with a time to wait that does not fit",
        r#"[{"status": 429, "headers": {"retry-after": "60"}}]"#,
        "(rate-limited: anthropic answered 429",
        1,
    ),
    fails(
        "429 because the money is used up",
        r#"[{"status": 429, "error": {"message": "no more this month",
            "details": {"error_code": "enforced_spend_limit_reached"}}}]"#,
        "(spend limit reached: anthropic answered 429: no more this month",
        1,
    ),
    fails(
        "500",
        r#"[{"status": 500, "headers": {"retry-after-ms": "50"}}]"#,
        "(server error: anthropic answered 500",
        3,
    ),
    fails(
        "529",
        r#"[{"status": 529, "headers": {"retry-after-ms": "50"}}]"#,
        "(overloaded: anthropic answered 529",
        3,
    ),
    fails("closed", r#"[{"fault": "close"}]"#, "(connection failed: the connection to 127.0.0.1 failed", 3),
    fails("reset", r#"[{"fault": "reset"}]"#, "(connection failed: the connection to 127.0.0.1 failed", 3),
    hangs("silent", r#"[{"fault": "silent"}]"#),
    hangs("headers, then silent", r#"[{"fault": "headers_then_silent"}]"#),
    hangs("slow drip", r#"[{"fault": "slow_drip", "ms": 100}]"#),
    hangs("an allow that comes too late", r#"[{"allow": true, "delay_ms": 60000}]"#),
    fails("truncated JSON", r#"[{"fault": "truncated_json"}]"#, "anthropic answered no JSON object", 1),
    fails(
        "wrong content type",
        r#"[{"fault": "wrong_content_type"}]"#,
        "(answer not understood: anthropic answered something that is not JSON",
        1,
    ),
    fails(
        "a body without end",
        r#"[{"fault": "huge_body"}]"#,
        "(answer not understood: the answer of 127.0.0.1 is larger than",
        1,
    ),
    fails(
        "garbage",
        r#"[{"fault": "garbage"}]"#,
        "(answer not understood: 127.0.0.1 answers something that is not HTTP",
        1,
    ),
    fails("empty body", r#"[{"fault": "empty_body"}]"#, "anthropic answered no JSON object", 1),
    fails(
        "a redirect",
        r#"[{"raw": 302, "body": "", "headers": {"location": "/v1/messages"}}]"#,
        "(answer not understood: 127.0.0.1 answers with a redirect (302)",
        1,
    ),
    fails(
        "an error under the status of success",
        r#"[{"raw": 200, "body": {"type": "error", "error": {"type": "invalid_request_error", "message": "oops"}}}]"#,
        "(request refused: anthropic answered 400: oops",
        1,
    ),
    unclear("refusal", r#"[{"say": "<block>no</block>", "stop": "refusal"}]"#, "(it refused to answer)"),
    unclear(
        "max_tokens",
        r#"[{"say": "<block>no</block>", "stop": "max_tokens"}]"#,
        "(its answer was cut off)",
    ),
    unclear("no content", r#"[{"blocks": []}]"#, "(it answered nothing)"),
    unclear("two verdicts", r#"[{"fault": "two_verdicts"}]"#, "(it gives two verdicts)"),
    unclear(
        "a verdict in a block of thoughts",
        r#"[{"fault": "verdict_in_thinking"}]"#,
        "(it holds no clear verdict)",
    ),
    unclear(
        "a verdict in a tag of thoughts",
        r#"[{"say": "<thinking><block>no</block></thinking>"}]"#,
        "(it holds no clear verdict)",
    ),
    unclear(
        "a no with junk in it",
        r#"[{"say": "<block>no, it is fine</block>"}]"#,
        "(its verdict is neither yes nor no)",
    ),
    unclear(
        "a no with junk behind it",
        r#"[{"say": "<block>no</block> I think"}]"#,
        "(its verdict is followed by something else)",
    ),
    too_long(
        "a prompt that is too long",
        r#"[{"status": 400, "error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}]"#,
        "too long for the classifier (anthropic answered 400: prompt is too long",
    ),
];

/// How a call is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Interactive,
    Headless,
    Hook,
}

const WAYS: [Way; 3] = [Way::Interactive, Way::Headless, Way::Hook];

/// What was answered, in any way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    decision: String,
    /// The kind of reason; the hook does not say.
    kind: Option<String>,
    message: String,
    ends_run: bool,
    code: Option<i32>,
}

fn serve(script: &str) -> ScriptedServer {
    ScriptedServer::start(ModelScript::from_json(script).unwrap_or_else(|error| panic!("{script}: {error}")))
}

/// Returns settings of the classifier: Anthropic below an address, with fields of one's own.
fn settings(address: &str, fields: &Value) -> String {
    let mut classifier = json!({
        "provider": "anthropic",
        "model": "claude-haiku-5-5",
        "baseUrl": address,
        "timeoutSeconds": LONG,
    });
    let all = classifier.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    json!({"classifier": classifier}).to_string()
}

/// Makes a command with settings whose models have passed the self-test, where they can be used at all.
fn command(sandbox: &Sandbox, way: Way, settings: &str) -> Command {
    self_test_record::pass(sandbox, Some(settings));
    let mut words: Vec<&str> = match way {
        Way::Interactive => {
            vec!["check", "--mode", "auto", "--json", "--session", "s1", "--settings", settings]
        }
        Way::Headless => {
            vec!["check", "--mode", "auto", "--json", "--session", "s1", "--headless", "--settings", settings]
        }
        Way::Hook => vec!["hook", "claude", "--settings", settings],
    };
    if way != Way::Hook {
        words.extend(["--input", "-"]);
    }
    let mut command = sandbox.command(&words);
    for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
        command.env(key, "a-test-key");
    }
    command.stdin(Stdio::piped());
    command
}

/// Returns what is written to standard input.
fn input(sandbox: &Sandbox, way: Way, action: &str) -> String {
    match way {
        Way::Interactive | Way::Headless => json!({"command": action}).to_string(),
        Way::Hook => json!({
            "session_id": "s1",
            "cwd": sandbox.project,
            "permission_mode": "auto",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": action},
            "tool_use_id": "toolu_1",
        })
        .to_string(),
    }
}

fn answer_of(mut command: Command, input: &str) -> Ran {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = thread::spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    ran(&output)
}

fn read(way: Way, ran: &Ran) -> Told {
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned();
    match way {
        Way::Interactive | Way::Headless => Told {
            decision: text(&reply["decision"]),
            kind: Some(text(&reply["reason"]["kind"])),
            message: text(&reply["reason"]["message"]),
            ends_run: reply["endsRun"] == true,
            code: ran.code,
        },
        Way::Hook => Told {
            decision: text(&reply["hookSpecificOutput"]["permissionDecision"]),
            kind: None,
            message: text(&reply["hookSpecificOutput"]["permissionDecisionReason"]),
            ends_run: reply["continue"] == false,
            code: ran.code,
        },
    }
}

/// Puts an action in one way, and returns what was answered.
fn ask_about(sandbox: &Sandbox, way: Way, settings: &str, action: &str) -> Told {
    read(way, &answer_of(command(sandbox, way, settings), &input(sandbox, way, action)))
}

fn ask(sandbox: &Sandbox, way: Way, settings: &str) -> Told {
    ask_about(sandbox, way, settings, ACTION)
}

/// Checks that an answer is what a failure becomes.
fn check(name: &str, told: &Told, way: Way, on_failure: &str, fate: Fate, says: &str) {
    let is_person_there = way != Way::Headless;
    let is_asked = match fate {
        Fate::Gate => is_person_there && on_failure == "ask",
        Fate::Deny => false,
        Fate::TooLong => is_person_there,
    };
    let (decision, code) = match (is_asked, way) {
        (true, Way::Hook) => ("ask", 0),
        (false, Way::Hook) => ("deny", 0),
        (true, _) => ("ask", 3),
        (false, _) => ("deny", 2),
    };
    let place = format!("{name}, {way:?}, onFailure {on_failure}: {told:?}");
    assert_eq!((told.decision.as_str(), told.code), (decision, Some(code)), "{place}");
    assert_eq!(told.kind.as_deref(), (way != Way::Hook).then_some("unavailable"), "{place}");
    assert_eq!(told.ends_run, fate == Fate::TooLong && !is_person_there, "{place}");
    assert!(told.message.contains(says), "no {says:?} in {place}");
    assert!(!told.message.contains("a-test-key"), "{place}");
}

/// Tries every item of a table, several at once.
fn for_all<T: Sync>(items: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(item);
                }
            });
        }
    });
}

/// All ways with both settings of the gate.
fn ways_and_gates() -> impl Iterator<Item = (Way, &'static str)> {
    WAYS.into_iter().flat_map(|way| ["deny", "ask"].map(|on_failure| (way, on_failure)))
}

#[test]
fn every_row_of_the_failure_table_ends_as_it_says() {
    let cases: Vec<(&Row, Way, &str)> =
        ROWS.iter().flat_map(|row| ways_and_gates().map(move |(way, gate)| (row, way, gate))).collect();
    for_all(&cases, |(row, way, on_failure)| {
        let (sandbox, server) = (Sandbox::new(), serve(row.script));
        let fields = json!({"timeoutSeconds": row.seconds, "onFailure": on_failure});
        let told = ask(&sandbox, *way, &settings(&server.url(), &fields));
        check(row.name, &told, *way, on_failure, row.fate, row.says);
        assert_eq!(server.requests().len(), row.requests, "{}, {way:?}", row.name);
    });
}

#[test]
fn no_row_allows_whoever_serves_the_model() {
    let providers = [
        json!({"provider": "openai", "model": "gpt-6-luna"}),
        json!({"provider": "chat", "model": "house-model", "keyVariable": "OPENAI_API_KEY"}),
        json!({"provider": "ollama", "model": "qwen3"}),
        json!({"provider": "gemini", "model": "gemini-3.5-flash-lite"}),
    ];
    let cases: Vec<(usize, &Row, Way)> = ROWS
        .iter()
        .enumerate()
        .flat_map(|(number, row)| {
            WAYS.into_iter().enumerate().map(move |(way, put)| (number + way, row, put))
        })
        .collect();
    for_all(&cases, |(number, row, way)| {
        let (sandbox, server) = (Sandbox::new(), serve(row.script));
        let mut fields = providers[number % providers.len()].clone();
        // One second is enough for a failure, and none may pass for want of time.
        fields["timeoutSeconds"] = json!(row.seconds.min(2));
        fields["onFailure"] = json!(["deny", "ask"][number % 2]);
        let has_version = ["openai", "chat"].iter().any(|name| fields["provider"] == *name);
        let address = format!("{}{}", server.url(), if has_version { "/v1" } else { "" });
        let told = ask(&sandbox, *way, &settings(&address, &fields));
        assert_ne!(told.decision, "allow", "{}, {way:?}, {fields}: {told:?}", row.name);
        assert!(server.requests().len() <= 3, "{}, {way:?}, {fields}", row.name);
        assert!(!server.requests().is_empty(), "{}, {way:?}, {fields}: nobody was asked", row.name);
    });
}

#[test]
fn a_model_that_works_is_obeyed_in_every_way() {
    for way in WAYS {
        for (script, decision, requests) in [
            (r#"[{"allow": true}]"#, "allow", 1),
            (r#"[{"block": true}, {"allow": true}]"#, "allow", 2),
            (r#"[{"status": 429, "headers": {"retry-after": "1"}}, {"allow": true}]"#, "allow", 2),
            (r#"[{"block": {"category": "Scripted", "reason": "it is scripted"}}]"#, "deny", 2),
        ] {
            let (sandbox, server) = (Sandbox::new(), serve(script));
            let told = ask(&sandbox, way, &settings(&server.url(), &json!({})));
            assert_eq!(told.decision, decision, "{way:?} {script}: {told:?}");
            assert_eq!(server.requests().len(), requests, "{way:?} {script}");
            if decision == "deny" {
                assert!(told.message.contains("it is scripted"), "{told:?}");
                assert!(told.kind.is_none_or(|kind| kind == "classifier"));
            }
        }
    }
}

#[test]
fn a_server_nobody_listens_at_does_not_allow() {
    // One end of a connection: nobody listens there, and nobody else can take the port meanwhile.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = format!("http://{}", client.local_addr().unwrap());
    let cases: Vec<(Way, &str)> = ways_and_gates().collect();
    for_all(&cases, |(way, on_failure)| {
        let sandbox = Sandbox::new();
        let told = ask(&sandbox, *way, &settings(&address, &json!({"onFailure": on_failure})));
        let says = "(connection failed: the connection to 127.0.0.1 failed: connection refused";
        check("refused", &told, *way, on_failure, Fate::Gate, says);
    });
}

#[test]
fn an_action_that_is_too_long_to_be_judged_is_sent_to_nobody() {
    let action = format!("frobnicate {}", "ab cd ".repeat(9_000));
    for (way, on_failure) in ways_and_gates() {
        let (sandbox, server) = (Sandbox::new(), serve(r#"[{"allow": true}]"#));
        let settings = settings(&server.url(), &json!({"onFailure": on_failure}));
        let told = ask_about(&sandbox, way, &settings, &action);
        check(
            "long",
            &told,
            way,
            on_failure,
            Fate::TooLong,
            "tokens long, more than the 8000 a judge is given",
        );
        assert_eq!(server.requests().len(), 0, "{way:?}");
    }
}

/// Puts a forced push that the user did not name, after words of the user.
fn ask_after_words(sandbox: &Sandbox, way: Way, settings: &str) -> Told {
    let mut command = command(sandbox, way, settings);
    let mut text = input(sandbox, way, "git push --force origin topic");
    if way == Way::Hook {
        let turn = json!({"type": "user", "uuid": "u1", "parentUuid": null, "isSidechain": false,
            "message": {"role": "user", "content": "tidy the branch"}, "userType": "external"});
        let file = sandbox.write_project("session.jsonl", &format!("{turn}\n"));
        let mut call: Value = serde_json::from_str(&text).unwrap();
        call["transcript_path"] = json!(file);
        text = call.to_string();
    } else {
        command.args(["--said", "tidy the branch"]);
    }
    read(way, &answer_of(command, &text))
}

#[test]
fn what_was_found_stands_when_the_model_fails() {
    for (way, on_failure) in ways_and_gates() {
        for (step, requests) in [(r#"{"status": 400}"#, 1), (r#"{"status": 413}"#, 1), (r#"{"say": "?"}"#, 2)]
        {
            let (sandbox, server) = (Sandbox::new(), serve(&format!("[{step}]")));
            let fields = json!({"onFailure": on_failure, "reviewFindings": true});
            let told = ask_after_words(&sandbox, way, &settings(&server.url(), &fields));
            let place = format!("{step}, {way:?}, onFailure {on_failure}: {told:?}");
            assert_eq!(told.decision, "deny", "{place}");
            assert_eq!(told.kind.as_deref(), (way != Way::Hook).then_some("finding"), "{place}");
            assert!(told.message.contains("PC007"), "{place}");
            assert_eq!(server.requests().len(), requests, "{place}");
        }
    }
}

#[test]
fn a_signal_while_the_model_is_waited_for_blocks() {
    for signal in ["TERM", "INT"] {
        let (sandbox, server) = (Sandbox::new(), serve(r#"[{"fault": "silent"}]"#));
        let settings = settings(&server.url(), &json!({"timeoutSeconds": 100, "onFailure": "ask"}));
        let mut child = command(&sandbox, Way::Hook, &settings).spawn().unwrap();
        let text = input(&sandbox, Way::Hook, ACTION);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(server.wait_for_requests(1), "{signal}");
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let ran = ran(&child.wait_with_output().unwrap());
        let told = read(Way::Hook, &ran);
        assert_eq!((told.decision.as_str(), told.code), ("deny", Some(2)), "{signal}: {ran:?}");
        assert!(told.message.starts_with("portcullis: "), "{signal}: {told:?}");
        assert!(ran.stderr.starts_with("portcullis: "), "{signal}: {ran:?}");
        assert_eq!(server.requests().len(), 1, "{signal}");
    }
}

#[test]
fn without_a_key_nobody_is_asked() {
    let table = [
        (json!({"keyVariable": "NO_SUCH_KEY"}), "(no key: the variable NO_SUCH_KEY is not set"),
        (json!({"keyCommand": ["false"]}), "/false failed with exit code 1"),
        (
            json!({"keyCommand": ["no-such-program"]}),
            "the classifier cannot be used (no program `no-such-program` for the key outside of this workspace",
        ),
        (
            json!({"keyCommand": ["/no/such/program"]}),
            "(no key: the key command /no/such/program cannot be run",
        ),
        (json!({"keyCommand": ["sleep", "60"], "timeoutSeconds": 1}), "/sleep took too long"),
    ];
    let cases: Vec<_> =
        table.iter().flat_map(|row| ways_and_gates().map(move |(way, gate)| (row, way, gate))).collect();
    for_all(&cases, |((fields, says), way, on_failure)| {
        let (sandbox, server) = (Sandbox::new(), serve(r#"[{"allow": true}]"#));
        let mut fields = fields.clone();
        fields["onFailure"] = json!(on_failure);
        let mut command = command(&sandbox, *way, &settings(&server.url(), &fields));
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let told = read(*way, &answer_of(command, &input(&sandbox, *way, ACTION)));
        check(says, &told, *way, on_failure, Fate::Gate, says);
        assert_eq!(server.requests().len(), 0, "{says}, {way:?}");
    });
}

/// Writes a program that prints a key and leaves a mark that it ran.
fn write_key_program(directory: &Path, name: &str, key: &str) -> PathBuf {
    std::fs::create_dir_all(directory).unwrap();
    let file = directory.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n: > '{}.ran'\necho {key}\n", file.display())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn a_program_of_the_workspace_does_not_print_the_key() {
    let says = "no program `print-key` for the key outside of this workspace";
    for (way, on_failure) in ways_and_gates() {
        let (sandbox, server) = (Sandbox::new(), serve(r#"[{"allow": true}]"#));
        let planted = write_key_program(&sandbox.project.join("bin"), "print-key", "planted-key");
        let links = sandbox.home.join("links");
        std::fs::create_dir_all(&links).unwrap();
        symlink(&planted, links.join("print-key")).unwrap();
        let linked = sandbox.home.join("linked");
        symlink(sandbox.project.join("bin"), &linked).unwrap();
        let places = [PathBuf::from("bin"), PathBuf::new(), sandbox.project.join("bin"), links, linked];
        self_test_record::pass(&sandbox, Some(&settings(&server.url(), &json!({}))));
        let own = settings(&server.url(), &json!({"keyCommand": ["print-key"], "onFailure": on_failure}));
        let ask_with = |places: &[PathBuf]| {
            let mut command = command(&sandbox, way, &own);
            command.env("PATH", std::env::join_paths(places).unwrap()).current_dir(&sandbox.project);
            read(way, &answer_of(command, &input(&sandbox, way, ACTION)))
        };
        check(says, &ask_with(&places), way, on_failure, Fate::Gate, says);
        assert_eq!(server.requests().len(), 0, "{way:?}");

        write_key_program(&sandbox.home.join("own"), "print-key", "own-key");
        let places: Vec<PathBuf> = places.into_iter().chain([sandbox.home.join("own")]).collect();
        assert_eq!(ask_with(&places).decision, "allow", "{way:?}");
        assert_eq!(server.requests()[0].header("x-api-key"), Some("own-key"), "{way:?}");
        assert!(!planted.with_extension("ran").exists(), "{way:?}: the planted program ran");
    }
}

#[test]
fn settings_that_are_broken_ask_nobody() {
    let table: &[(Value, &str)] = &[
        (json!({"provider": "antropic"}), "the value of `classifier.provider` is wrong"),
        (json!({"model": 5}), "the value of `classifier.model` is wrong"),
        (json!({"baseUrl": "ftp://models.example"}), "the value of `classifier.baseUrl` is wrong"),
        (json!({"modelsFile": "/no/such/models.json"}), "`/no/such/models.json` cannot be used"),
    ];
    for (fields, says) in table {
        for (way, on_failure) in ways_and_gates() {
            let (sandbox, server) = (Sandbox::new(), serve(r#"[{"allow": true}]"#));
            let mut fields = fields.clone();
            fields["onFailure"] = json!(on_failure);
            let told = ask(&sandbox, way, &settings(&server.url(), &fields));
            check(says, &told, way, on_failure, Fate::Gate, says);
            assert_eq!(server.requests().len(), 0, "{says}, {way:?}");
        }
    }
}

#[test]
fn a_template_that_is_broken_asks_nobody() {
    for (text, says) in [
        (Some("You judge {{everything}}.\n"), "has the unknown slot `{{everything}}`"),
        (Some("You judge {{base\n"), "has a `{{` without `}}`"),
        (None, "base.md` cannot be used"),
    ] {
        for (way, on_failure) in ways_and_gates() {
            let (sandbox, server) = (Sandbox::new(), serve(r#"[{"allow": true}]"#));
            let template = sandbox.home.join("base.md");
            if let Some(text) = text {
                sandbox.write_home("base.md", text);
            }
            let fields = json!({"onFailure": on_failure, "templates": {"base": template}});
            let own = settings(&server.url(), &fields);
            sandbox.write_home(".config/portcullis/settings.json", &own);
            let told = ask(&sandbox, way, "{}");
            check(says, &told, way, on_failure, Fate::Gate, says);
            assert_eq!(server.requests().len(), 0, "{says}, {way:?}");
        }
    }
}

#[test]
fn a_parameter_that_is_refused_is_left_out_by_the_next_process_too() {
    for way in WAYS {
        let script = r#"[{"status": 400, "error": {"message": "`temperature` is not supported by this model"}},
            {"allow": true}]"#;
        let (sandbox, server) = (Sandbox::new(), serve(script));
        let settings = settings(&server.url(), &json!({"model": "claude-haiku-4-5"}));
        for _ in 0..2 {
            assert_eq!(ask(&sandbox, way, &settings).decision, "allow", "{way:?}");
        }
        let temperatures: Vec<bool> = server
            .requests()
            .into_iter()
            .map(|request| request.json.unwrap().get("temperature").is_some())
            .collect();
        assert_eq!(temperatures, [true, false, false], "{way:?}");
        let learned =
            std::fs::read_to_string(sandbox.home.join(".local/state/portcullis/learned.json")).unwrap();
        assert!(learned.contains("claude-haiku-4-5") && learned.contains("temperature"), "{learned}");
    }
}

#[test]
fn a_parameter_that_one_gateway_refuses_is_sent_to_another() {
    let refuse = r#"[{"status": 400, "error": {"message": "`temperature` is not supported by this model"}},
        {"allow": true}]"#;
    let (sandbox, one, other) = (Sandbox::new(), serve(refuse), serve(r#"[{"allow": true}]"#));
    for server in [&one, &other, &one] {
        let own = settings(&server.url(), &json!({"model": "claude-haiku-4-5"}));
        assert_eq!(ask(&sandbox, Way::Headless, &own).decision, "allow");
    }
    let has_temperature = |server: &ScriptedServer| -> Vec<bool> {
        let bodies = server.requests().into_iter().map(|request| request.json.unwrap());
        bodies.map(|body| body.get("temperature").is_some()).collect()
    };
    assert_eq!((has_temperature(&one), has_temperature(&other)), (vec![true, false, false], vec![true]));
}

#[test]
fn a_parameter_that_is_refused_for_ever_does_not_allow() {
    let script = r#"[{"status": 400, "error": {"message": "`temperature` is not supported"}}]"#;
    for (way, on_failure) in ways_and_gates() {
        let (sandbox, server) = (Sandbox::new(), serve(script));
        let fields = json!({"model": "claude-haiku-4-5", "onFailure": on_failure});
        let told = ask(&sandbox, way, &settings(&server.url(), &fields));
        let says = "(parameter not supported: anthropic answered 400";
        check("refused", &told, way, on_failure, Fate::Gate, says);
        assert_eq!(server.requests().len(), 2, "{way:?}");
    }
}

/// An outage that is over at once.
const OUTAGE: &str = r#"{"status": 500, "headers": {"x-should-retry": "false"}}"#;

#[test]
fn after_three_outages_the_provider_is_left_alone() {
    for (way, on_failure) in ways_and_gates() {
        let (sandbox, server) = (Sandbox::new(), serve(&format!("[{OUTAGE}]")));
        let settings = settings(&server.url(), &json!({"onFailure": on_failure}));
        for _ in 0..3 {
            let told = ask(&sandbox, way, &settings);
            check("outage", &told, way, on_failure, Fate::Gate, "(server error: anthropic answered 500");
        }
        assert_eq!(server.requests().len(), 3, "{way:?}");
        let kept = || {
            let state = sandbox.home.join(".local/state/portcullis");
            let files = std::fs::read_dir(state.join("errors")).unwrap().count();
            (files, std::fs::read_to_string(state.join("calls.jsonl")).unwrap().lines().count())
        };
        let before = kept();
        assert_eq!(before, (4, 3), "three diagnostics beside their lock, three calls");
        let told = ask(&sandbox, way, &settings);
        assert_eq!(kept(), before, "nobody was asked, so there is nothing to keep");
        check("pause", &told, way, on_failure, Fate::Gate, "(paused after repeated failures");
        assert_eq!(server.requests().len(), 3, "{way:?}");
    }
}

#[test]
fn an_answer_between_outages_and_failures_that_are_none_keep_the_provider_in_use() {
    let (two, answer) = (format!("{OUTAGE},{OUTAGE}"), r#"{"allow": true}"#);
    let (sandbox, server) = (Sandbox::new(), serve(&format!("[{two},{answer},{two},{answer}]")));
    let own = settings(&server.url(), &json!({}));
    let decisions: Vec<String> = (0..6).map(|_| ask(&sandbox, Way::Headless, &own).decision).collect();
    assert_eq!(decisions, ["deny", "deny", "allow", "deny", "deny", "allow"]);
    for step in
        [r#"{"status": 401}"#, r#"{"status": 404}"#, r#"{"fault": "truncated_json"}"#, r#"{"status": 402}"#]
    {
        let (sandbox, server) = (Sandbox::new(), serve(&format!("[{step}]")));
        let own = settings(&server.url(), &json!({}));
        for asked in 1..=5 {
            assert_eq!(ask(&sandbox, Way::Interactive, &own).decision, "deny", "{step}");
            assert_eq!(server.requests().len(), asked, "{step}");
        }
    }
}

#[test]
fn another_provider_is_asked_when_the_first_is_down_and_not_when_it_has_spoken() {
    let allow = r#"[{"allow": true}]"#;
    let down = format!("[{OUTAGE}]");
    let table = [
        (down.as_str(), allow, "allow", "", (1, 1)),
        (r#"[{"status": 401}]"#, allow, "allow", "", (1, 1)),
        (r#"[{"fault": "garbage"}]"#, allow, "allow", "", (1, 1)),
        (&down, r#"[{"block": true}]"#, "deny", "", (1, 2)),
        (r#"[{"block": {"reason": "it is scripted"}}]"#, allow, "deny", "it is scripted", (2, 0)),
        (r#"[{"say": "Sure, go ahead"}]"#, allow, "deny", "it holds no clear verdict", (2, 0)),
        (r#"[{"say": "", "stop": "refusal"}]"#, allow, "deny", "it refused to answer", (2, 0)),
        (&down, r#"[{"status": 404}]"#, "deny", "(model or address not found: openai answered 404", (1, 1)),
        (&down, r#"[{"say": "?"}]"#, "deny", "its answer is not JSON", (1, 2)),
    ];
    for way in WAYS {
        for (first, second, decision, says, requests) in table {
            let (sandbox, one, two) = (Sandbox::new(), serve(first), serve(second));
            let fallback = json!({"provider": "openai", "baseUrl": format!("{}/v1", two.url())});
            let told = ask(&sandbox, way, &settings(&one.url(), &json!({"fallback": fallback})));
            let place = format!("{way:?}: {first} then {second}: {told:?}");
            assert_eq!(told.decision, decision, "{place}");
            assert!(told.message.contains(says), "{place}");
            assert_eq!((one.requests().len(), two.requests().len()), requests, "{place}");
        }
    }
}

#[test]
fn a_stand_in_whose_window_is_too_small_is_not_asked() {
    let rows = json!({"models": [{"id": "small", "provider": "chat", "context": 4096}]});
    for (way, on_failure) in ways_and_gates() {
        let (sandbox, one, two) =
            (Sandbox::new(), serve(&format!("[{OUTAGE}]")), serve(r#"[{"allow": true}]"#));
        let file = sandbox.write_home("models.json", &rows.to_string());
        let small = json!({"provider": "chat", "model": "small", "baseUrl": format!("{}/v1", two.url())});
        let fields = json!({"fallback": small, "modelsFile": file, "onFailure": on_failure});
        let told = ask(&sandbox, way, &settings(&one.url(), &fields));
        check("small", &told, way, on_failure, Fate::Gate, "(server error: anthropic answered 500");
        assert_eq!((one.requests().len(), two.requests().len()), (1, 0), "{way:?}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_not_put_to_another_provider() {
    for way in WAYS {
        let (sandbox, one, two) =
            (Sandbox::new(), serve(r#"[{"status": 413}]"#), serve(r#"[{"allow": true}]"#));
        let fallback = json!({"provider": "openai", "baseUrl": format!("{}/v1", two.url())});
        let told = ask(&sandbox, way, &settings(&one.url(), &json!({"fallback": fallback})));
        check("413", &told, way, "deny", Fate::TooLong, "too long for the classifier");
        assert_eq!((one.requests().len(), two.requests().len()), (1, 0), "{way:?}");
    }
}

#[test]
fn a_failure_counts_towards_no_limit_of_denials() {
    let failure = r#"{"fault": "truncated_json"}"#;
    let unclear = r#"{"say": "?"},{"say": "?"}"#;
    let block = r#"{"block": true},{"block": true}"#;
    let script = [block, failure, unclear, block, failure, failure, block].join(",");
    let (sandbox, server) = (Sandbox::new(), serve(&format!("[{script}]")));
    let own = settings(&server.url(), &json!({}));
    let told: Vec<(Option<String>, bool)> = (0..7)
        .map(|_| ask(&sandbox, Way::Headless, &own))
        .inspect(|told| assert_eq!(told.decision, "deny"))
        .map(|told| (told.kind, told.ends_run))
        .collect();
    let kinds: Vec<&str> = told.iter().filter_map(|(kind, _)| kind.as_deref()).collect();
    let expected =
        ["classifier", "unavailable", "unavailable", "classifier", "unavailable", "unavailable", "limit"];
    assert_eq!(kinds, expected);
    assert_eq!(
        told.iter().map(|(_, is_over)| *is_over).collect::<Vec<_>>(),
        [false, false, false, false, false, false, true]
    );
}
