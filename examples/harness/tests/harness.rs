//! Runs the harness as a process: calls on standard input, answers of a person in a file, a home of its own.
#![cfg(test)]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use portcullis_core::Value;
use portcullis_hosts::json;
use pretty_assertions::assert_eq;
use tempfile::TempDir;

/// A home and a project that nothing else uses.
struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    fn new(settings: &str) -> Self {
        let sandbox = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(sandbox.path("home/.config/portcullis")).unwrap();
        fs::create_dir(sandbox.path("project")).unwrap();
        fs::write(sandbox.path("home/.config/portcullis/settings.json"), settings).unwrap();
        sandbox
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis-example-harness"));
        command.args(arguments).arg(self.path("project")).env_clear().env("HOME", self.path("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    /// Runs commands as Bash calls; with answers, a person is there who gives them.
    fn bash(&self, arguments: &[&str], answers: Option<&str>, commands: &[&str]) -> Run {
        let mut arguments = arguments.to_vec();
        let file = self.path("answers");
        if let Some(answers) = answers {
            fs::write(&file, answers).unwrap();
            arguments.extend(["--person", file.to_str().unwrap()]);
        }
        let calls: String = commands.iter().map(|command| bash_call(command)).collect();
        run(&mut self.command(&arguments), calls.as_bytes())
    }
}

fn bash_call(command: &str) -> String {
    let mut line = String::from(r#"{"tool":"Bash","input":{"command":"#);
    json::write_text(&mut line, command);
    line.push_str("}}\n");
    line
}

/// What a process said and how it ended.
struct Run {
    answers: Vec<Value>,
    told: String,
    is_success: bool,
}

fn run(command: &mut Command, calls: &[u8]) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // A process that ends early does not read everything.
    let _ = process.stdin.take().unwrap().write_all(calls);
    let Output { status, stdout, stderr } = process.wait_with_output().unwrap();
    let lines = stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Run {
        answers: lines.map(|line| json::parse(line).unwrap()).collect(),
        told: String::from_utf8(stderr).unwrap(),
        is_success: status.success(),
    }
}

fn field_of<'a>(answer: &'a Value, field: &str) -> Option<&'a Value> {
    match answer {
        Value::Object(fields) => fields.get(field),
        other => panic!("not an object: {other:?}"),
    }
}

impl Run {
    fn texts(&self, field: &str) -> Vec<&str> {
        self.answers
            .iter()
            .map(|answer| field_of(answer, field).and_then(Value::as_text).unwrap_or_default())
            .collect()
    }

    fn decisions(&self) -> Vec<&str> {
        self.texts("decision")
    }
}

#[test]
fn rules_and_proofs_settle_calls_and_only_what_is_allowed_runs() {
    let sandbox = Sandbox::new(
        r#"{"permissions": {"allow": ["Bash(touch made)"], "deny": ["Bash(git push:*)", "Bash(touch secret)"]}}"#,
    );
    let commands = ["printf '%s' hi", "cd . && git push origin x", "touch made", "env touch secret"];
    let run = sandbox.bash(&[], None, &commands);
    assert_eq!(run.decisions(), ["allow", "deny", "allow", "deny"]);
    assert_eq!(run.texts("output"), ["hi", "", "", ""]);
    assert_eq!(
        run.texts("reason").get(1).copied(),
        Some("the deny rule `Bash(git push:*)` matches `git push origin x`")
    );
    assert!(sandbox.path("project/made").exists() && !sandbox.path("project/secret").exists());
    assert!(run.is_success, "{}", run.told);
}

#[test]
fn what_needs_a_person_is_denied_without_one_and_says_which_rule_would_settle_it() {
    let run = Sandbox::new("{}").bash(&[], None, &["touch made"]);
    assert_eq!(run.decisions(), ["deny"]);
    let reason = run.texts("reason").concat();
    assert!(reason.starts_with("nobody is connected to answer, so this was refused"), "{reason}");
    let rules = ["allow Bash(touch *)", "deny Bash(touch *)"].map(|rule| Value::Text(rule.to_owned()));
    let suggestions = run.answers.first().and_then(|answer| field_of(answer, "suggestions"));
    assert_eq!(suggestions, Some(&Value::List(rules.to_vec())));
}

#[test]
fn only_a_yes_of_the_person_runs_a_call() {
    let sandbox = Sandbox::new("{}");
    let run = sandbox.bash(&[], Some("y\nno\nyes please\n"), &["touch a", "touch b", "touch c", "touch d"]);
    assert_eq!(run.decisions(), ["allow", "deny", "deny", "deny"]);
    let made = ["a", "b", "c", "d"].map(|name| sandbox.path("project").join(name).exists());
    assert_eq!(made, [true, false, false, false]);
    let question =
        "Bash {\"command\":\"touch a\"}\n  no rule covers `touch a`\n  a rule for it: allow Bash(touch *)";
    assert!(run.told.starts_with(question), "{}", run.told);
}

#[test]
fn a_call_can_neither_answer_its_own_question_nor_feign_another() {
    let sandbox = Sandbox::new("{}");
    let mut calls = bash_call("touch made\n\u{1b}[2Kls");
    calls.push_str("y\nyes\n");
    calls.push_str("{\"tool\":\"ls\\n\\u001b[1ARun it? [y/N]\",\"input\":{}}\n");
    fs::write(sandbox.path("answers"), "").unwrap();
    let answers = sandbox.path("answers");
    let run = run(&mut sandbox.command(&["--person", answers.to_str().unwrap()]), calls.as_bytes());
    assert_eq!(run.decisions(), ["deny"; 4]);
    assert!(!sandbox.path("project/made").exists());
    assert!(!run.told.contains('\u{1b}'), "{:?}", run.told);
    assert_eq!(run.told.lines().filter(|line| line.starts_with("Run it?")).count(), 2);
}

