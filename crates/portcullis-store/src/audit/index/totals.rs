//! What records add up to.
//!
//! A call is counted once. Where a host asks a second time about a call it has asked about before (`PermissionRequest`
//! after `PreToolUse`, same session and input), the second record is left out everywhere but in `repeats`.

use rusqlite::{Row, params_from_iter};

use super::find::Condition;
use super::{Filter, Index};
use crate::error::StoreError;
use crate::sqlite::{signed, unsigned};

/// A word and how many calls have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The word.
    pub name: String,
    /// How many calls.
    pub count: u64,
}

/// Calls that a person was asked about, and the rule that would settle them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// How many calls.
    pub count: u64,
    /// One of them.
    pub example: String,
    /// The rule, if one was suggested.
    pub rule: Option<String>,
}

/// Calls that were denied for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// How many calls.
    pub count: u64,
    /// One of them.
    pub example: String,
    /// The code of the finding or the category; else the rule, else the kind of reason.
    pub code: String,
}

/// The calls of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// When it began, in unix milliseconds; days are those of UTC.
    pub at_ms: u64,
    /// How many calls were allowed.
    pub allow: u64,
    /// How many were asked about.
    pub ask: u64,
    /// How many were denied.
    pub deny: u64,
}

/// The calls of a slot of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slot {
    /// When it began, in unix milliseconds; slots are counted from the beginning of 1970.
    pub at_ms: u64,
    /// How many calls were allowed.
    pub allow: u64,
    /// How many were asked about.
    pub ask: u64,
    /// How many were denied.
    pub deny: u64,
    /// How many requests to models there were.
    pub model_calls: u64,
    /// What they cost, as far as that is known.
    pub usd: f64,
}

/// The decisions that took about as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyBin {
    /// They took less than this, in microseconds, and not less than half of it.
    pub below_us: u64,
    /// How many needed no model.
    pub alone: u64,
    /// How many needed one.
    pub with_model: u64,
}

/// What is known of a session from its decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenSession {
    /// The id its host gave it.
    pub session: String,
    /// The host.
    pub host: String,
    /// The directory of its last call.
    pub cwd: String,
    /// The mode of its last call.
    pub mode: String,
    /// When it was first seen, in unix milliseconds.
    pub first_ms: u64,
    /// When it was last seen.
    pub last_ms: u64,
    /// How many calls were allowed.
    pub allow: u64,
    /// How many were asked about.
    pub ask: u64,
    /// How many were denied.
    pub deny: u64,
}

/// How long decisions took, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latency {
    /// How many decisions.
    pub count: u64,
    /// Half of them took no longer.
    pub p50: u64,
    /// Nine of ten took no longer.
    pub p90: u64,
    /// Ninety-nine of a hundred took no longer.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

/// What models were asked, and what that cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// How many tool calls needed a model.
    pub tool_calls: u64,
    /// How many requests that were.
    pub requests: u64,
    /// How many of these have no known price.
    pub unpriced: u64,
    /// Tokens that were read afresh.
    pub tokens_in: u64,
    /// Tokens that were read from a cache.
    pub tokens_cached: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// What it cost, as far as that is known.
    pub usd: f64,
}

/// What records add up to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// How many calls there were.
    pub calls: u64,
    /// How many records are about a call that is counted already.
    pub repeats: u64,
    /// The calls that ran without a question, though they do more than read: Portcullis told the host to run them.
    pub prompts_avoided: u64,
    /// By verdict.
    pub decisions: Vec<Counted>,
    /// By what the host was told.
    pub said: Vec<Counted>,
    /// By the step that settled them.
    pub steps: Vec<Counted>,
    /// By host.
    pub hosts: Vec<Counted>,
    /// By mode.
    pub modes: Vec<Counted>,
    /// By day, the oldest first; days without calls are left out.
    pub days: Vec<Day>,
    /// What models were asked.
    pub cost: Cost,
    /// How long decisions took that needed no model.
    pub latency_alone: Latency,
    /// How long decisions took that needed one.
    pub latency_with_model: Latency,
    /// What people are asked most.
    pub asked: Vec<Asked>,
    /// What is denied most.
    pub denied: Vec<Denied>,
}

/// Which calls ran without a question and would not have: not those that only read, nor those a person was asked about.
const AVOIDED: &str = "decision = 'allow' AND said = 'allow' AND kind NOT IN ('readOnly', 'person')";

impl Index {
    /// Adds up the records that have what is wanted; `most` is how many of the most frequent ones are told.
    pub(crate) fn totals(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError> {
        let sums = Sums { index: self, condition: filter.condition(), most };
        sums.totals().map_err(|error| self.failed(&error))
    }
}

struct Sums<'a> {
    index: &'a Index,
    condition: Condition,
    most: u64,
}

