//! Older versions of Claude Code, which know less of a hook's entry: what `init` registers must hold there too.

use portcullis_testkit::{AgentScript, AgentTurn};

use crate::answers;
use crate::harness::{Client, Registration, Session};
use crate::tour;

fn assert_denied_calls_do_not_run(version: &str) {
    let session = Session::new(Client::Claude, &tour::policy()).of_version(version);
    let session = session.with_arguments(&["--permission-mode", "bypassPermissions"]);
    let finished = session.play(|stage| {
        AgentScript::new(vec![
            stage.shell("allowed", "touch allowed.txt"),
            stage.shell("denied", "touch denied.txt"),
            AgentTurn::say("All done."),
        ])
    });
    finished.assert_ran("allowed", "allowed.txt");
    finished.assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
}

#[test]
fn a_version_in_javascript_that_knows_no_arguments() {
    assert_denied_calls_do_not_run("2.1.112");
}

#[test]
fn the_last_version_that_knows_no_arguments() {
    assert_denied_calls_do_not_run("2.1.138");
}

#[test]
fn the_first_version_that_knows_arguments() {
    assert_denied_calls_do_not_run("2.1.142");
}

#[test]
fn a_hook_whose_program_is_gone_stops_the_call() {
    for version in ["2.1.112", "2.1.138", "2.1.142"] {
        let session = Session::new(Client::Claude, &tour::policy()).of_version(version);
        let session = session.registered(Registration::ByInitAndGone);
        let session = session.with_arguments(&["--permission-mode", "bypassPermissions"]);
        let finished = session.play(|stage| {
            AgentScript::new(vec![stage.shell("only", "touch allowed.txt"), AgentTurn::say("All done.")])
        });
        finished.assert_stopped("only", "allowed.txt", "the permission check could not be run");
    }
}

fn assert_answers(test: &str, version: &str) {
    let begin = || {
        let session = Session::new(Client::Claude, &tour::policy()).of_version(version);
        session.with_arguments(&["--permission-mode", "bypassPermissions"])
    };
    answers::assert_as_observed(test, begin, answers::touch);
}

#[test]
fn each_answer_in_2_1_112() {
    assert_answers("claude_versions::each_answer_in_2_1_112", "2.1.112");
}

#[test]
fn each_answer_in_2_1_138() {
    assert_answers("claude_versions::each_answer_in_2_1_138", "2.1.138");
}

#[test]
fn each_answer_in_2_1_142() {
    assert_answers("claude_versions::each_answer_in_2_1_142", "2.1.142");
}
