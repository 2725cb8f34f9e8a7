//! The queue of approvals: a hook that nobody can answer waits for a person, over the real program and a real daemon.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, serve};
use super::sandbox::{Ran, Sandbox, ran};

/// Makes something wrong.
type Change<'a> = &'a dyn Fn(&mut Value);

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A home with these settings of our own.
pub(crate) fn sandbox(settings: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
    sandbox
}

/// What Claude Code writes before it runs a command.
pub(crate) fn claude(sandbox: &Sandbox, command: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": sandbox.project, "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1",
    })
}

/// A hook that runs.
pub(crate) struct Hook(Child);

impl Hook {
    /// Starts the hook of a host where nobody can be asked.
    pub(crate) fn start(sandbox: &Sandbox, host: &str, input: &Value) -> Self {
        let mut command = sandbox.command(&["hook", host, "--headless"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        Self(child)
    }

    fn make_deploy(sandbox: &Sandbox) -> Self {
        Self::start(sandbox, "claude", &claude(sandbox, "make deploy"))
    }

    pub(crate) fn finish(self) -> Ran {
        ran(&self.0.wait_with_output().unwrap())
    }

    /// Waits for what Claude Code would be told: the decision and its reason.
    pub(crate) fn said(self) -> (String, String) {
        let ran = self.finish();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let text = |name: &str| value["hookSpecificOutput"][name].as_str().unwrap().to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }
}

/// Looks until there is something to see.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "there is never {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn open_questions(daemon: &Daemon) -> Vec<Value> {
    let listed = daemon.get("/v1/approvals").as_json();
    listed["approvals"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
}

/// Waits for the one question that is open.
pub(crate) fn question(daemon: &Daemon) -> Value {
    let mut open = until("an open question", || Some(open_questions(daemon)).filter(|open| !open.is_empty()));
    assert_eq!(open.len(), 1, "{open:?}");
    open.remove(0)
}

pub(crate) fn id(question: &Value) -> &str {
    question["id"].as_str().unwrap()
}

pub(crate) fn answer(daemon: &Daemon, question: &Value, body: &Value) -> Answer {
    daemon.post(&format!("/v1/approvals/{}/answer", id(question)), body)
}

pub(crate) fn allow(daemon: &Daemon, question: &Value) -> Value {
    let answered = answer(daemon, question, &json!({"decision": "allow"}));
    assert_eq!(answered.status, 200, "{}", answered.text());
    answered.as_json()
}

#[test]
fn a_headless_call_waits_and_runs_after_an_allow() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let hook = Hook::make_deploy(&sandbox);
    let question = question(&daemon);
    assert_eq!(question["state"], "open");
    assert_eq!(question["question"]["summary"], "make deploy");
    assert_eq!(question["question"]["host"], "claude");
    assert_eq!(question["question"]["hash"], Value::Null, "it is not on the trail");
    assert_eq!(question["question"]["trace"].as_array().unwrap().last().unwrap()["step"], "A11");
    assert_eq!(question["question"]["suggestions"][0]["rule"], "Bash(make deploy *)");
    assert!(question["explanation"]["explanation"].as_str().unwrap().contains("make"), "{question}");
    let answered = allow(&daemon, &question);
    assert_eq!((answered["state"].as_str(), answered["isApplied"].as_bool()), (Some("allowed"), Some(true)));
    assert_eq!(answered["answer"]["scope"], "once");
    let (decision, reason) = hook.said();
    assert_eq!(decision, "allow", "{reason}");
    assert!(reason.contains("a person allowed this very call once"), "{reason}");
    // The decision is on the trail once, as it was made.
    let logged: Value = serde_json::from_str(&sandbox.run(&["log", "--json"]).stdout).unwrap();
    let records = logged["records"].as_array().unwrap();
    let said: Vec<&str> = records.iter().map(|record| record["said"].as_str().unwrap()).collect();
    assert_eq!(said, ["allow"], "{logged}");
    // It was for one call, so the next one asks again.
    let hook = Hook::make_deploy(&sandbox);
    let next = self::question(&daemon);
    assert_ne!(id(&next), id(&question));
    answer(&daemon, &next, &json!({"decision": "deny"}));
    assert_eq!(hook.said().0, "deny");
}

#[test]
fn the_message_of_a_denial_reaches_every_agent() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let gemini = json!({
        "session_id": "g1", "transcript_path": "/nowhere", "cwd": sandbox.project, "hook_event_name": "BeforeTool",
        "timestamp": "2026-03-02T09:14:31.207Z", "tool_name": "run_shell_command",
        "tool_input": {"command": "make deploy"},
    });
    let generic = json!({"event": "call", "session": "x1", "cwd": sandbox.project, "tool": "Bash", "input": {"command": "make deploy"}});
    let mut codex = claude(&sandbox, "make deploy");
    codex["turn_id"] = json!("t");
    codex["model"] = json!("m");
    codex["session_id"] = json!("c1");
    let hosts = [
        ("claude", claude(&sandbox, "make deploy")),
        ("codex", codex),
        ("gemini", gemini),
        ("generic", generic),
    ];
    for (host, input) in hosts {
        let hook = Hook::start(&sandbox, host, &input);
        let question = question(&daemon);
        let said = answer(
            &daemon,
            &question,
            &json!({"decision": "deny", "message": "not before the release \"2.0\""}),
        );
        assert_eq!(said.status, 200, "{}", said.text());
        let ran = hook.finish();
        assert!(ran.stdout.contains("not before the release \\\"2.0\\\""), "{host}: {ran:?}");
        assert!(ran.stdout.contains("deny") || ran.stdout.contains("block"), "{host}: {ran:?}");
        assert!(!ran.stdout.contains("portcullis allow"), "{host}: a person has spoken: {ran:?}");
    }
}

