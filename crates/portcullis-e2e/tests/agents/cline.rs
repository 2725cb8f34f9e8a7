//! Cline CLI. A call that is cancelled ends the whole run and the model is told nothing, so each has a run of its own.

use portcullis_testkit::{AgentScript, AgentTurn};
use serde_json::json;

use crate::answers;
use crate::harness::{Client, Finished, SECRET, Session, Stage};
use crate::tour;

fn play(turns: impl FnOnce(Stage<'_>) -> Vec<AgentTurn>) -> Finished {
    Session::new(Client::Cline, &tour::policy()).play(|stage| AgentScript::new(turns(stage)))
}

#[test]
fn allowed_calls_run_until_one_is_denied() {
    let finished = play(|stage| {
        vec![
            stage.shell("allowed", "touch allowed.txt"),
            stage.write("inside", "inside.txt"),
            stage.shell("denied", "touch denied.txt"),
            stage.shell("later", "touch allowed-of-subagent.txt"),
        ]
    });
    finished.assert_ran("allowed", "allowed.txt");
    finished.assert_ran("inside", "inside.txt");
    assert!(!finished.has_file("denied.txt"), "{}", finished.describe());
    assert!(!finished.has_file("allowed-of-subagent.txt"), "{}", finished.describe());
    finished.assert_recorded("touch allowed.txt", "allow");
    finished.assert_recorded("touch denied.txt", "deny");
}

#[test]
fn one_denied_command_of_several_stops_them_all() {
    let finished = play(|stage| {
        let commands = json!({"commands": ["touch allowed.txt", "touch denied.txt"]});
        vec![stage.tool("both", "run_commands", commands)]
    });
    assert!(!finished.has_file("allowed.txt") && !finished.has_file("denied.txt"), "{}", finished.describe());
}

#[test]
fn a_command_to_ask_about_does_not_run() {
    let finished = play(|stage| vec![stage.shell("asked", "touch asked.txt")]);
    assert!(!finished.has_file("asked.txt"), "{}", finished.describe());
    finished.assert_recorded("touch asked.txt", "ask");
}

/// Cline would run them by itself, and nobody is there to ask.
#[test]
fn tests_of_the_project_run_after_init_without_settings() {
    let package = json!({"name": "app", "scripts": {"test": "touch tested.txt"}}).to_string();
    let session = Session::new(Client::Cline, &json!({})).with_file("package.json", &package);
    let finished = session.play(|stage| {
        AgentScript::new(vec![
            stage.shell("tests", "npm test"),
            stage.write("inside", "inside.txt"),
            stage.shell("hostile", "rm -rf ~ && touch hostile.txt"),
        ])
    });
    finished.assert_ran("tests", "tested.txt");
    finished.assert_ran("inside", "inside.txt");
    assert!(!finished.has_file("hostile.txt"), "{}", finished.describe());
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Cline, &[]);
    assert!(!finished.has_file("allowed.txt"), "{}", finished.describe());
}

#[test]
fn a_secret_is_not_shown() {
    let policy = json!({"permissions": {"deny": ["Read(~/private/**)"]}});
    let finished = Session::new(Client::Cline, &policy).play(|stage| {
        let files = json!({"files": [{"path": stage.secret()}]});
        AgentScript::new(vec![stage.tool("read", "read_files", files)])
    });
    let told: String = finished
        .model
        .requests()
        .iter()
        .filter_map(|request| request.json.as_ref())
        .map(ToString::to_string)
        .collect();
    assert!(!told.contains(SECRET.trim()), "{}", finished.describe());
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Cline, &tour::policy());
    answers::assert_as_observed("cline::each_answer_before_a_call", begin, answers::touch);
}
