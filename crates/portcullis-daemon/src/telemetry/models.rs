//! Talks with models: how many, how long, how many tokens, by provider, model, stage and outcome.
//!
//! A talk takes so long that a lock does not matter here. A decision without one does not come by.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portcullis_store::audit::ModelEntry;

use super::family::{Family, Labels, Sample, of_billionths};
use super::histogram::{Distribution, Histogram};

/// How many rows are told apart; the rest are counted as the model `other`.
const MOST_ROWS: usize = 256;

/// The longest name that is kept.
const MOST_NAME: usize = 96;

/// Bounds of the time of a talk in milliseconds, as the conventions for generative AI have them.
const DURATIONS: &[u64] =
    &[10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920];

/// Bounds of the tokens of a talk, as the conventions for generative AI have them.
#[cfg(feature = "otel")]
const TOKENS: &[u64] =
    &[1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/// What tells talks apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Talk {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) stage: String,
    pub(super) outcome: String,
}

/// What is known of talks of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Talked {
    /// How long they took, in seconds.
    pub(super) durations: Distribution,
    /// How many tokens each one read, from a cache or afresh.
    #[cfg(feature = "otel")]
    pub(super) read: Distribution,
    /// How many tokens each one wrote.
    #[cfg(feature = "otel")]
    pub(super) written: Distribution,
}

#[derive(Debug)]
struct Row {
    durations: Histogram,
    #[cfg(feature = "otel")]
    read: Histogram,
    #[cfg(feature = "otel")]
    written: Histogram,
}

/// The talks so far.
#[derive(Debug, Default)]
pub(super) struct Models {
    rows: Mutex<BTreeMap<Talk, Row>>,
    input: AtomicU64,
    cache_read: AtomicU64,
    cache_write: AtomicU64,
    output: AtomicU64,
    cost: AtomicU64,
}

impl Models {
    /// Counts a talk.
    pub(super) fn add(&self, entry: &ModelEntry) {
        let tokens = [
            (&self.input, entry.input),
            (&self.cache_read, entry.cache_read),
            (&self.cache_write, entry.cache_write),
            (&self.output, entry.output),
        ];
        for (counter, count) in tokens {
            counter.fetch_add(count, Ordering::Relaxed);
        }
        self.cost.fetch_add(billionths(entry.cost_usd.unwrap_or_default()), Ordering::Relaxed);
        let mut rows = self.rows();
        let mut talk = Talk::of(entry);
        if rows.len() >= MOST_ROWS && !rows.contains_key(&talk) {
            talk = Talk::other();
        }
        let row = rows.entry(talk).or_insert_with(Row::new);
        row.durations.add(entry.latency_ms);
        #[cfg(feature = "otel")]
        {
            row.read.add(input_tokens(entry));
            row.written.add(entry.output);
        }
    }

    /// Returns what is known of every kind of talk.
    pub(super) fn talked(&self) -> Vec<(Talk, Talked)> {
        let rows = self.rows();
        rows.iter().map(|(talk, row)| (talk.clone(), row.talked())).collect()
    }

    /// Returns everything as families.
    pub(super) fn families(&self) -> Vec<Family> {
        let talked = self.talked();
        let calls = talked.iter().map(|(talk, row)| Sample::count(talk.labels(), row.durations.count()));
        let tokens = [
            ("input", &self.input),
            ("cache_read", &self.cache_read),
            ("cache_write", &self.cache_write),
            ("output", &self.output),
        ];
        let tokens = tokens.map(|(kind, count)| {
            Sample::count(vec![("type", kind.to_owned())], count.load(Ordering::Relaxed))
        });
        let cost = of_billionths(self.cost.load(Ordering::Relaxed));
        let durations = talked.iter().map(|(talk, row)| Sample::spread(talk.labels(), row.durations.clone()));
        vec![
            Family::counter("portcullis_model_calls_total", "Talks with models.", calls.collect()),
            Family::counter("portcullis_model_tokens_total", "Tokens of talks with models.", tokens.to_vec()),
            Family::counter(
                "portcullis_model_cost_usd_total",
                "What talks with models cost, as far as prices are known.",
                vec![Sample { labels: Vec::new(), value: cost }],
            ),
            Family::histogram(
                "portcullis_model_seconds",
                "How long talks with models took.",
                durations.collect(),
            ),
        ]
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<Talk, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    fn new() -> Self {
        Self {
            durations: Histogram::new(DURATIONS, 1_000.0),
            #[cfg(feature = "otel")]
            read: Histogram::new(TOKENS, 1.0),
            #[cfg(feature = "otel")]
            written: Histogram::new(TOKENS, 1.0),
        }
    }

    fn talked(&self) -> Talked {
        Talked {
            durations: self.durations.distribution(),
            #[cfg(feature = "otel")]
            read: self.read.distribution(),
            #[cfg(feature = "otel")]
            written: self.written.distribution(),
        }
    }
}

impl Talk {
    /// Returns what tells a talk apart.
    pub(super) fn of(entry: &ModelEntry) -> Self {
        Self {
            provider: cut(&entry.provider),
            model: cut(&entry.model),
            stage: cut(&entry.stage),
            outcome: cut(&entry.outcome).replace(' ', "_"),
        }
    }

