//! Tests of what is counted and how it is told to Prometheus.

use std::time::Duration;

use portcullis_store::ApprovalState;
use portcullis_store::audit::{Entry, ModelEntry};
use pretty_assertions::assert_eq;

use super::seen::Seen;
use super::*;

/// Makes a decision.
pub(super) fn entry(host: &str, decision: &str) -> Entry {
    Entry {
        at_ms: 1_800_000_000_123,
        host: host.to_owned(),
        event: "PreToolUse".to_owned(),
        session: "s1".to_owned(),
        agent: None,
        call_id: Some("toolu_1".to_owned()),
        cwd: "/home/me/secret-project".to_owned(),
        mode: "auto".to_owned(),
        headless: false,
        tool: "Bash".to_owned(),
        summary: "echo the-words-of-the-command".to_owned(),
        input: r#"{"command":"echo the-words-of-the-command"}"#.to_owned(),
        decision: decision.to_owned(),
        said: decision.to_owned(),
        step: "rules".to_owned(),
        kind: "rule".to_owned(),
        reason: "a rule says so".to_owned(),
        rule: None,
        code: None,
        denial: None,
        findings: Vec::new(),
        trace: Vec::new(),
        suggestions: Vec::new(),
        models: Vec::new(),
        micros: 75,
        ..Entry::default()
    }
}

/// Makes a talk with a model.
pub(super) fn talk(stage: &str, outcome: &str, latency_ms: u64) -> ModelEntry {
    ModelEntry {
        provider: "anthropic".to_owned(),
        model: "claude-haiku-5-5".to_owned(),
        stage: stage.to_owned(),
        outcome: outcome.to_owned(),
        input: 10,
        cache_read: 200,
        cache_write: 3,
        output: 4,
        cost_usd: Some(0.000_5),
        latency_ms,
    }
}

fn telemetry() -> Telemetry {
    Telemetry::start(&[])
}

fn lines(telemetry: &Telemetry, start: &str) -> Vec<String> {
    telemetry.metrics().lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
}

#[test]
fn decisions_are_counted_by_verdict_and_by_who_asked() {
    let telemetry = telemetry();
    for (host, decision) in [
        ("claude", "allow"),
        ("claude", "allow"),
        ("claude", "deny"),
        ("api", "ask"),
        ("evil\"host", "allow"),
    ] {
        telemetry.decided(&entry(host, decision), None);
    }
    telemetry.decided(&entry("mcp", "sideways"), None);
    let expected = [
        "portcullis_decisions_total{decision=\"allow\",host=\"claude\"} 2",
        "portcullis_decisions_total{decision=\"deny\",host=\"claude\"} 1",
        "portcullis_decisions_total{decision=\"other\",host=\"mcp\"} 1",
        "portcullis_decisions_total{decision=\"ask\",host=\"api\"} 1",
        "portcullis_decisions_total{decision=\"allow\",host=\"other\"} 1",
    ];
    assert_eq!(lines(&telemetry, "portcullis_decisions_total"), expected);
    assert_eq!(
        lines(&telemetry, "portcullis_decision_seconds_count"),
        ["portcullis_decision_seconds_count 6"]
    );
    let buckets = lines(&telemetry, "portcullis_decision_seconds_bucket");
    assert_eq!(
        buckets[..2],
        [
            "portcullis_decision_seconds_bucket{le=\"0.00005\"} 0",
            "portcullis_decision_seconds_bucket{le=\"0.0001\"} 6"
        ]
    );
}

#[test]
fn approvals_are_counted_with_the_time_a_person_took() {
    let telemetry = telemetry();
    for _ in 0..4 {
        telemetry.approval_opened();
    }
    telemetry.approval_answered(ApprovalState::Allowed, Duration::from_secs(4));
    telemetry.approval_answered(ApprovalState::Denied, Duration::from_secs(40));
    telemetry.approval_answered(ApprovalState::Open, Duration::from_secs(40));
    telemetry.approvals_expired(2);
    assert_eq!(
        lines(&telemetry, "portcullis_approvals_"),
        [
            "portcullis_approvals_opened_total 4",
            "portcullis_approvals_ended_total{outcome=\"allowed\"} 1",
            "portcullis_approvals_ended_total{outcome=\"denied\"} 1",
            "portcullis_approvals_ended_total{outcome=\"expired\"} 2",
        ]
    );
    assert_eq!(
        lines(&telemetry, "portcullis_approval_wait_seconds_sum"),
        ["portcullis_approval_wait_seconds_sum 44"]
    );
}

#[test]
fn a_connection_is_open_until_it_is_dropped() {
    let telemetry = telemetry();
    let (one, two) = (telemetry.connected(), telemetry.connected());
    drop(one);
    telemetry.connection_refused();
    assert_eq!(
        lines(&telemetry, "portcullis_connections_"),
        [
            "portcullis_connections_open 1",
            "portcullis_connections_total 2",
            "portcullis_connections_refused_total 1",
        ]
    );
    drop(two);
    assert_eq!(lines(&telemetry, "portcullis_connections_open"), ["portcullis_connections_open 0"]);
}

#[test]
fn what_is_known_elsewhere_is_looked_up() {
    let telemetry = telemetry();
    assert_eq!(lines(&telemetry, "portcullis_approvals_open "), [""; 0]);
    telemetry.counters.watch(Box::new(|| {
        Some(Seen { open_approvals: 3, waiting: 1, settings_kept: 10, settings_loaded: 2 })
    }));
    assert_eq!(lines(&telemetry, "portcullis_approvals_open "), ["portcullis_approvals_open 3"]);
    assert_eq!(
        lines(&telemetry, "portcullis_settings_lookups_total"),
        [
            "portcullis_settings_lookups_total{result=\"hit\"} 10",
            "portcullis_settings_lookups_total{result=\"miss\"} 2",
        ]
    );
}

#[test]
fn writing_is_counted_by_batch() {
    let telemetry = telemetry();
    telemetry.recorded(3, Duration::from_micros(700));
    telemetry.recorded(512, Duration::from_millis(4));
    telemetry.store_failed();
    assert_eq!(lines(&telemetry, "portcullis_audit_batch_size_sum"), ["portcullis_audit_batch_size_sum 515"]);
    assert_eq!(
        lines(&telemetry, "portcullis_audit_write_seconds_count"),
        ["portcullis_audit_write_seconds_count 2"]
    );
    assert_eq!(lines(&telemetry, "portcullis_store_errors_total"), ["portcullis_store_errors_total 1"]);
}

#[test]
fn without_variables_nobody_is_told_anything() {
    let telemetry = telemetry();
    assert!(telemetry.exporter.is_none());
    telemetry.shutdown();
}

#[test]
fn threads_that_count_at_once_lose_nothing() {
    let telemetry = telemetry();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut entry = entry("codex", "allow");
                entry.models = vec![talk("fast", "allow", 300)];
                for _ in 0..500 {
                    telemetry.decided(&entry, None);
                    telemetry.requested("POST", Some("/v1/decide"), 200);
                }
            });
        }
    });
    assert_eq!(
        lines(&telemetry, "portcullis_decisions_total"),
        ["portcullis_decisions_total{decision=\"allow\",host=\"codex\"} 2000"]
    );
    assert_eq!(
        lines(&telemetry, "portcullis_http_requests_total"),
        ["portcullis_http_requests_total{method=\"POST\",route=\"/v1/decide\",status=\"200\"} 2000"]
    );
    assert_eq!(lines(&telemetry, "portcullis_model_cost_usd_total"), ["portcullis_model_cost_usd_total 1"]);
}
