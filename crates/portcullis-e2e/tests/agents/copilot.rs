//! Copilot CLI.

use serde_json::json;

use crate::answers;
use crate::harness::{Client, Session};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take(Client::Copilot), asked: "the ask rule `Bash(touch asked.txt)` matches");

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Copilot, &[]);
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Copilot, &[]);
    finished.assert_stopped("only", "allowed.txt", "hook errored");
}

#[test]
fn a_secret_is_kept_from_every_tool_that_reads() {
    tour::assert_secret_is_kept(Client::Copilot, |stage, secret, folder| {
        vec![
            stage.tool("view", "view", json!({"path": secret})),
            stage.tool(
                "grep",
                "grep",
                json!({"pattern": "scripted", "paths": [folder], "output_mode": "content"}),
            ),
            stage.tool(
                "grep-one",
                "grep",
                json!({"pattern": "scripted", "paths": folder, "output_mode": "content"}),
            ),
            stage.tool(
                "grep-file",
                "grep",
                json!({"pattern": "scripted", "paths": secret, "output_mode": "content"}),
            ),
            stage.tool("glob", "glob", json!({"pattern": "*", "paths": [folder]})),
            stage.shell("shell", &format!("cat {secret}")),
        ]
    });
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Copilot, &tour::policy());
    answers::assert_as_observed("copilot::each_answer_before_a_call", begin, answers::touch);
}