#[test]
fn an_answer_for_the_session_lets_similar_calls_pass_there_alone() {
    let sandbox = sandbox(&json!({"approvals": {"waitSeconds": 30}}));
    let daemon = Daemon::start(&sandbox);
    let hook = Hook::make_deploy(&sandbox);
    let question = question(&daemon);
    let rule = json!({"decision": "allow", "scope": "session", "rule": "Bash(make *)"});
    assert_eq!(answer(&daemon, &question, &rule).status, 200);
    assert_eq!(hook.said().0, "allow");
    let (decision, reason) = Hook::start(&sandbox, "claude", &claude(&sandbox, "make release")).said();
    assert_eq!(decision, "allow", "{reason}");
    assert!(reason.contains("Bash(make *)"), "{reason}");
    let mut elsewhere = claude(&sandbox, "make release");
    elsewhere["session_id"] = json!("s2");
    let hook = Hook::start(&sandbox, "claude", &elsewhere);
    let other = self::question(&daemon);
    answer(&daemon, &other, &json!({"decision": "deny", "scope": "session", "rule": "Bash(make release)"}));
    assert_eq!(hook.said().0, "deny");
    let (decision, reason) = Hook::start(&sandbox, "claude", &elsewhere).said();
    assert_eq!(decision, "deny");
    assert!(reason.contains("the deny rule `Bash(make release)`"), "{reason}");
    assert!(open_questions(&daemon).is_empty(), "a rule of a person is no question");
}

#[test]
fn an_answer_for_always_is_a_rule_of_the_users_settings() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let hook = Hook::make_deploy(&sandbox);
    let question = question(&daemon);
    for (wrong, status) in [
        (json!({"decision": "allow", "scope": "always", "rule": "Bash("}), 400),
        (json!({"decision": "allow", "scope": "once", "rule": "Bash(make *)"}), 400),
        (json!({"decision": "allow", "scope": "forever"}), 422),
        (json!({"decision": "yes"}), 422),
        (json!({"decision": "allow", "message": "x".repeat(2_001)}), 400),
    ] {
        let said = answer(&daemon, &question, &wrong);
        assert_eq!(said.status, status, "{wrong}: {}", said.text());
    }
    // Without a rule the one that the call suggests is taken.
    let said = answer(&daemon, &question, &json!({"decision": "allow", "scope": "always"}));
    assert_eq!(said.as_json()["answer"]["rule"], "Bash(make deploy *)", "{}", said.text());
    assert_eq!(hook.said().0, "allow");
    let settings = fs::read_to_string(sandbox.home.join(".config/portcullis/settings.json")).unwrap();
    assert!(settings.contains("Bash(make deploy *)"), "{settings}");
    let mut elsewhere = claude(&sandbox, "make deploy");
    elsewhere["session_id"] = json!("s2");
    assert_eq!(Hook::start(&sandbox, "claude", &elsewhere).said().0, "allow");
}

