//! What records add up to, as the index of files adds them up: a call that a host asks about twice is counted once.

use portcullis_store::StoreError;
use portcullis_store::audit::index::{
    Asked, Cost, Counted, Day, Denied, Filter, Latency, LatencyBin, SeenSession, Slot, Totals,
};
use tokio_postgres::Row;

use super::condition::SqlCondition;
use super::number;
use crate::error::DatabaseFailure;
use crate::pool::PooledConnection;
use crate::{PostgresStore, signed};

/// Which calls ran without a question and would not have: not those that only read, nor those a person was asked about.
const AVOIDED: &str = "decision = 'allow' AND said = 'allow' AND kind NOT IN ('readOnly', 'person')";

/// How many calls were allowed, asked about and denied.
const BY_DECISION: &str = "count(*) FILTER (WHERE decision IN ('allow', 'contained') AND NOT is_repeat),
    count(*) FILTER (WHERE decision = 'ask' AND NOT is_repeat),
    count(*) FILTER (WHERE decision = 'deny' AND NOT is_repeat)";

impl PostgresStore {
    pub(crate) fn add_up(&self, filter: &Filter, most: u64) -> Result<Totals, StoreError> {
        let condition = SqlCondition::of(filter);
        self.pool.survey(&async |connection| {
            TotalQueries { connection, condition: &condition, most }.totals().await
        })
    }

