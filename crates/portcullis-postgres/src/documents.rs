//! Small documents that are replaced as a whole. A session and its facts share one lock.

use std::collections::BTreeSet;

use portcullis_store::{
    DocumentChange, DocumentKey, DocumentUpdate, SessionExpiry, StoreBackend as _, StoreError,
};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::error::{DatabaseFailure, broken};
use crate::pool::PooledConnection;

const READ: &str = "SELECT octet_length(body)::bigint, CASE WHEN octet_length(body) <= $2 THEN body END
    FROM documents WHERE key = $1";
const WRITE: &str = "INSERT INTO documents (key, body) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET body = excluded.body, changed_at = now()";
const REMOVE: &str = "DELETE FROM documents WHERE key = $1";
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 7))";
const TRY_LOCK: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7))";

/// The largest document that is looked at when a session is forgotten.
const MOST_FORGOTTEN: u64 = 64 * 1024 * 1024;

impl PostgresStore {
    pub(crate) fn read_document(&self, key: &DocumentKey, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.pool.read(&async |connection| self.document(connection, key, most).await)
    }

    pub(crate) fn change_document(
        &self,
        key: &DocumentKey,
        most: u64,
        changing: DocumentUpdate<'_>,
    ) -> Result<(), StoreError> {
        self.pool.write(async |connection| {
            connection.rows(LOCK, &[&lock_name(key)]).await?;
            let before = self.document(connection, key, most).await?;
            match changing(before)? {
                DocumentChange::Keep => {}
                DocumentChange::Write(body) => {
                    connection.change(WRITE, &[&name(key), &body]).await?;
                }
                DocumentChange::Remove => {
                    connection.change(REMOVE, &[&name(key)]).await?;
                }
            }
            Ok(())
        })
    }

    pub(crate) fn list_sessions(&self) -> Result<BTreeSet<String>, StoreError> {
        let query =
            "SELECT DISTINCT substr(key, strpos(key, '/') + 1) FROM documents WHERE strpos(key, '/') > 0";
        self.pool.read(&async |connection| {
            let rows = connection.rows(query, &[]).await?;
            Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
        })
    }

    /// A session that somebody changes just now is not old.
    pub(crate) fn forget(&self, session: &str, is_old: SessionExpiry<'_>) -> Result<bool, StoreError> {
        let state = DocumentKey::Session(session.to_owned());
        let facts = DocumentKey::Facts(session.to_owned());
        self.pool.write(async |connection| {
            let taken = connection.row(TRY_LOCK, &[&lock_name(&state)]).await?;
            if !taken.map_or(Ok(false), |row| row.try_get(0))? {
                return Ok(false);
            }
            let kept = (
                self.document(connection, &state, MOST_FORGOTTEN).await?,
                self.document(connection, &facts, MOST_FORGOTTEN).await?,
            );
            if !is_old(kept.0.as_deref(), kept.1.as_deref())? {
                return Ok(false);
            }
            let removed = connection.change(REMOVE, &[&name(&state)]).await?
                + connection.change(REMOVE, &[&name(&facts)]).await?;
            Ok(removed > 0)
        })
    }

    async fn document(
        &self,
        connection: &mut PooledConnection,
        key: &DocumentKey,
        most: u64,
    ) -> Result<Option<Vec<u8>>, DatabaseFailure> {
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        let Some(row) = connection.row(READ, &[&name(key), &most]).await? else { return Ok(None) };
        let body: Option<Vec<u8>> = row.try_get(1)?;
        match body {
            Some(body) => Ok(Some(body)),
            None => Err(self.too_long(key, &row)?.into()),
        }
    }

    fn too_long(&self, key: &DocumentKey, row: &Row) -> Result<StoreError, DatabaseFailure> {
        let length: i64 = row.try_get(0)?;
        Ok(broken(
            self.document_place(key),
            &format!("it has {length} bytes, which is more than it can have"),
        ))
    }
}

/// Names a document in the table. Names of sessions have no characters that a text cannot have.
fn name(key: &DocumentKey) -> String {
    match key {
        DocumentKey::Session(session) => format!("session/{}", crate::clean(session)),
        DocumentKey::Facts(session) => format!("facts/{}", crate::clean(session)),
        DocumentKey::Grants => "grants".to_owned(),
    }
}

/// Names what is locked while a document changes.
fn lock_name(key: &DocumentKey) -> String {
    match key {
        DocumentKey::Session(session) | DocumentKey::Facts(session) => {
            format!("session/{}", crate::clean(session))
        }
        DocumentKey::Grants => "grants".to_owned(),
    }
}
