//! Policies that were published: each version once, and none left out.

use portcullis_store::{PolicyVersion, SignedPolicy, StoreError};
use tokio_postgres::Row;

use crate::error::{DatabaseFailure, broken, refused};
use crate::{PostgresStore, signed, unsigned};

const NEWEST: &str = "SELECT version, body FROM policies ORDER BY version DESC LIMIT $1";

impl PostgresStore {
    pub(crate) fn add_policy(&self, policy: &SignedPolicy) -> Result<u64, StoreError> {
        let body = serde_json::to_string(policy)
            .map_err(|error| refused(self.pool.place(), format!("the policy cannot be written: {error}")))?;
        self.pool.write(async |connection| {
            // Whoever publishes at the same time waits here and then finds this version taken.
            connection.run("LOCK TABLE policies IN SHARE ROW EXCLUSIVE MODE").await?;
            let newest = connection.row("SELECT coalesce(max(version), 0) FROM policies", &[]).await?;
            let newest: i64 = newest.map_or(Ok(0), |row| row.try_get(0))?;
            let next = unsigned(newest).saturating_add(1);
            if policy.version != next {
                return Err(StoreError::WrongVersion { version: policy.version, next }.into());
            }
            let statement = "INSERT INTO policies (version, body) VALUES ($1, $2)";
            connection.change(statement, &[&signed(next), &body]).await?;
            Ok(next)
        })
    }

    pub(crate) fn newest_policy(&self) -> Result<Option<SignedPolicy>, StoreError> {
        self.pool.read(&async |connection| {
            let row = connection.row(NEWEST, &[&1_i64]).await?;
            row.map(|row| self.read_policy(&row)).transpose()
        })
    }

    pub(crate) fn list_policies(&self, most: u64) -> Result<Vec<PolicyVersion>, StoreError> {
        self.pool.read(&async |connection| {
            let rows = connection.rows(NEWEST, &[&signed(most)]).await?;
            let told = |row: &Row| {
                let SignedPolicy { version, signed_at_ms, note, key, .. } = self.read_policy(row)?;
                Ok(PolicyVersion { version, signed_at_ms, note, key })
            };
            rows.iter().map(told).collect()
        })
    }

    pub(crate) fn policy_of_version(&self, version: u64) -> Result<Option<SignedPolicy>, StoreError> {
        self.pool.read(&async |connection| {
            let query = "SELECT version, body FROM policies WHERE version = $1";
            let row = connection.row(query, &[&signed(version)]).await?;
            row.map(|row| self.read_policy(&row)).transpose()
        })
    }

    /// Reads a policy, which is signed, so that whoever uses it sees whether it was changed.
    fn read_policy(&self, row: &Row) -> Result<SignedPolicy, DatabaseFailure> {
        let (version, body): (i64, &str) = (row.try_get(0)?, row.try_get(1)?);
        let place = || format!("{} (policy {version})", self.pool.place());
        serde_json::from_str(body).map_err(|error| broken(place(), &error.to_string()).into())
    }
}
