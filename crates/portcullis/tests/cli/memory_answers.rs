//! Whose yes is remembered: answers of a person on the page and in a terminal, over a real daemon; nothing that an agent or
//! its host tells us afterwards.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::approvals::{answer, id, open_questions, question};
use super::daemon::Daemon;
use super::grants::said;
use super::memory::{ALIKE, ALLOWED, Repository};
use super::presence::{agent, started};
use super::sandbox::ran;

/// A repository whose questions wait for an answer.
struct Desk {
    repository: Repository,
    daemon: Daemon,
}

impl Desk {
    fn new() -> Self {
        let repository = Repository::new();
        let daemon = Daemon::start(&repository.scene.sandbox);
        Self { repository, daemon }
    }

    /// Starts a hook with a call of a session, perhaps of a subagent.
    fn ask(&self, session: &str, command: &str, subagent: Option<&str>) -> Child {
        let mut input: Value =
            serde_json::from_str(&self.repository.scene.bash(session, "default", command)).unwrap();
        if let Some(agent) = subagent {
            input["agent_id"] = json!(agent);
            input["agent_type"] = json!("Explore");
        }
        let mut hook = self.repository.scene.sandbox.command(&["hook", "claude", "--headless"]);
        let mut hook = hook.env("PATH", self.repository.path()).stdin(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        hook
    }

    /// Answers the one question of a call in a terminal.
    fn allow_in_terminal(&self, hook: Child) {
        let question = question(&self.daemon);
        let words = ["allow", "--id", id(&question), "--yes"];
        let ran = self.repository.scene.at_terminal(&words, "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(heard(hook).0, "allow");
    }

    /// Has a call decided that must not wait for anybody.
    fn runs_by_memory(&self, session: &str, command: &str, subagent: Option<&str>) {
        let (decision, text) = heard(self.ask(session, command, subagent));
        assert_eq!(decision, "allow", "{text}");
        assert!(text.contains("you allowed `bd update` here on "), "{text}");
        assert!(open_questions(&self.daemon).is_empty());
    }

    /// Has a call decided that must wait, and denies it.
    fn is_asked(&self, session: &str, command: &str) {
        let hook = self.ask(session, command, None);
        let denied = answer(&self.daemon, &question(&self.daemon), &json!({"decision": "deny"}));
        assert_eq!(denied.status, 200, "{}", denied.text());
        assert_eq!(heard(hook).0, "deny", "{command}");
    }
}

fn heard(hook: Child) -> (String, String) {
    said(&ran(&hook.wait_with_output().unwrap()))
}

#[test]
fn an_answer_on_the_page_is_remembered() {
    let desk = Desk::new();
    let (cookie, csrf) = desk.daemon.sign_in_to_change();
    let hook = desk.ask("s1", ALLOWED, None);
    let question = question(&desk.daemon);
    let path = format!("/approvals/{}/answer", id(&question));
    let form = format!("csrf={csrf}&choice=once");
    let answered = desk.daemon.ask("POST", &path).header("cookie", &cookie).form(&form).send();
    assert_eq!(answered.status, 303, "{}", answered.text());
    assert_eq!(heard(hook).0, "allow");
    desk.runs_by_memory("s1", ALIKE, None);
    desk.runs_by_memory("s2", ALIKE, None);
    assert_eq!(desk.repository.memory().len(), 1);
    desk.is_asked("s1", "bd close bd-12");
}

#[test]
fn an_answer_in_a_terminal_is_remembered() {
    let desk = Desk::new();
    desk.allow_in_terminal(desk.ask("s1", ALLOWED, None));
    desk.runs_by_memory("s2", ALIKE, None);
}

#[test]
fn a_denial_and_a_rule_teach_nothing() {
    let desk = Desk::new();
    desk.is_asked("s1", ALLOWED);
    assert_eq!(desk.repository.memory(), Vec::<Value>::new(), "a no");
    let hook = desk.ask("s1", ALLOWED, None);
    let rule = json!({"decision": "allow", "scope": "session", "rule": "Bash(bd update *)"});
    assert_eq!(answer(&desk.daemon, &question(&desk.daemon), &rule).status, 200);
    assert_eq!(heard(hook).0, "allow");
    let (decision, text) = heard(desk.ask("s1", ALIKE, None));
    assert_eq!(decision, "allow", "{text}");
    assert!(text.contains("Bash(bd update *)") && !text.contains("you allowed"), "{text}");
    desk.is_asked("s2", ALIKE);
}

#[test]
fn a_subagent_uses_the_memory_and_its_calls_are_answered_by_a_person_like_any() {
    let desk = Desk::new();
    desk.allow_in_terminal(desk.ask("s1", ALLOWED, Some("a1")));
    desk.runs_by_memory("s1", ALIKE, Some("a2"));
    desk.runs_by_memory("s2", ALIKE, None);
}

#[test]
fn a_daemon_of_a_user_without_a_memory_remembers_nothing() {
    let desk = Desk::new();
    desk.allow_in_terminal(desk.ask("s1", ALLOWED, None));
    desk.runs_by_memory("s1", ALIKE, None);
    let settings = r#"{"memory":{"enabled":false}}"#;
    desk.repository.scene.sandbox.write_home(".config/portcullis/settings.json", settings);
    desk.is_asked("s1", ALIKE);
    desk.allow_in_terminal(desk.ask("s1", "bd update bd-12 --status open", None));
    desk.repository.scene.sandbox.write_home(".config/portcullis/settings.json", "{}");
    assert_eq!(desk.repository.memory().len(), 1, "nothing was learned while it was off");
}

/// What a host tells after a call, as it really is or as somebody makes it up.
fn afterwards() -> Vec<(&'static str, Value)> {
    let call = |id: &str, command: &str, mode: &str| {
        json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
            "permission_mode": mode, "tool_response": {"stdout": "ok", "stderr": ""}})
    };
    let mut subagent = call("t1", ALLOWED, "default");
    subagent["agent_id"] = json!("a1");
    vec![
        ("PostToolUse", call("t1", ALLOWED, "default")),
        ("PostToolUse", call("t1", ALLOWED, "acceptEdits")),
        ("PostToolUse", call("t1", ALLOWED, "bypassPermissions")),
        ("PostToolUse", call("t9", ALLOWED, "default")),
        ("PostToolUse", call("t1", ALIKE, "default")),
        ("PostToolUse", subagent),
        ("PermissionRequest", call("t1", ALLOWED, "default")),
        ("PostToolUseFailure", call("t1", ALLOWED, "default")),
        ("PostToolBatch", json!({"tool_calls": [call("t1", ALLOWED, "default")]})),
        ("PermissionDenied", call("t1", ALLOWED, "auto")),
    ]
}