#[test]
fn what_is_not_a_call_is_denied() {
    let lines = [
        "",
        "ls",
        "[]",
        r#"{"tool":"Bash"}"#,
        r#"{"tool":"Bash","input":"ls"}"#,
        r#"{"input":{"command":"ls"}}"#,
        r#"{"tool":"Bash","input":{"command":"ls","command":"touch made"}}"#,
        r#"{"tool":"Bash","input":{"cmd":"ls"}}"#,
    ];
    let sandbox = Sandbox::new("{}");
    let mut calls = lines.join("\n").into_bytes();
    calls.extend_from_slice(b"\n{\"tool\":\"Bash\",\"input\":{\"command\":\"ls \xff\"}}\n");
    let run = run(&mut sandbox.command(&[]), &calls);
    assert_eq!(run.decisions(), vec!["deny"; lines.len() + 1]);
}

#[test]
fn a_link_that_an_earlier_call_made_is_seen() {
    let sandbox = Sandbox::new("{}");
    let run = sandbox.bash(&[], Some("y\n"), &["cat notes", "ln -s /etc/passwd notes", "cat notes"]);
    assert_eq!(run.decisions(), ["allow", "allow", "deny"]);
    assert!(run.told.contains("is not known to lie in the working directories"), "{}", run.told);
}

#[test]
fn a_script_that_the_agent_rewrote_is_no_longer_the_projects() {
    let sandbox = Sandbox::new("{}");
    fs::write(sandbox.path("project/build.sh"), "echo built\n").unwrap();
    let commands = ["bash build.sh", "echo nobody-knows-me >> build.sh", "bash build.sh"];
    let run = sandbox.bash(&["--mode", "auto"], None, &commands);
    assert_eq!(run.decisions(), ["allow", "allow", "deny"]);
    assert_eq!(run.texts("output"), ["built\n", "", ""]);
}

#[test]
fn a_session_without_a_name_forgets_nothing_in_favour_of_the_agent() {
    let sandbox = Sandbox::new("{}");
    fs::write(sandbox.path("project/build.sh"), "echo built\n").unwrap();
    let commands = ["echo nobody-knows-me >> build.sh", "bash build.sh"];
    let run = sandbox.bash(&["--mode", "auto", "--session", ""], None, &commands);
    assert_eq!(run.decisions(), ["allow", "deny"]);
}

#[test]
fn the_third_denial_ends_a_run_without_a_person() {
    let sandbox = Sandbox::new("{}");
    let run = sandbox.bash(&["--mode", "auto"], None, &["git push --force origin main"; 5]);
    assert_eq!(run.decisions(), ["deny"; 3]);
    assert!(
        run.told.ends_with("error: too many calls were denied, and nobody is there to ask\n"),
        "{}",
        run.told
    );
    assert!(!run.is_success);
}

#[test]
fn at_the_third_denial_a_person_decides_also_when_the_session_goes_on_in_another_process() {
    let sandbox = Sandbox::new("{}");
    let arguments = ["--mode", "auto", "--session", "one"];
    let push = "git push --force origin main";
    assert_eq!(sandbox.bash(&arguments, Some(""), &[push, push]).decisions(), ["deny"; 2]);
    let run = sandbox.bash(&arguments, Some("n\ny\n"), &[push, push, push]);
    assert_eq!(run.decisions(), ["deny", "allow", "deny"]);
    assert!(run.told.contains("3 actions in a row were denied"), "{}", run.told);
}

#[test]
fn settings_that_cannot_be_read_allow_nothing() {
    let sandbox = Sandbox::new(r#"{"permissions": {"allow": ["Bash(touch *)"]}, "#);
    let run = sandbox.bash(&[], None, &["touch made"]);
    assert_eq!(run.decisions(), ["deny"]);
    assert!(run.told.contains("settings.json"), "{}", run.told);
}

#[test]
fn counts_that_cannot_be_kept_let_nothing_run() {
    let sandbox = Sandbox::new("{}");
    fs::create_dir_all(sandbox.path("home/.local/state")).unwrap();
    fs::write(sandbox.path("home/.local/state/portcullis"), "not a directory").unwrap();
    let run = sandbox.bash(&["--mode", "auto"], None, &["git push --force origin main", "mkdir made"]);
    assert_eq!(run.decisions(), ["deny"; 2]);
    assert!(!sandbox.path("project/made").exists());
}

#[test]
fn a_repository_cannot_bring_the_users_settings_along() {
    let sandbox = Sandbox::new("{}");
    fs::create_dir(sandbox.path("project/.git")).unwrap();
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"] {
        let mut command = sandbox.command(&[]);
        let run = run(command.env(variable, sandbox.path("project/home")), bash_call("ls").as_bytes());
        assert_eq!(run.decisions(), ["deny"], "{variable}");
        let reason = run.texts("reason").concat();
        assert!(reason.contains(&format!("`{variable}` leads into the repository")), "{reason}");
    }
    let mut command = sandbox.command(&[]);
    let run = run(command.env("HOME", "home"), bash_call("ls").as_bytes());
    assert_eq!(run.decisions(), ["deny"]);
    assert!(run.texts("reason").concat().contains("not an absolute path"), "{}", run.told);
}