#[test]
fn a_call_that_nobody_answers_is_denied_and_a_later_allow_lets_it_pass_once() {
    let sandbox = sandbox(&json!({"approvals": {"waitSeconds": 1}}));
    let daemon = Daemon::start(&sandbox);
    let (decision, reason) = Hook::make_deploy(&sandbox).said();
    assert_eq!(decision, "deny");
    let question = question(&daemon);
    assert!(reason.contains(&format!("still open ({})", id(&question))), "{reason}");
    // Asked again while it is open, it is the same question.
    assert_eq!(Hook::make_deploy(&sandbox).said().0, "deny");
    assert_eq!(id(&self::question(&daemon)), id(&question));
    allow(&daemon, &question);
    assert_eq!(Hook::make_deploy(&sandbox).said().0, "allow");
    assert_eq!(Hook::make_deploy(&sandbox).said().0, "deny", "it was for one call");
}

#[test]
fn a_daemon_that_is_killed_and_started_again_still_answers_who_waits() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let hook = Hook::make_deploy(&sandbox);
    let asked = question(&daemon);
    daemon.kill();
    let daemon = Daemon::start(&sandbox);
    let question = question(&daemon);
    assert_eq!(id(&question), id(&asked));
    allow(&daemon, &question);
    assert_eq!(hook.said().0, "allow");
}

#[test]
fn of_two_answers_at_once_one_counts() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let hook = Hook::make_deploy(&sandbox);
    let question = question(&daemon);
    let (yes, no) = thread::scope(|scope| {
        let yes = scope.spawn(|| answer(&daemon, &question, &json!({"decision": "allow"})));
        let no = scope.spawn(|| answer(&daemon, &question, &json!({"decision": "deny", "message": "no"})));
        (yes.join().unwrap(), no.join().unwrap())
    });
    let mut statuses = [yes.status, no.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", yes.text(), no.text());
    let (late, expected) = if yes.status == 200 { (no, "allow") } else { (yes, "deny") };
    assert_eq!(late.error_code(), "late");
    assert_eq!(late.as_json()["approval"]["answer"]["decision"], expected);
    assert_eq!(hook.said().0, expected);
    let unknown =
        daemon.post(&format!("/v1/approvals/{}/answer", "0".repeat(32)), &json!({"decision": "allow"}));
    assert_eq!(unknown.status, 404);
    assert_eq!(daemon.get("/v1/approvals/..%2f..%2fetc").status, 404);
}

#[test]
fn an_answer_that_was_written_down_is_applied_by_whoever_starts_next() {
    let sandbox = sandbox(&json!({}));
    let mut command = serve(&sandbox, &[]);
    command.env("PORTCULLIS_FAULT", "before-applying");
    let daemon = Daemon::run(&sandbox, command);
    let hook = Hook::make_deploy(&sandbox);
    let question = question(&daemon);
    // It dies between writing the answer down and doing what it says, so that nobody hears back.
    let body = json!({"decision": "allow", "scope": "session", "rule": "Bash(make *)"}).to_string();
    let head = format!(
        "POST /v1/approvals/{}/answer HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        id(&question),
        daemon.address,
        daemon.person_token(),
        body.len()
    );
    let rest = daemon.raw_locally(head.as_bytes());
    assert_eq!(String::from_utf8_lossy(&rest), "");
    drop(daemon);
    let daemon = Daemon::start(&sandbox);
    assert_eq!(hook.said().0, "allow");
    let known = daemon.get(&format!("/v1/approvals/{}", id(&question))).as_json();
    assert_eq!((known["state"].as_str(), known["isApplied"].as_bool()), (Some("allowed"), Some(true)));
    assert_eq!(Hook::start(&sandbox, "claude", &claude(&sandbox, "make release")).said().0, "allow");
}

