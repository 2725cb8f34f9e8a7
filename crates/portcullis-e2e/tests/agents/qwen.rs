//! Qwen Code.

use portcullis_testkit::{AgentScript, AgentTurn};
use serde_json::{Value, json};

use crate::answers;
use crate::harness::{Client, Finished, ScriptedUser, Session};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take_with(Client::Qwen, &policy()), asked: "the ask rule `Bash(touch asked.txt)` matches");

/// Without a user only `yolo` has tools that change something, and it lets files be written wherever no rule forbids it.
fn policy() -> Value {
    let mut policy = tour::policy();
    let denied = policy["permissions"]["deny"].as_array_mut().expect("a list");
    denied.push(json!("Edit(//**/elsewhere/**)"));
    policy
}

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Qwen, &[]);
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Qwen, &[]);
    finished.assert_stopped("only", "allowed.txt", "programs/portcullis");
}

#[test]
fn a_secret_is_kept_from_every_tool_that_reads() {
    tour::assert_secret_is_kept(Client::Qwen, |stage, secret, folder| {
        vec![
            stage.tool("read", "read_file", json!({"file_path": secret})),
            stage.tool("grep", "grep_search", json!({"pattern": "scripted", "path": folder})),
            stage.tool("monitor", "monitor", json!({"command": format!("cat {secret}"), "description": "d"})),
            stage.shell("shell", &format!("cat {secret}")),
        ]
    });
}

/// Runs Qwen Code in its default mode, in which it asks its user by itself before it tells us of a call.
fn in_default_mode(user: ScriptedUser) -> Finished {
    let session = Session::new(Client::Qwen, &tour::policy()).with_user(user);
    let session = session.with_program("frobnicate", "touch \"$1\"");
    session.with_arguments(&["--approval-mode", "default"]).play(|stage| {
        AgentScript::new(vec![
            stage.shell("allowed", "touch allowed.txt"),
            stage.shell("denied", "touch denied.txt"),
            stage.shell("unknown", "frobnicate unknown.txt"),
            AgentTurn::say("All done."),
        ])
    })
}

#[test]
fn what_needs_a_user_in_the_default_mode_does_not_run_without_their_word() {
    let finished = in_default_mode(ScriptedUser::Declines);
    assert_eq!(finished.questions, ["frobnicate unknown.txt"], "{}", finished.describe());
    finished.assert_ran("allowed", "allowed.txt");
    finished.assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
    assert!(!finished.has_file("unknown.txt"), "{}", finished.describe());
}

#[test]
fn a_user_in_the_default_mode_is_asked_once_where_no_rule_speaks_against_the_call() {
    let finished = in_default_mode(ScriptedUser::Accepts);
    assert_eq!(finished.questions, ["frobnicate unknown.txt"], "{}", finished.describe());
    finished.assert_ran("unknown", "unknown.txt");
    assert!(!finished.has_file("denied.txt"), "{}", finished.describe());
}

#[test]
fn each_answer_before_a_call() {
    let begin = || Session::new(Client::Qwen, &tour::policy());
    answers::assert_as_observed("qwen::each_answer_before_a_call", begin, answers::touch);
}

/// A session in the default mode, whose user accepts everything.
fn with_willing_user() -> Session {
    let session = Session::new(Client::Qwen, &tour::policy()).with_user(ScriptedUser::Accepts);
    session.with_arguments(&["--approval-mode", "default"])
}

#[test]
fn each_answer_before_a_call_in_the_default_mode() {
    let test = "qwen::each_answer_before_a_call_in_the_default_mode";
    answers::assert_as_observed(test, with_willing_user, answers::touch);
}

#[test]
fn each_answer_at_its_question() {
    answers::assert_as_observed("qwen::each_answer_at_its_question", with_willing_user, answers::touch);
}
