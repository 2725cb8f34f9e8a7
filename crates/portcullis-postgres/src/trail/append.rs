//! Adds lines to the chain: prepared before the end of the chain is locked, all of them or none.

use std::borrow::Cow;
use std::collections::BTreeSet;

use portcullis_store::StoreError;
use portcullis_store::audit::Entry;
use portcullis_store::audit::chain::{ChainedLine, Prepared};
use portcullis_store::audit::index::{ASKED_AGAIN, Measures};

use crate::error::{DatabaseFailure, refused};
use crate::pool::PooledConnection;
use crate::{PostgresStore, clean, signed};

/// How many rows one statement adds.
const MOST_ROWS: usize = 1_000;

const INSERT: &str = "INSERT INTO audit (number, at_ms, id, call, is_repeat, micros, model_calls, model_unpriced,
        tokens_in, tokens_cached, tokens_out, cost_usd, decision, said, step, kind, mode, host, event, tool, session,
        code, rule, suggestion, cwd, summary, reason, line)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::boolean[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::float8[], $13::text[],
        $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
        $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::bytea[])";

const MOVE_END: &str = "UPDATE audit_head SET number = $1, hash = $2, at_ms = $3";

/// Which calls were asked about before, by their places. Each is looked up by itself, however many there are.
const REPEATS: &str = "SELECT new.place
    FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS new (call, session, host, place)
    CROSS JOIN LATERAL (
        SELECT FROM audit AS old
        WHERE old.call = new.call AND old.session = new.session AND old.host = new.host
            AND lower(old.event) <> lower($4::text COLLATE \"C\")
        LIMIT 1
    ) AS found";

/// A decision that is about to be added.
struct NewTrailRow {
    prepared: Prepared,
    /// What is kept of it.
    kept: Entry,
}

impl PostgresStore {
    pub(crate) fn append_lines(&self, entries: &[Entry]) -> Result<Vec<String>, StoreError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let unreadable = || refused(self.pool.place(), "a decision cannot be read back");
        let prepare = |entry| {
            let prepared = Prepared::new(entry)?;
            let kept = prepared.kept().ok_or_else(unreadable)?;
            Ok(NewTrailRow { prepared, kept })
        };
        let new: Vec<NewTrailRow> = entries.iter().map(prepare).collect::<Result<_, StoreError>>()?;
        let rows: Vec<Measures<'_>> = new.iter().map(|new| Measures::of(&new.kept)).collect();
        self.make_partitions(&new.iter().map(|new| new.prepared.at_ms()).collect());
        self.pool.write(async |connection| {
            let mut ends = self.lock_ends(connection).await?;
            let repeats = find_repeats(connection, &new, &rows).await?;
            let mut ids = Vec::with_capacity(new.len());
            let mut place = 0;
            for (part, measures) in new.chunks(MOST_ROWS).zip(rows.chunks(MOST_ROWS)) {
                let mut columns = InsertColumns::default();
                for (new, measures) in part.iter().zip(measures) {
                    ends.number = ends.number.saturating_add(1);
                    let line = new.prepared.line(ends.number, &ends.hash);
                    ends.hash = line.hash();
                    ids.push(line.id.clone());
                    columns.add(ends.number, line, &new.kept, measures, repeats.contains(&place));
                    place += 1;
                }
                columns.insert(connection).await?;
            }
            let at_ms = new.last().map_or(ends.at_ms, |last| last.prepared.at_ms());
            connection.change(MOVE_END, &[&signed(ends.number), &ends.hash, &signed(at_ms)]).await?;
            Ok(ids)
        })
    }
}

