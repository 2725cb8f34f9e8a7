//! `portcullis mcp-proxy` with a real daemon: a call that waits for a person waits alone.

use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::approvals::{allow, answer, id, open_questions, question, until};
use super::daemon::Daemon;
use super::dialogue::Dialogue;
use super::sandbox::Sandbox;

const SETTINGS: &str = r#"{"permissions":{"allow":["mcp__fs__echo"],"deny":["mcp__fs__drop"]}}"#;

fn tool_call(id: impl Into<Value>, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

fn ping(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn cancellation(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}

fn say(dialogue: &mut Dialogue, message: &Value) {
    dialogue.say(format!("{message}\n").as_bytes());
}

/// A proxy in front of a server that keeps what it gets and gives it back.
fn proxy(sandbox: &Sandbox) -> Dialogue {
    Dialogue::start(&mut sandbox.command(&["mcp-proxy", "--name", "fs", "--", "tee", "received"]))
}

fn started() -> (Sandbox, Daemon, Dialogue) {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let daemon = Daemon::start(&sandbox);
    let dialogue = proxy(&sandbox);
    (sandbox, daemon, dialogue)
}

fn received(sandbox: &Sandbox) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.project.join("received")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until so many questions are open, and returns them.
fn questions(daemon: &Daemon, count: usize) -> Vec<Value> {
    until("enough questions", || Some(open_questions(daemon)).filter(|open| open.len() == count))
}

fn question_of<'a>(questions: &'a [Value], tool: &str) -> &'a Value {
    questions.iter().find(|question| question.to_string().contains(tool)).unwrap()
}

fn state_of(daemon: &Daemon, question: &Value) -> Value {
    daemon.get(&format!("/v1/approvals/{}", id(question))).as_json()
}

#[test]
fn while_a_call_waits_everything_else_goes_on() {
    let (sandbox, daemon, mut dialogue) = started();
    say(&mut dialogue, &tool_call(1, "deploy"));
    say(&mut dialogue, &tool_call("two", "publish"));
    let open = questions(&daemon, 2);
    assert_eq!(dialogue.ask(&ping(3)), ping(3));
    assert_eq!(dialogue.ask(&tool_call(4, "echo")), tool_call(4, "echo"));
    assert_eq!(dialogue.ask(&tool_call(5, "drop"))["result"]["isError"], true);
    assert_eq!(dialogue.ask(&cancellation(4)), cancellation(4), "the server has that call");
    // Each question has its own answer, in whatever order they come.
    allow(&daemon, question_of(&open, "publish"));
    assert_eq!(dialogue.hear_json(), tool_call("two", "publish"));
    let refused = answer(
        &daemon,
        question_of(&open, "deploy"),
        &json!({"decision": "deny", "message": "not on a Friday"}),
    );
    assert_eq!(refused.status, 200);
    let told = dialogue.hear_json();
    assert_eq!((&told["id"], &told["result"]["isError"]), (&json!(1), &json!(true)));
    assert!(told.to_string().contains("not on a Friday"), "{told}");
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    let expected = [ping(3), tool_call(4, "echo"), cancellation(4), tool_call("two", "publish")];
    assert_eq!(received(&sandbox), expected);
}

#[test]
fn cancelling_a_call_takes_its_question_back() {
    let (sandbox, daemon, mut dialogue) = started();
    say(&mut dialogue, &tool_call(1, "deploy"));
    let asked = question(&daemon);
    // Another id, and the same id as text, are other calls.
    for other in [json!(2), json!("1")] {
        assert_eq!(dialogue.ask(&cancellation(other.clone())), cancellation(other));
    }
    assert_eq!(open_questions(&daemon).len(), 1);
    say(&mut dialogue, &cancellation(1));
    until("the end of the question", || open_questions(&daemon).is_empty().then_some(()));
    let ended = state_of(&daemon, &asked);
    assert_eq!(
        (&ended["state"], &ended["answer"]["via"]),
        (&json!("denied"), &json!("withdrawn")),
        "{ended}"
    );
    assert_eq!(answer(&daemon, &asked, &json!({"decision": "allow"})).status, 409);
    // Nobody hears of it again, and the same call can be tried anew.
    say(&mut dialogue, &tool_call(1, "deploy"));
    allow(&daemon, &question(&daemon));
    assert_eq!(dialogue.hear_json(), tool_call(1, "deploy"));
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    let expected = [cancellation(2), cancellation("1"), tool_call(1, "deploy")];
    assert_eq!(received(&sandbox), expected);
}

#[test]
fn of_a_batch_the_call_that_waits_goes_on_alone() {
    let (sandbox, daemon, mut dialogue) = started();
    let batch = json!([ping(1), tool_call(2, "deploy"), tool_call(3, "echo")]);
    assert_eq!(dialogue.ask(&batch), json!([ping(1), tool_call(3, "echo")]));
    let waiting = question(&daemon);
    // A cancellation of what the server never saw is not for the server.
    say(&mut dialogue, &tool_call(4, "publish"));
    questions(&daemon, 2);
    assert_eq!(dialogue.ask(&json!([cancellation(4), ping(5)])), json!([ping(5)]));
    until("the end of one question", || (open_questions(&daemon).len() == 1).then_some(()));
    allow(&daemon, &waiting);
    assert_eq!(dialogue.hear_json(), tool_call(2, "deploy"));
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox).len(), 3);
}

#[test]
fn nobody_is_asked_for_a_client_that_left() {
    let (sandbox, daemon, mut dialogue) = started();
    say(&mut dialogue, &tool_call(1, "deploy"));
    let asked = question(&daemon);
    let begun = Instant::now();
    let (rest, code) = dialogue.finish();
    assert!(begun.elapsed() < Duration::from_secs(20), "it waited for {:?}", begun.elapsed());
    assert_eq!(code, Some(0));
    assert!(rest.contains("\"isError\":true"), "{rest}");
    assert_eq!(state_of(&daemon, &asked)["answer"]["via"], "withdrawn");
    assert_eq!(received(&sandbox), Vec::<Value>::new());
}

#[test]
fn nobody_is_asked_for_a_server_that_ended() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let daemon = Daemon::start(&sandbox);
    let script = "read -r line; exit 3";
    let words = ["mcp-proxy", "--name", "fs", "--", "sh", "-c", script];
    let mut dialogue = Dialogue::start(&mut sandbox.command(&words));
    say(&mut dialogue, &tool_call(1, "deploy"));
    let asked = question(&daemon);
    say(&mut dialogue, &ping(2));
    assert_eq!(dialogue.child.wait().unwrap().code(), Some(3));
    assert_eq!(state_of(&daemon, &asked)["answer"]["via"], "withdrawn");
}

#[test]
fn more_calls_than_may_wait_at_once_wait_for_their_turn() {
    let (sandbox, daemon, mut dialogue) = started();
    for number in 0..40 {
        say(&mut dialogue, &tool_call(number, &format!("deploy{number}")));
    }
    let open = questions(&daemon, 32);
    assert_eq!(dialogue.ask(&ping(99)), ping(99));
    // One that waits for its turn can be cancelled as well.
    say(&mut dialogue, &cancellation(39));
    allow(&daemon, &open[0]);
    let first = dialogue.hear_json();
    questions(&daemon, 32);
    for number in 0..39 {
        say(&mut dialogue, &cancellation(number));
    }
    // The cancellation of what was forwarded is the server's.
    assert_eq!(dialogue.hear_json(), cancellation(first["id"].clone()));
    until("the end of all questions", || open_questions(&daemon).is_empty().then_some(()));
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox).len(), 3);
}
