//! Denials that stand no longer, because a person let the call run since.

use std::fmt::Write as _;

use portcullis_store::audit::Record;
use portcullis_store::{AllowedCalls, Store};
use serde_json::Value;

use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::record;
use portcullis_output::terminal::{DIM, Painted};

/// What people allowed by now.
#[derive(Debug)]
pub(crate) struct AllowedSince {
    allowed: AllowedCalls,
    now_ms: u64,
}

impl AllowedSince {
    pub(super) fn of_store(store: &Store) -> Result<Self, Failure> {
        let allowed = store.allowed_calls().map_err(|error| Failure::from(&error))?;
        Ok(Self { allowed, now_ms: now_ms() })
    }

    /// Says whether a record is of a denial that stands no longer.
    pub(crate) fn has(&self, record: &Record) -> bool {
        let entry = &record.entry;
        let is_lifted = |id: &String| self.allowed.lift(&entry.session, id, entry.at_ms, self.now_ms);
        entry.denial.as_ref().is_some_and(is_lifted)
    }

    /// Writes a record for a list.
    pub(super) fn lines(&self, record: &Record) -> String {
        let mut text = record::lines(record);
        if self.has(record) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {}", Painted(DIM, "allowed once by a person since"));
        }
        text
    }

    /// Makes the object of a record.
    pub(super) fn object(&self, record: &Record) -> Value {
        let mut object = record::object(record);
        if let Some(fields) = object.as_object_mut().filter(|_| self.has(record)) {
            fields.insert("allowedSince".to_owned(), true.into());
        }
        object
    }
}
