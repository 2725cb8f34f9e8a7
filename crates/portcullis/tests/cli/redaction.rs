//! Forms of secrets that users add: what the real program keeps of a call.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::approvals::{claude, sandbox};

#[test]
fn a_form_of_the_user_is_blacked_out_and_one_of_a_repository_is_not() {
    let settings = json!({"redaction": {"forms": ["acme_[key 12+]", "[key 1+]", "wide"]}});
    let sandbox = sandbox(&settings);
    sandbox.write_project(".portcullis/settings.json", r#"{"redaction":{"forms":["rm-[key 8+]"]}}"#);
    let command = "./deploy acme_0123456789ab rm-0123456789ab";
    let ran = sandbox.run_with_input(&["hook", "claude"], claude(&sandbox, command).to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let trail = fs::read_to_string(sandbox.home.join(".local/state/portcullis/audit/current.jsonl")).unwrap();
    assert!(trail.contains("./deploy [redacted:custom] rm-0123456789ab"), "{trail}");
    assert!(!trail.contains("acme_0123456789ab"), "{trail}");
    // The wrong ones are told with their place, and take nothing away.
    let shown = sandbox.run(&["settings", "show"]);
    let told = format!("{}{}", shown.stdout, shown.stderr);
    assert!(told.contains("settings.json:1:"), "{told}");
    assert!(told.contains("begins with bytes of no exact number"), "{told}");
    assert!(told.contains("has fewer than 8 bytes"), "{told}");
}