    fn other() -> Self {
        let other = || "other".to_owned();
        Self { provider: other(), model: other(), stage: other(), outcome: other() }
    }

    fn labels(&self) -> Labels {
        let Self { provider, model, stage, outcome } = self.clone();
        vec![("provider", provider), ("model", model), ("stage", stage), ("outcome", outcome)]
    }
}

/// Returns how many tokens a talk read: afresh, from a cache, and to write them to one.
#[cfg(feature = "otel")]
pub(super) fn input_tokens(entry: &ModelEntry) -> u64 {
    entry.input.saturating_add(entry.cache_read).saturating_add(entry.cache_write)
}

fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(MOST_NAME)).unwrap_or_default().to_owned()
}

/// Returns dollars in billionths of a dollar, so that they can be added up without a lock. What is no amount is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is between 0 and 10^15, and a fraction of a billionth is nothing"
)]
fn billionths(dollars: f64) -> u64 {
    if dollars.is_finite() { (dollars.clamp(0.0, 1e6) * 1e9).round() as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::family::Value;
    use super::*;

    fn entry(model: &str) -> ModelEntry {
        ModelEntry {
            provider: "anthropic".to_owned(),
            model: model.to_owned(),
            stage: "fast".to_owned(),
            outcome: "key not accepted".to_owned(),
            input: 10,
            cache_read: 200,
            cache_write: 3,
            output: 4,
            cost_usd: Some(0.000_25),
            latency_ms: 300,
        }
    }

    #[test]
    fn a_talk_is_counted_with_its_tokens_cost_and_time() {
        let models = Models::default();
        models.add(&entry("m"));
        models.add(&entry("m"));
        let families = models.families();
        let labels = vec![
            ("provider", "anthropic".to_owned()),
            ("model", "m".to_owned()),
            ("stage", "fast".to_owned()),
            ("outcome", "key_not_accepted".to_owned()),
        ];
        assert_eq!(families[0].samples, [Sample::count(labels, 2)]);
        let tokens: Vec<&Value> = families[1].samples.iter().map(|sample| &sample.value).collect();
        assert_eq!(tokens, [20, 400, 6, 8].map(Value::Count).iter().collect::<Vec<_>>());
        assert_eq!(families[2].samples[0].value, Value::Amount(0.000_5));
        #[cfg(feature = "otel")]
        assert!((models.talked()[0].1.read.sum - 426.0).abs() < 1e-9);
    }

    #[test]
    fn there_are_no_more_rows_than_there_is_room_for() {
        let models = Models::default();
        for number in 0..10_000 {
            models.add(&entry(&format!("{number}{}", "x".repeat(1_000))));
        }
        let talked = models.talked();
        assert_eq!(talked.len(), MOST_ROWS + 1);
        assert!(talked.iter().all(|(talk, _)| talk.model.len() <= MOST_NAME));
        let others = talked.iter().find(|(talk, _)| talk.model == "other").unwrap();
        assert_eq!(others.1.durations.count(), 10_000 - MOST_ROWS as u64);
    }

    #[test]
    fn what_is_no_amount_costs_nothing() {
        assert_eq!([f64::NAN, -1.0, f64::INFINITY, 2e-9].map(billionths), [0, 0, 0, 2]);
    }
}
