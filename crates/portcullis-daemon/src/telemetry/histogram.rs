//! How often something took how long, or how much: a few counters that any thread may add to.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of values by size. A value is a whole number of small units; `per_unit` of them are one unit that is told.
#[derive(Debug)]
pub(super) struct Histogram {
    bounds: &'static [u64],
    per_unit: f64,
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What a histogram holds at a time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Distribution {
    /// The upper bounds, each one counted to what is below it.
    pub(super) bounds: Vec<f64>,
    /// How many values are in each part; the last part has no upper bound.
    pub(super) counts: Vec<u64>,
    /// All values together.
    pub(super) sum: f64,
}

impl Histogram {
    /// Makes an empty one. The bounds grow.
    pub(super) fn new(bounds: &'static [u64], per_unit: f64) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, per_unit, counts, sum: AtomicU64::new(0) }
    }

    /// Counts a value.
    pub(super) fn add(&self, value: u64) {
        let part = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(part) {
            count.fetch_add(1, Ordering::Relaxed);
            self.sum.fetch_add(value, Ordering::Relaxed);
        }
    }

    /// Returns what it holds now. Values that are added meanwhile may be in the counts and not in the sum.
    pub(super) fn distribution(&self) -> Distribution {
        Distribution {
            bounds: self.bounds.iter().map(|bound| real(*bound) / self.per_unit).collect(),
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: real(self.sum.load(Ordering::Relaxed)) / self.per_unit,
        }
    }
}

impl Distribution {
    /// Returns how many values there are.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Returns a number as systems that count in floating point take it.
#[expect(clippy::cast_precision_loss, reason = "what is told of numbers beyond 2^53 need not be exact")]
pub(super) const fn real(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_bound_belongs_to_what_is_below_it() {
        let histogram = Histogram::new(&[10, 100], 1_000.0);
        for value in [0, 10, 11, 100, 101, 5_000] {
            histogram.add(value);
        }
        let distribution = histogram.distribution();
        assert_eq!(distribution.bounds, [0.01, 0.1]);
        assert_eq!(distribution.counts, [2, 2, 2]);
        assert_eq!(distribution.count(), 6);
        assert!((distribution.sum - 5.222).abs() < 1e-9);
    }
}
