//! Claude Code.

use portcullis_testkit::{AgentScript, AgentTurn, ModelScript, ScriptedServer};
use serde_json::{Value, json};

use crate::answers;
use crate::harness::{Client, Finished, Registration, ScriptedUser, Session, Stage};
use crate::tour::{self, tour_tests};

tour_tests!(
    tour::take(Client::Claude),
    asked: "the ask rule `Bash(touch asked.txt)` matches"
);

#[test]
fn a_command_of_a_subagent_is_judged() {
    tour::assert_subagent_was_judged(tour());
}

/// Claude Code does not ask before it starts a subagent.
#[test]
fn a_subagent_starts_without_a_prompt_of_ours_if_nothing_is_found() {
    for arguments in [["--permission-mode", "default"], ["--permission-mode", "acceptEdits"]] {
        let policy = json!({"permissions": {"deny": ["Bash(touch denied-of-subagent.txt)"]}});
        let finished = tour::delegate_under(Client::Claude, &policy, &arguments, ScriptedUser::Declines);
        let is_about_it = |question: &String| ["Agent", "Task"].contains(&question.as_str());
        assert!(
            !finished.questions.iter().any(is_about_it),
            "{:?}: {}",
            finished.questions,
            finished.describe()
        );
        let reason = "the deny rule `Bash(touch denied-of-subagent.txt)` matches";
        finished.assert_stopped("denied-of-subagent", "denied-of-subagent.txt", reason);
    }
}

/// The prompt of Claude Code lets its user say that they do not want to be asked again, which an ask of ours takes away.
#[test]
fn claude_codes_own_prompt_stays_where_nothing_is_found() {
    let policy = json!({"permissions": {"ask": ["Bash(touch asked.txt)"]}});
    let session = Session::new(Client::Claude, &policy).with_user(ScriptedUser::Accepts);
    let finished = session.with_arguments(&["--permission-mode", "default"]).play(|stage| {
        AgentScript::new(vec![
            stage.shell("plain", "touch plain.txt"),
            stage.shell("asked", "touch asked.txt"),
            AgentTurn::say("All done."),
        ])
    });
    assert_eq!(finished.questions, ["touch plain.txt", "touch asked.txt"], "{}", finished.describe());
    assert_eq!(finished.maybe_last, ["touch plain.txt"], "an ask of ours takes it away");
    finished.assert_ran("plain", "plain.txt");
    finished.assert_ran("asked", "asked.txt");
}

/// The mode in which Claude Code runs everything that no hook stops.
const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];

#[test]
fn a_hook_that_fails_stops_the_call() {
    tour::assert_broken_settings_stop(Client::Claude, &BYPASS);
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    for mode in ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"] {
        let finished = tour::run_without_program(Client::Claude, &["--permission-mode", mode]);
        finished.assert_stopped("only", "allowed.txt", "blocking because onFailure is \"block\"");
    }
}

/// An allowed, a denied and an asked command.
fn three_commands(stage: Stage<'_>) -> AgentScript {
    AgentScript::new(vec![
        stage.shell("allowed", "touch allowed.txt"),
        stage.shell("denied", "touch denied.txt"),
        stage.shell("asked", "touch asked.txt"),
        AgentTurn::say("All done."),
    ])
}

fn assert_only_the_allowed_ran(finished: &Finished, asked: &str) {
    finished.assert_ran("allowed", "allowed.txt");
    let denied = "the deny rule `Bash(touch denied.txt)` matches";
    finished.assert_stopped("denied", "denied.txt", denied);
    finished.assert_stopped("asked", "asked.txt", asked);
}

#[test]
fn a_daemon_answers_hooks_that_are_posted() {
    let session = Session::new(Client::Claude, &tour::policy()).registered(Registration::OverHttp);
    let finished = session.play(three_commands);
    assert_only_the_allowed_ran(&finished, "the ask rule `Bash(touch asked.txt)` matches");
    finished.assert_recorded("touch denied.txt", "deny");
}

#[test]
fn a_posted_hook_with_a_wrong_token_stops_the_call() {
    let session =
        Session::new(Client::Claude, &tour::policy()).registered(Registration::OverHttpWithWrongToken);
    let finished = session.with_arguments(&BYPASS).play(one_command);
    finished.assert_stopped("only", "allowed.txt", "the daemon did not judge this call");
}

/// That is how Claude Code treats a hook that cannot be posted, and why `init` registers a program.
#[test]
fn a_hook_that_is_posted_to_nobody_stops_nothing() {
    let session = Session::new(Client::Claude, &tour::policy()).registered(Registration::OverHttpAndGone);
    let finished = session.with_arguments(&BYPASS).play(one_command);
    finished.assert_ran("only", "allowed.txt");
}

fn one_command(stage: Stage<'_>) -> AgentScript {
    AgentScript::new(vec![stage.shell("only", "touch allowed.txt"), AgentTurn::say("All done.")])
}

#[test]
fn the_permission_prompt_tool_answers_for_the_user() {
    let session = Session::new(Client::Claude, &tour::policy()).registered(Registration::Not);
    let finished = session.with_prompt_tool().play(three_commands);
    assert_only_the_allowed_ran(&finished, "portcullis: ");
}

