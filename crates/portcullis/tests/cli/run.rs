//! `portcullis run` and `portcullis runs`: a command inside a fence, and what becomes of its changes.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use portcullis_fence::{CallRecord, CallRecordStore, FencePolicy, WriteMode, command_hash};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::{Ran, Sandbox};

fn with_files() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_project("a", "before\n");
    sandbox.write_home(".ssh/id", "secret\n");
    sandbox
}

fn read(sandbox: &Sandbox, name: &str) -> Option<String> {
    fs::read_to_string(sandbox.project.join(name)).ok()
}

/// Returns the run that a command left, as `runs list` tells it.
fn newest(sandbox: &Sandbox) -> Value {
    let listed = sandbox.run(&["runs", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed:?}"));
    listed["runs"][0].clone()
}

#[test]
fn what_a_command_changes_is_held_until_a_person_keeps_it() {
    let sandbox = with_files();
    let ran = sandbox.run(&["run", "--", "bash", "-c", "echo after > a; echo x > b; cat ~/.ssh/id; exit 3"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("2 changes in") && ran.stderr.contains("this ran inside a fence"), "{ran:?}");
    assert_eq!((read(&sandbox, "a").as_deref(), read(&sandbox, "b")), (Some("before\n"), None));
    let run = newest(&sandbox);
    let id = run["id"].as_str().unwrap();
    assert_eq!((run["state"].as_str(), run["exit"]["code"].as_u64()), (Some("held"), Some(3)));
    let diff = sandbox.run(&["runs", "diff", id]);
    assert!(diff.stdout.contains("-before\n+after\n") && diff.stdout.contains("+++ b\n"), "{diff:?}");
    // Nobody keeps it without a terminal.
    let refused = sandbox.run(&["runs", "commit", id]);
    assert_eq!(refused.code, Some(64), "{refused:?}");
    let kept = sandbox.at_terminal(&["runs", "commit", id, "a"], "");
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert_eq!((read(&sandbox, "a").as_deref(), read(&sandbox, "b")), (Some("after\n"), None));
    assert_eq!(sandbox.run(&["runs", "drop", id]).code, Some(0));
    assert_eq!((newest(&sandbox)["state"].as_str(), read(&sandbox, "b")), (Some("dropped"), None));
}

/// What is held waits among the questions too, with its difference, and no daemon is needed for that.
#[test]
fn held_changes_are_questions_in_the_terminal() {
    let sandbox = with_files();
    sandbox.run(&["run", "--", "bash", "-c", "printf 'after\\033[2J\\n' > a; echo x > .envrc"]);
    let run = newest(&sandbox);
    let id = run["id"].as_str().unwrap();
    let listed = sandbox.run(&["questions", "list"]);
    assert!(listed.stdout.contains(id) && listed.stdout.contains("2 held changes, you"), "{listed:?}");
    let listed = sandbox.run(&["questions", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let held = &listed["heldRuns"][0];
    assert_eq!((held["id"].as_str(), held["changes"][0]["path"].as_str()), (Some(id), Some(".envrc")));
    let shown = sandbox.run(&["questions", "show", id.get(..6).unwrap()]);
    let expected = ["modified a", "runs later or steers tools", "-before\n+after\\u{1b}[2J\n"];
    assert!(expected.iter().all(|text| shown.stdout.contains(text)), "{shown:?}");
    let shown: Value =
        serde_json::from_str(&sandbox.run(&["questions", "show", id, "--json"]).stdout).unwrap();
    assert!(shown["difference"].as_array().unwrap().contains(&Value::from("+x")), "{shown}");
    // A yes needs a person, and so does a no.
    for behavior in ["allow", "deny"] {
        let refused = sandbox.run(&[behavior, "--id", id, "--yes"]);
        assert_eq!(refused.code, Some(64), "{refused:?}");
    }
    let wider = sandbox.at_terminal(&["allow", "--id", id, "--session", "--yes"], "");
    assert_eq!(wider.code, Some(64), "{wider:?}");
    let no = sandbox.at_terminal(&["allow", "--id", id], "n\n");
    assert!(no.code == Some(64) && no.stdout.contains("-before"), "{no:?}");
    let kept = sandbox.at_terminal(&["allow", "--id", id], "y\n");
    assert!(kept.code == Some(0) && kept.stdout.contains("kept"), "{kept:?}");
    assert_eq!(read(&sandbox, ".envrc").as_deref(), Some("x\n"));
    sandbox.run(&["run", "--", "bash", "-c", "rm a"]);
    let run = newest(&sandbox);
    let dropped = sandbox.at_terminal(&["deny", "--id", run["id"].as_str().unwrap(), "--yes"], "");
    assert!(dropped.code == Some(0) && read(&sandbox, "a").is_some(), "{dropped:?}");
    // Without a daemon and without held changes nothing waits anywhere.
    assert_eq!(sandbox.run(&["questions", "list"]).code, Some(64));
}

#[test]
fn a_person_is_asked_when_the_command_has_ended() {
    let sandbox = with_files();
    let no = sandbox.at_terminal(&["run", "--", "bash", "-c", "echo after > a"], "n\n");
    assert!(no.stdout.contains("keep these changes?") && no.stdout.contains("held:"), "{no:?}");
    assert_eq!(read(&sandbox, "a").as_deref(), Some("before\n"));
    let yes = sandbox.at_terminal(&["run", "--", "bash", "-c", "echo after > a"], "y\n");
    assert_eq!((yes.code, read(&sandbox, "a").as_deref()), (Some(0), Some("after\n")), "{yes:?}");
}

#[test]
fn flags_answer_without_a_question() {
    let sandbox = with_files();
    let ran = sandbox.run(&["run", "--drop", "--json", "--", "touch", "b"]);
    let run: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((run["state"].as_str(), run["changes"][0]["path"].as_str()), (Some("dropped"), Some("b")));
    let refused = sandbox.run(&["run", "--keep", "--", "touch", "b"]);
    assert_eq!((refused.code, read(&sandbox, "b")), (Some(64), None), "{refused:?}");
    let kept = sandbox.at_terminal(&["run", "--keep", "--", "touch", "b"], "");
    assert_eq!((kept.code, read(&sandbox, "b").as_deref()), (Some(0), Some("")), "{kept:?}");
    let direct = sandbox.run(&["run", "--direct", "--", "touch", "c"]);
    assert_eq!((direct.code, read(&sandbox, "c").as_deref()), (Some(0), Some("")), "{direct:?}");
}

#[test]
fn a_host_that_is_not_listed_is_named() {
    let sandbox = with_files();
    let line = "getent hosts refused.test";
    for hosts in [&[][..], &["--allow-host", "other.test:443"]] {
        let flags = [&["run", "--drop", "--json"], hosts, &["--", "bash", "-c", line]].concat();
        let ran = sandbox.run(&flags);
        assert!(ran.stderr.contains("the fence refused to reach `refused.test`:"), "{ran:?}");
        let run: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        let tried = serde_json::json!([{"host": "refused.test", "port": null, "result": "notListed"}]);
        assert_eq!(run["hosts"], tried);
    }
    let wrong = sandbox.run(&["run", "--allow-host", "*.test", "--", "true"]);
    assert_eq!(wrong.code, Some(64), "{wrong:?}");
}

#[test]
fn the_name_of_a_session_is_a_plain_one() {
    let sandbox = with_files();
    assert_eq!(sandbox.run(&["run", "--drop", "--session", "dev", "--", "true"]).code, Some(0));
    for name in ["", "../calls", "a b"] {
        let wrong = sandbox.run(&["run", "--drop", "--session", name, "--", "touch", "b"]);
        assert_eq!((wrong.code, read(&sandbox, "b")), (Some(64), None), "{wrong:?}");
    }
}

#[test]
fn what_does_not_go_up_runs_nothing() {
    let sandbox = with_files();
    let ran = sandbox.run(&["run", "--", "no-such-program"]);
    assert_eq!(ran.code, Some(127), "{ran:?}");
    let mut command = sandbox.command(&["run", "--", "touch", "b"]);
    let output = super::sandbox::ran(&command.current_dir(&sandbox.home).output().unwrap());
    assert_eq!((output.code, sandbox.home.join("b").exists()), (Some(125), false), "{output:?}");
    assert!(output.stderr.starts_with("portcullis: nothing was run: ") && output.stderr.lines().count() == 1);
}

struct JudgedCall {
    sandbox: Sandbox,
    policy: FencePolicy,
}

impl JudgedCall {
    fn new() -> Self {
        let sandbox = with_files();
        let mut policy = FencePolicy::usual(
            sandbox.project.clone(),
            Some(&sandbox.home),
            vec![sandbox.home.join(".local")],
        );
        policy.mode = WriteMode::Observe(Vec::new());
        Self { sandbox, policy }
    }

    fn calls(&self) -> PathBuf {
        self.sandbox.home.join(".local/state/portcullis/calls")
    }

    fn keep(&self, id: &str, line: &str) {
        let record = CallRecord {
            hash: command_hash(&words(line)),
            directory: self.sandbox.project.clone(),
            policy: self.policy.clone(),
            expires_at_ms: u64::MAX,
        };
        CallRecordStore::at(self.calls()).put(id, &record).unwrap();
    }

    fn run(&self, id: &str, line: &str) -> Ran {
        self.sandbox.run(&["run", "--call", id, "--", "bash", "-c", line])
    }
}

fn words(line: &str) -> Vec<OsString> {
    ["bash", "-c", line].map(OsString::from).to_vec()
}

#[test]
fn a_judged_call_runs_once_and_lands_if_nothing_speaks_against_it() {
    let call = JudgedCall::new();
    call.keep("a1", "echo after > a; echo out; exit 4");
    let ran = call.run("a1", "echo after > a; echo out; exit 4");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), "out\n"), "{ran:?}");
    assert_eq!(read(&call.sandbox, "a").as_deref(), Some("after\n"));
    let again = call.run("a1", "echo after > a; echo out; exit 4");
    assert_eq!((again.code, again.stdout.as_str()), (Some(125), ""), "{again:?}");
    assert_eq!(again.stderr.lines().count(), 1, "{again:?}");
}

#[test]
fn another_command_under_the_id_of_a_judged_call_runs_nothing() {
    let call = JudgedCall::new();
    for (id, line) in [("a1", "touch b"), ("a2", "true"), ("../calls/a1", "true")] {
        let _ = fs::remove_dir_all(call.calls());
        call.keep("a1", "true");
        let ran = call.run(id, line);
        assert_eq!((ran.code, read(&call.sandbox, "b")), (Some(125), None), "{id} {line}: {ran:?}");
    }
    call.keep("a3", "touch b");
    let mut command = call.sandbox.command(&["run", "--call", "a3", "--", "bash", "-c", "touch b"]);
    let elsewhere =
        super::sandbox::ran(&command.current_dir(call.sandbox.project.join("src")).output().unwrap());
    assert_eq!((elsewhere.code, read(&call.sandbox, "src/b")), (Some(125), None), "{elsewhere:?}");
}

#[test]
fn a_judged_call_that_plants_what_runs_later_lands_nothing() {
    let call = JudgedCall::new();
    let line = "mkdir -p sub/.git/hooks; echo x > sub/.git/hooks/pre-commit; echo after > a";
    call.keep("a1", line);
    let ran = call.run("a1", line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("held for a person") && ran.stderr.contains("sub/.git/hooks"), "{ran:?}");
    assert_eq!(
        (read(&call.sandbox, "a").as_deref(), read(&call.sandbox, "sub/.git/hooks/pre-commit")),
        (Some("before\n"), None)
    );
    assert_eq!(newest(&call.sandbox)["state"].as_str(), Some("held"));
}

/// Nothing inside can write the record of a call, so that no command grants itself another one.
#[test]
fn a_fenced_command_writes_no_record() {
    let call = JudgedCall::new();
    fs::create_dir_all(call.calls()).unwrap();
    let line = format!("echo x > {}/a9.json", call.calls().display());
    call.keep("a1", &line);
    assert_ne!(call.run("a1", &line).code, Some(0));
    assert!(!call.calls().join("a9.json").exists());
}
