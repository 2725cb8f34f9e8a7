//! A fleet: two daemons with homes of their own and one PostgreSQL between them. What one is told the other knows, and
//! when one is killed the other goes on.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::approvals::{Hook, allow, answer, claude, id, open_questions, question, sandbox as home, until};
use super::daemon::{Daemon, serve, signal};
use super::daemon_load::{Caller, assert_on_trail, trail};
use super::dialogue::Dialogue;
use super::sandbox::{Ran, Sandbox, ran};

/// The longest that a call may take to be refused while the database is away.
const LONGEST_REFUSAL: Duration = Duration::from_mins(1);

/// A machine of the fleet.
struct Machine {
    sandbox: Sandbox,
    daemon: Daemon,
}

impl Machine {
    fn start(settings: &Value) -> Self {
        let sandbox = home(settings);
        let daemon = Daemon::start(&sandbox);
        Self { sandbox, daemon }
    }

    /// Starts the hook of Claude Code for a command of session `s1`, where nobody can be asked.
    fn hook(&self, command: &str) -> Hook {
        Hook::start(&self.sandbox, "claude", &claude(&self.sandbox, command))
    }

    /// Has a call judged and returns the decision.
    fn decision(&self, call: &Value) -> String {
        let answer = self.daemon.post("/v1/decide", call);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.as_json()["decision"].as_str().unwrap().to_owned()
    }

