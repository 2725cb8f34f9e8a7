//! Approvals: whoever changes the state of a row from `open` first has answered.
//!
//! Every change has a number, which is taken while one row is locked until the change is made. So numbers are seen in
//! order, and a daemon that asks for what changed after a number misses nothing.

use std::path::PathBuf;

use portcullis_store::{
    AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalState, NewApprovalRequest,
    StoreError, session_name,
};
use tokio_postgres::Row;

use crate::error::{DatabaseFailure, broken, refused};
use crate::pool::{PooledConnection, SqlValue};
use crate::{PostgresStore, clean, signed, unsigned};

/// What is read of an approval: what never changes stands in its body.
const COLUMNS: &str = "body, sequence, state, is_applied, answer";

const NEXT: &str = "UPDATE approval_head SET sequence = sequence + 1 RETURNING sequence";
const BY_ID: &str = "SELECT body, sequence, state, is_applied, answer FROM approvals WHERE id = $1";
const WAITING: &str = "SELECT body, sequence, state, is_applied, answer FROM approvals
    WHERE session = $1 AND denial = $2 AND state = 'open'";
const INSERT: &str =
    "INSERT INTO approvals (id, sequence, created_at_ms, expires_at_ms, session, denial, state, body)
    VALUES ($1, $2, $3, $4, $5, $6, 'open', $7)";
const ANSWER: &str = "UPDATE approvals SET state = $2, answer = $3, ended_at_ms = $4, sequence = $5
    WHERE id = $1 AND state = 'open'";
const MARK: &str = "UPDATE approvals SET is_applied = true, sequence = $2
    WHERE id = $1 AND NOT is_applied AND state IN ('allowed', 'denied')";
const UNAPPLIED: &str = "SELECT body, sequence, state, is_applied, answer FROM approvals
    WHERE answer IS NOT NULL AND NOT is_applied ORDER BY sequence";
const OPEN_IDS: &str = "SELECT id FROM approvals WHERE state = 'open' ORDER BY created_at_ms, id LIMIT $1";
const CHANGED: &str = "SELECT body, sequence, state, is_applied, answer FROM approvals
    WHERE sequence > $1 ORDER BY sequence LIMIT $2";

/// Ends what is late, each with a number of its own after those that were taken. The numbers must be locked.
const EXPIRE: &str = "WITH late AS (
        SELECT id, row_number() OVER (ORDER BY expires_at_ms, id) AS place
        FROM approvals WHERE state = 'open' AND expires_at_ms <= $1
    ), ended AS (
        UPDATE approvals SET state = 'expired', ended_at_ms = expires_at_ms,
            sequence = (SELECT sequence FROM approval_head) + late.place
        FROM late WHERE approvals.id = late.id RETURNING 1
    )
    UPDATE approval_head SET sequence = sequence + (SELECT count(*) FROM ended)
    RETURNING (SELECT count(*) FROM ended)";
const HAS_LATE: &str = "SELECT EXISTS (SELECT FROM approvals WHERE state = 'open' AND expires_at_ms <= $1)";

