//! Kimi Code.

use serde_json::json;

use crate::answers;
use crate::harness::{Client, Session};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take(Client::Kimi), asked: "the ask rule `Bash(touch asked.txt)` matches");

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Kimi, &[]);
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Kimi, &[]);
    finished.assert_stopped("only", "allowed.txt", "programs/portcullis");
}

#[test]
fn a_secret_is_kept_from_every_tool_that_reads() {
    tour::assert_secret_is_kept(Client::Kimi, |stage, secret, folder| {
        vec![
            stage.tool("read", "Read", json!({"path": secret})),
            stage.tool(
                "grep",
                "Grep",
                json!({"pattern": "scripted", "path": folder, "output_mode": "content"}),
            ),
            stage.tool("glob", "Glob", json!({"pattern": "*", "path": folder})),
            stage.shell("shell", &format!("cat {secret}")),
        ]
    });
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Kimi, &tour::policy());
    answers::assert_as_observed("kimi::each_answer_before_a_call", begin, answers::touch);
}
