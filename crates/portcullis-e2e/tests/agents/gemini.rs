//! Gemini CLI.

use std::time::Duration;

use crate::answers;
use crate::harness::{Client, Session, Stage};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take(Client::Gemini), asked: "nobody is connected to answer");

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Gemini, &[]);
}

#[test]
fn a_hook_whose_program_is_gone_stops_everything() {
    let finished = tour::run_without_program(Client::Gemini, &[]);
    // A prompt is announced to a hook as well, and it is stopped there already.
    assert!(finished.output.contains("Agent execution blocked"), "{}", finished.describe());
    assert!(!finished.has_file("allowed.txt"), "{}", finished.describe());
}

#[test]
fn each_answer_before_a_call() {
    // A question that nobody answers is where it stays.
    let begin = || Session::new(Client::Gemini, &tour::policy()).with_patience(Duration::from_secs(45));
    answers::assert_as_observed("gemini::each_answer_before_a_call", begin, answers::touch);
}

#[test]
fn each_answer_before_a_call_of_an_mcp_tool() {
    let begin = || Session::new(Client::Gemini, &tour::policy());
    let call = |stage: Stage<'_>, label: &str, file: &str| stage.mcp(label, "echo", file);
    answers::assert_as_observed("gemini::each_answer_before_a_call_of_an_mcp_tool", begin, call);
}