/// Finds the decisions about a call that was asked about before, in the store or earlier among them, by their places.
async fn find_repeats(
    connection: &mut PooledConnection,
    new: &[NewTrailRow],
    measures: &[Measures<'_>],
) -> Result<BTreeSet<usize>, DatabaseFailure> {
    let mut repeats = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let (mut places, mut calls, mut sessions, mut hosts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (place, (new, measures)) in new.iter().zip(measures).enumerate() {
        let call = (measures.call, &new.kept.session, &new.kept.host);
        if !measures.is_asked_again {
            seen.insert(call);
        } else if seen.contains(&call) {
            repeats.insert(place);
        } else {
            places.push(place);
            calls.push(measures.call);
            sessions.push(clean(&new.kept.session));
            hosts.push(clean(&new.kept.host));
        }
    }
    if !places.is_empty() {
        for row in connection.rows(REPEATS, &[&calls, &sessions, &hosts, &ASKED_AGAIN]).await? {
            let found: i64 = row.try_get(0)?;
            let found = usize::try_from(found - 1).ok().and_then(|found| places.get(found));
            repeats.extend(found);
        }
    }
    Ok(repeats)
}

/// Rows, column by column.
#[derive(Default)]
struct InsertColumns<'a> {
    number: Vec<i64>,
    at_ms: Vec<i64>,
    id: Vec<String>,
    call: Vec<i64>,
    is_repeat: Vec<bool>,
    micros: Vec<i64>,
    model_calls: Vec<i64>,
    model_unpriced: Vec<i64>,
    tokens_in: Vec<i64>,
    tokens_cached: Vec<i64>,
    tokens_out: Vec<i64>,
    cost_usd: Vec<f64>,
    decision: Vec<Cow<'a, str>>,
    said: Vec<Cow<'a, str>>,
    step: Vec<Cow<'a, str>>,
    kind: Vec<Cow<'a, str>>,
    mode: Vec<Cow<'a, str>>,
    host: Vec<Cow<'a, str>>,
    event: Vec<Cow<'a, str>>,
    tool: Vec<Cow<'a, str>>,
    session: Vec<Cow<'a, str>>,
    code: Vec<Option<Cow<'a, str>>>,
    rule: Vec<Option<Cow<'a, str>>>,
    suggestion: Vec<Option<Cow<'a, str>>>,
    cwd: Vec<Cow<'a, str>>,
    summary: Vec<Cow<'a, str>>,
    reason: Vec<Cow<'a, str>>,
    line: Vec<Vec<u8>>,
}

impl<'a> InsertColumns<'a> {
    fn add(
        &mut self,
        number: u64,
        line: ChainedLine,
        kept: &'a Entry,
        measures: &Measures<'a>,
        is_repeat: bool,
    ) {
        self.number.push(signed(number));
        self.at_ms.push(signed(kept.at_ms));
        self.id.push(line.id);
        self.call.push(measures.call);
        self.is_repeat.push(is_repeat);
        self.micros.push(signed(kept.micros));
        self.model_calls.push(signed(measures.model_calls));
        self.model_unpriced.push(signed(measures.model_unpriced));
        self.tokens_in.push(signed(measures.tokens_in));
        self.tokens_cached.push(signed(measures.tokens_cached));
        self.tokens_out.push(signed(measures.tokens_out));
        self.cost_usd.push(measures.cost_usd);
        self.decision.push(clean(&kept.decision));
        self.said.push(clean(&kept.said));
        self.step.push(clean(&kept.step));
        self.kind.push(clean(&kept.kind));
        self.mode.push(clean(&kept.mode));
        self.host.push(clean(&kept.host));
        self.event.push(clean(&kept.event));
        self.tool.push(clean(&kept.tool));
        self.session.push(clean(&kept.session));
        self.code.push(kept.code.as_deref().map(clean));
        self.rule.push(kept.rule.as_ref().map(|rule| clean(&rule.text)));
        self.suggestion.push(measures.suggestion.map(clean));
        self.cwd.push(clean(&kept.cwd));
        self.summary.push(clean(&kept.summary));
        self.reason.push(clean(&kept.reason));
        self.line.push(line.bytes);
    }

    async fn insert(&self, connection: &mut PooledConnection) -> Result<(), DatabaseFailure> {
        connection
            .change(
                INSERT,
                &[
                    &self.number,
                    &self.at_ms,
                    &self.id,
                    &self.call,
                    &self.is_repeat,
                    &self.micros,
                    &self.model_calls,
                    &self.model_unpriced,
                    &self.tokens_in,
                    &self.tokens_cached,
                    &self.tokens_out,
                    &self.cost_usd,
                    &self.decision,
                    &self.said,
                    &self.step,
                    &self.kind,
                    &self.mode,
                    &self.host,
                    &self.event,
                    &self.tool,
                    &self.session,
                    &self.code,
                    &self.rule,
                    &self.suggestion,
                    &self.cwd,
                    &self.summary,
                    &self.reason,
                    &self.line,
                ],
            )
            .await?;
        Ok(())
    }
}
