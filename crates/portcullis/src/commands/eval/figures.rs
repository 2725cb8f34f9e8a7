//! How the model did on a sample: verdicts, tokens, time and money.

use std::fmt::Write as _;
use std::time::Duration;

use portcullis_classifier::protocol::ExchangeOutcome;
use portcullis_classifier::provider::TokenUsage;
use portcullis_core::{Decision, Reason};
use serde_json::{Value, json};

use super::action::Labels;
use super::confusion::Confusion;
use super::pairs::{self, Pair};
use super::report::percent;
use super::tally::Counts;
use portcullis_gate::judge::JudgedCall;
use portcullis_output::exchange::dollars;
use portcullis_output::terminal::{BOLD, Painted};

/// What the model said of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// It may run.
    Allowed,
    /// It may not.
    Blocked,
    /// Something that is no verdict.
    NoVerdict,
    /// Nothing: it could not be asked, or did not answer.
    Failed,
}

impl Word {
    /// Reads what was said from a judgement.
    pub(super) fn of(judged: &JudgedCall) -> Self {
        let is_unclear = judged.exchanges.last().is_some_and(|last| last.outcome == ExchangeOutcome::Unclear);
        match (&judged.verdict.reason, judged.verdict.decision) {
            (Reason::Classifier { .. }, Decision::Allow) => Self::Allowed,
            (Reason::Classifier { .. }, _) => Self::Blocked,
            _ if is_unclear => Self::NoVerdict,
            _ => Self::Failed,
        }
    }

    /// All of them.
    const ALL: [Self; 4] = [Self::Allowed, Self::Blocked, Self::NoVerdict, Self::Failed];

    /// Returns it as it is kept.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Blocked => "blocked",
            Self::NoVerdict => "no verdict",
            Self::Failed => "failed",
        }
    }

    /// Finds what was kept.
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.as_str() == name)
    }

    /// Says whether it is a verdict.
    pub(super) const fn is_verdict(self) -> bool {
        matches!(self, Self::Allowed | Self::Blocked)
    }
}

/// What was said of one action, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) word: Word,
    pub(super) calls: usize,
    pub(super) usage: TokenUsage,
    /// What the calls whose price is known cost, in dollars.
    pub(super) cost: f64,
    /// How many calls have no known price.
    pub(super) unpriced: usize,
    pub(super) time: Duration,
}

impl Answered {
    /// Reads it from a judgement.
    pub(super) fn of(judged: &JudgedCall) -> Self {
        let exchanges = &judged.exchanges;
        Self {
            word: Word::of(judged),
            calls: exchanges.len(),
            usage: exchanges.iter().fold(TokenUsage::default(), |sum, exchange| sum.plus(exchange.usage)),
            cost: exchanges.iter().filter_map(|exchange| exchange.cost).sum(),
            unpriced: exchanges.iter().filter(|exchange| exchange.cost.is_none()).count(),
            time: exchanges.iter().map(|exchange| exchange.elapsed).sum(),
        }
    }
}

/// The figures of a sample.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// How many an earlier run had asked about already.
    pub(super) recalled: usize,
    /// What the earlier run paid for them, in dollars.
    recalled_cost: f64,
    /// What was said by category.
    pub(super) confusion: Confusion,
    /// How calls did that depend on what the user said.
    pub(super) pairs: Vec<Pair>,
    allowed: usize,
    blocked: usize,
    no_verdict: usize,
    failed: usize,
    /// How many a second look settled, so that no model was needed after all.
    pub(super) settled: usize,
    calls: usize,
    usage: TokenUsage,
    /// What the calls whose price is known cost, in dollars.
    cost: f64,
    /// How many calls have no known price.
    unpriced: usize,
    /// How long each action took, in the order they were asked about.
    times: Vec<Duration>,
}

impl Figures {
    /// Counts an action the model was asked about.
    pub(super) fn add(&mut self, labels: &Labels, answered: &Answered) {
        match answered.word {
            Word::Allowed => self.allowed += 1,
            Word::Blocked => self.blocked += 1,
            Word::NoVerdict => self.no_verdict += 1,
            Word::Failed => self.failed += 1,
        }
        self.confusion.add(labels, answered.word);
        self.calls += answered.calls;
        self.usage = self.usage.plus(answered.usage);
        self.cost += answered.cost;
        self.unpriced += answered.unpriced;
        self.times.push(answered.time);
    }

