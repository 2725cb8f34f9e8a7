//! What the daemon tells Prometheus and OpenTelemetry, and whom it tells.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_testkit::{CollectedPost, OtlpCollector};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::daemon::{Daemon, serve};
use super::exposition::Exposition;
use super::sandbox::Sandbox;
use super::scene::{JUDGE, KEY, Scene};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn call(sandbox: &Sandbox, command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}, "cwd": sandbox.project, "session": "s1"})
}

fn decide(daemon: &Daemon, call: &Value) -> Value {
    let answer = daemon.post("/v1/decide", call);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.as_json()
}

#[test]
fn everything_prometheus_is_told_is_well_formed() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"deny":["Bash(rm *)"]}}"#);
    let daemon = Daemon::start(&sandbox);
    for (command, decision) in [("ls", "allow"), ("ls -l", "allow"), ("rm x", "deny")] {
        assert_eq!(decide(&daemon, &call(&sandbox, command))["decision"], decision, "{command}");
    }
    assert_eq!(daemon.get("/no/such/place").status, 404);
    let answer = daemon.get("/metrics");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let told = Exposition::parse(&answer.text());
    let value = |name: &str, labels: &[(&str, &str)]| told.value(name, labels);
    assert_eq!(value("portcullis_decisions_total", &[("decision", "allow"), ("host", "api")]), Some(2.0));
    assert_eq!(value("portcullis_decisions_total", &[("decision", "deny"), ("host", "api")]), Some(1.0));
    assert_eq!(value("portcullis_decision_seconds_count", &[]), Some(3.0));
    let posted = [("method", "POST"), ("route", "/v1/decide"), ("status", "200")];
    assert_eq!(value("portcullis_http_requests_total", &posted), Some(3.0));
    let lost = [("method", "GET"), ("route", "unmatched"), ("status", "404")];
    assert_eq!(value("portcullis_http_requests_total", &lost), Some(1.0));
    assert_eq!(value("portcullis_audit_batch_size_sum", &[]), Some(3.0));
    assert_eq!(value("portcullis_approvals_open", &[]), Some(0.0));
    assert_eq!(value("portcullis_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), Some(1.0));
    let above = |name: &str| value(name, &[]).unwrap_or_else(|| panic!("{name} is missing"));
    for name in ["portcullis_uptime_seconds", "process_start_time_seconds", "portcullis_connections_open"] {
        assert!(above(name) > 0.0, "{name}");
    }
    if cfg!(target_os = "linux") {
        assert!(above("process_resident_memory_bytes") > 1e6 && above("process_open_fds") > 3.0);
    }
    let lookups = ["hit", "miss"]
        .map(|result| value("portcullis_settings_lookups_total", &[("result", result)]).unwrap_or_default());
    assert!(lookups[0] + lookups[1] >= 3.0, "{lookups:?}");
}

#[test]
fn health_needs_no_token_and_says_nothing_else() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let health = daemon.ask("GET", "/healthz").send();
    assert_eq!((health.status, health.as_json()), (200, json!({"status": "ok"})));
    assert_eq!(daemon.ask("GET", "/metrics").send().status, 401);
    assert_eq!(daemon.ask("GET", "/metrics").token("wrong").send().status, 401);
    // A hook has no business here, and whoever is on the machine may look.
    assert_eq!(daemon.ask("GET", "/metrics").token(&daemon.hook_token()).send().status, 403);
    assert_eq!(daemon.ask("GET", "/metrics").locally().send().status, 200);
}

/// A daemon that tells a collector, after it has allowed, denied by a rule, and had a model block.
fn tell_everything(collector: &OtlpCollector) {
    let scene = Scene::new(JUDGE);
    scene.sandbox.write_home(".claude/settings.json", r#"{"permissions":{"deny":["Bash(rm *)"]}}"#);
    let mut command = serve(&scene.sandbox, &[]);
    command.env("ANTHROPIC_API_KEY", KEY).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    command.env("OTEL_SERVICE_NAME", "gate-of-the-test").env("OTEL_RESOURCE_ATTRIBUTES", "team=a%20b");
    let daemon = Daemon::run(&scene.sandbox, command);
    assert_eq!(decide(&daemon, &call(&scene.sandbox, "ls"))["decision"], "allow");
    assert_eq!(decide(&daemon, &call(&scene.sandbox, "rm x"))["decision"], "deny");
    let mut blocked = call(&scene.sandbox, "frobnicate --blockme");
    blocked["mode"] = "auto".into();
    let answer = daemon
        .ask("POST", "/v1/decide")
        .token(&daemon.hook_token())
        .header("traceparent", &format!("00-{TRACE}-{PARENT}-01"))
        .json(&blocked)
        .send();
    assert_eq!(answer.as_json()["decision"], "deny", "{}", answer.text());
    let told = Exposition::parse(&daemon.get("/metrics").text());
    let talked = told.sum("portcullis_model_calls_total");
    assert!(talked >= 1.0, "a model was asked");
    let (code, stderr) = daemon.stop();
    assert_eq!((code, stderr.contains("OpenTelemetry")), (Some(0), false), "{stderr}");
}

fn bodies<'a>(deliveries: &'a [CollectedPost], path: &str) -> Vec<&'a Value> {
    deliveries.iter().filter(|one| one.path == path).map(|one| &one.body).collect()
}

