//! Tests of what a collector is told, and of what becomes of it when it does not listen.

use std::time::{Duration, Instant};

use portcullis_store::audit::{OriginEntry, RuleEntry};
use portcullis_testkit::{CollectedPost, OtlpCollector};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::super::tests::{entry, talk};
use super::super::{Telemetry, TraceParent};
use portcullis_gate::env_vars as env;

fn start(url: &str, more: &[(&'static str, &str)]) -> Telemetry {
    let mut variables = vec![(env::OTEL_EXPORTER_OTLP_ENDPOINT, url.to_owned())];
    variables.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
    Telemetry::start(&variables)
}

fn bodies(deliveries: &[CollectedPost], path: &str) -> Vec<Value> {
    deliveries
        .iter()
        .filter(|one| one.path == path && one.status == 200)
        .map(|one| one.body.clone())
        .collect()
}

fn spans(deliveries: &[CollectedPost]) -> Vec<Value> {
    let bodies = bodies(deliveries, "/v1/traces");
    bodies
        .iter()
        .flat_map(|body| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone())
        .collect()
}

fn attribute<'a>(of: &'a Value, key: &str) -> &'a Value {
    let attributes = of["attributes"].as_array().unwrap();
    attributes.iter().find(|one| one["key"] == key).map_or(&Value::Null, |one| &one["value"])
}

fn counted(telemetry: &Telemetry, line: &str) -> bool {
    telemetry.metrics().lines().any(|known| known == line)
}

#[test]
fn spans_of_a_decision_lie_within_each_other() {
    let collector = OtlpCollector::start(&[]);
    let telemetry = start(&collector.url(), &[]);
    let mut decided = entry("claude", "deny");
    decided.micros = 2_000_000;
    decided.models = vec![talk("fast", "block", 400), talk("thinking", "key not accepted", 5_000)];
    let parent = TraceParent { trace: [0xab; 16], span: [0xcd; 8], is_sampled: true };
    telemetry.decided(&decided, Some(parent));
    telemetry.shutdown();
    let spans = spans(&collector.deliveries());
    assert_eq!(spans.len(), 3);
    let decision = &spans[0];
    assert_eq!(decision["traceId"], "ab".repeat(16));
    assert_eq!(decision["parentSpanId"], "cd".repeat(8));
    assert_eq!((&decision["kind"], &decision["name"]), (&2.into(), &"portcullis.decide".into()));
    assert_eq!(decision["startTimeUnixNano"], "1799999998123000000");
    assert_eq!(decision["endTimeUnixNano"], "1800000000123000000");
    for talk in &spans[1..] {
        assert_eq!(talk["parentSpanId"], decision["spanId"]);
        assert_eq!((&talk["kind"], &talk["name"]), (&3.into(), &"chat claude-haiku-5-5".into()));
        assert_eq!(attribute(talk, "gen_ai.usage.input_tokens")["intValue"], "213");
        assert_eq!(attribute(talk, "gen_ai.provider.name")["stringValue"], "anthropic");
    }
    // The later talk took longer than the decision as it is recorded, and is cut to it.
    let (thinking, fast) = (&spans[1], &spans[2]);
    assert_eq!(thinking["startTimeUnixNano"], decision["startTimeUnixNano"]);
    assert_eq!(fast["endTimeUnixNano"], thinking["startTimeUnixNano"]);
    assert_eq!(attribute(thinking, "error.type")["stringValue"], "key_not_accepted");
    assert_eq!((&thinking["status"]["code"], &fast["status"]["code"]), (&2.into(), &Value::Null));
}

#[test]
fn nothing_of_the_call_is_told_and_secrets_are_taken_out() {
    let collector = OtlpCollector::start(&[]);
    let telemetry = start(&collector.url(), &[]);
    let mut decided = entry("claude", "deny");
    let secret = ["ghp", "_", &"a1B2c3D4e5F6".repeat(3)].concat();
    decided.reason = format!("the rule matches `echo {secret}`, which is sent away");
    let text = format!("Bash(curl -H 'Authorization: Bearer {secret}' *)");
    let origin = OriginEntry {
        source: "user".to_owned(),
        file: Some("/home/me/settings.json".to_owned()),
        line: Some(3),
    };
    decided.rule = Some(RuleEntry { text, behavior: "deny".to_owned(), origin });
    telemetry.decided(&decided, None);
    telemetry.shutdown();
    let told: String = collector.deliveries().iter().map(|one| one.body.to_string()).collect();
    assert!(told.contains("deny at the step rules: rule `Bash(curl"), "{told}");
    for hidden in ["the-words-of-the-command", "sent away", "secret-project", "/home/me", secret.as_str()] {
        assert!(!told.contains(hidden), "{hidden} is told");
    }
}

