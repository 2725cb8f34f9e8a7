//! Published policies as rows: versions follow each other without a gap, and none is ever changed.

use rusqlite::{OptionalExtension as _, Row};

use super::FileBackend;
use crate::StoreError;
use crate::policy::{PolicyVersion, SignedPolicy};
use crate::sqlite::{signed, unsigned};

const COLUMNS: &str = "version, signed_at_ms, note, key, settings, signature";

impl FileBackend {
    pub(super) fn publish(&self, policy: &SignedPolicy) -> Result<u64, StoreError> {
        self.changing(|transaction| {
            let query = "SELECT coalesce(max(version), 0) FROM policies";
            let next = unsigned(transaction.query_row(query, (), |row| row.get(0))?).saturating_add(1);
            if policy.version != next {
                return Ok(Err(StoreError::WrongVersion { version: policy.version, next }));
            }
            let statement = format!("INSERT INTO policies ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
            transaction.execute(
                &statement,
                (
                    signed(policy.version),
                    signed(policy.signed_at_ms),
                    &policy.note,
                    &policy.key,
                    &policy.settings,
                    &policy.signature,
                ),
            )?;
            Ok(Ok(policy.version))
        })
    }

    pub(super) fn newest_policy(&self) -> Result<Option<SignedPolicy>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM policies ORDER BY version DESC LIMIT 1");
        self.looking_up(|connection| connection.query_row(&query, (), read).optional())
    }

    pub(super) fn one_policy(&self, version: u64) -> Result<Option<SignedPolicy>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM policies WHERE version = ?1");
        self.looking_up(|connection| connection.query_row(&query, [signed(version)], read).optional())
    }

    pub(super) fn list_policies(&self, most: u64) -> Result<Vec<PolicyVersion>, StoreError> {
        let query = "SELECT version, signed_at_ms, note, key FROM policies ORDER BY version DESC LIMIT ?1";
        self.looking_up(|connection| {
            let read = |row: &Row<'_>| {
                let (version, signed_at_ms) = (unsigned(row.get(0)?), unsigned(row.get(1)?));
                Ok(PolicyVersion { version, signed_at_ms, note: row.get(2)?, key: row.get(3)? })
            };
            connection.prepare(query)?.query_map([signed(most)], read)?.collect()
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SignedPolicy> {
    Ok(SignedPolicy {
        version: unsigned(row.get(0)?),
        signed_at_ms: unsigned(row.get(1)?),
        note: row.get(2)?,
        key: row.get(3)?,
        settings: row.get(4)?,
        signature: row.get(5)?,
    })
}
