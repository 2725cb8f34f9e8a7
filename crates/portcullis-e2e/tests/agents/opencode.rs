//! opencode.

use crate::answers;
use crate::harness::{Client, Session};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take(Client::Opencode), asked: "the ask rule `Bash(touch asked.txt)` matches");

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Opencode, &[]);
}

#[test]
fn a_plugin_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Opencode, &[]);
    finished.assert_stopped("only", "allowed.txt", "the program cannot be started");
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Opencode, &tour::policy());
    answers::assert_as_observed("opencode::each_answer_before_a_call", begin, answers::touch);
}