#[test]
fn without_a_daemon_nothing_waits() {
    let sandbox = sandbox(&json!({}));
    let begun = Instant::now();
    let (decision, reason) = Hook::make_deploy(&sandbox).said();
    assert_eq!(decision, "deny");
    assert!(reason.contains("nobody is connected to answer") && !reason.contains("still open"), "{reason}");
    // So it is where one was killed, and where settings say that nothing waits.
    Daemon::start(&sandbox).kill();
    assert_eq!(Hook::make_deploy(&sandbox).said().1, reason);
    sandbox.write_home(".config/portcullis/settings.json", r#"{"approvals": {"enabled": false}}"#);
    let daemon = Daemon::start(&sandbox);
    assert_eq!(Hook::make_deploy(&sandbox).said().1, reason);
    assert!(open_questions(&daemon).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(50), "something waited");
}

#[test]
fn whoever_asks_cannot_answer() {
    let sandbox = sandbox(&json!({"approvals": {"waitSeconds": 1}}));
    let daemon = Daemon::start(&sandbox);
    assert_eq!(Hook::make_deploy(&sandbox).said().0, "deny");
    let question = question(&daemon);
    let path = format!("/v1/approvals/{}/answer", id(&question));
    let body = json!({"decision": "allow"});
    let token = daemon.hook_token();
    for asking in [daemon.ask("POST", &path), daemon.ask("POST", &path).locally()] {
        let said = asking.token(&token).json(&body).send();
        assert_eq!((said.status, said.error_code().as_str()), (403, "forbidden"));
    }
    for asking in [daemon.ask("POST", &path), daemon.ask("POST", &path).locally()] {
        assert_eq!(asking.json(&body).send().status, 401);
    }
    assert_eq!(id(&self::question(&daemon)), id(&question), "it is still open");
    // It sees what it asked.
    let seen = daemon.ask("GET", &format!("/v1/approvals/{}", id(&question))).token(&token).send();
    assert_eq!(seen.as_json()["state"], "open");
}

#[test]
fn a_question_cannot_show_another_call_than_the_one_it_lifts() {
    let sandbox = sandbox(&json!({"approvals": {"waitSeconds": 1}}));
    let daemon = Daemon::start(&sandbox);
    assert_eq!(Hook::make_deploy(&sandbox).said().0, "deny");
    let known = question(&daemon);
    answer(&daemon, &known, &json!({"decision": "deny"}));
    let token = daemon.hook_token();
    let ask = |change: Change<'_>| {
        let mut body = json!({
            "id": "0123456789abcdef0123456789abcdef", "session": known["session"], "denial": known["denial"],
            "question": known["question"], "explanation": known["explanation"],
        });
        change(&mut body);
        daemon.ask("POST", "/v1/approvals").token(&token).json(&body).send()
    };
    let changes: [(&str, Change<'_>); 7] = [
        ("another summary", &|body| body["question"]["summary"] = json!("ls")),
        ("another tool", &|body| body["question"]["tool"] = json!("Read")),
        ("another directory", &|body| body["question"]["cwd"] = json!("/")),
        ("another denial", &|body| body["denial"] = json!("abcdef-7")),
        ("no id", &|body| body["id"] = json!("../x")),
        ("a field that is not known", &|body| body["state"] = json!("allowed")),
        ("no question", &|body| body["question"] = json!({})),
    ];
    for (name, change) in changes {
        let said = ask(change);
        assert_eq!(said.status, 400, "{name}: {}", said.text());
    }
    // Rules that a person may choose are the call's own.
    let asked =
        ask(&|body| body["question"]["suggestions"] = json!([{"behavior": "allow", "rule": "Bash(*)"}]));
    assert_eq!(asked.status, 201, "{}", asked.text());
    assert_eq!(asked.as_json()["question"]["suggestions"][0]["rule"], "Bash(make deploy *)");
    // Asked again with the same id, it is the same question.
    assert_eq!(ask(&|_| {}).as_json()["id"], asked.as_json()["id"]);
    assert_eq!(open_questions(&daemon).len(), 1);
    let said = answer(&daemon, &asked.as_json(), &json!({"decision": "allow", "scope": "session"}));
    assert_eq!(said.as_json()["answer"]["rule"], "Bash(make deploy *)");
}

#[test]
fn every_file_of_a_patch_is_asked_about() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let patch = "*** Begin Patch\n*** Add File: ../a.rs\n+a\n*** Add File: ../b.rs\n+b\n*** End Patch";
    let mut input = claude(&sandbox, patch);
    input["tool_name"] = json!("apply_patch");
    input["turn_id"] = json!("t");
    input["model"] = json!("m");
    let hook = Hook::start(&sandbox, "codex", &input);
    let first = question(&daemon);
    allow(&daemon, &first);
    let second =
        until("a second question", || open_questions(&daemon).pop().filter(|one| id(one) != id(&first)));
    assert_ne!(first["question"]["summary"], second["question"]["summary"]);
    allow(&daemon, &second);
    let ran = hook.finish();
    assert!(!ran.stdout.contains("deny"), "{ran:?}");
    assert!(open_questions(&daemon).is_empty());
}

