//! `portcullis doctor --prove`, which starts the real agents by itself.

use serde_json::{Value, json};

use crate::harness::{Client, Registration, Session};

/// Begins a session of a user who has signed in to a model of their own, where that would stand in the way.
fn begin(client: Client) -> Session {
    let session = Session::new(client, &json!({}));
    match client {
        Client::Gemini => session.with_home_file(
            ".gemini/settings.json",
            r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#,
        ),
        Client::Kimi => session
            .with_home_file(".kimi-code/config.toml", "default_model = \"own\"\n\n[models.own]\nprovider = \"own\"\nmodel = \"own\"\nmax_context_size = 1000\n\n[providers.own]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"own\"\n"),
        Client::Opencode => session
            .with_home_file(".config/opencode/opencode.json", r#"{"model":"own/own","permission":{"bash":"deny"}}"#),
        _ => session,
    }
}

/// Returns how the proof ended and what it says.
fn prove(client: Client, registration: Registration) -> (String, String) {
    let session = begin(client).registered(registration);
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
    let session = begin(client).with_home_file(&off, lost);
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
fn doctor_sees_gemini_cli_run_a_command_inside_a_fence() {
    assert_rewrite_is_seen(Client::Gemini);
}

#[test]
fn doctor_sees_opencode_run_a_command_inside_a_fence() {
    assert_rewrite_is_seen(Client::Opencode);
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
fn gemini_cli_is_proven() {
    assert_proven_only_if_registered(Client::Gemini);
}

#[test]
fn opencode_is_proven() {
    assert_proven_only_if_registered(Client::Opencode);
}

#[test]
fn droid_is_proven() {
    assert_proven_only_if_registered(Client::Droid);
}

#[test]
fn kimi_code_is_proven() {
    assert_proven_only_if_registered(Client::Kimi);
}

#[test]
fn pi_is_proven() {
    assert_proven_only_if_registered(Client::Pi);
}

/// Its model is told nothing of a call that is stopped, so the record of decisions is what proves it.
#[test]
fn cline_cli_is_proven() {
    assert_proven_only_if_registered(Client::Cline);
}
