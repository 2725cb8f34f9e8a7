//! Codex.

use portcullis_testkit::{AgentCall, AgentScript, AgentTurn};
use serde_json::json;

use crate::answers;
use crate::harness::{Client, ScriptedUser, Session, Stage};
use crate::tour::{self, tour_tests};

tour_tests!(tour::take_alone(Client::Codex), asked: "the ask rule `Bash(touch asked.txt)` matches");

/// The model decides which tools Codex offers; one it does not know gets the tools that start subagents.
const MODEL_WITH_SUBAGENTS: [&str; 2] = ["-m", "scripted-model"];

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(&tour::delegate(Client::Codex, &MODEL_WITH_SUBAGENTS));
}

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Codex, &[]);
}

/// Programs that take code from a terminal.
const WAITING: [(&str, &str); 4] =
    [("python", "python3"), ("pager", "less README.md"), ("database", "sqlite3"), ("shell", "bash")];

/// Codex tells no hook what is typed into a command that runs already, so what would take any code is not opened.
#[test]
fn a_program_that_waits_for_code_is_not_opened() {
    let policy = json!({"permissions": {"deny": ["Bash(touch *)"]}, "containment": {"enabled": false}});
    let finished = Session::new(Client::Codex, &policy).play(|stage| {
        let open = |(label, command): (&str, &str)| {
            stage.tool(label, "exec_command", json!({"cmd": command, "tty": true}))
        };
        let turns = WAITING.into_iter().map(open).chain([AgentTurn::say("All done.")]);
        AgentScript::new(turns.collect())
    });
    for (label, command) in WAITING {
        let told = finished.told(label);
        assert!(told.contains("was NOT run"), "{command}: {told}: {}", finished.describe());
    }
}

#[test]
fn in_code_mode_every_call_of_the_code_is_judged() {
    let code = |label, file: &str| {
        let text = format!("text(JSON.stringify(await tools.exec_command({{cmd: \"touch {file}\"}})))");
        AgentTurn::call(AgentCall::with_text(label, "exec", &text))
    };
    let session = Session::new(Client::Codex, &tour::policy()).with_arguments(&["-m", "gpt-6-sol"]);
    let finished = session.play(|_| {
        AgentScript::new(vec![
            code("allowed", "allowed.txt"),
            code("denied", "denied.txt"),
            AgentTurn::say("Done."),
        ])
    });
    finished.assert_ran("allowed", "allowed.txt");
    finished.assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
}

#[test]
fn what_codex_would_ask_its_user_is_answered_by_the_hook() {
    let session = Session::new(Client::Codex, &tour::policy()).with_user(ScriptedUser::Declines);
    let finished = session.play(|_| {
        let call = |label: &str| {
            let command = format!("touch {label}.txt");
            let input =
                json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "why"});
            AgentTurn::call(AgentCall::new(label, "exec_command", input))
        };
        AgentScript::new(vec![call("allowed"), call("denied"), AgentTurn::say("Done.")])
    });
    assert_eq!(finished.questions, Vec::<String>::new(), "{}", finished.describe());
    finished.assert_ran("allowed", "allowed.txt");
    finished.assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
}

/// Codex takes a program that is gone for one that has nothing to say; the registered line blocks by itself.
#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    let finished = tour::run_without_program(Client::Codex, &[]);
    finished.assert_stopped("only", "allowed.txt", "programs/portcullis");
}

#[test]
fn each_answer_before_a_call() {
    let begin = || {
        // The trust that `init` sets up is in the hook as `init` writes it, which waits longer.
        Session::new(Client::Codex, &tour::policy()).with_arguments(&["--dangerously-bypass-hook-trust"])
    };
    answers::assert_as_observed("codex::each_answer_before_a_call", begin, answers::touch);
}

#[test]
fn each_answer_at_its_question() {
    let begin = || Session::new(Client::Codex, &tour::policy()).with_user(ScriptedUser::Accepts);
    let call = |_: Stage<'_>, label: &str, file: &str| {
        let input = json!({
            "cmd": format!("touch {file}"), "sandbox_permissions": "require_escalated", "justification": "why",
        });
        AgentTurn::call(AgentCall::new(label, "exec_command", input))
    };
    answers::assert_as_observed("codex::each_answer_at_its_question", begin, call);
}

/// Where approvals are asked for, Codex asks its user about such a tool by itself, so what nobody allowed yet is left to it.
#[test]
fn each_answer_before_a_call_of_an_mcp_tool() {
    let begin = || Session::new(Client::Codex, &tour::policy()).with_user(ScriptedUser::Accepts);
    let call = |stage: Stage<'_>, label: &str, file: &str| stage.mcp(label, "echo", file);
    answers::assert_as_observed("codex::each_answer_before_a_call_of_an_mcp_tool", begin, call);
}