/// Takes one request of a webhook and answers it; returns what was posted.
fn take_post(listener: &TcpListener, status: &str, reply: &str) -> Value {
    let (mut stream, _) = listener.accept().unwrap();
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).unwrap();
        text.extend(&buffer[..length]);
        let whole = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
        let wanted = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if wanted.is_none_or(|wanted| body.len() >= wanted) {
            assert!(head.contains("secret-of-the-webhook"), "{head}");
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
                reply.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
            return serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
        }
    }
}

fn with_webhook(listener: &TcpListener) -> (Sandbox, Daemon) {
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let webhook = json!({"url": url, "headers": {"x-key": "$HOOK_KEY"}, "allowedEnvVars": ["HOOK_KEY"]});
    let sandbox = sandbox(&json!({"approvals": {"webhook": webhook}}));
    let mut command = serve(&sandbox, &[]);
    command.env("HOOK_KEY", "secret-of-the-webhook");
    let daemon = Daemon::run(&sandbox, command);
    (sandbox, daemon)
}

#[test]
fn a_webhook_is_told_again_until_it_takes_the_question_and_may_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (sandbox, daemon) = with_webhook(&listener);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let hook = Hook::start(&sandbox, "claude", &claude(&sandbox, &format!("make deploy TOKEN={secret}")));
    let first = take_post(&listener, "503 Busy", "");
    let second =
        take_post(&listener, "200 OK", r#"{"decision":{"behavior":"deny","message":"ask me tomorrow"}}"#);
    assert_eq!(first, second);
    assert_eq!(first["question"]["tool"], "Bash");
    assert!(!first.to_string().contains(secret), "a secret leaves the machine: {first}");
    let link = first["answerUrl"].as_str().unwrap();
    assert!(link.starts_with(&format!("http://{}/approvals/{}?key=", daemon.address, id(&first))), "{link}");
    let (decision, reason) = hook.said();
    assert_eq!(decision, "deny");
    assert!(reason.contains("ask me tomorrow"), "{reason}");
    let known = daemon.get(&format!("/v1/approvals/{}", id(&first))).as_json();
    assert_eq!(known["answer"]["via"], "webhook");
}

#[test]
fn a_link_that_was_sent_answers_its_own_question_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (sandbox, daemon) = with_webhook(&listener);
    let hook = Hook::make_deploy(&sandbox);
    let posted = take_post(&listener, "202 Accepted", "");
    let link = posted["answerUrl"].as_str().unwrap();
    let (page, key) = link.split_once("?key=").unwrap();
    let page = page.strip_prefix(&format!("http://{}", daemon.address)).unwrap();
    // Looking changes nothing, however often, and a wrong key shows nothing.
    for _ in 0..2 {
        let shown = daemon.ask("GET", &format!("{page}?key={key}")).send();
        assert_eq!(shown.status, 200, "{}", shown.text());
        assert!(shown.text().contains("make deploy"));
    }
    assert_eq!(id(&question(&daemon)), id(&posted));
    let wrong = "0".repeat(key.len());
    for path in [page.to_owned(), format!("{page}?key={wrong}")] {
        let shown = daemon.ask("GET", &path).send();
        assert!(shown.status != 200 && !shown.text().contains("make deploy"), "{path}: {}", shown.status);
    }
    let post = |key: &str, choice: &str| {
        let form = format!("choice={choice}&key={key}");
        daemon.ask("POST", &format!("{page}/answer")).form(&form).send()
    };
    assert_ne!(post(&wrong, "once").status, 200);
    let elsewhere = page.replace(id(&posted), &"1".repeat(32));
    let other =
        daemon.ask("POST", &format!("{elsewhere}/answer")).form(&format!("choice=once&key={key}")).send();
    assert_ne!(other.status, 200);
    // It is the right to allow one call, and not to write rules.
    for more in ["session", "always&edited=Bash(*)"] {
        assert_eq!(post(key, more).status, 403, "{more}");
    }
    assert_eq!(id(&question(&daemon)), id(&posted), "it is still open");
    let answered = post(key, "once");
    assert_eq!(answered.status, 200, "{}", answered.text());
    assert_eq!(hook.said().0, "allow");
    post(key, "deny");
    let known = daemon.get(&format!("/v1/approvals/{}", id(&posted))).as_json();
    assert_eq!(
        (known["state"].as_str(), known["answer"]["via"].as_str()),
        (Some("allowed"), Some("webhook"))
    );
}

