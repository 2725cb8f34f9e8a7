//! `portcullis stats`: decisions in figures.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::log::{audit, entry};
use super::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..10 {
        let mut made = entry(number, if number < 6 { "allow" } else { "ask" });
        if number < 2 {
            made.kind = "readOnly".to_owned();
        }
        if number == 9 {
            (made.decision, made.said) = ("deny".to_owned(), "deny".to_owned());
            made.code = Some("PC007".to_owned());
        }
        audit(&sandbox).append(&made).unwrap();
        // The host asks again about what it was told to ask about.
        if made.decision == "ask" {
            made.event = "PermissionRequest".to_owned();
            audit(&sandbox).append(&made).unwrap();
        }
    }
    sandbox
}

#[test]
fn figures_count_a_call_once() {
    let ran = sandbox().run(&["stats", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["calls"], 10);
    assert_eq!(json["repeats"], 3);
    assert_eq!(json["decisions"], json!({"allow": 6, "ask": 3, "deny": 1}));
    assert_eq!(json["promptsAvoided"], 4);
    assert_eq!(json["latencyMicros"]["withoutModel"]["p99"], 700);
    assert_eq!(json["asked"], json!([{"count": 3, "example": "Bash make step-8", "rule": "Bash(make:*)"}]));
    assert_eq!(json["denied"], json!([{"count": 1, "example": "Bash make step-9", "code": "PC007"}]));
    assert_eq!(json["days"], json!([{"day": "2027-01-15", "allow": 6, "ask": 3, "deny": 1}]));
}

#[test]
fn the_page_has_charts_and_the_rules_that_would_settle_questions() {
    let ran = sandbox().run(&["stats"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for part in [
        "10 calls, 4 prompts avoided (40.0 %)",
        "6 (60.0 %)",
        "A10 nothing decided  #####",
        "portcullis rules add allow 'Bash(make:*)'",
        "PC007",
        "no call needed a model",
        "p50 700 µs",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 120), "{}", ran.stdout);
}

#[test]
fn one_is_not_many() {
    let sandbox = Sandbox::new();
    audit(&sandbox).append(&entry(0, "allow")).unwrap();
    let stats = sandbox.run(&["stats"]).stdout;
    assert!(stats.starts_with("1 call, "), "{stats}");
}

#[test]
fn nothing_recorded_has_no_figures() {
    let ran = Sandbox::new().run(&["stats"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "nothing was recorded that fits\n"));
    let ran = sandbox().run(&["stats", "--until", "2020-01-01", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["calls"], 0);
}
