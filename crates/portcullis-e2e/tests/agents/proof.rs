//! `portcullis doctor --prove`, which starts the real agents by itself.

use serde_json::{Value, json};

use crate::harness::{Client, Registration, Session};

/// Returns how the proof ended and what it says.
fn prove(client: Client, registration: Registration) -> (String, String) {
    let session = Session::new(client, &json!({})).registered(registration);
    let report: Value = session.ask_doctor(&["--prove", "--yes"]);
    let checks = report["checks"].as_array().expect("checks");
    let found = checks.iter().find(|check| check["check"] == "proof");
    let proof = found.unwrap_or_else(|| panic!("there is no proof in {report:#}"));
    let text = |name: &str| proof[name].as_str().unwrap_or_default().to_owned();
    (text("state"), text("message"))
}

fn assert_proven_only_if_registered(client: Client) {
    let (state, message) = prove(client, Registration::ByInit);
    assert_eq!(state, "fine", "{message}");
    let (state, message) = prove(client, Registration::Not);
    assert_eq!(state, "problem", "{message}");
}

/// An agent that lost a rewrite gets fences again once `doctor` has seen it run one.
fn assert_rewrite_is_seen(client: Client) {
    let off = format!(".local/state/portcullis/contained/off-{}.json", client.name());
    let lost = r#"{"at_ms":1,"session":"s","reason":"it lost one"}"#;
    let session = Session::new(client, &json!({})).with_home_file(&off, lost);
    let report: Value = session.ask_doctor(&["--prove", "--yes"]);
    let checks = report["checks"].as_array().expect("checks");
    let says = |text: &str| {
        checks.iter().any(|check| check["message"].as_str().is_some_and(|message| message.contains(text)))
    };
    assert!(says("are not contained any more") && says("are contained again"), "{report:#}");
}

#[test]
fn doctor_sees_claude_code_run_a_command_inside_a_fence() {
    assert_rewrite_is_seen(Client::Claude);
}

#[test]
fn doctor_sees_codex_run_a_command_inside_a_fence() {
    assert_rewrite_is_seen(Client::Codex);
}

#[test]
fn claude_code_is_proven() {
    assert_proven_only_if_registered(Client::Claude);
}

#[test]
fn codex_is_proven() {
    assert_proven_only_if_registered(Client::Codex);
}

#[test]
fn qwen_code_is_proven() {
    assert_proven_only_if_registered(Client::Qwen);
}

#[test]
fn copilot_cli_is_proven() {
    assert_proven_only_if_registered(Client::Copilot);
}

#[test]
fn an_agent_that_cannot_be_driven_so_is_said_not_to_be_proven() {
    let (state, message) = prove(Client::Gemini, Registration::ByInit);
    assert_eq!(state, "warning", "{message}");
}
