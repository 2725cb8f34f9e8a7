//! Droid. Its subagents made no request to the scripted model, so they are not tested.

use serde_json::json;

use crate::answers;
use crate::harness::{Client, Session};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take_alone(Client::Droid), asked: "the ask rule `Bash(touch asked.txt)` matches");

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Droid, &[]);
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Droid, &[]);
    finished.assert_stopped("only", "allowed.txt", "programs/portcullis");
}

#[test]
fn a_secret_is_kept_from_every_tool_that_reads() {
    tour::assert_secret_is_kept(Client::Droid, |stage, secret, folder| {
        vec![
            stage.tool("read", "Read", json!({"file_path": secret})),
            stage.tool(
                "grep",
                "Grep",
                json!({"pattern": "scripted", "path": folder, "output_mode": "content"}),
            ),
            stage.tool("list", "LS", json!({"directory_path": folder})),
            stage.tool("glob", "Glob", json!({"patterns": ["*"], "folder": folder})),
            stage.shell("shell", &format!("cat {secret}")),
        ]
    });
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Droid, &tour::policy());
    answers::assert_as_observed("droid::each_answer_before_a_call", begin, answers::touch);
}