#[test]
fn what_a_host_tells_after_a_call_teaches_nothing() {
    let repository = Repository::new();
    let call = json!({"permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": ALLOWED}});
    let before = repository.scene.event("s1", "PreToolUse", &call);
    let decide = || repository.hook(&repository.path(), &[], &before).0;
    // A person is there: the question is left to the agent's own prompt.
    assert_eq!(decide(), "silence");
    for (event, more) in afterwards() {
        for session in ["s1", "s2", "", "portcullis-doctor"] {
            let input = repository.scene.event(session, event, &more);
            repository.scene.sandbox.run_with_input(&["hook", "claude"], input.as_bytes());
            assert_eq!(repository.memory(), Vec::<Value>::new(), "{event} of `{session}`: {more}");
        }
    }
    assert_eq!(decide(), "silence");
    assert_eq!(repository.decide(ALIKE), "deny");
}

#[test]
fn an_agent_that_plays_its_host_teaches_nothing() {
    let repository = Repository::new();
    let scene = &repository.scene;
    let write = |name: &str, event: &str, session: &str| {
        let call = json!({"permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t1",
            "tool_input": {"command": ALLOWED}, "tool_response": {"stdout": "ok"}});
        scene.sandbox.write_home(name, &scene.event(session, event, &call)).display().to_string()
    };
    for session in ["s1", "of-somebody-else", "../s1"] {
        let (asked, done) = (write("a.json", "PreToolUse", session), write("d.json", "PostToolUse", session));
        for line in [
            format!("\"$P\" hook claude < '{asked}'; \"$P\" hook claude < '{done}'; true"),
            format!("cat '{asked}' | \"$P\" hook claude; cat '{done}' | \"$P\" hook claude; true"),
            format!(
                "( setsid -w \"$P\" hook claude < '{asked}' ); ( setsid -w \"$P\" hook claude < '{done}' ); true"
            ),
            format!(
                "\"$P\" hook claude < '{asked}'; script -qec '\"$P\" hook claude < {done}' /dev/null; true"
            ),
            format!(
                "\"$P\" hook claude --headless < '{asked}'; \"$P\" allow --last --yes; \"$P\" hook claude < '{done}'; true"
            ),
        ] {
            agent(scene, &line);
            assert_eq!(repository.memory(), Vec::<Value>::new(), "{session}: {line}");
        }
    }
    assert_eq!(repository.decide(ALLOWED), "deny");
}

#[test]
fn an_answer_to_a_forged_session_counts_for_that_call_alone() {
    // The agent has its own call asked about under another session, so that a yes to it would be found there.
    let repository = Repository::new();
    assert_eq!(repository.ask_in("forged", "default", "bd update bd-1 --status open").0, "deny");
    let ran = repository.scene.at_terminal(&["allow", "--last", "--yes"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(repository.decide("bd update bd-1 --status open"), "deny", "the yes is of another session");
    assert_eq!(repository.memory(), Vec::<Value>::new(), "nothing ran by it yet");
    assert_eq!(repository.ask_in("forged", "default", "bd update bd-1 --status closed").0, "deny");
    assert_eq!(repository.ask_in("forged", "default", "bd update bd-1 --status open").0, "allow");
    assert_eq!(repository.decide("bd update bd-2 --status open"), "allow", "what the person saw");
    assert_eq!(repository.decide(ALLOWED), "deny");
}

#[test]
fn a_store_that_an_agent_made_up_is_not_taken_for_the_users() {
    // A home of the agent's own has a memory of its own, and the hook of the host never looks there.
    let repository = Repository::allowed();
    let memory = fs::read(repository.file()).unwrap();
    repository.scene.sandbox.run(&["memory", "forget", "--here"]);
    let elsewhere = repository.scene.sandbox.project.join(".local/state/portcullis");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("memory.json"), memory).unwrap();
    assert_eq!(repository.decide(ALIKE), "deny");
    let script = "HOME=\"$PWD\" XDG_STATE_HOME=\"$PWD/.local/state\" \"$P\" memory --json";
    drop(ran(&started(&repository.scene.sandbox, script).output().unwrap()));
    assert_eq!(repository.decide(ALIKE), "deny");
}
