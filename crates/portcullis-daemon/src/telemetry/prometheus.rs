//! Families in the text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use super::family::{Family, Kind, Labels, Sample, Value};
use super::histogram::Distribution;

/// What the text is called in a response.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes families as text.
pub(super) fn text(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        write_family(&mut out, family);
    }
    out
}

fn write_family(out: &mut String, family: &Family) {
    let Family { name, help, kind, samples } = family;
    let kind = match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    // Writing to a string does not fail.
    let _ = writeln!(out, "# HELP {name} {}", escaped_help(help));
    let _ = writeln!(out, "# TYPE {name} {kind}");
    for Sample { labels, value } in samples {
        match value {
            Value::Count(count) => write_line(out, name, "", labels, None, &count.to_string()),
            Value::Amount(amount) => write_line(out, name, "", labels, None, &number(*amount)),
            Value::Distribution(spread) => write_distribution(out, name, labels, spread),
        }
    }
}

fn write_distribution(out: &mut String, name: &str, labels: &Labels, spread: &Distribution) {
    let mut below = 0;
    let bounds = spread.bounds.iter().map(|bound| number(*bound)).chain(["+Inf".to_owned()]);
    for (bound, count) in bounds.zip(&spread.counts) {
        below += count;
        write_line(out, name, "_bucket", labels, Some(&bound), &below.to_string());
    }
    write_line(out, name, "_sum", labels, None, &number(spread.sum));
    write_line(out, name, "_count", labels, None, &below.to_string());
}

fn write_line(out: &mut String, name: &str, suffix: &str, labels: &Labels, bound: Option<&str>, value: &str) {
    let mut parts: Vec<String> =
        labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
    parts.extend(bound.map(|bound| format!("le=\"{bound}\"")));
    let labels = if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(",")) };
    let _ = writeln!(out, "{name}{suffix}{labels} {value}");
}

fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        (if value > 0.0 { "+Inf" } else { "-Inf" }).to_owned()
    } else {
        value.to_string()
    }
}

/// Escapes the value of a label: nothing in it ends the quotation or the line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn escaped_help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_label_cannot_end_its_line() {
        let labels = vec![("model", "a\"} 1\nevil{x=\"\\".to_owned())];
        let family = Family::counter("calls_total", "Calls.", vec![Sample::count(labels, 7)]);
        let expected = "# HELP calls_total Calls.\n# TYPE calls_total counter\n\
                        calls_total{model=\"a\\\"} 1\\nevil{x=\\\"\\\\\"} 7\n";
        assert_eq!(text(&[family]), expected);
    }

    #[test]
    fn a_histogram_adds_up() {
        let spread = Distribution { bounds: vec![0.000_05, 1.0], counts: vec![2, 0, 1], sum: 3.5 };
        let family = Family::histogram("seconds", "Time.", vec![Sample::spread(Vec::new(), spread)]);
        let expected = "# HELP seconds Time.\n# TYPE seconds histogram\n\
                        seconds_bucket{le=\"0.00005\"} 2\nseconds_bucket{le=\"1\"} 2\n\
                        seconds_bucket{le=\"+Inf\"} 3\nseconds_sum 3.5\nseconds_count 3\n";
        assert_eq!(text(&[family]), expected);
    }
}