#[test]
fn only_what_was_not_allowed_is_a_log_record() {
    let collector = OtlpCollector::start(&[]);
    let telemetry = start(&collector.url(), &[(env::OTEL_TRACES_SAMPLER, "always_off")]);
    for decision in ["allow", "ask", "deny"] {
        telemetry.decided(&entry("claude", decision), None);
    }
    telemetry.shutdown();
    let deliveries = collector.deliveries();
    assert_eq!(spans(&deliveries), [Value::Null; 0]);
    let logs = bodies(&deliveries, "/v1/logs");
    let records = logs[0]["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    let severities: Vec<&Value> = records.iter().map(|record| &record["severityNumber"]).collect();
    assert_eq!(severities, [9, 13]);
    assert_eq!(records[0]["body"]["stringValue"], "ask at the step rules: rule");
    assert_eq!(records[0]["flags"], 0);
    assert_eq!(records[0]["traceId"].as_str().unwrap().len(), 32);
}

#[test]
fn a_busy_collector_is_asked_again() {
    let collector = OtlpCollector::start(&[503, 429]);
    let none = [(env::OTEL_METRICS_EXPORTER, "none"), (env::OTEL_TRACES_EXPORTER, "none")];
    let telemetry = start(&collector.url(), &none);
    telemetry.decided(&entry("claude", "deny"), None);
    assert!(collector.wait_for(|taken| taken.iter().any(|one| one.status == 200)));
    telemetry.shutdown();
    let deliveries = collector.deliveries();
    let statuses: Vec<u16> = deliveries.iter().map(|one| one.status).collect();
    assert_eq!(statuses, [503, 429, 200]);
    assert!(deliveries.iter().all(|one| one.body == deliveries[0].body), "the same is sent again");
    assert!(counted(&telemetry, "portcullis_otel_exports_total{signal=\"logs\",outcome=\"sent\"} 1"));
    assert!(counted(&telemetry, "portcullis_otel_dropped_total{signal=\"logs\"} 0"));
}

#[test]
fn what_a_collector_refuses_is_dropped_and_counted() {
    let collector = OtlpCollector::start(&[400]);
    let none = [(env::OTEL_METRICS_EXPORTER, "none"), (env::OTEL_TRACES_EXPORTER, "none")];
    let telemetry = start(&collector.url(), &none);
    telemetry.decided(&entry("claude", "deny"), None);
    assert!(collector.wait_for(|taken| taken.len() == 1));
    telemetry.shutdown();
    assert!(counted(&telemetry, "portcullis_otel_exports_total{signal=\"logs\",outcome=\"failed\"} 1"));
    assert!(counted(&telemetry, "portcullis_otel_dropped_total{signal=\"logs\"} 1"));
}

#[test]
fn a_collector_that_is_away_delays_nothing() {
    // A listener whose queue nobody empties: it takes connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let telemetry = start(&format!("http://{}", silent.local_addr().unwrap()), &[]);
    let started = Instant::now();
    for _ in 0..20_000 {
        telemetry.decided(&entry("claude", "deny"), None);
    }
    telemetry.shutdown();
    let most = Duration::from_secs(30);
    assert!(started.elapsed() < most, "{:?}", started.elapsed());
    let text = telemetry.metrics();
    let dropped =
        text.lines().find_map(|line| line.strip_prefix("portcullis_otel_dropped_total{signal=\"traces\"} "));
    assert_eq!(dropped, Some("20000"));
}

#[test]
fn headers_and_the_resource_are_what_the_variables_say() {
    let collector = OtlpCollector::start(&[]);
    let more = [
        (env::OTEL_EXPORTER_OTLP_HEADERS, "Authorization=Bearer%20k,x-scope-orgid=a"),
        (env::OTEL_SERVICE_NAME, "gate"),
        (env::OTEL_RESOURCE_ATTRIBUTES, "deployment.environment.name=prod,service.name=other"),
    ];
    let telemetry = start(&collector.url(), &more);
    telemetry.shutdown();
    let deliveries = collector.deliveries();
    let metrics = deliveries.iter().find(|one| one.path == "/v1/metrics").unwrap();
    assert_eq!(metrics.header("authorization"), Some("Bearer k"));
    assert_eq!(metrics.header("x-scope-orgid"), Some("a"));
    assert_eq!(metrics.header("content-type"), Some("application/json"));
    let resource = &metrics.body["resourceMetrics"][0]["resource"];
    assert_eq!(attribute(resource, "service.name")["stringValue"], "gate");
    assert_eq!(attribute(resource, "deployment.environment.name")["stringValue"], "prod");
    let names = resource["attributes"].as_array().unwrap().iter().filter(|one| one["key"] == "service.name");
    assert_eq!(names.count(), 1);
    // Without decisions there is nothing else to tell.
    assert_eq!(deliveries.len(), 1);
}
