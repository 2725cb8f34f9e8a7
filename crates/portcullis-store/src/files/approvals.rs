//! Approvals as rows. The state of a row decides: whoever changes it from `open` first has answered.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params_from_iter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::FileBackend;
use crate::StoreError;
use crate::approvals::{
    AnswerOutcome, ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalState, ExplanationEntry,
    NewApprovalRequest,
};
use crate::audit::Entry;
use crate::sqlite::{signed, unsigned};
use crate::state::{DeniedCall, session_name};

const COLUMNS: &str =
    "id, sequence, created_at_ms, expires_at_ms, session, denial, state, is_applied, kept, answer";

/// What the daemon asks again and again. Each is answered from an index, however many questions there are.
const OPEN_IDS: &str = "SELECT id FROM approvals WHERE state = 'open' ORDER BY created_at_ms, id LIMIT ?1";
const HAS_LATE: &str = "SELECT EXISTS (SELECT 1 FROM approvals WHERE state = 'open' AND expires_at_ms <= ?1)";
const UNAPPLIED: &str =
    "SELECT id, sequence, created_at_ms, expires_at_ms, session, denial, state, is_applied, kept, answer
    FROM approvals WHERE is_applied = 0 AND answer IS NOT NULL ORDER BY sequence";

/// What of an approval never changes and is not looked for.
#[derive(Debug, Serialize, Deserialize)]
struct FixedApprovalPart {
    call: DeniedCall,
    question: Entry,
    explanation: Option<ExplanationEntry>,
}

impl FileBackend {
    pub(super) fn ask(&self, new: &NewApprovalRequest) -> Result<ApprovalRequest, StoreError> {
        let mut asked = ApprovalRequest::open(new, 0)?;
        self.changing(|transaction| {
            if let Some(known) = by_id(transaction, &asked.id)? {
                let is_same = known.session == asked.session && known.denial == asked.denial;
                return Ok(if is_same { Ok(known) } else { Err(StoreError::TakenId { id: asked.id }) });
            }
            expire(transaction, asked.created_at_ms)?;
            if let Some(waiting) = waiting(transaction, &asked.session, &asked.denial)? {
                return Ok(Ok(waiting));
            }
            asked.sequence = next(transaction)?;
            insert(transaction, &asked)?;
            Ok(Ok(asked))
        })
    }

    pub(super) fn one_approval(&self, id: &str) -> Result<Option<ApprovalRequest>, StoreError> {
        self.looking_up(|connection| by_id(connection, id))
    }

    pub(super) fn list_approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRequest>, StoreError> {
        let order = if filter.state == Some(ApprovalState::Open) { "ASC" } else { "DESC" };
        let state = filter.state.map(|state| state.as_str().to_owned());
        let session = filter.session.as_deref().map(session_name);
        // A condition on a value that is not given would keep the database from using an index.
        let (mut clauses, mut values) = (vec!["1".to_owned()], Vec::new());
        for (column, value) in [("state", state), ("session", session)] {
            values.extend(value.clone());
            clauses.extend(value.map(|_| format!("{column} = ?{}", values.len())));
        }
        let query = format!(
            "SELECT {COLUMNS} FROM approvals WHERE {} ORDER BY created_at_ms {order}, id {order} LIMIT {}",
            clauses.join(" AND "),
            signed(filter.most)
        );
        self.looking_up(|connection| {
            connection.prepare(&query)?.query_map(params_from_iter(values), read)?.collect()
        })
    }

    pub(super) fn list_open_ids(&self, most: u64) -> Result<Vec<String>, StoreError> {
        self.looking_up(|connection| {
            connection.prepare_cached(OPEN_IDS)?.query_map([signed(most)], |row| row.get(0))?.collect()
        })
    }