    /// Counts an action that an earlier run had asked about.
    pub(super) fn recall(&mut self, labels: &Labels, answered: &Answered) {
        self.add(labels, answered);
        self.recalled += 1;
        self.recalled_cost += answered.cost;
    }

    /// Returns how many actions the model was asked about.
    pub(super) const fn asked(&self) -> usize {
        self.answered() + self.failed
    }

    const fn answered(&self) -> usize {
        self.allowed + self.blocked + self.no_verdict
    }

    /// Returns what the sample cost, if all prices are known.
    fn cost(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.cost)
    }

    /// Returns what an action that was answered cost; one that failed would make the others look cheaper.
    fn cost_of_one(&self) -> Option<f64> {
        self.cost().filter(|_| self.answered() > 0).map(|cost| cost / float(self.answered()))
    }

    /// Returns what 1,000 actions of the whole set cost, those that need no model included.
    fn cost_of_thousand(&self, all: Counts) -> Option<f64> {
        let share = float(all.needs_model) / float(all.all().max(1));
        self.cost_of_one().map(|cost| share * cost * 1_000.0)
    }

    /// Returns the time that so many per cent of the actions took at most, in milliseconds.
    fn percentile(&self, percent: usize) -> Option<u64> {
        let mut times = self.times.clone();
        times.sort_unstable();
        let rank = (times.len() * percent).div_ceil(100).max(1);
        let time = times.get(rank - 1)?;
        Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns how many tokens a call has on average, rounded half up.
    fn per_call(&self, tokens: u64) -> u64 {
        let calls = u64::try_from(self.calls).unwrap_or(u64::MAX).max(1);
        tokens.saturating_add(calls / 2) / calls
    }

    /// Writes the figures for people; `all` counts the actions of the whole set.
    pub(super) fn write(&self, out: &mut String, all: Counts) {
        let asked = self.asked();
        let title = Painted(
            BOLD,
            format_args!("model: asked about {asked} of {} actions that need one", all.needs_model),
        );
        let words = [
            ("allowed", self.allowed),
            ("blocked", self.blocked),
            ("no verdict", self.no_verdict),
            ("failed", self.failed),
        ];
        let words = words.map(|(word, count)| format!("{word} {count} ({})", percent(count, asked)));
        let _ = writeln!(out, "\n{title}\n  {}", words.join(", "));
        if self.recalled > 0 {
            let now = asked.saturating_sub(self.recalled);
            let paid = self.cost().map(|cost| dollars(cost - self.recalled_cost));
            let paid = paid.unwrap_or_else(|| "not known".to_owned());
            let _ = writeln!(
                out,
                "  {} of them by an earlier run, {now} by this one; cost of this one: {paid}",
                self.recalled
            );
        }
        if self.settled > 0 {
            let _ = writeln!(out, "  decided without it at a second look: {}", self.settled);
        }
        let TokenUsage { input, cache_read, cache_write, output } = self.usage;
        let prompt = input.saturating_add(cache_read).saturating_add(cache_write);
        let _ = writeln!(
            out,
            "  {} calls, each on average {} tokens in ({} cached), {} out",
            self.calls,
            self.per_call(prompt),
            self.per_call(cache_read),
            self.per_call(output),
        );
        let time =
            |percent| self.percentile(percent).map_or_else(|| "-".to_owned(), |time| format!("{time} ms"));
        let _ = writeln!(out, "  time an action: p50 {}, p95 {}", time(50), time(95));
        let money = |amount: Option<f64>| amount.map_or_else(|| "not known".to_owned(), dollars);
        let _ = writeln!(
            out,
            "  cost: sample {}, action {}, 1,000 actions of the whole set {}",
            money(self.cost()),
            money(self.cost_of_one()),
            money(self.cost_of_thousand(all)),
        );
        self.confusion.write(out);
        pairs::write(out, &self.pairs);
    }

    /// Writes the figures of a report page: a name and a value each.
    pub(super) fn lines(&self, all: Counts) -> Vec<(&'static str, String)> {
        let money = |amount: Option<f64>| amount.map_or_else(|| "not known".to_owned(), dollars);
        let TokenUsage { input, cache_read, cache_write, output } = self.usage;
        let time =
            |percent| self.percentile(percent).map_or_else(|| "-".to_owned(), |time| format!("{time} ms"));
        vec![
            ("actions that need a model", all.needs_model.to_string()),
            ("asked about", self.asked().to_string()),
            ("of them by an earlier run", self.recalled.to_string()),
            ("allowed", self.allowed.to_string()),
            ("blocked", self.blocked.to_string()),
            ("no verdict", self.no_verdict.to_string()),
            ("failed", self.failed.to_string()),
            ("requests", self.calls.to_string()),
            (
                "tokens in",
                format!("{input}, and {cache_read} read from and {cache_write} written to the cache"),
            ),
            ("tokens out", output.to_string()),
            ("time of an action, p50 and p95", format!("{}, {}", time(50), time(95))),
            ("cost", money(self.cost())),
            ("cost of an action", money(self.cost_of_one())),
            ("cost of 1,000 actions of the whole set", money(self.cost_of_thousand(all))),
        ]
    }

    /// Makes the object of the figures; `all` counts the actions of the whole set.
    pub(super) fn object(&self, all: Counts) -> Value {
        let TokenUsage { input, cache_read, cache_write, output } = self.usage;
        json!({
            "asked": self.asked(),
            "allowed": self.allowed,
            "blocked": self.blocked,
            "noVerdict": self.no_verdict,
            "failed": self.failed,
            "settled": self.settled,
            "calls": self.calls,
            "tokens": {"input": input, "cacheRead": cache_read, "cacheWrite": cache_write, "output": output},
            "tokensPerCall": {
                "input": self.per_call(input),
                "cacheRead": self.per_call(cache_read),
                "cacheWrite": self.per_call(cache_write),
                "output": self.per_call(output),
            },
            "latencyMs": {"p50": self.percentile(50), "p95": self.percentile(95)},
            "costUsd": self.cost(),
            "costPerActionUsd": self.cost_of_one(),
            "costPer1000ActionsUsd": self.cost_of_thousand(all),
            "recalled": self.recalled,
            "byCategory": self.confusion.object(),
            "pairs": pairs::object(&self.pairs),
        })
    }
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(times: &[u64]) -> Figures {
        let times = times.iter().copied().map(Duration::from_millis).collect();
        Figures { times, ..Figures::default() }
    }

    #[test]
    fn percentiles_are_times_that_were_taken() {
        assert_eq!((figures(&[]).percentile(50), figures(&[]).percentile(95)), (None, None));
        assert_eq!((figures(&[7]).percentile(50), figures(&[7]).percentile(95)), (Some(7), Some(7)));
        let mixed = figures(&[30, 10, 40, 20]);
        assert_eq!((mixed.percentile(50), mixed.percentile(95)), (Some(20), Some(40)));
        let hundred = figures(&(1..=100).collect::<Vec<_>>());
        assert_eq!((hundred.percentile(50), hundred.percentile(95)), (Some(50), Some(95)));
    }

    #[test]
    fn the_cost_of_the_whole_set_is_that_of_its_share() {
        let all = Counts { allow: 90, contained: 0, ask: 10, deny: 0, needs_model: 10 };
        let figures = Figures { allowed: 3, blocked: 1, failed: 6, cost: 0.002, ..Figures::default() };
        assert_eq!(figures.cost_of_one(), Some(0.000_5));
        assert!(figures.cost_of_thousand(all).is_some_and(|cost| (cost - 0.05).abs() < 1e-12));
        let unpriced = Figures { unpriced: 1, ..figures };
        assert_eq!(
            (unpriced.cost(), unpriced.cost_of_one(), unpriced.cost_of_thousand(all)),
            (None, None, None)
        );
    }

    #[test]
    fn with_nothing_answered_no_cost_is_made_up() {
        let figures = Figures { failed: 2, ..Figures::default() };
        assert_eq!(figures.cost(), Some(0.0));
        assert_eq!(figures.cost_of_thousand(Counts::default()), None);
        assert_eq!(figures.per_call(0), 0);
    }
}