#[test]
fn the_permission_prompt_tool_and_the_hook_work_together() {
    let session = Session::new(Client::Claude, &tour::policy());
    let finished = session.with_prompt_tool().play(three_commands);
    assert_only_the_allowed_ran(&finished, "portcullis: ");
}

#[test]
fn a_hook_at_claude_codes_own_questions_answers_them() {
    let session = Session::new(Client::Claude, &tour::policy()).registered(Registration::AtQuestions);
    let finished = session.play(three_commands);
    // An ask is on its way to the user already; Claude Code itself says that nobody is there.
    assert_only_the_allowed_ran(&finished, "needs approval");
}

#[test]
fn rules_hold_when_claude_code_bypasses_permissions() {
    let session = Session::new(Client::Claude, &tour::policy());
    let finished = session.with_arguments(&BYPASS).play(|stage| {
        AgentScript::new(vec![
            stage.shell("free", "touch free.txt"),
            stage.shell("denied", "touch denied.txt"),
            stage.shell("asked", "touch asked.txt"),
            // What it calls a sensitive file it would write although we ask; it heeds a denial.
            stage.shell("rc", "echo >> ~/.bashrc && touch rc.txt"),
            stage.write("hook", ".git/hooks/pre-commit"),
            AgentTurn::say("All done."),
        ])
    });
    finished.assert_ran("free", "free.txt");
    finished.assert_stopped("rc", "rc.txt", "portcullis: ");
    assert!(!finished.has_home_file(".bashrc"), "{}", finished.describe());
    assert!(finished.told("hook").contains("portcullis: "), "{}", finished.describe());
    finished.assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
    finished.assert_stopped("asked", "asked.txt", "the ask rule `Bash(touch asked.txt)` matches");
}

#[test]
fn in_auto_mode_the_model_of_our_settings_judges() {
    let judge = json!({"steps": self_test_answers(), "default": {"judge": {"block_if": ["unwanted"]}}});
    let judge = ScriptedServer::start(ModelScript::from_value(&judge).unwrap());
    let policy = json!({
        "classifier": {"provider": "anthropic", "baseUrl": judge.url()},
        "containment": {"enabled": false},
    });
    let session = Session::new(Client::Claude, &policy).with_tested_model();
    let session = session.with_program("frobnicate", "touch \"$1\"");
    let asked = judge.requests().len();
    let finished = session.with_arguments(&["--permission-mode", "auto"]).play(|stage| {
        AgentScript::new(vec![
            stage.shell("wanted", "frobnicate wanted.txt"),
            stage.shell("unwanted", "frobnicate unwanted.txt"),
            AgentTurn::say("All done."),
        ])
    });
    finished.assert_ran("wanted", "wanted.txt");
    finished.assert_stopped("unwanted", "unwanted.txt", "portcullis: ");
    let asked = judge.requests().len() - asked;
    assert!(asked >= 2, "the model was asked {asked} times");
}

/// Returns what a model answers that gets every action of the self-test right, the dangers after two looks.
fn self_test_answers() -> Vec<Value> {
    let actions = include_str!("../../../portcullis-classifier/data/selftest.jsonl");
    let answer = |line: &str| {
        let action: Value = serde_json::from_str(line).unwrap();
        let is_ordinary = action["kind"] == "ordinary";
        if is_ordinary { vec![json!({"allow": true})] } else { vec![json!({"block": true}); 2] }
    };
    actions.lines().flat_map(answer).collect()
}

fn assert_answers_in_mode(test: &str, mode: &str) {
    let begin = || Session::new(Client::Claude, &tour::policy()).with_arguments(&["--permission-mode", mode]);
    answers::assert_as_observed(test, begin, answers::touch);
}

#[test]
fn each_answer_in_the_default_mode() {
    assert_answers_in_mode("claude::each_answer_in_the_default_mode", "default");
}

#[test]
fn each_answer_while_accepting_edits() {
    assert_answers_in_mode("claude::each_answer_while_accepting_edits", "acceptEdits");
}

#[test]
fn each_answer_in_plan_mode() {
    assert_answers_in_mode("claude::each_answer_in_plan_mode", "plan");
}

#[test]
fn each_answer_in_auto_mode() {
    assert_answers_in_mode("claude::each_answer_in_auto_mode", "auto");
}

#[test]
fn each_answer_without_asking() {
    assert_answers_in_mode("claude::each_answer_without_asking", "dontAsk");
}

#[test]
fn each_answer_while_bypassing() {
    assert_answers_in_mode("claude::each_answer_while_bypassing", "bypassPermissions");
}

#[test]
fn each_answer_at_its_question() {
    assert_answers_in_mode("claude::each_answer_at_its_question", "default");
}

#[test]
fn each_answer_about_a_sensitive_file() {
    let begin = || Session::new(Client::Claude, &tour::policy()).with_arguments(&BYPASS);
    let call = |stage: Stage<'_>, label: &str, file: &str| {
        stage.shell(label, &format!("echo >> ~/.bashrc && touch {file}"))
    };
    answers::assert_as_observed("claude::each_answer_about_a_sensitive_file", begin, call);
}
