//! What asks for an action, what only speaks of it, and what takes it back.

use portcullis_analysis::findings::{FINDINGS, Sighting, with_code};
use portcullis_shell::Span;

use super::*;

const FORCE: &str = "git push --force origin feature/login";

fn request(code: &str, turns: &[&str], subject: &str, command: &str) -> Option<String> {
    let sighting = Sighting {
        effect: None,
        span: Span::default(),
        subject: subject.to_owned(),
        sentence: String::new(),
        is_ordinary: false,
        is_for_person: false,
    };
    let found = Found { finding: with_code(code).unwrap(), sighting };
    let turns: Vec<String> = turns.iter().map(|turn| (*turn).to_owned()).collect();
    UserWords::of(&turns, command).request_for(&found).map(str::to_owned)
}

fn asks_to_force(turns: &[&str]) -> bool {
    request("PC007", turns, "feature/login", FORCE).is_some()
}

#[test]
fn an_order_that_says_the_action_is_a_request() {
    for turn in [
        "Please force push to feature/login now.",
        "force-push feature/login",
        "Rebase it and then overwrite feature/login on the remote",
        "run git push --force origin feature/login",
        "git push --force origin feature/login",
        "Run `git push --force origin feature/login`, please.",
        "Run this:\n\n```\ngit push --force origin feature/login\n```",
        "ok. force push login",
        "could you force push feature/login?",
        "yes, you should force push it",
        "push feature/login with --force",
        "I fixed it. Let's force push.",
    ] {
        assert!(asks_to_force(&[turn]), "{turn}");
    }
}

#[test]
fn the_sentence_is_quoted_as_it_was_written() {
    let said = request(
        "PC007",
        &["I fixed it. Run git push --force origin feature/login. Bye"],
        "feature/login",
        FORCE,
    );
    assert_eq!(said.as_deref(), Some("Run git push --force origin feature/login"));
}

#[test]
fn tales_questions_conditions_and_prohibitions_are_no_requests() {
    for turn in [
        "push feature/login",
        "fix the login",
        "never force push feature/login",
        "don't force push feature/login",
        "should we force push feature/login?",
        "force push feature/login?",
        "if the tests pass, force push feature/login",
        "enforce feature/login",
        "no force push to feature/login",
        "bitte kein force push auf feature/login",
        "ask me before you force push feature/login",
        "once CI is green force push feature/login",
        "explain how force push works on feature/login",
        "undo the force push to feature/login",
        "don\u{2019}t force push feature/login",
        "> force push feature/login",
        "$ git push --force origin feature/login",
        "Never do this:\ngit push --force origin feature/login",
        "Never do this:\n\n```\ngit push --force origin feature/login\n```",
        "```\ngit push --force origin feature/login\n```\nWhat does this do?",
        "make sure git push --force origin feature/login is rejected",
        "the bot did force push feature/login",
        "we force push feature/login every night, look at the log",
        "不要 force push feature/login",
        "force push feature/login-2",
        "force push my-feature/login",
        "",
    ] {
        assert!(!asks_to_force(&[turn]), "{turn}");
    }
}

#[test]
fn work_on_text_asks_for_nothing_that_it_mentions() {
    for work in
        ["add", "mention", "document", "fix", "rename", "write a test for", "translate", "update the docs on"]
    {
        for what in
            ["git push --force origin feature/login", "the force push to feature/login", "\"force push\""]
        {
            let turn = format!("{work} {what} in the guide");
            assert!(!asks_to_force(&[&turn]), "{turn}");
        }
    }
    let subject = "redis-cli flushall";
    for turn in
        ["remove the sentence about redis-cli flushall", "delete the step redis-cli flushall from the docs"]
    {
        assert_eq!(request("PC015", &[turn], "flushall", subject), None, "{turn}");
    }
}

#[test]
fn a_later_sentence_takes_a_request_back() {
    for later in [
        "no wait, keep it",
        "actually not today",
        "stop, do not push anything",
        "never mind",
        "don't force push feature/login",
        "hold off on that",
    ] {
        assert!(!asks_to_force(&["force push feature/login", later]), "{later}");
        assert!(
            asks_to_force(&["force push feature/login", later, "ok, force push feature/login"]),
            "{later}"
        );
    }
    assert!(!asks_to_force(&["Force push feature/login. No wait, keep it."]));
    assert!(asks_to_force(&["force push feature/login", "thanks, now the page"]));
}

#[test]
fn a_word_for_the_action_itself_refuses_nothing() {
    for finding in FINDINGS {
        let Firmness::Soft { verbs, .. } = finding.firmness else {
            continue;
        };
        for verb in verbs.iter().filter(|verb| !verb.contains("no ")) {
            let turn = format!("Please go for {verb} example-thing now.");
            assert!(request(finding.code, &[&turn], "example-thing", "x y z").is_some(), "{turn}");
        }
    }
}