#[test]
fn a_notification_of_the_desktop_answers_and_goes_away() {
    let sandbox = sandbox(&json!({"approvals": {"desktop": true}}));
    let (told, gone) = (sandbox.home.join("told"), sandbox.home.join("gone"));
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done > '{0}.part'\nmv '{0}.part' '{0}'\nif [ -e '{1}' ]; then exec sleep 600; fi\necho allow\n",
        told.display(),
        gone.display()
    );
    let program = sandbox.write_home("bin/notify-send", &script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = serve(&sandbox, &[]);
    command.env("PORTCULLIS_FAULT", format!("notifier={}", program.display()));
    let daemon = Daemon::run(&sandbox, command);
    let (decision, _) = Hook::start(&sandbox, "claude", &claude(&sandbox, "make '<b>deploy</b>'")).said();
    assert_eq!(decision, "allow");
    let words = fs::read_to_string(&told).unwrap();
    assert!(words.contains("make '&lt;b&gt;deploy&lt;/b&gt;'"), "{words}");
    assert!(words.contains("--action=allow=Allow once\n--action=deny=Deny\n--\n"), "{words}");
    let known = daemon.get("/v1/approvals?state=allowed").as_json();
    assert_eq!(known["approvals"][0]["answer"]["via"], "desktop");
    // One that nobody clicks is taken away when the question ended elsewhere.
    fs::write(&gone, "").unwrap();
    fs::remove_file(&told).unwrap();
    let hook = Hook::make_deploy(&sandbox);
    until("a notification", || told.exists().then_some(()));
    let question = question(&daemon);
    answer(&daemon, &question, &json!({"decision": "deny"}));
    assert_eq!(hook.said().0, "deny");
}

#[test]
fn mcp_clients_wait_as_well() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let mut dialogue =
        super::dialogue::Dialogue::start(sandbox.command(&["mcp", "--headless"]).stderr(Stdio::null()));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}});
    dialogue.ask(&hello);
    dialogue.say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "approve", "arguments": {"tool_name": "Bash", "input": {"command": "make deploy"}}}});
    dialogue.say(format!("{call}\n").as_bytes());
    allow(&daemon, &question(&daemon));
    let said = dialogue.hear_json();
    assert!(said.to_string().contains(r#"\"behavior\":\"allow\""#), "{said}");
    dialogue.finish();
}

#[test]
fn a_shared_store_without_a_daemon_that_keeps_it_blocks_everything() {
    let sandbox = sandbox(&json!({"store": {"url": "postgres://127.0.0.1:1/nowhere"}}));
    let ran = Hook::start(&sandbox, "claude", &claude(&sandbox, "ls")).finish();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stdout.contains("deny") && ran.stderr.contains("no daemon runs here"), "{ran:?}");
    assert!(!sandbox.home.join(".local/state/portcullis/audit").exists(), "nothing is kept in files instead");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": sandbox.project,
        "prompt": "do not push"});
    let ran = Hook::start(&sandbox, "claude", &prompt).finish();
    assert_eq!(ran.code, Some(2), "a prompt that cannot be kept is not taken: {ran:?}");
}

#[test]
fn whoever_stops_waiting_leaves_the_question_open() {
    let sandbox = sandbox(&json!({}));
    let daemon = Daemon::start(&sandbox);
    let mut gone = Hook::make_deploy(&sandbox);
    let asked = question(&daemon);
    gone.0.kill().unwrap();
    gone.0.wait().unwrap();
    // A daemon that is asked to stop waits for nobody who waits for a person.
    let hook = Hook::make_deploy(&sandbox);
    let begun = Instant::now();
    let (code, stderr) = daemon.stop();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it waited for {:?}", begun.elapsed());
    let daemon = Daemon::start(&sandbox);
    let question = question(&daemon);
    assert_eq!(id(&question), id(&asked));
    allow(&daemon, &question);
    let told = hook.said();
    // The second hook may have come while the daemon stopped; then it is denied as without one, and tries again.
    if told.0 == "deny" {
        assert_eq!(Hook::make_deploy(&sandbox).said().0, "allow", "{told:?}");
    }
}
