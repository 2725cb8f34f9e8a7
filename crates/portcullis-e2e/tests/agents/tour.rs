//! One long run of an agent that does everything that must be judged, and the tests that look at what came of it.
//!
//! A run takes seconds, so the tests of an agent share one.

use portcullis_testkit::{AgentScript, AgentTurn};
use serde_json::{Value, json};

use crate::harness::{Client, Finished, Registration, Session, Stage};

/// What a subagent is known by.
const TASK: &str = "SUBAGENT-TASK: leave two files";

/// What the user of the tour allows, forbids and wants to be asked about.
pub(crate) fn policy() -> Value {
    json!({"permissions": {
        "allow": [
            "Bash(touch allowed.txt)", "Bash(touch allowed-of-subagent.txt)", "Edit(inside.txt)", "Agent",
            "mcp__scripted__echo",
        ],
        "ask": ["Bash(touch asked.txt)"],
        "deny": [
            "Bash(touch denied.txt)", "Bash(touch denied-of-subagent.txt)", "mcp__scripted__shout",
        ],
    }})
}

/// Takes an agent on the tour.
pub(crate) fn take(client: Client) -> Finished {
    Session::new(client, &policy()).play(|stage| {
        let mut turns = alone(stage);
        turns.extend(with_subagent(stage));
        AgentScript::new(turns).with_subagent(TASK, subagent(stage))
    })
}

/// Takes an agent on the tour that can have a subagent only under other circumstances.
pub(crate) fn take_alone(client: Client) -> Finished {
    Session::new(client, &policy()).play(|stage| AgentScript::new(alone(stage)))
}

/// Has an agent do nothing but give its subagent something to do.
pub(crate) fn delegate(client: Client, arguments: &[&str]) -> Finished {
    let session = Session::new(client, &policy()).with_arguments(arguments);
    session.play(|stage| AgentScript::new(with_subagent(stage)).with_subagent(TASK, subagent(stage)))
}

fn alone(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![
        stage.shell("allowed", "touch allowed.txt"),
        stage.shell("denied", "touch denied.txt"),
        stage.shell("asked", "touch asked.txt"),
        stage.write("inside", "inside.txt"),
        stage.write_outside("outside", "outside.txt"),
        stage.mcp("allowed-tool", "echo", "allowed-tool.txt"),
        stage.mcp("denied-tool", "shout", "denied-tool.txt"),
    ]
}

fn with_subagent(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![stage.delegate("delegated", TASK), AgentTurn::say("All done.").after_subagent()]
}

fn subagent(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![
        stage.shell("denied-of-subagent", "touch denied-of-subagent.txt"),
        stage.shell("allowed-of-subagent", "touch allowed-of-subagent.txt"),
        AgentTurn::say("The part is done."),
    ]
}

/// Checks that what a subagent did was judged.
pub(crate) fn assert_subagent_was_judged(finished: &Finished) {
    finished.assert_ran("allowed-of-subagent", "allowed-of-subagent.txt");
    let reason = "the deny rule `Bash(touch denied-of-subagent.txt)` matches";
    finished.assert_stopped("denied-of-subagent", "denied-of-subagent.txt", reason);
}

/// Checks that nothing runs when our settings cannot be read. The arguments make the agent run everything by itself.
pub(crate) fn assert_broken_settings_stop(client: Client, arguments: &[&str]) {
    let session = Session::with_policy_text(client, "{\"permissions\": {\"allow\": [\"Bash");
    let finished = session.with_arguments(arguments).play(one_command);
    finished.assert_stopped("only", "allowed.txt", "portcullis: ");
}

/// Has an agent run a command that is allowed when our program is not there any more. The arguments make the agent run
/// everything by itself.
pub(crate) fn run_without_program(client: Client, arguments: &[&str]) -> Finished {
    let session = Session::new(client, &policy()).registered(Registration::ByInitAndGone);
    session.with_arguments(arguments).play(one_command)
}

fn one_command(stage: Stage<'_>) -> AgentScript {
    AgentScript::new(vec![stage.shell("only", "touch allowed.txt"), AgentTurn::say("All done.")])
}

/// Writes the tests of a tour that is taken once; `asked` is what the model hears of a question nobody can answer.
macro_rules! tour_tests {
    ($take:expr, asked: $asked:expr) => {
        fn tour() -> &'static $crate::harness::Finished {
            static TOUR: std::sync::LazyLock<$crate::harness::Finished> = std::sync::LazyLock::new(|| $take);
            &TOUR
        }

        #[test]
        fn an_allowed_command_runs() {
            tour().assert_ran("allowed", "allowed.txt");
        }

        #[test]
        fn a_denied_command_does_not_run_and_the_model_is_told_why() {
            tour().assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
        }

        #[test]
        fn a_command_to_ask_about_does_not_run_when_nobody_is_there() {
            tour().assert_stopped("asked", "asked.txt", $asked);
        }

        #[test]
        fn a_file_is_written_in_the_workspace_and_not_outside_of_it() {
            tour().assert_ran("inside", "inside.txt");
            tour().assert_stopped("outside", "outside.txt", "portcullis: ");
        }

        #[test]
        fn a_tool_of_an_mcp_server_is_judged() {
            tour().assert_ran("allowed-tool", "allowed-tool.txt");
            tour().assert_stopped("denied-tool", "denied-tool.txt", "portcullis: the deny rule");
        }

        #[test]
        fn every_decision_is_recorded_once() {
            for (command, decision) in [("allowed", "allow"), ("denied", "deny")] {
                tour().assert_recorded(&format!("touch {command}.txt"), decision);
            }
        }
    };
}

pub(crate) use tour_tests;