impl PostgresStore {
    pub(crate) fn open_question(&self, new: &NewApprovalRequest) -> Result<ApprovalRequest, StoreError> {
        let mut asked = ApprovalRequest::open(new, 0)?;
        let body = self.json(&asked)?;
        self.pool.write(async |connection| {
            lock(connection).await?;
            if let Some(known) = self.by_id(connection, &asked.id).await? {
                let is_same = known.session == asked.session && known.denial == asked.denial;
                return if is_same { Ok(known) } else { Err(StoreError::TakenId { id: asked.id }.into()) };
            }
            expire(connection, asked.created_at_ms).await?;
            let question: [SqlValue<'_>; 2] = [&asked.session, &clean(&asked.denial)];
            if let Some(waiting) = connection.row(WAITING, &question).await? {
                return self.read_approval(&waiting);
            }
            asked.sequence = next(connection).await?;
            let values: [SqlValue<'_>; 7] = [
                &asked.id,
                &signed(asked.sequence),
                &signed(asked.created_at_ms),
                &signed(asked.expires_at_ms),
                &asked.session,
                &clean(&asked.denial),
                &body,
            ];
            connection.change(INSERT, &values).await?;
            Ok(asked)
        })
    }

    pub(crate) fn question(&self, id: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        self.pool.read(&async |connection| self.by_id(connection, id).await)
    }

    pub(crate) fn questions(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRequest>, StoreError> {
        let order = if filter.state == Some(ApprovalState::Open) { "ASC" } else { "DESC" };
        let state = filter.state.map(|state| state.as_str().to_owned());
        let session = filter.session.as_deref().map(session_name);
        // A condition on a value that is not given would keep the server from using an index.
        let (mut clauses, mut values) = (vec!["true".to_owned()], Vec::<String>::new());
        for (column, value) in [("state", state), ("session", session)] {
            if let Some(value) = value {
                values.push(value);
                clauses.push(format!("{column} = ${}", values.len()));
            }
        }
        let query = format!(
            "SELECT {COLUMNS} FROM approvals WHERE {} ORDER BY created_at_ms {order}, id {order} LIMIT {}",
            clauses.join(" AND "),
            signed(filter.most)
        );
        let values: Vec<SqlValue<'_>> = values.iter().map(|value| value as SqlValue<'_>).collect();
        self.pool.read(&async |connection| {
            let rows = connection.rows_of(&query, &values).await?;
            rows.iter().map(|row| self.read_approval(row)).collect()
        })
    }

    pub(crate) fn open_question_ids(&self, most: u64) -> Result<Vec<String>, StoreError> {
        self.pool.read(&async |connection| {
            let rows = connection.rows(OPEN_IDS, &[&signed(most)]).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    pub(crate) fn answer_question(
        &self,
        id: &str,
        answer: &ApprovalAnswer,
    ) -> Result<AnswerOutcome, StoreError> {
        if self.question(id)?.is_none() {
            return Ok(AnswerOutcome::Unknown);
        }
        let kept = self.json(answer)?;
        let state = if answer.is_allowed { ApprovalState::Allowed } else { ApprovalState::Denied };
        self.pool.write(async |connection| {
            lock(connection).await?;
            expire(connection, answer.at_ms).await?;
            let sequence = signed(next(connection).await?);
            let values: [SqlValue<'_>; 5] =
                [&clean(id), &state.as_str(), &kept, &signed(answer.at_ms), &sequence];
            let is_first = connection.change(ANSWER, &values).await? == 1;
            Ok(match self.by_id(connection, id).await?.map(Box::new) {
                Some(approval) if is_first => AnswerOutcome::First(approval),
                Some(approval) => AnswerOutcome::Late(approval),
                None => AnswerOutcome::Unknown,
            })
        })
    }

    pub(crate) fn mark_done(&self, id: &str) -> Result<(), StoreError> {
        self.pool.write(async |connection| {
            let sequence = signed(next(connection).await?);
            connection.change(MARK, &[&clean(id), &sequence]).await?;
            Ok(())
        })
    }

    pub(crate) fn undone(&self) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.pool.read(&async |connection| {
            let rows = connection.rows(UNAPPLIED, &[]).await?;
            rows.iter().map(|row| self.read_approval(row)).collect()
        })
    }

    /// Most of the time nothing is late, and then nothing is locked.
    pub(crate) fn end_late_questions(&self, now_ms: u64) -> Result<u64, StoreError> {
        let has_late = self.pool.read(&async |connection| {
            let row = connection.row(HAS_LATE, &[&signed(now_ms)]).await?;
            Ok(row.map_or(Ok(false), |row| row.try_get(0))?)
        })?;
        if !has_late {
            return Ok(0);
        }
        self.pool.write(async |connection| {
            lock(connection).await?;
            expire(connection, now_ms).await
        })
    }

    pub(crate) fn changed_questions(
        &self,
        sequence: u64,
        most: u64,
    ) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.pool.read(&async |connection| {
            let rows = connection.rows(CHANGED, &[&signed(sequence), &signed(most)]).await?;
            rows.iter().map(|row| self.read_approval(row)).collect()
        })
    }

    /// What was answered and is not done yet stays.
    pub(crate) fn remove_questions(&self, before_ms: u64) -> Result<u64, StoreError> {
        let statement = "DELETE FROM approvals
            WHERE ended_at_ms < $1 AND (state = 'expired' OR state <> 'open' AND is_applied)";
        self.pool.write(async |connection| connection.change(statement, &[&signed(before_ms)]).await)
    }

    async fn by_id(
        &self,
        connection: &mut PooledConnection,
        id: &str,
    ) -> Result<Option<ApprovalRequest>, DatabaseFailure> {
        let row = connection.row(BY_ID, &[&clean(id)]).await?;
        row.map(|row| self.read_approval(&row)).transpose()
    }

    fn read_approval(&self, row: &Row) -> Result<ApprovalRequest, DatabaseFailure> {
        let wrong =
            |detail: &str| broken(PathBuf::from(format!("{} (approvals)", self.pool.place())), detail);
        let kept: ApprovalRequest =
            serde_json::from_str(row.try_get(0)?).map_err(|error| wrong(&error.to_string()))?;
        let state: &str = row.try_get(2)?;
        let state = ApprovalState::ALL.into_iter().find(|known| known.as_str() == state);
        let state = state.ok_or_else(|| wrong("it is no state of an approval"))?;
        let answer: Option<&str> = row.try_get(4)?;
        let answer =
            answer.map(serde_json::from_str).transpose().map_err(|error| wrong(&error.to_string()))?;
        let sequence: i64 = row.try_get(1)?;
        Ok(ApprovalRequest {
            sequence: unsigned(sequence),
            state,
            is_applied: row.try_get(3)?,
            answer,
            ..kept
        })
    }

    fn json(&self, value: &impl serde::Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value)
            .map_err(|error| refused(self.pool.place(), format!("it cannot be written: {error}")))
    }
}

/// Locks the numbers, and with them the approvals, until the change is made.
async fn lock(connection: &mut PooledConnection) -> Result<(), DatabaseFailure> {
    connection.rows("SELECT FROM approval_head FOR UPDATE", &[]).await?;
    Ok(())
}

/// Returns the number of a change that is about to be made.
async fn next(connection: &mut PooledConnection) -> Result<u64, DatabaseFailure> {
    let row = connection.row(NEXT, &[]).await?;
    let sequence: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(unsigned(sequence))
}

async fn expire(connection: &mut PooledConnection, now_ms: u64) -> Result<u64, DatabaseFailure> {
    let row = connection.row(EXPIRE, &[&signed(now_ms)]).await?;
    let ended: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
    Ok(unsigned(ended))
}