    pub(super) fn answer(&self, id: &str, answer: &ApprovalAnswer) -> Result<AnswerOutcome, StoreError> {
        if self.one_approval(id)?.is_none() {
            return Ok(AnswerOutcome::Unknown);
        }
        self.changing(|transaction| {
            expire(transaction, answer.at_ms)?;
            let state = if answer.is_allowed { ApprovalState::Allowed } else { ApprovalState::Denied };
            let statement = "UPDATE approvals SET state = ?2, answer = ?3, ended_at_ms = ?4, sequence = ?5
                WHERE id = ?1 AND state = 'open'";
            let is_first = transaction.prepare_cached(statement)?.execute((
                id,
                state.as_str(),
                to_json(answer)?,
                signed(answer.at_ms),
                signed(next(transaction)?),
            ))? == 1;
            let approval = by_id(transaction, id)?.map(Box::new);
            Ok(Ok(match approval {
                Some(approval) if is_first => AnswerOutcome::First(approval),
                Some(approval) => AnswerOutcome::Late(approval),
                None => AnswerOutcome::Unknown,
            }))
        })
    }

    pub(super) fn mark(&self, id: &str) -> Result<(), StoreError> {
        let statement = "UPDATE approvals SET is_applied = 1, sequence = ?2
            WHERE id = ?1 AND is_applied = 0 AND state IN ('allowed', 'denied')";
        self.changing(|transaction| {
            let sequence = signed(next(transaction)?);
            transaction.prepare_cached(statement)?.execute((id, sequence))?;
            Ok(Ok(()))
        })
    }

    pub(super) fn list_unapplied(&self) -> Result<Vec<ApprovalRequest>, StoreError> {
        self.looking_up(|connection| connection.prepare_cached(UNAPPLIED)?.query_map((), read)?.collect())
    }

    pub(super) fn expire_old(&self, now_ms: u64) -> Result<u64, StoreError> {
        let has_some: bool = self.looking_up(|connection| {
            connection.prepare_cached(HAS_LATE)?.query_row([signed(now_ms)], |row| row.get(0))
        })?;
        if has_some { self.changing(|transaction| expire(transaction, now_ms).map(Ok)) } else { Ok(0) }
    }

    pub(super) fn changed_after(&self, sequence: u64, most: u64) -> Result<Vec<ApprovalRequest>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM approvals WHERE sequence > ?1 ORDER BY sequence LIMIT ?2");
        self.looking_up(|connection| {
            let mut statement = connection.prepare_cached(&query)?;
            statement.query_map([signed(sequence), signed(most)], read)?.collect()
        })
    }

    pub(super) fn prune_old(&self, before_ms: u64) -> Result<u64, StoreError> {
        let ended = "ended_at_ms < ?1 AND (state = 'expired' OR state <> 'open' AND is_applied = 1)";
        let query = format!("SELECT EXISTS (SELECT 1 FROM approvals WHERE {ended})");
        let has_some: bool = self
            .looking_up(|connection| connection.query_row(&query, [signed(before_ms)], |row| row.get(0)))?;
        if !has_some {
            return Ok(0);
        }
        let statement = format!("DELETE FROM approvals WHERE {ended}");
        self.changing(|transaction| {
            let removed = transaction.execute(&statement, [signed(before_ms)])?;
            Ok(Ok(u64::try_from(removed).unwrap_or(u64::MAX)))
        })
    }
}

/// Returns the number of a change that is about to be made.
fn next(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let statement = "UPDATE counter SET value = value + 1 RETURNING value";
    transaction.prepare_cached(statement)?.query_row((), |row| row.get(0)).map(unsigned)
}