impl Sums<'_> {
    fn totals(&self) -> rusqlite::Result<Totals> {
        Ok(Totals {
            calls: self.count("is_repeat = 0")?,
            repeats: self.count("is_repeat = 1")?,
            prompts_avoided: self.count(&format!("is_repeat = 0 AND {AVOIDED}"))?,
            decisions: self.counted("decision")?,
            said: self.counted("said")?,
            steps: self.counted("step")?,
            hosts: self.counted("host")?,
            modes: self.counted("mode")?,
            days: self.days()?,
            cost: self.cost()?,
            latency_alone: self.latency("is_repeat = 0 AND model_calls = 0")?,
            latency_with_model: self.latency("is_repeat = 0 AND model_calls > 0")?,
            asked: self.asked()?,
            denied: self.denied()?,
        })
    }

    fn rows<T>(
        &self,
        what: &str,
        and: &str,
        rest: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let query = format!("SELECT {what} FROM records WHERE {} AND {and} {rest}", self.condition.text());
        let mut statement = self.index.connection.prepare(&query)?;
        statement.query_map(params_from_iter(&self.condition.values), read)?.collect()
    }

    fn count(&self, and: &str) -> rusqlite::Result<u64> {
        let counted = self.rows("count(*)", and, "", |row| number(row, 0))?;
        Ok(counted.first().copied().unwrap_or_default())
    }

    fn counted(&self, column: &str) -> rusqlite::Result<Vec<Counted>> {
        self.rows(
            &format!("{column}, count(*)"),
            "is_repeat = 0",
            &format!("GROUP BY {column} ORDER BY count(*) DESC, {column}"),
            |row| Ok(Counted { name: row.get(0)?, count: number(row, 1)? }),
        )
    }

    fn days(&self) -> rusqlite::Result<Vec<Day>> {
        self.rows(
            "at_ms / 86400000 * 86400000 AS day, sum(decision IN ('allow', 'contained')), sum(decision = 'ask'), sum(decision = 'deny')",
            "is_repeat = 0",
            "GROUP BY day ORDER BY day",
            |row| {
                let (at_ms, allow) = (number(row, 0)?, number(row, 1)?);
                Ok(Day { at_ms, allow, ask: number(row, 2)?, deny: number(row, 3)? })
            },
        )
    }

    fn cost(&self) -> rusqlite::Result<Cost> {
        // A repeated question may have asked a model again, and that cost money too.
        let what = "count(*), sum(model_calls), sum(model_unpriced), sum(tokens_in), sum(tokens_cached),
            sum(tokens_out), sum(cost_usd), sum(is_repeat = 0)";
        let found = self.rows(what, "model_calls > 0", "HAVING count(*) > 0", |row| {
            Ok(Cost {
                tool_calls: number(row, 7)?,
                requests: number(row, 1)?,
                unpriced: number(row, 2)?,
                tokens_in: number(row, 3)?,
                tokens_cached: number(row, 4)?,
                tokens_out: number(row, 5)?,
                usd: row.get(6)?,
            })
        })?;
        Ok(found.first().copied().unwrap_or_default())
    }

    fn latency(&self, and: &str) -> rusqlite::Result<Latency> {
        let mut times = self.rows("micros", and, "", |row| number(row, 0))?;
        times.sort_unstable();
        let at = |hundredths: usize| {
            let place = (times.len() * hundredths).div_ceil(100).saturating_sub(1);
            times.get(place).copied().unwrap_or_default()
        };
        let count = u64::try_from(times.len()).unwrap_or(u64::MAX);
        Ok(Latency { count, p50: at(50), p90: at(90), p99: at(99), max: at(100) })
    }

    fn asked(&self) -> rusqlite::Result<Vec<Asked>> {
        self.rows(
            "count(*), max(summary), suggestion",
            "is_repeat = 0 AND decision = 'ask'",
            &format!(
                "GROUP BY coalesce(suggestion, summary) ORDER BY count(*) DESC, max(summary) LIMIT {}",
                signed(self.most)
            ),
            |row| Ok(Asked { count: number(row, 0)?, example: row.get(1)?, rule: row.get(2)? }),
        )
    }

    fn denied(&self) -> rusqlite::Result<Vec<Denied>> {
        self.rows(
            "count(*), max(summary), coalesce(code, rule, kind) AS why",
            "is_repeat = 0 AND decision = 'deny'",
            &format!("GROUP BY why ORDER BY count(*) DESC, why LIMIT {}", signed(self.most)),
            |row| Ok(Denied { count: number(row, 0)?, example: row.get(1)?, code: row.get(2)? }),
        )
    }
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(unsigned)
}