    /// Has a call judged and returns the id of its record.
    fn record(&self, call: &Value) -> String {
        let answer = self.daemon.post("/v1/decide", call).as_json();
        answer["record"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Returns how many denials of a session are counted, in a row and in total.
    fn denials(&self, session: &str) -> (u64, u64) {
        let kept = self.daemon.get(&format!("/v1/sessions/{session}")).as_json();
        let count = |name: &str| kept["denials"][name].as_u64().unwrap_or_else(|| panic!("{kept}"));
        (count("inARow"), count("total"))
    }

    fn assert_trail_is_whole(&self) {
        let verified = self.sandbox.run(&["log", "verify"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
    }
}

fn shared(url: &str) -> Value {
    json!({"store": {"url": url}})
}

/// Starts two machines at once that share an empty database.
fn two(database: &str) -> (Machine, Machine) {
    let settings = shared(&PostgresServer::shared().database(database));
    thread::scope(|scope| {
        let other = scope.spawn(|| Machine::start(&settings));
        (Machine::start(&settings), other.join().unwrap())
    })
}

/// Makes a call of a command in a machine's project.
fn call(machine: &Machine, session: &str, mode: &str, command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}, "cwd": machine.sandbox.project, "session": session, "mode": mode})
}

/// Says whether an agent was told to go on.
fn is_allowed(ran: &Ran) -> bool {
    let is_refused = ["\"deny\"", "\"ask\"", "\"block\""].iter().any(|word| ran.stdout.contains(word));
    ran.code == Some(0) && !is_refused
}

#[test]
fn denials_are_counted_over_all_daemons() {
    let (one, other) = two("fleet_denials");
    let push = call(&one, "s1", "auto", "git push --force origin main");
    assert_eq!(one.decision(&push), "deny");
    assert_eq!(other.denials("s1"), (1, 1));
    assert_eq!(other.decision(&push), "deny");
    assert_eq!(one.decision(&push), "ask", "three in a row need a person, wherever they were denied");
    assert_eq!((one.denials("s1"), other.denials("s1")), ((3, 3), (3, 3)));
    assert_eq!(other.decision(&call(&one, "s1", "auto", "ls")), "allow");
    assert_eq!(one.denials("s1").0, 0, "an allowed call ends the run");
    // Counted at once at both, none is lost.
    let push = call(&one, "s2", "auto", "git push --force origin main");
    thread::scope(|scope| {
        for machine in [&one, &other, &one, &other] {
            let push = &push;
            scope.spawn(move || (0..4).for_each(|_| _ = machine.decision(push)));
        }
    });
    assert_eq!(one.denials("s2"), (16, 16));
    let ids: BTreeSet<String> = trail(&one.daemon)
        .iter()
        .filter(|record| record["session"] == "s2")
        .map(|record| record["denial"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 16, "each has an id of its own");
}

#[test]
fn a_grant_holds_at_every_daemon_and_is_used_up_once() {
    let (one, other) = two("fleet_grants");
    let make = call(&one, "s1", "default", "make all");
    assert_eq!((one.decision(&make), other.decision(&make)), ("ask".to_owned(), "ask".to_owned()));
    let granted = one.sandbox.at_terminal(&["allow", "Bash(make:*)", "--uses", "3", "--yes"], "");
    assert_eq!(granted.code, Some(0), "{}", granted.stdout);
    let listed = other.daemon.get("/v1/grants").as_json();
    assert_eq!(listed["grants"][0]["rule"], "Bash(make:*)", "{listed}");
    // Of many at once at both daemons exactly three are allowed.
    let allowed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for machine in [&one, &other, &one, &other] {
            let (make, allowed) = (&make, &allowed);
            scope.spawn(move || {
                for _ in 0..3 {
                    allowed.fetch_add(usize::from(machine.decision(make) == "allow"), Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(allowed.into_inner(), 3);
    // What is taken back at one is gone at the other.
    let granted = one.sandbox.at_terminal(&["allow", "Bash(make:*)", "--minutes", "5", "--yes"], "");
    assert_eq!(granted.code, Some(0), "{}", granted.stdout);
    assert_eq!(other.decision(&make), "allow");
    let listed = other.daemon.get("/v1/grants").as_json();
    let path = format!("/v1/grants/{}", listed["grants"][0]["id"].as_str().unwrap());
    let revoked = other.daemon.ask("DELETE", &path).locally().token(&other.daemon.person_token()).send();
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    assert_eq!(one.decision(&make), "ask");
}

#[test]
fn a_question_asked_at_one_daemon_is_answered_at_another() {
    let (one, other) = two("fleet_approvals");
    let hook = one.hook("make deploy");
    let asked = question(&other.daemon);
    assert_eq!(asked["question"]["summary"], "make deploy");
    let rule = json!({"decision": "allow", "scope": "session", "rule": "Bash(make *)"});
    assert_eq!(answer(&other.daemon, &asked, &rule).status, 200);
    let (decision, reason) = hook.said();
    assert_eq!(decision, "allow", "{reason}");
    // What was granted on the way holds where it was asked and where it was answered.
    for machine in [&one, &other] {
        let (decision, reason) =
            Hook::start(&machine.sandbox, "claude", &claude(&one.sandbox, "make release")).said();
        assert_eq!(decision, "allow", "{reason}");
        assert!(reason.contains("Bash(make *)"), "{reason}");
    }
    // A denial reaches the agent with its words.
    let hook = one.hook("./deploy.sh");
    let asked = question(&other.daemon);
    let denied =
        answer(&other.daemon, &asked, &json!({"decision": "deny", "message": "wait for the release"}));
    assert_eq!(denied.status, 200, "{}", denied.text());
    let (decision, reason) = hook.said();
    assert_eq!(decision, "deny");
    assert!(reason.contains("wait for the release"), "{reason}");
    assert!(open_questions(&one.daemon).is_empty());
}

#[test]
fn of_two_answers_at_two_daemons_at_once_one_counts() {
    let (one, other) = two("fleet_race");
    for round in 0..5 {
        let hook = one.hook(&format!("make round-{round}"));
        let asked = question(&one.daemon);
        let (yes, no) = thread::scope(|scope| {
            let yes = scope.spawn(|| answer(&one.daemon, &asked, &json!({"decision": "allow"})));
            let no =
                scope.spawn(|| answer(&other.daemon, &asked, &json!({"decision": "deny", "message": "no"})));
            (yes.join().unwrap(), no.join().unwrap())
        });
        let mut statuses = [yes.status, no.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", yes.text(), no.text());
        let (late, expected) = if yes.status == 200 { (no, "allow") } else { (yes, "deny") };
        assert_eq!(late.as_json()["approval"]["answer"]["decision"], expected);
        assert_eq!(hook.said().0, expected);
    }
}

#[test]
fn the_decisions_of_both_are_one_chain_and_are_seen_live_at_both() {
    let (one, other) = two("fleet_audit");
    let list = call(&one, "s1", "default", "ls");
    let told: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> = [&one, &other, &one, &other]
            .map(|machine| {
                let list = &list;
                scope.spawn(move || (0..25).map(|_| machine.record(list)).collect::<Vec<_>>())
            })
            .into();
        running.into_iter().flat_map(|calls| calls.join().unwrap()).collect()
    });
    assert_eq!(told.len(), 100);
    for machine in [&one, &other] {
        let records = trail(&machine.daemon);
        assert_eq!(records.len(), 100);
        assert_on_trail(&records, &told);
        machine.assert_trail_is_whole();
    }
    let shown = other.daemon.get(&format!("/v1/decisions/{}", one.record(&list))).as_json();
    assert_eq!(shown["summary"], "ls", "{shown}");
    // Whoever watches the one sees what the other decides.
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        other.daemon.address,
        other.daemon.person_token()
    );
    let watched = BufReader::new(other.daemon.raw(request.as_bytes()));
    let (sender, heard) = channel();
    thread::spawn(move || watched.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut decided = Vec::new();
    until("a decision of the other daemon", || {
        decided.push(one.record(&list));
        let mut lines = heard.try_iter().filter(|line| line.starts_with("data:"));
        lines.any(|line| decided.iter().any(|id| line.contains(id))).then_some(())
    });
}

#[test]
fn one_daemon_is_killed_and_the_other_goes_on() {
    let (one, other) = two("fleet_killed");
    let hook = one.hook("make deploy");
    let asked = question(&other.daemon);
    let (list, is_dead, count) =
        (call(&one, "s2", "default", "ls"), AtomicBool::new(false), AtomicUsize::new(0));
    let (before, beside, after) = thread::scope(|scope| {
        let dying = scope.spawn(|| {
            let mut caller = Caller::new(&one.daemon);
            let acknowledged = std::iter::from_fn(|| caller.decide(&list)).map(|answer| {
                count.fetch_add(1, Ordering::SeqCst);
                answer["record"].as_str().unwrap().to_owned()
            });
            acknowledged.collect::<Vec<_>>()
        });
        let living = scope.spawn(|| {
            let (mut beside, mut after) = (Vec::new(), Vec::new());
            while after.len() < 20 {
                let kept = if is_dead.load(Ordering::SeqCst) { &mut after } else { &mut beside };
                kept.push(other.record(&list));
            }
            (beside, after)
        });
        until("something acknowledged", || (count.load(Ordering::SeqCst) >= 20).then_some(()));
        signal("KILL", one.daemon.pid());
        let before = dying.join().unwrap();
        is_dead.store(true, Ordering::SeqCst);
        let (beside, after) = living.join().unwrap();
        (before, beside, after)
    });
    let ran = hook.finish();
    assert!(!is_allowed(&ran), "nobody allowed it: {ran:?}");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let records = trail(&other.daemon);
    for told in [&before, &beside, &after] {
        assert_on_trail(&records, told);
    }
    other.assert_trail_is_whole();
    // Its question is still open, and an answer lets the same call pass, once.
    assert_eq!(id(&question(&other.daemon)), id(&asked));
    allow(&other.daemon, &asked);
    let Machine { sandbox, daemon } = one;
    drop(daemon);
    let one = Machine { daemon: Daemon::start(&sandbox), sandbox };
    let (decision, reason) = one.hook("make deploy").said();
    assert_eq!(decision, "allow", "{reason}");
    let hook = one.hook("make deploy");
    answer(&other.daemon, &question(&other.daemon), &json!({"decision": "deny"}));
    assert_eq!(hook.said().0, "deny", "it was for one call");
    other.assert_trail_is_whole();
}

#[test]
fn an_answer_that_a_killed_daemon_wrote_down_is_done_by_the_other() {
    let settings = shared(&PostgresServer::shared().database("fleet_applying"));
    let other = Machine::start(&settings);
    let sandbox = home(&settings);
    let mut command = serve(&sandbox, &[]);
    command.env("PORTCULLIS_FAULT", "before-applying");
    let one = Daemon::run(&sandbox, command);
    let hook = other.hook("make deploy");
    let asked = question(&one);
    // It dies between writing the answer down and doing what it says, so that nobody hears back.
    let body = r#"{"decision": "allow"}"#;
    let request = format!(
        "POST /v1/approvals/{}/answer HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        id(&asked),
        one.address,
        one.person_token(),
        body.len()
    );
    let heard = one.raw_locally(request.as_bytes());
    assert_eq!(String::from_utf8_lossy(&heard), "");
    assert_eq!(hook.said().0, "allow");
    let known = other.daemon.get(&format!("/v1/approvals/{}", id(&asked))).as_json();
    assert_eq!((&known["state"], &known["isApplied"]), (&json!("allowed"), &json!(true)));
    let late = answer(&other.daemon, &asked, &json!({"decision": "deny"}));
    assert_eq!(late.status, 409, "{}", late.text());
}

#[test]
fn while_the_database_is_away_nothing_is_allowed_and_afterwards_everything_is_as_before() {
    let mut server = PostgresServer::start();
    let mut settings = shared(&server.database("fleet_away"));
    settings["approvals"] = json!({"waitSeconds": 75});
    let machines = [Machine::start(&settings), Machine::start(&settings)];
    let [one, other] = &machines;
    let list = call(one, "s1", "default", "ls");
    let told: Vec<String> = (0..10).flat_map(|_| [one.record(&list), other.record(&list)]).collect();
    let hook = one.hook("make deploy");
    let asked = question(&other.daemon);
    server.kill();
    for machine in &machines {
        let begun = Instant::now();
        let refused = machine.daemon.post("/v1/decide", &list);
        assert_eq!(refused.status, 500, "{}", refused.text());
        assert!(!refused.text().contains(server.password()), "{}", refused.text());
        let ran = machine.hook("ls").finish();
        assert!(!is_allowed(&ran) && ran.stdout.contains("deny"), "{ran:?}");
        assert_eq!(machine.daemon.get("/v1/approvals").status, 500);
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1",
            "cwd": machine.sandbox.project, "prompt": "do not push"});
        let ran = Hook::start(&machine.sandbox, "claude", &prompt).finish();
        assert_eq!(ran.code, Some(2), "a prompt that cannot be kept is not taken: {ran:?}");
        assert_eq!(answer(&machine.daemon, &asked, &json!({"decision": "allow"})).status, 500);
        assert!(begun.elapsed() < LONGEST_REFUSAL, "it took {:?}", begun.elapsed());
    }
    server.restart();
    for machine in &machines {
        until("an answer", || (machine.daemon.post("/v1/decide", &list).status == 200).then_some(()));
    }
    // Whoever waited all the while is answered.
    allow(&other.daemon, &asked);
    let (decision, reason) = hook.said();
    assert_eq!(decision, "allow", "{reason}");
    assert_on_trail(&trail(&one.daemon), &told);
    other.assert_trail_is_whole();
}

/// What Codex writes before it runs a command.
fn codex(sandbox: &Sandbox, command: &str) -> Value {
    let mut input = claude(sandbox, command);
    input["turn_id"] = json!("t");
    input["model"] = json!("m");
    input["session_id"] = json!("c1");
    input
}

#[test]
fn a_hook_is_answered_as_without_a_shared_store() {
    let permissions = json!({"allow": ["Bash(cargo test:*)"], "deny": ["Bash(git push:*)"]});
    let mut settings = shared(&PostgresServer::shared().database("fleet_hooks"));
    settings["permissions"] = permissions.clone();
    let machine = Machine::start(&settings);
    let alone = home(&json!({"permissions": permissions}));
    for (host, input) in [("claude", claude as fn(&Sandbox, &str) -> Value), ("codex", codex)] {
        for (command, is_fine) in [("ls", true), ("cargo test -q", true), ("git push", false)] {
            let run = |sandbox: &Sandbox| {
                let input = input(sandbox, command).to_string();
                let ran = sandbox.run_with_input(&["hook", host], input.as_bytes());
                Ran { stdout: sandbox.plain(&ran.stdout), stderr: sandbox.plain(&ran.stderr), ..ran }
            };
            let told = run(&machine.sandbox);
            assert_eq!(told, run(&alone), "{host} {command}");
            assert_eq!(is_allowed(&told), is_fine, "{host} {command}: {told:?}");
        }
        let hook = Hook::start(&machine.sandbox, host, &input(&machine.sandbox, "make deploy"));
        allow(&machine.daemon, &question(&machine.daemon));
        let ran = hook.finish();
        assert!(is_allowed(&ran), "{host}: {ran:?}");
    }
    let records = trail(&machine.daemon);
    for host in ["claude", "codex"] {
        let mine = records.iter().filter(|record| record["host"] == host);
        let told: Vec<&str> = mine.map(|record| record["decision"].as_str().unwrap()).collect();
        assert_eq!(told, ["allow", "deny", "allow", "allow"], "{host}, the newest first");
    }
    // Nothing of it is kept in files instead.
    for name in ["audit", "sessions"] {
        assert!(!machine.daemon.state().join(name).exists(), "{name}");
    }
}

// What an agent says in variables is part of the call, whoever judges it.
#[test]
fn what_an_agent_says_in_variables_reaches_the_daemon() {
    let machine = Machine::start(&shared(&PostgresServer::shared().database("fleet_variables")));
    let alone = home(&json!({}));
    let run = |sandbox: &Sandbox, host: &str, variables: &[(&str, &str)], input: &Value| {
        let mut command = sandbox.command(&["hook", host]);
        command.envs(variables.iter().copied()).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        ran(&child.wait_with_output().unwrap())
    };
    // What the project forbids holds where the session has moved to, also if its name is not ASCII.
    for sandbox in [&machine.sandbox, &alone] {
        let theirs = json!({"permissions": {"deny": ["Bash(ls:*)"]}}).to_string();
        let file = sandbox.write_home("projekt-ö/.portcullis/settings.json", &theirs);
        let project = file.parent().unwrap().parent().unwrap().to_str().unwrap();
        let claude = claude(sandbox, "ls");
        let gemini = json!({
            "hook_event_name": "BeforeTool", "session_id": "g1", "cwd": sandbox.project,
            "tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        });
        for (host, variable, input) in
            [("claude", "CLAUDE_PROJECT_DIR", claude), ("gemini", "GEMINI_PROJECT_DIR", gemini)]
        {
            let free = run(sandbox, host, &[], &input);
            assert!(!free.stdout.contains("deny"), "{host}: {free:?}");
            let told = run(sandbox, host, &[(variable, project)], &input);
            assert!(told.stdout.contains("deny") && told.stdout.contains("Bash(ls:*)"), "{host}: {told:?}");
        }
        let amp = [("AGENT_TOOL_NAME", "Bash"), ("AMP_THREAD_ID", "T-1")];
        assert_eq!(run(sandbox, "amp", &amp, &json!({"cmd": "ls"})).code, Some(0));
    }
    let sessions: BTreeSet<String> =
        trail(&machine.daemon).iter().map(|record| record["session"].as_str().unwrap().to_owned()).collect();
    assert!(sessions.contains("T-1"), "{sessions:?}");
}

#[test]
fn what_the_user_forbids_at_one_machine_holds_at_the_other() {
    let (one, other) = two("fleet_facts");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": one.sandbox.project,
        "prompt": "Fix the login. Please don't push."});
    let ran = one.sandbox.run_with_input(&["hook", "claude"], prompt.to_string().as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let reason = |session: &str| {
        let mut input = claude(&one.sandbox, "git push origin topic");
        input["session_id"] = json!(session);
        input["permission_mode"] = json!("auto");
        Hook::start(&other.sandbox, "claude", &input).said()
    };
    let (decision, why) = reason("s1");
    assert!(decision == "deny" && why.contains("Please don't push"), "{decision}: {why}");
    let (_, why) = reason("s2");
    assert!(!why.contains("Please don't push"), "another session: {why}");
}

#[test]
fn an_mcp_client_asks_the_fleet_and_is_recorded_there() {
    let (one, other) = two("fleet_mcp");
    let mut dialogue = Dialogue::start(one.sandbox.command(&["mcp", "--headless"]).stderr(Stdio::null()));
    dialogue.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}));
    dialogue.say(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let approve = |id: u32, command: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "approve", "arguments": {"tool_name": "Bash", "input": {"command": command}}}})
    };
    let allowed = r#"\"behavior\":\"allow\""#;
    let said = dialogue.ask(&approve(2, "ls")).to_string();
    assert!(said.contains(allowed), "{said}");
    dialogue.say(format!("{}\n", approve(3, "make deploy")).as_bytes());
    allow(&other.daemon, &question(&other.daemon));
    let said = dialogue.hear_json().to_string();
    assert!(said.contains(allowed), "{said}");
    dialogue.finish();
    let records = trail(&other.daemon);
    let told: Vec<&Value> = records.iter().map(|record| &record["summary"]).collect();
    assert_eq!(told, [&json!("make deploy"), &json!("ls")], "the newest first");
    other.assert_trail_is_whole();
}

