//! Qwen Code.

use serde_json::{Value, json};

use crate::harness::Client;
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
