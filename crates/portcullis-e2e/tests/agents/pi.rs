//! Pi.

use serde_json::json;

use crate::answers;
use crate::harness::{Client, Session};
use crate::tour::{self, plain_tour_tests};

plain_tour_tests!(
    tour::take_without_servers(Client::Pi),
    asked: "the ask rule `Bash(touch asked.txt)` matches"
);

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Pi, &[]);
}

#[test]
fn an_extension_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Pi, &[]);
    finished.assert_stopped("only", "allowed.txt", "the program cannot be started");
}

#[test]
fn a_secret_is_kept_from_every_tool_that_reads() {
    tour::assert_secret_is_kept(Client::Pi, |stage, secret, _| {
        vec![
            stage.tool("read", "read", json!({"path": secret})),
            stage.tool("read-marked", "read", json!({"path": format!("@{secret}")})),
            stage.tool("read-at-home", "read", json!({"path": "~/private/notes.txt"})),
            stage.shell("shell", &format!("cat {secret}")),
        ]
    });
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Pi, &tour::policy());
    answers::assert_as_observed("pi::each_answer_before_a_call", begin, answers::touch);
}