/// Ends the open approvals whose time is over, and returns how many. Each change has a number of its own.
fn expire(transaction: &Transaction<'_>, now_ms: u64) -> rusqlite::Result<u64> {
    let query =
        "SELECT id FROM approvals WHERE state = 'open' AND expires_at_ms <= ?1 ORDER BY expires_at_ms, id";
    let over: Vec<String> = transaction
        .prepare_cached(query)?
        .query_map([signed(now_ms)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let statement = "UPDATE approvals SET state = 'expired', ended_at_ms = expires_at_ms, sequence = ?2
        WHERE id = ?1";
    let mut statement = transaction.prepare_cached(statement)?;
    for id in &over {
        statement.execute((id, signed(next(transaction)?)))?;
    }
    Ok(u64::try_from(over.len()).unwrap_or(u64::MAX))
}

fn insert(transaction: &Transaction<'_>, approval: &ApprovalRequest) -> rusqlite::Result<()> {
    let kept = FixedApprovalPart {
        call: approval.call.clone(),
        question: approval.question.clone(),
        explanation: approval.explanation.clone(),
    };
    let statement = "INSERT INTO approvals
        (id, sequence, created_at_ms, expires_at_ms, session, denial, state, is_applied, kept)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', 0, ?7)";
    transaction.prepare_cached(statement)?.execute((
        &approval.id,
        signed(approval.sequence),
        signed(approval.created_at_ms),
        signed(approval.expires_at_ms),
        &approval.session,
        &approval.denial,
        to_json(&kept)?,
    ))?;
    Ok(())
}

fn by_id(connection: &Connection, id: &str) -> rusqlite::Result<Option<ApprovalRequest>> {
    let query = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
    connection.prepare_cached(&query)?.query_row([id], read).optional()
}

fn waiting(
    connection: &Connection,
    session: &str,
    denial: &str,
) -> rusqlite::Result<Option<ApprovalRequest>> {
    let query =
        format!("SELECT {COLUMNS} FROM approvals WHERE session = ?1 AND denial = ?2 AND state = 'open'");
    connection.prepare_cached(&query)?.query_row([session, denial], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<ApprovalRequest> {
    let state: String = row.get(6)?;
    let state = ApprovalState::ALL.into_iter().find(|known| known.as_str() == state);
    let state = state.ok_or_else(|| unreadable(6, "it is no state of an approval".into()))?;
    let FixedApprovalPart { call, question, explanation } = of_json(&row.get::<_, String>(8)?, 8)?;
    let answer = row.get::<_, Option<String>>(9)?.map(|answer| of_json(&answer, 9)).transpose()?;
    Ok(ApprovalRequest {
        id: row.get(0)?,
        sequence: unsigned(row.get(1)?),
        created_at_ms: unsigned(row.get(2)?),
        expires_at_ms: unsigned(row.get(3)?),
        session: row.get(4)?,
        denial: row.get(5)?,
        call,
        question,
        explanation,
        state,
        answer,
        is_applied: row.get(7)?,
    })
}

fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn of_json<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error.into()))
}

fn unreadable(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_is_asked_again_and_again_reads_no_questions() {
        let folder = tempfile::tempdir().unwrap();
        let backend = FileBackend::new(folder.path().to_path_buf(), Duration::ZERO);
        // Whatever is changed makes the tables.
        backend.mark("nothing").unwrap();
        for (query, plan) in [
            (OPEN_IDS, "SEARCH approvals USING COVERING INDEX approvals_by_state (state=?)"),
            (
                HAS_LATE,
                "SEARCH approvals USING COVERING INDEX approvals_by_end (state=? AND expires_at_ms<?)",
            ),
            // Only what is left stands in this index, and that is nothing most of the time.
            (UNAPPLIED, "SCAN approvals USING INDEX approvals_unapplied"),
        ] {
            let explained: Vec<String> = backend
                .looking_up(|connection| {
                    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                    let values = statement.parameter_count();
                    let values = std::iter::repeat_n(1, values);
                    statement.query_map(params_from_iter(values), |row| row.get(3))?.collect()
                })
                .unwrap();
            let told = explained.iter().filter(|line| line.contains("approvals")).collect::<Vec<_>>();
            assert_eq!(told, [plan], "{query}");
        }
    }
}
