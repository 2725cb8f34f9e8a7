//! A strict reader of the text format of Prometheus: what it does not know, or finds in the wrong place, is a failure.

use std::collections::{BTreeMap, BTreeSet};

type Labels = BTreeMap<String, String>;

/// What was told.
pub(crate) struct Exposition {
    samples: BTreeMap<(String, Labels), f64>,
}

/// A family that is being read.
struct Family {
    name: String,
    kind: String,
    samples: Vec<(String, Labels, f64)>,
}

impl Exposition {
    /// Reads a whole text.
    pub(crate) fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has no end");
        let mut families: Vec<Family> = Vec::new();
        let mut help: Option<&str> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, words) = rest.split_once(' ').expect("a help has words");
                assert!(is_name(name) && !words.trim().is_empty(), "{line}");
                assert!(help.replace(name).is_none(), "two helps in a row: {line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a type has a name");
                assert_eq!(help.take(), Some(name), "the help comes first: {line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(families.iter().all(|known| known.name != name), "{name} comes twice");
                families.push(Family { name: name.to_owned(), kind: kind.to_owned(), samples: Vec::new() });
            } else {
                assert!(help.is_none(), "a help without a type before {line}");
                let sample = parse_sample(line);
                families.last_mut().unwrap_or_else(|| panic!("no family for {line}")).samples.push(sample);
            }
        }
        let mut samples = BTreeMap::new();
        for family in families {
            family.check();
            for (name, labels, value) in family.samples {
                let known = samples.insert((name.clone(), labels.clone()), value);
                assert!(known.is_none(), "{name} {labels:?} comes twice");
            }
        }
        Self { samples }
    }

    /// Returns a number.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.samples.get(&(name.to_owned(), labels)).copied()
    }

    /// Adds up all numbers of a name.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.samples.iter().filter(|((known, _), _)| known == name).map(|(_, value)| value).sum()
    }
}

impl Family {
    fn check(&self) {
        let Self { name, kind, samples } = self;
        assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
        if kind == "histogram" {
            return self.check_histogram();
        }
        for (own, _, value) in samples {
            assert_eq!(own, name, "a sample stands in the family of another");
            assert!(kind != "counter" || *value >= 0.0, "{name} is below zero");
        }
    }

    fn check_histogram(&self) {
        let name = &self.name;
        let mut series: BTreeSet<Labels> = BTreeSet::new();
        for (own, labels, _) in &self.samples {
            let suffix = own.strip_prefix(name.as_str()).unwrap_or_else(|| panic!("{own} in {name}"));
            assert!(["_bucket", "_sum", "_count"].contains(&suffix), "{own}");
            assert_eq!(suffix == "_bucket", labels.contains_key("le"), "{own} {labels:?}");
            let mut labels = labels.clone();
            labels.remove("le");
            series.insert(labels);
        }
        for labels in series {
            let of = |suffix: &str| {
                let wanted = format!("{name}{suffix}");
                let all = self.samples.iter().filter(move |(own, _, _)| *own == wanted);
                let labels = labels.clone();
                all.filter(move |(_, own, _)| own.iter().filter(|(key, _)| *key != "le").eq(labels.iter()))
                    .map(|(_, own, value)| (own.get("le").cloned(), *value))
                    .collect::<Vec<_>>()
            };
            let (buckets, sums, counts) = (of("_bucket"), of("_sum"), of("_count"));
            assert_eq!((sums.len(), counts.len()), (1, 1), "{name} {labels:?}");
            let bounds: Vec<f64> =
                buckets.iter().map(|(le, _)| parse_number(le.as_deref().unwrap())).collect();
            assert!(bounds.is_sorted_by(|one, next| one < next), "{name}: {bounds:?}");
            assert!(buckets.is_sorted_by(|one, next| one.1 <= next.1), "{name}: {buckets:?}");
            let last = buckets.last().expect("a histogram has buckets");
            assert_eq!((last.0.as_deref(), last.1), (Some("+Inf"), counts[0].1), "{name}");
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':';
    name.bytes().next().is_some_and(is_start)
        && name.bytes().all(|byte| is_start(byte) || byte.is_ascii_digit())
}

fn parse_sample(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("no value in {line}"));
    let (name, rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => parse_labels(rest, line),
        None => (Labels::new(), rest),
    };
    let value = rest.strip_prefix(' ').unwrap_or_else(|| panic!("no value in {line}"));
    (name.to_owned(), labels, parse_number(value))
}

/// Reads labels up to the brace that ends them, and returns what follows it.
fn parse_labels<'a>(mut rest: &'a str, line: &str) -> (Labels, &'a str) {
    let mut labels = Labels::new();
    loop {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label in {line}"));
        assert!(is_name(name) && !name.contains(':') && !name.starts_with("__"), "{line}");
        let (value, after) = parse_quoted(after, line);
        assert!(labels.insert(name.to_owned(), value).is_none(), "{name} comes twice in {line}");
        if let Some(after) = after.strip_prefix('}') {
            return (labels, after);
        }
        rest = after.strip_prefix(',').unwrap_or_else(|| panic!("{after} after a label in {line}"));
    }
}

fn parse_quoted<'a>(text: &'a str, line: &str) -> (String, &'a str) {
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return (value, characters.as_str()),
            '\\' => value.push(match characters.next() {
                Some('n') => '\n',
                Some(escaped @ ('"' | '\\')) => escaped,
                other => panic!("{other:?} is escaped in {line}"),
            }),
            other => value.push(other),
        }
    }
    panic!("a label has no end in {line}")
}

fn parse_number(text: &str) -> f64 {
    if text == "+Inf" {
        return f64::INFINITY;
    }
    assert!(text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)), "{text}");
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

#[test]
fn the_reader_takes_what_is_well_formed_and_nothing_else() {
    let head = "# HELP a_total A.\n# TYPE a_total counter\n";
    let good = Exposition::parse(&format!("{head}a_total{{x=\"\\\"\\n\\\\\",y=\"1\"}} 2\na_total 3\n"));
    assert_eq!(good.value("a_total", &[("x", "\"\n\\"), ("y", "1")]), Some(2.0));
    for bad in ["b_total 1\n", "a_total 1\na_total 2\n", "a_total{x=\"1} 2\n", "a_total x\n", "a_total 1"] {
        let text = format!("{head}{bad}");
        assert!(std::panic::catch_unwind(|| Exposition::parse(&text)).is_err(), "{bad}");
    }
}