#[test]
fn a_policy_published_at_one_machine_is_in_force_at_the_hooks_of_the_other() {
    let url = PostgresServer::shared().database("fleet_policy");
    let one = Machine::start(&shared(&url));
    let key = one.sandbox.home.join("ops.key").to_str().unwrap().to_owned();
    let public = one.sandbox.run(&["policy", "keygen", "--out", &key, "--name", "ops"]).stdout;
    let publish = |settings: &str| {
        let file = one.sandbox.write_home("policy.json", settings);
        let ran = one.sandbox.run(&["policy", "publish", file.to_str().unwrap(), "--key", &key]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    publish("{}");
    let other = Machine::start(&json!({"store": {"url": url, "policyKeys": [public.trim()]}}));
    assert_eq!(other.hook("ls -la").said().0, "allow");
    publish(r#"{"permissions": {"deny": ["Bash(ls *)"]}}"#);
    let reason = until("a denial", || Some(other.hook("ls -la").said()).filter(|said| said.0 == "deny")).1;
    assert!(reason.contains("Bash(ls *)"), "{reason}");
    assert_eq!(one.hook("ls -la").said().0, "allow", "this one trusts no key");
}

#[test]
fn a_wrong_password_is_told_without_the_password() {
    let server = PostgresServer::shared();
    let url = server.database("fleet_password").replace(server.password(), "hunter2");
    let sandbox = home(&shared(&url));
    let ended = sandbox.run(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(70), ""), "{ended:?}");
    assert!(ended.stderr.contains("password authentication failed"), "{}", ended.stderr);
    let call = claude(&sandbox, "ls").to_string();
    let hook = sandbox.run_with_input(&["hook", "claude"], call.as_bytes());
    assert!(!is_allowed(&hook) && hook.stdout.contains("deny"), "{hook:?}");
    for ran in [ended, hook, sandbox.run(&["log"]), sandbox.run(&["doctor"])] {
        assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    }
}