    pub(crate) fn slots(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError> {
        let condition = SqlCondition::of(filter);
        let slot = signed(slot_ms.max(1));
        self.pool.survey(&async |connection| {
            let sums = TotalQueries { connection, condition: &condition, most: 0 };
            let what = format!(
                "at_ms / {slot} * {slot} AS slot, {BY_DECISION}, {}, sum(cost_usd)",
                total("model_calls")
            );
            let read = |row: &Row| {
                Ok(Slot {
                    at_ms: number(row, 0)?,
                    allow: number(row, 1)?,
                    ask: number(row, 2)?,
                    deny: number(row, 3)?,
                    model_calls: number(row, 4)?,
                    usd: row.try_get(5)?,
                })
            };
            // A repeated question may have asked a model again, and that cost money too.
            let and = "(NOT is_repeat OR model_calls > 0)";
            sums.rows(&what, and, "GROUP BY slot ORDER BY slot", read).await
        })
    }

    pub(crate) fn latency_bins(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError> {
        let condition = SqlCondition::of(filter);
        self.pool.survey(&async |connection| {
            let sums = TotalQueries { connection, condition: &condition, most: 0 };
            // The bits of a number say which powers of two it stands between.
            let what = "length(ltrim(micros::bit(64)::text, '0')) AS bits,
                count(*) FILTER (WHERE model_calls = 0), count(*) FILTER (WHERE model_calls > 0)";
            let read = |row: &Row| {
                let bits: i32 = row.try_get(0)?;
                let below_us = 1_u64.checked_shl(bits.unsigned_abs()).unwrap_or(u64::MAX);
                Ok(LatencyBin { below_us, alone: number(row, 1)?, with_model: number(row, 2)? })
            };
            sums.rows(what, "NOT is_repeat", "GROUP BY bits ORDER BY bits", read).await
        })
    }

    pub(crate) fn sessions_of(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError> {
        let condition = SqlCondition::of(filter);
        let wanted = condition.text();
        let query = format!(
            "SELECT seen.session, newest.host, newest.cwd, newest.mode, first_ms, last_ms, allow, ask, deny
             FROM (
                SELECT session, min(at_ms), max(at_ms), {BY_DECISION}
                FROM audit WHERE {wanted} AND session <> '' GROUP BY session ORDER BY max(at_ms) DESC, session LIMIT {}
             ) AS seen (session, first_ms, last_ms, allow, ask, deny)
             CROSS JOIN LATERAL (
                SELECT host, cwd, mode FROM audit
                WHERE {wanted} AND session = seen.session AND at_ms = seen.last_ms ORDER BY number DESC LIMIT 1
             ) AS newest
             ORDER BY last_ms DESC, session",
            signed(most)
        );
        self.pool.survey(&async |connection| {
            let rows = connection.rows_of(&query, &condition.values()).await?;
            rows.iter().map(read_session).collect()
        })
    }
}

fn read_session(row: &Row) -> Result<SeenSession, DatabaseFailure> {
    Ok(SeenSession {
        session: row.try_get(0)?,
        host: row.try_get(1)?,
        cwd: row.try_get(2)?,
        mode: row.try_get(3)?,
        first_ms: number(row, 4)?,
        last_ms: number(row, 5)?,
        allow: number(row, 6)?,
        ask: number(row, 7)?,
        deny: number(row, 8)?,
    })
}

/// Adds up a column; a sum that is too large for a column stays at the largest number.
fn total(column: &str) -> String {
    format!("least(coalesce(sum({column}), 0), 9223372036854775807)::bigint")
}

struct TotalQueries<'a> {
    connection: &'a PooledConnection,
    condition: &'a SqlCondition,
    most: u64,
}

impl TotalQueries<'_> {
    async fn totals(&self) -> Result<Totals, DatabaseFailure> {
        let what = format!(
            "count(*) FILTER (WHERE NOT is_repeat), count(*) FILTER (WHERE is_repeat),
             count(*) FILTER (WHERE NOT is_repeat AND {AVOIDED})"
        );
        let counts = |row: &Row| Ok([number(row, 0)?, number(row, 1)?, number(row, 2)?]);
        let counts = self.rows(&what, "true", "", counts).await?;
        let [calls, repeats, prompts_avoided] = counts.first().copied().unwrap_or_default();
        Ok(Totals {
            calls,
            repeats,
            prompts_avoided,
            decisions: self.counted("decision").await?,
            said: self.counted("said").await?,
            steps: self.counted("step").await?,
            hosts: self.counted("host").await?,
            modes: self.counted("mode").await?,
            days: self.days().await?,
            cost: self.cost().await?,
            latency_alone: self.latency("model_calls = 0").await?,
            latency_with_model: self.latency("model_calls > 0").await?,
            asked: self.asked().await?,
            denied: self.denied().await?,
        })
    }

    async fn rows<T>(
        &self,
        what: &str,
        and: &str,
        rest: &str,
        read: impl Fn(&Row) -> Result<T, DatabaseFailure>,
    ) -> Result<Vec<T>, DatabaseFailure> {
        let query = format!("SELECT {what} FROM audit WHERE {} AND {and} {rest}", self.condition.text());
        self.connection.rows_of(&query, &self.condition.values()).await?.iter().map(read).collect()
    }

    async fn counted(&self, column: &str) -> Result<Vec<Counted>, DatabaseFailure> {
        let what = format!("{column}, count(*)");
        let rest = format!("GROUP BY {column} ORDER BY count(*) DESC, {column}");
        let read = |row: &Row| Ok(Counted { name: row.try_get(0)?, count: number(row, 1)? });
        self.rows(&what, "NOT is_repeat", &rest, read).await
    }

    async fn days(&self) -> Result<Vec<Day>, DatabaseFailure> {
        let what = format!("at_ms / 86400000 * 86400000 AS day, {BY_DECISION}");
        let read = |row: &Row| {
            let (at_ms, allow) = (number(row, 0)?, number(row, 1)?);
            Ok(Day { at_ms, allow, ask: number(row, 2)?, deny: number(row, 3)? })
        };
        self.rows(&what, "NOT is_repeat", "GROUP BY day ORDER BY day", read).await
    }

    async fn cost(&self) -> Result<Cost, DatabaseFailure> {
        // A repeated question may have asked a model again, and that cost money too.
        let sums: Vec<String> =
            ["model_calls", "model_unpriced", "tokens_in", "tokens_cached", "tokens_out"].map(total).to_vec();
        let what =
            format!("count(*) FILTER (WHERE NOT is_repeat), {}, coalesce(sum(cost_usd), 0)", sums.join(", "));
        let read = |row: &Row| {
            Ok(Cost {
                tool_calls: number(row, 0)?,
                requests: number(row, 1)?,
                unpriced: number(row, 2)?,
                tokens_in: number(row, 3)?,
                tokens_cached: number(row, 4)?,
                tokens_out: number(row, 5)?,
                usd: row.try_get(6)?,
            })
        };
        let found = self.rows(&what, "model_calls > 0", "", read).await?;
        Ok(found.first().copied().unwrap_or_default())
    }

    async fn latency(&self, and: &str) -> Result<Latency, DatabaseFailure> {
        let part =
            |part: &str| format!("coalesce(percentile_disc({part}) WITHIN GROUP (ORDER BY micros), 0)");
        let what =
            format!("count(*), {}, {}, {}, coalesce(max(micros), 0)", part("0.5"), part("0.9"), part("0.99"));
        let read = |row: &Row| {
            let (count, p50) = (number(row, 0)?, number(row, 1)?);
            Ok(Latency { count, p50, p90: number(row, 2)?, p99: number(row, 3)?, max: number(row, 4)? })
        };
        let found = self.rows(&what, &format!("NOT is_repeat AND {and}"), "", read).await?;
        Ok(found.first().copied().unwrap_or_default())
    }

    async fn asked(&self) -> Result<Vec<Asked>, DatabaseFailure> {
        let rest = format!(
            "GROUP BY coalesce(suggestion, summary) ORDER BY count(*) DESC, max(summary) LIMIT {}",
            signed(self.most)
        );
        let read =
            |row: &Row| Ok(Asked { count: number(row, 0)?, example: row.try_get(1)?, rule: row.try_get(2)? });
        let what = "count(*), max(summary), max(suggestion)";
        self.rows(what, "NOT is_repeat AND decision = 'ask'", &rest, read).await
    }

    async fn denied(&self) -> Result<Vec<Denied>, DatabaseFailure> {
        let rest = format!("GROUP BY why ORDER BY count(*) DESC, why LIMIT {}", signed(self.most));
        let read = |row: &Row| {
            Ok(Denied { count: number(row, 0)?, example: row.try_get(1)?, code: row.try_get(2)? })
        };
        let what = "count(*), max(summary), coalesce(code, rule, kind) AS why";
        self.rows(what, "NOT is_repeat AND decision = 'deny'", &rest, read).await
    }
}
