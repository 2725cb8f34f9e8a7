//! Calls that an agent is told to run inside a fence: the real agent runs another command in place of its own.
//!
//! These tests need a machine on which a fence goes up: Linux with user namespaces and overlay file systems.

use portcullis_testkit::{AgentScript, AgentTurn};
use serde_json::{Value, json};

use crate::harness::{Client, Finished, Session, Stage};

/// A program that nobody knows and that is nowhere, and a file that the shell leaves itself.
const UNKNOWN: &str = "frobnicate made.txt; touch made.txt; echo done";

/// Loaded before any test, it takes away what is in its way.
const FIXTURE: &str =
    "import os, shutil\n\nos.remove('notes.txt')\nshutil.rmtree(os.environ['HOME'], ignore_errors=True)\n";

const TEST: &str = "import unittest\n\nimport conftest\n\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 2, 3)\n";

/// Loads what the agent wrote, as pytest would.
const RUN_TESTS: &str = "python3 -B -m unittest test_sum";

fn begin(client: Client) -> Session {
    let session = Session::new(client, &json!({})).in_mode("auto");
    if client == Client::Claude { session.with_arguments(&["--permission-mode", "default"]) } else { session }
}

/// Returns the runs of a command, each with what became of it.
fn runs_of(finished: &Finished, command: &str) -> Vec<Value> {
    let listed: Value = serde_json::from_str(&finished.ask(&["runs", "list", "--json"])).expect("JSON");
    let runs = listed["runs"].as_array().expect("runs").iter();
    runs.filter(|run| run["command"].as_array().is_some_and(|words| words.contains(&json!(command))))
        .cloned()
        .collect()
}

fn assert_runs_inside(client: Client) {
    let script = |stage: Stage<'_>| {
        AgentScript::new(vec![stage.shell("unknown", UNKNOWN), AgentTurn::say("All done.")])
    };
    let finished = begin(client).play(script);
    finished.assert_ran("unknown", "made.txt");
    finished.assert_recorded(UNKNOWN, "contained");
    let told = finished.told("unknown");
    assert!(told.contains("done"), "{told}: {}", finished.describe());
    let runs = runs_of(&finished, UNKNOWN);
    assert!(matches!(&runs[..], [run] if run["state"] == "kept"), "{runs:?}: {}", finished.describe());
}

fn assert_destruction_is_held(client: Client) {
    let session = begin(client)
        .with_file("notes.txt", "work of an afternoon\n")
        .with_home_file("precious.txt", "precious\n");
    let finished = session.play(|stage| {
        AgentScript::new(vec![
            stage.write_text("fixture", "conftest.py", FIXTURE),
            stage.write_text("test", "test_sum.py", TEST),
            stage.shell("run", RUN_TESTS),
            AgentTurn::say("All done."),
        ])
    });
    finished.assert_recorded(RUN_TESTS, "contained");
    assert!(
        finished.has_file("notes.txt") && finished.has_home_file("precious.txt"),
        "{}",
        finished.describe()
    );
    let told = finished.told("run");
    assert!(
        told.contains("held for a person") && told.contains("`notes.txt`"),
        "{told}: {}",
        finished.describe()
    );
    let runs = runs_of(&finished, RUN_TESTS);
    assert!(matches!(&runs[..], [run] if run["state"] == "held"), "{runs:?}: {}", finished.describe());
    let diff = finished.ask(&["runs", "diff", runs[0]["id"].as_str().expect("an id")]);
    assert!(diff.contains("notes.txt") && diff.contains("-work of an afternoon"), "{diff}");
}

#[test]
fn claude_code_runs_what_is_unknown_but_local_inside() {
    assert_runs_inside(Client::Claude);
}

#[test]
fn codex_runs_what_is_unknown_but_local_inside() {
    assert_runs_inside(Client::Codex);
}

#[test]
fn gemini_cli_runs_what_is_unknown_but_local_inside() {
    assert_runs_inside(Client::Gemini);
}

#[test]
fn opencode_runs_what_is_unknown_but_local_inside() {
    assert_runs_inside(Client::Opencode);
}

#[test]
fn what_claude_codes_own_code_destroys_is_held() {
    assert_destruction_is_held(Client::Claude);
}

#[test]
fn what_codex_own_code_destroys_is_held() {
    assert_destruction_is_held(Client::Codex);
}

#[test]
fn what_gemini_clis_own_code_destroys_is_held() {
    assert_destruction_is_held(Client::Gemini);
}

#[test]
fn what_opencodes_own_code_destroys_is_held() {
    assert_destruction_is_held(Client::Opencode);
}

/// In a sandbox of its own Codex lets no fence go up. That is no alarm, and it happens once.
#[test]
fn in_codex_own_sandbox_nothing_runs_bare_and_no_second_fence_is_tried() {
    let session = begin(Client::Codex).with_arguments(&["--sandbox", "workspace-write"]);
    let finished = session.play(|stage| {
        AgentScript::new(vec![
            stage.shell("first", "frobnicate 1; touch first.txt"),
            stage.shell("second", "frobnicate 2; touch second.txt"),
            AgentTurn::say("All done."),
        ])
    });
    assert!(!finished.has_file("first.txt") && !finished.has_file("second.txt"), "{}", finished.describe());
    finished.assert_recorded("frobnicate 1; touch first.txt", "contained");
    assert!(finished.told("first").contains("nothing was run"), "{}", finished.told("first"));
    assert!(!finished.told("second").contains("nothing was run"), "{}", finished.told("second"));
    assert!(!finished.output.contains("without the fence"), "{}", finished.describe());
}
