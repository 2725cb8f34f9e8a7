//! Counters as they are told: families of samples, whatever the format.

use super::histogram::{Distribution, real};

/// What kind of number a family has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It says how values are spread.
    Histogram,
}

/// Numbers of one kind under one name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Family {
    /// The name as Prometheus knows it: with its unit, and `_total` if it only grows.
    pub(super) name: &'static str,
    /// What it says, in one sentence.
    pub(super) help: &'static str,
    /// What kind of number it has.
    pub(super) kind: Kind,
    /// The numbers, each with labels of its own.
    pub(super) samples: Vec<Sample>,
}

/// Labels: names and values.
pub(super) type Labels = Vec<(&'static str, String)>;

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// What tells it apart from the others of its family.
    pub(super) labels: Labels,
    /// The number.
    pub(super) value: Value,
}

/// A number, or many.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A whole one.
    Count(u64),
    /// One with a fraction.
    Amount(f64),
    /// How many there are of each size.
    Distribution(Distribution),
}

impl Family {
    /// Makes one that only grows.
    pub(super) fn counter(name: &'static str, help: &'static str, samples: Vec<Sample>) -> Self {
        Self { name, help, kind: Kind::Counter, samples }
    }

    /// Makes one with a single number that only grows.
    pub(super) fn single(name: &'static str, help: &'static str, count: u64) -> Self {
        Self::counter(name, help, vec![Sample::count(Vec::new(), count)])
    }

    /// Makes one with a single number that goes up and down.
    pub(super) fn gauge(name: &'static str, help: &'static str, value: Value) -> Self {
        Self { name, help, kind: Kind::Gauge, samples: vec![Sample { labels: Vec::new(), value }] }
    }

    /// Makes one that says how values are spread.
    pub(super) fn histogram(name: &'static str, help: &'static str, samples: Vec<Sample>) -> Self {
        Self { name, help, kind: Kind::Histogram, samples }
    }
}

impl Sample {
    /// Makes one of a whole number.
    pub(super) fn count(labels: Labels, count: u64) -> Self {
        Self { labels, value: Value::Count(count) }
    }

    /// Makes one of many values.
    pub(super) fn spread(labels: Labels, distribution: Distribution) -> Self {
        Self { labels, value: Value::Distribution(distribution) }
    }
}

/// Returns billionths as what they are billionths of.
pub(super) fn of_billionths(number: u64) -> Value {
    Value::Amount(real(number) / 1e9)
}
