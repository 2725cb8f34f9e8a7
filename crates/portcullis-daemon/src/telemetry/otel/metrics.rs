//! Metrics: what Prometheus is told, under the names of OpenTelemetry, and the two of the conventions for generative AI.

use serde_json::{Value, json};

use super::super::counters::Counters;
use super::super::family::{self, Family, Kind, Sample};
use super::super::histogram::Distribution;
use super::super::models::{Talk, Talked};
use super::traces::{has_failed, provider_name};
use super::wire::{Attributes, scope, whole};

/// Numbers are told as they stand since the start, not since they were told last.
const CUMULATIVE: u8 = 2;

/// Told under the name that the conventions have for it.
const TOLD_OTHERWISE: &str = "portcullis_model_seconds";

/// From when to when numbers were counted, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    now: u64,
}

/// Writes the counters as a request to a collector of metrics.
pub(super) fn request(resource: &Value, counters: &Counters, now: u64) -> Value {
    let span = Span { start: counters.started_at_nanos(), now };
    let families = counters.families();
    let own = families
        .iter()
        .filter(|family| family.name.starts_with("portcullis_") && family.name != TOLD_OTHERWISE)
        .filter(|family| !family.samples.is_empty());
    let mut metrics: Vec<Value> = own.map(|family| metric(family, span)).collect();
    metrics.extend(of_generative_ai(&counters.models.talked(), span));
    json!({
        "resourceMetrics": [{"resource": resource, "scopeMetrics": [{"scope": scope(), "metrics": metrics}]}]
    })
}

fn metric(family: &Family, span: Span) -> Value {
    let (name, unit) = name_and_unit(family.name);
    let points: Vec<Value> =
        family.samples.iter().map(|sample| sample_point(sample, family.kind, span)).collect();
    let mut metric = json!({"name": name, "description": family.help, "unit": unit});
    let (key, data) = match family.kind {
        Kind::Counter => {
            let data =
                json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true});
            ("sum", data)
        }
        Kind::Gauge => ("gauge", json!({"dataPoints": points})),
        Kind::Histogram => ("histogram", json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE})),
    };
    if let Some(fields) = metric.as_object_mut() {
        fields.insert(key.to_owned(), data);
    }
    metric
}

/// Turns a name of Prometheus into one of OpenTelemetry, where the unit stands beside the name.
fn name_and_unit(name: &str) -> (String, &'static str) {
    let name = name.strip_suffix("_total").unwrap_or(name);
    let units = [("_seconds", ".duration", "s"), ("_usd", "", "USD"), ("_bytes", "", "By")];
    for (suffix, instead, unit) in units {
        if let Some(stem) = name.strip_suffix(suffix) {
            return (format!("{}{instead}", stem.replace('_', ".")), unit);
        }
    }
    (name.replace('_', "."), "1")
}

fn sample_point(sample: &Sample, kind: Kind, span: Span) -> Value {
    let attributes = Attributes::default().labels(&sample.labels);
    let value = match &sample.value {
        family::Value::Distribution(spread) => return spread_point(attributes, spread, span),
        family::Value::Count(count) => ("asInt", Value::from(whole(*count))),
        family::Value::Amount(amount) => ("asDouble", Value::from(*amount)),
    };
    let mut point = json!({"attributes": attributes.json(), "timeUnixNano": whole(span.now)});
    if let Some(fields) = point.as_object_mut() {
        if kind == Kind::Counter {
            fields.insert("startTimeUnixNano".to_owned(), whole(span.start).into());
        }
        fields.insert(value.0.to_owned(), value.1);
    }
    point
}

fn spread_point(attributes: Attributes, spread: &Distribution, span: Span) -> Value {
    let counts: Vec<String> = spread.counts.iter().map(|count| whole(*count)).collect();
    json!({
        "attributes": attributes.json(),
        "startTimeUnixNano": whole(span.start),
        "timeUnixNano": whole(span.now),
        "count": whole(spread.count()),
        "sum": spread.sum,
        "bucketCounts": counts,
        "explicitBounds": spread.bounds,
    })
}

/// Writes the metrics that the conventions for generative AI ask for.
fn of_generative_ai(talked: &[(Talk, Talked)], span: Span) -> Vec<Value> {
    if talked.is_empty() {
        return Vec::new();
    }
    let tokens = talked.iter().flat_map(|(talk, row)| {
        [("input", &row.read), ("output", &row.written)].map(|(kind, spread)| {
            spread_point(talk_attributes(talk).text("gen_ai.token.type", kind), spread, span)
        })
    });
    let durations =
        talked.iter().map(|(talk, row)| spread_point(talk_attributes(talk), &row.durations, span));
    let histogram = |name: &str, unit: &str, help: &str, points: Vec<Value>| {
        json!({
            "name": name, "unit": unit, "description": help,
            "histogram": {"dataPoints": points, "aggregationTemporality": CUMULATIVE},
        })
    };
    vec![
        histogram("gen_ai.client.token.usage", "{token}", "Tokens of talks with models.", tokens.collect()),
        histogram(
            "gen_ai.client.operation.duration",
            "s",
            "How long talks with models took.",
            durations.collect(),
        ),
    ]
}

fn talk_attributes(talk: &Talk) -> Attributes {
    let Talk { provider, model, stage, outcome } = talk;
    let failure = if has_failed(outcome) { outcome.as_str() } else { "" };
    Attributes::default()
        .text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", provider_name(provider))
        .text("gen_ai.request.model", model.as_str())
        .text("portcullis.model.provider", provider.as_str())
        .text("portcullis.model.stage", stage.as_str())
        .text("portcullis.model.outcome", outcome.as_str())
        .text("error.type", failure)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_unit_stands_beside_the_name() {
        let table = [
            ("portcullis_decisions_total", ("portcullis.decisions", "1")),
            ("portcullis_decision_seconds", ("portcullis.decision.duration", "s")),
            ("portcullis_model_cost_usd_total", ("portcullis.model.cost", "USD")),
            ("portcullis_approvals_opened_total", ("portcullis.approvals.opened", "1")),
        ];
        for (given, (name, unit)) in table {
            assert_eq!(name_and_unit(given), (name.to_owned(), unit));
        }
    }
}
