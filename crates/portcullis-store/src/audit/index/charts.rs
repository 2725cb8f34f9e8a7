//! What is drawn: decisions over time, how long they took, and who asked. A repeat is counted once, as in the totals.

use std::collections::BTreeMap;

use rusqlite::{Row, params_from_iter};

use super::find::Condition;
use super::{Filter, Index, LatencyBin, SeenSession, Slot};
use crate::error::StoreError;
use crate::sqlite::{signed, unsigned};

impl Index {
    /// Counts the records that have what is wanted in slots of time, the oldest first; empty slots are left out.
    pub(crate) fn timeline(&self, filter: &Filter, slot_ms: u64) -> Result<Vec<Slot>, StoreError> {
        let condition = filter.condition();
        self.slots(&condition, signed(slot_ms.max(1))).map_err(|error| self.failed(&error))
    }

    /// Counts how long the decisions that have what is wanted took, in bins that double; empty bins are left out.
    pub(crate) fn latencies(&self, filter: &Filter) -> Result<Vec<LatencyBin>, StoreError> {
        let condition = filter.condition();
        let query =
            format!("SELECT micros, model_calls FROM records WHERE {} AND is_repeat = 0", condition.text());
        self.bins(&query, &condition).map_err(|error| self.failed(&error))
    }

    /// Lists the sessions of the records that have what is wanted, the latest first. What has no session is left out.
    pub(crate) fn seen_sessions(&self, filter: &Filter, most: u64) -> Result<Vec<SeenSession>, StoreError> {
        let condition = filter.condition();
        self.sessions(&condition, most).map_err(|error| self.failed(&error))
    }

    fn slots(&self, condition: &Condition, slot_ms: i64) -> rusqlite::Result<Vec<Slot>> {
        let slot = format!("at_ms / {slot_ms} * {slot_ms} AS slot");
        let counts = format!(
            "SELECT {slot}, sum(decision IN ('allow', 'contained')), sum(decision = 'ask'), sum(decision = 'deny')
             FROM records WHERE {} AND is_repeat = 0 GROUP BY slot",
            condition.text()
        );
        // A repeated question may have asked a model again, and that cost money too.
        let models = format!(
            "SELECT {slot}, sum(model_calls), sum(cost_usd) FROM records WHERE {} AND model_calls > 0 GROUP BY slot",
            condition.text()
        );
        let mut slots: BTreeMap<u64, Slot> = BTreeMap::new();
        self.each(&counts, condition, |row| {
            let (at_ms, allow) = (number(row, 0)?, number(row, 1)?);
            let counted =
                Slot { at_ms, allow, ask: number(row, 2)?, deny: number(row, 3)?, ..Slot::default() };
            slots.insert(at_ms, counted);
            Ok(())
        })?;
        self.each(&models, condition, |row| {
            let at_ms = number(row, 0)?;
            let slot = slots.entry(at_ms).or_insert(Slot { at_ms, ..Slot::default() });
            (slot.model_calls, slot.usd) = (number(row, 1)?, row.get(2)?);
            Ok(())
        })?;
        Ok(slots.into_values().collect())
    }

    fn bins(&self, query: &str, condition: &Condition) -> rusqlite::Result<Vec<LatencyBin>> {
        let mut bins: BTreeMap<u64, LatencyBin> = BTreeMap::new();
        self.each(query, condition, |row| {
            let below_us = LatencyBin::of(number(row, 0)?);
            let bin = bins.entry(below_us).or_insert(LatencyBin { below_us, alone: 0, with_model: 0 });
            let has_model = number(row, 1)? > 0;
            *(if has_model { &mut bin.with_model } else { &mut bin.alone }) += 1;
            Ok(())
        })?;
        Ok(bins.into_values().collect())
    }

    fn sessions(&self, condition: &Condition, most: u64) -> rusqlite::Result<Vec<SeenSession>> {
        let query = format!(
            "SELECT session, min(at_ms), max(at_ms), sum(decision IN ('allow', 'contained') AND is_repeat = 0),
                sum(decision = 'ask' AND is_repeat = 0), sum(decision = 'deny' AND is_repeat = 0)
             FROM records WHERE {} AND session <> '' GROUP BY session
             ORDER BY max(at_ms) DESC, session LIMIT {}",
            condition.text(),
            signed(most)
        );
        let mut sessions = Vec::new();
        self.each(&query, condition, |row| {
            sessions.push(SeenSession {
                session: row.get(0)?,
                host: String::new(),
                cwd: String::new(),
                mode: String::new(),
                first_ms: number(row, 1)?,
                last_ms: number(row, 2)?,
                allow: number(row, 3)?,
                ask: number(row, 4)?,
                deny: number(row, 5)?,
            });
            Ok(())
        })?;
        let last = "SELECT host, cwd, mode FROM records WHERE session = ?1 AND at_ms = ?2
            ORDER BY number DESC LIMIT 1";
        let mut last = self.connection.prepare_cached(last)?;
        for seen in &mut sessions {
            (seen.host, seen.cwd, seen.mode) = last
                .query_row((&seen.session, signed(seen.last_ms)), |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
        }
        Ok(sessions)
    }

    fn each(
        &self,
        query: &str,
        condition: &Condition,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(query)?;
        let mut rows = statement.query(params_from_iter(&condition.values))?;
        while let Some(row) = rows.next()? {
            take(row)?;
        }
        Ok(())
    }
}

impl LatencyBin {
    /// Returns the bound of the bin that a time belongs to, which is a power of two.
    pub const fn of(micros: u64) -> u64 {
        match micros.checked_add(1) {
            Some(more) => match more.checked_next_power_of_two() {
                Some(below) => below,
                None => u64::MAX,
            },
            None => u64::MAX,
        }
    }
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(unsigned)
}
