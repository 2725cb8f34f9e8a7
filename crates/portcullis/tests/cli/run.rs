//! `portcullis run` and `portcullis runs`: a command inside a fence, and what becomes of its changes.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;

use portcullis_fence::{CallRecord, CallRecordStore, FencePolicy, WriteMode, command_hash};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::grants::Scene;
use super::presence::{agent, written};
use super::sandbox::{Ran, Sandbox, ran, stand_ins};

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

/// Runs the program at a terminal; each answer is typed once the text before it was shown so often.
fn answered(sandbox: &Sandbox, line: &str, answers: &[(usize, &str)]) -> (Option<i32>, String) {
    let words = [env!("CARGO_BIN_EXE_portcullis"), "run", "--", "bash", "-c", line];
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let command = sandbox.command(&[]);
    let mut typing = std::process::Command::new("script");
    typing.args(["-qec", &quoted.join(" "), "/dev/null"]).env_clear();
    typing.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).envs(stand_ins());
    typing.envs(std::env::var_os("PATH").map(|path| ("PATH", path))).current_dir(&sandbox.project);
    typing.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = typing.spawn().expect("`script` of bsdutils is needed");
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut byte) = (String::new(), [0]);
    let mut answers = answers.iter();
    let mut next = answers.next();
    while screen.read(&mut byte).is_ok_and(|count| count == 1) {
        shown.push(char::from(byte[0]));
        if let Some((_, typed)) = next.filter(|(count, _)| shown.matches("[y/N] ").count() == *count) {
            keys.write_all(typed.as_bytes()).unwrap();
            next = answers.next();
        }
    }
    (child.wait().unwrap().code(), shown)
}

#[test]
fn a_person_is_asked_when_the_command_has_ended() {
    let sandbox = with_files();
    let (_, no) = answered(&sandbox, "echo after > a", &[(1, "n\n")]);
    assert!(no.contains("keep these changes?") && no.contains("held:"), "{no}");
    assert_eq!(read(&sandbox, "a").as_deref(), Some("before\n"));
    let (code, yes) = answered(&sandbox, "echo after > a", &[(1, "y\n")]);
    assert_eq!((code, read(&sandbox, "a").as_deref()), (Some(0), Some("after\n")), "{yes}");
}

/// A command may print the question itself: what a person answers to that answers nothing else.
#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let sandbox = with_files();
    let line = "echo after > a; printf \"keep these changes? [y/N] \"; sleep 1";
    let (_, shown) = answered(&sandbox, line, &[(1, "y\n"), (2, "n\n")]);
    assert!(shown.contains("held:"), "{shown}");
    assert_eq!(read(&sandbox, "a").as_deref(), Some("before\n"), "{shown}");
}

/// An agent makes a terminal and answers itself: it is not asked, and what its command changed is held.
#[test]
fn an_agent_that_answers_itself_keeps_nothing() {
    let scene = Scene::new();
    let out = scene.sandbox.home.join("out");
    let line = format!(
        "( for n in 1 2 3 4 5 6; do sleep 0.5; echo y; done ) | \
         script -qec '\"$P\" run -- touch made; echo done' /dev/null > '{}' 2>&1",
        out.display()
    );
    let ran = agent(&scene, &line);
    let heard = written(&out);
    assert!(heard.contains("only a person") && heard.contains("held:"), "{heard}\n{ran:?}");
    assert!(!heard.contains("[y/N]") && !scene.sandbox.project.join("made").exists(), "{heard}");
}

/// What a direct run leaves in a cache would be built into other projects, and nobody looks at it first.
#[test]
fn caches_are_read_only_for_a_direct_run() {
    let sandbox = with_files();
    // A home below `/tmp` is not there inside, and nothing could be written to it anyway.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let cache = home.path().join(".cargo/registry");
    fs::create_dir_all(&cache).unwrap();
    fs::write(cache.join("package"), "good\n").unwrap();
    let run = |flag: &str, line: &str| {
        let mut command = sandbox.command(&["run", flag, "--", "bash", "-c", line]);
        ran(&command.env("HOME", home.path()).output().unwrap())
    };
    // It is a cache that runs may write, where they do so into a layer.
    let layered = run("--drop", "cd ~/.cargo/registry && cat package && echo evil > package && cat package");
    assert_eq!((layered.code, layered.stdout.as_str()), (Some(0), "good\nevil\n"), "{layered:?}");
    let line = "cd ~/.cargo/registry; cat package; echo evil > package; echo x > new; chmod 777 package; echo x > $OLDPWD/b";
    let direct = run("--direct", line);
    assert_eq!((direct.code, direct.stdout.as_str()), (Some(0), "good\n"), "{direct:?}");
    assert_eq!(direct.stderr.matches("Read-only file system").count(), 3, "{direct:?}");
    assert_eq!(fs::read_to_string(cache.join("package")).unwrap(), "good\n");
    assert!(!cache.join("new").exists() && read(&sandbox, "b").as_deref() == Some("x\n"));
}

/// A project may name an address of this network as its registry; only a person lists one.
#[test]
fn a_private_registry_of_the_project_is_not_reached() {
    let sandbox = with_files();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    sandbox.write_project("package.json", "{}");
    sandbox.write_project(".npmrc", &format!("registry=http://0.0.0.0:{port}/\n"));
    let line = format!("exec 3<>/dev/tcp/0.0.0.0/{port} && echo reached");
    let ran = sandbox.run(&["run", "--drop", "--registries", "--", "bash", "-c", &line]);
    assert!(ran.code != Some(0) && !ran.stdout.contains("reached"), "{ran:?}");
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err());
}

/// One run that cannot be read is named, and hides no other.
#[test]
fn a_run_that_cannot_be_read_is_listed_and_dropped() {
    let sandbox = with_files();
    sandbox.run(&["run", "--", "bash", "-c", "echo after > a"]);
    let whole = newest(&sandbox)["id"].as_str().unwrap().to_owned();
    let record = sandbox.write_home(".local/state/portcullis/runs/0badbadbad/record.json", "{\"id\":");
    let listed = sandbox.run(&["runs"]);
    assert!(listed.code == Some(0) && listed.stdout.contains(&whole), "{listed:?}");
    assert!(listed.stdout.contains("portcullis runs drop 0badbadbad"), "{listed:?}");
    let dropped = sandbox.run(&["runs", "drop", "0badbadbad"]);
    assert!(dropped.code == Some(0) && !record.exists(), "{dropped:?}");
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
    // A directory that is gone, and one whose name cannot be written down.
    for line in
        ["mkdir gone; cd gone; rmdir ../gone", "mkdir $'a\\xff'; cd $'a\\xff'", "mkdir $'a\\nb'; cd $'a\\nb'"]
    {
        let sandbox = with_files();
        let program = sandbox.command(&["run", "--", "touch", "b"]);
        let mut command = std::process::Command::new("bash");
        let line = format!("{line}; exec \"$0\" run -- touch b");
        command.args(["-c", &line]).arg(program.get_program()).current_dir(&sandbox.project);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = super::sandbox::ran(&command.output().unwrap());
        assert_eq!(ran.code, Some(125), "{line}: {ran:?}");
        assert!(ran.stderr.starts_with("portcullis: nothing was run: "), "{ran:?}");
    }
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