fn attributes(of: &Value) -> BTreeMap<String, Value> {
    let all = of["attributes"].as_array().unwrap();
    let map: BTreeMap<_, _> =
        all.iter().map(|one| (one["key"].as_str().unwrap().to_owned(), one["value"].clone())).collect();
    assert_eq!(map.len(), all.len(), "no attribute is there twice");
    for value in map.values() {
        let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
        let is_right = match kind.as_str() {
            "stringValue" => value.is_string(),
            "intValue" => value.as_str().unwrap().parse::<i64>().is_ok(),
            "boolValue" => value.is_boolean(),
            "doubleValue" => value.is_number(),
            _ => false,
        };
        assert!(is_right, "{kind}: {value}");
    }
    map
}

fn text(attributes: &BTreeMap<String, Value>, key: &str) -> String {
    attributes.get(key).and_then(|value| value["stringValue"].as_str()).unwrap_or_default().to_owned()
}

fn nanoseconds(value: &Value) -> u64 {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).parse().unwrap()
}

fn check_id(value: &Value, length: usize) {
    let id = value.as_str().unwrap();
    let is_hex = id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    assert!(id.len() == length && is_hex && id.bytes().any(|byte| byte != b'0'), "{id}");
}

fn check_resource(resource: &Value) {
    let attributes = attributes(resource);
    assert_eq!(text(&attributes, "service.name"), "gate-of-the-test");
    assert_eq!(text(&attributes, "team"), "a b");
    assert_eq!(text(&attributes, "telemetry.sdk.language"), "rust");
    assert_eq!(text(&attributes, "service.version"), env!("CARGO_PKG_VERSION"));
}

fn check_spans(bodies: &[&Value]) {
    let mut spans = Vec::new();
    for body in bodies {
        let part = &body["resourceSpans"][0];
        check_resource(&part["resource"]);
        assert_eq!(part["scopeSpans"][0]["scope"]["name"], "portcullis");
        spans.extend(part["scopeSpans"][0]["spans"].as_array().unwrap().iter());
    }
    for span in &spans {
        check_id(&span["traceId"], 32);
        check_id(&span["spanId"], 16);
        assert!(nanoseconds(&span["startTimeUnixNano"]) <= nanoseconds(&span["endTimeUnixNano"]));
    }
    let ids: BTreeSet<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len());
    let decisions: Vec<_> = spans.iter().filter(|span| span["name"] == "portcullis.decide").collect();
    assert_eq!(decisions.len(), 3);
    assert!(decisions.iter().all(|span| span["kind"] == 2));
    let judged = decisions.iter().find(|span| span["traceId"] == TRACE).expect("the caller's trace");
    assert_eq!(judged["parentSpanId"], PARENT);
    let said = attributes(judged);
    assert_eq!(text(&said, "portcullis.decision"), "deny");
    assert_eq!(text(&said, "portcullis.tool"), "Bash");
    assert_eq!(text(&said, "portcullis.host"), "api");
    assert_eq!(text(&said, "session.id"), "s1");
    let ruled = decisions.iter().map(|span| attributes(span)).find(|one| one.contains_key("portcullis.rule"));
    assert_eq!(text(&ruled.expect("a rule denied"), "portcullis.rule"), "Bash(rm *)");
    let talks: Vec<_> = spans.iter().filter(|span| span["kind"] == 3).collect();
    assert!(!talks.is_empty());
    for talk in talks {
        assert_eq!((&talk["traceId"], &talk["parentSpanId"]), (&json!(TRACE), &judged["spanId"]));
        assert_eq!(talk["name"], "chat claude-haiku-5-5");
        let said = attributes(talk);
        assert_eq!(text(&said, "gen_ai.operation.name"), "chat");
        assert_eq!(text(&said, "gen_ai.provider.name"), "anthropic");
        assert_eq!(text(&said, "gen_ai.request.model"), "claude-haiku-5-5");
        assert!(said["gen_ai.usage.input_tokens"]["intValue"].is_string(), "{said:?}");
        assert!(nanoseconds(&talk["startTimeUnixNano"]) >= nanoseconds(&judged["startTimeUnixNano"]));
        assert!(nanoseconds(&talk["endTimeUnixNano"]) <= nanoseconds(&judged["endTimeUnixNano"]));
    }
}

