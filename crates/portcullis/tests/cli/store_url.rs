//! `store.url` and `portcullis store`: which store is used, that machines share it, and that no password is shown.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::sandbox::{Ran, Sandbox};

/// How long a daemon may take to say something.
const PATIENCE: Duration = Duration::from_mins(1);

/// A machine of a fleet.
struct Machine {
    sandbox: Sandbox,
}

impl Machine {
    fn new(settings: &Value) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write_home(".config/portcullis/settings.json", &settings.to_string());
        Self { sandbox }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.sandbox.run(arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    /// Starts a daemon, and returns it with what it says on standard error.
    fn serve(&self) -> (Daemon, Receiver<String>) {
        let mut command = self.sandbox.command(&["serve", "--no-tcp", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (said, heard) = channel();
        let notes = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || notes.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
        let mut first = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut first).unwrap();
        assert!(first.contains("socket"), "{first} {:?}", heard.try_iter().collect::<Vec<_>>());
        (Daemon { child }, heard)
    }
}

/// A daemon that ends with its test.
struct Daemon {
    child: Child,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn shared(url: &str) -> Value {
    json!({"store": {"url": url}})
}

/// Waits until a daemon says something.
fn wait_for(heard: &Receiver<String>, wanted: &str) {
    loop {
        let line = heard.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("nobody said: {wanted}"));
        if line.contains(wanted) {
            return;
        }
    }
}

fn assert_silent_about(secret: &str, ran: &Ran) {
    assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
}

#[test]
fn files_are_the_usual_store() {
    let machine = Machine::new(&json!({}));
    let status = machine.json(&["store", "status", "--json"]);
    assert_eq!(
        (&status["kind"], &status["isUsable"], &status["records"]),
        (&json!("files"), &json!(true), &json!(0))
    );
    let ran = machine.sandbox.run(&["store", "migrate"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "the tables are up to date\n"));
}

#[test]
fn a_database_is_migrated_and_then_used_by_every_command() {
    let server = PostgresServer::shared();
    let machine = Machine::new(&shared(&server.database("store_url_migrated")));
    let status = machine.json(&["store", "status", "--json"]);
    assert_eq!((&status["kind"], &status["isUsable"]), (&json!("postgres"), &json!(false)));
    assert!(status["trouble"].as_str().unwrap().contains("portcullis store migrate"), "{status}");
    assert_eq!(machine.sandbox.run(&["log"]).code, Some(70));

    assert_eq!(machine.sandbox.run(&["store", "migrate"]).code, Some(0));
    let status = machine.json(&["store", "status", "--json"]);
    assert_eq!((&status["isUsable"], &status["records"]), (&json!(true), &json!(0)));
    assert_eq!(status["stepsApplied"], status["stepsKnown"]);
    for arguments in [["log", "--json"], ["grants", "--json"], ["stats", "--json"]] {
        let ran = machine.sandbox.run(&arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?} {}", ran.stderr);
    }
}

#[test]
fn no_command_shows_the_password() {
    let server = PostgresServer::shared();
    let machine = Machine::new(&shared(&server.database("store_url_secret")));
    let commands: [&[&str]; 6] = [
        &["settings", "show"],
        &["settings", "show", "--json"],
        &["store", "status"],
        &["store", "migrate"],
        &["log"],
        &["doctor", "--json"],
    ];
    for arguments in commands {
        assert_silent_about(server.password(), &machine.sandbox.run(arguments));
    }
    let shown = machine.sandbox.run(&["settings", "show"]).stdout;
    assert!(shown.contains("postgres://…@127.0.0.1:"), "{shown}");
    // A server that nobody is at, and a password that is wrong.
    for url in [
        "postgres://me:hunter2@127.0.0.1:1/x".to_owned(),
        server.url("postgres").replace(server.password(), "hunter2"),
    ] {
        let machine = Machine::new(&shared(&url));
        for arguments in commands {
            assert_silent_about("hunter2", &machine.sandbox.run(arguments));
        }
        assert_eq!(machine.sandbox.run(&["log"]).code, Some(70));
        assert_eq!(machine.sandbox.run(&["store", "status"]).code, Some(1));
    }
}

#[test]
fn the_password_may_be_in_a_variable_instead() {
    let server = PostgresServer::shared();
    let url = server.database("store_url_variable").replace(&format!(":{}@", server.password()), "@");
    let machine = Machine::new(&shared(&url));
    let run = |password: &str| {
        let mut command = machine.sandbox.command(&["store", "migrate"]);
        super::sandbox::ran(&command.env("PGPASSWORD", password).output().unwrap())
    };
    let ran = run("wrong-password");
    assert_eq!(ran.code, Some(70));
    assert_silent_about("wrong-password", &ran);
    assert_eq!(run(server.password()).code, Some(0));
}

// Files in place of the store that was meant would be another store.
#[test]
fn an_address_that_is_wrong_is_no_store_at_all() {
    let machine = Machine::new(&shared("mysql://me:hunter2@db/x"));
    for arguments in [&["log"][..], &["grants"], &["store", "status"], &["policy", "list"]] {
        let ran = machine.sandbox.run(arguments);
        assert_eq!(ran.code, Some(64), "{arguments:?}");
        assert!(ran.stderr.contains("the value of `store.url` is wrong"), "{}", ran.stderr);
        assert_silent_about("hunter2", &ran);
    }
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": machine.sandbox.project,
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let ran = machine.sandbox.run_with_input(&["hook", "claude"], call.to_string().as_bytes());
    assert!(ran.code == Some(2) || ran.stdout.contains("\"deny\""), "{ran:?}");
}

// What a repository says about the store is not heard.
#[test]
fn a_repository_does_not_choose_the_store() {
    let machine = Machine::new(&json!({}));
    let theirs = shared("postgres://attacker@127.0.0.1:1/x").to_string();
    machine.sandbox.write_project(".portcullis/settings.json", &theirs);
    machine.sandbox.write_project(".claude/settings.local.json", &theirs);
    assert_eq!(machine.sandbox.run(&["trust", "add"]).code, Some(0));
    assert_eq!(machine.json(&["store", "status", "--json"])["kind"], "files");
    let shown = machine.sandbox.run(&["settings", "show"]).stdout;
    assert_eq!(shown.matches("not used: `store`").count(), 2, "{shown}");
}

#[test]
fn a_policy_published_on_one_machine_is_in_force_on_another_whose_daemon_takes_it() {
    let url = PostgresServer::shared().database("store_url_policy");
    let office = Machine::new(&shared(&url));
    assert_eq!(office.sandbox.run(&["store", "migrate"]).code, Some(0));
    let key = office.sandbox.home.join("ops.key").to_str().unwrap().to_owned();
    let public = office.sandbox.run(&["policy", "keygen", "--out", &key, "--name", "ops"]).stdout;
    let publish = |settings: &str| {
        let file = office.sandbox.write_home("policy.json", settings);
        let ran = office.sandbox.run(&["policy", "publish", file.to_str().unwrap(), "--key", &key]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    publish(r#"{"permissions": {"deny": ["Bash(curl *)"]}}"#);

    let desk = Machine::new(&json!({"store": {"url": url, "policyKeys": [public.trim()]}}));
    assert_eq!(desk.sandbox.run(&["check", "curl x"]).code, Some(3));
    let (daemon, heard) = desk.serve();
    // It is there before anybody can ask for anything.
    assert_eq!(desk.sandbox.run(&["check", "curl x"]).code, Some(2));
    wait_for(&heard, "policy version 1 is in force");
    publish(r#"{"permissions": {"deny": ["Bash(curl *)", "Bash(wget *)"]}}"#);
    wait_for(&heard, "policy version 2 is in force");
    assert_eq!(desk.sandbox.run(&["check", "wget x"]).code, Some(2));

    // Whoever changes the database changes no policy.
    let forge = r#"UPDATE portcullis.policies SET body = replace(body, 'deny', 'allow') WHERE version = 2;
        INSERT INTO portcullis.policies (version, body)
            SELECT 3, replace(body, '"version":2', '"version":3') FROM portcullis.policies WHERE version = 2"#;
    PostgresServer::shared().run_sql("store_url_policy", forge);
    wait_for(&heard, "the signature of policy version 3");
    assert_eq!(desk.sandbox.run(&["check", "wget x"]).code, Some(2));
    let current =
        fs::read_to_string(desk.sandbox.home.join(".local/state/portcullis/policy/current.json")).unwrap();
    assert!(current.contains("\"version\": 2"), "{current}");
    drop(daemon);
    assert_eq!(desk.sandbox.run(&["check", "wget x"]).code, Some(2));
}