fn check_metrics(body: &Value) {
    let part = &body["resourceMetrics"][0];
    check_resource(&part["resource"]);
    let metrics = part["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let find = |name: &str| {
        metrics.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} is missing"))
    };
    let decisions = &find("portcullis.decisions")["sum"];
    assert_eq!((&decisions["isMonotonic"], &decisions["aggregationTemporality"]), (&json!(true), &json!(2)));
    let count: u64 =
        decisions["dataPoints"].as_array().unwrap().iter().map(|point| nanoseconds(&point["asInt"])).sum();
    assert_eq!(count, 3);
    let durations = &find("gen_ai.client.operation.duration");
    assert_eq!(durations["unit"], "s");
    for name in
        ["portcullis.decision.duration", "gen_ai.client.token.usage", "gen_ai.client.operation.duration"]
    {
        for point in find(name)["histogram"]["dataPoints"].as_array().unwrap() {
            let counts = point["bucketCounts"].as_array().unwrap();
            let bounds = point["explicitBounds"].as_array().unwrap();
            assert_eq!(counts.len(), bounds.len() + 1, "{name}");
            let sum: u64 = counts.iter().map(nanoseconds).sum();
            assert_eq!(sum, nanoseconds(&point["count"]), "{name}");
            assert!(nanoseconds(&point["startTimeUnixNano"]) <= nanoseconds(&point["timeUnixNano"]));
        }
    }
    let tokens = find("gen_ai.client.token.usage")["histogram"]["dataPoints"].as_array().unwrap();
    let kinds: BTreeSet<String> =
        tokens.iter().map(|point| text(&attributes(point), "gen_ai.token.type")).collect();
    assert_eq!(kinds, BTreeSet::from(["input".to_owned(), "output".to_owned()]));
}

fn check_logs(bodies: &[&Value]) {
    let mut records = Vec::new();
    for body in bodies {
        let part = &body["resourceLogs"][0];
        check_resource(&part["resource"]);
        records.extend(part["scopeLogs"][0]["logRecords"].as_array().unwrap().iter());
    }
    assert_eq!(records.len(), 2, "one for each denial, none for what was allowed");
    for record in &records {
        assert_eq!((&record["severityNumber"], &record["severityText"]), (&json!(13), &json!("WARN")));
        assert!(!record["body"]["stringValue"].as_str().unwrap().is_empty());
        assert!(nanoseconds(&record["timeUnixNano"]) <= nanoseconds(&record["observedTimeUnixNano"]));
        check_id(&record["traceId"], 32);
        check_id(&record["spanId"], 16);
    }
    assert!(records.iter().any(|record| record["traceId"] == TRACE), "a record belongs to its trace");
}

#[test]
#[cfg(feature = "otel")]
fn a_collector_is_told_of_traces_metrics_and_logs() {
    let collector = OtlpCollector::start(&[]);
    tell_everything(&collector);
    let deliveries = collector.deliveries();
    assert!(deliveries.iter().all(|one| one.header("content-type") == Some("application/json")));
    check_spans(&bodies(&deliveries, "/v1/traces"));
    check_metrics(bodies(&deliveries, "/v1/metrics").last().expect("metrics are told at the end"));
    check_logs(&bodies(&deliveries, "/v1/logs"));
    let told: String = deliveries.iter().map(|one| one.body.to_string()).collect();
    for hidden in ["frobnicate", "rm x", KEY] {
        assert!(!told.contains(hidden), "{hidden} is told");
    }
}

#[test]
#[cfg(feature = "otel")]
fn an_address_that_cannot_be_used_is_said_and_changes_nothing() {
    let sandbox = Sandbox::new();
    let mut command = serve(&sandbox, &[]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4318");
    let daemon = Daemon::run(&sandbox, command);
    assert_eq!(decide(&daemon, &call(&sandbox, "ls"))["decision"], "allow");
    let (code, stderr) = daemon.stop();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("OTEL_EXPORTER_OTLP_ENDPOINT cannot be used"), "{stderr}");
}

#[test]
#[cfg(feature = "otel")]
fn a_collector_that_is_away_changes_no_decision_and_keeps_nobody_from_stopping() {
    let sandbox = Sandbox::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = serve(&sandbox, &[]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", silent.local_addr().unwrap()));
    let daemon = Daemon::run(&sandbox, command);
    assert_eq!(decide(&daemon, &call(&sandbox, "ls"))["decision"], "allow");
    let (code, stderr) = daemon.stop();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("were not delivered"), "{stderr}");
}
