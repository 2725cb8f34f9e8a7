//! What records must have, as a condition of a statement.

use portcullis_store::audit::index::Filter;
use tokio_postgres::types::ToSql;

use crate::pool::SqlValue;
use crate::{clean, signed};

/// A condition and its values.
#[derive(Default)]
pub(super) struct SqlCondition {
    clauses: Vec<String>,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl SqlCondition {
    /// Makes the condition of a filter.
    pub(super) fn of(filter: &Filter) -> Self {
        let mut condition = Self::default();
        let texts = [
            ("decision = ?", &filter.decision),
            ("said = ?", &filter.said),
            ("host = ?", &filter.host),
            ("tool = ?", &filter.tool),
            ("session <> ?", &filter.other_than),
            ("mode = ?", &filter.mode),
            ("step = ?", &filter.step),
            ("kind = ?", &filter.kind),
            ("rule = ?", &filter.rule),
            ("code = ?", &filter.code),
            // No character comes after the last one.
            ("session >= ?::text AND session < ?::text || chr(1114111)", &filter.session),
            (
                "(at_ms, number) < (SELECT at_ms, number FROM audit WHERE id = ?::text LIMIT 1)",
                &filter.before,
            ),
        ];
        for (clause, text) in texts {
            if let Some(text) = text {
                condition.add(clause, clean(text).into_owned());
            }
        }
        if let Some(since) = filter.since_ms {
            condition.add("at_ms >= ?::bigint", signed(since));
        }
        if let Some(until) = filter.until_ms {
            condition.add("at_ms < ?::bigint", signed(until));
        }
        if let Some(text) = &filter.text {
            let clause = "(summary ILIKE ?::text OR reason ILIKE ?::text OR cwd ILIKE ?::text)";
            condition.add(clause, format!("%{}%", escaped(&clean(text))));
        }
        condition
    }

    /// Returns what stands after `WHERE`.
    pub(super) fn text(&self) -> String {
        if self.clauses.is_empty() { "true".to_owned() } else { self.clauses.join(" AND ") }
    }

    /// Returns the values, in the order of their numbers.
    pub(super) fn values(&self) -> Vec<SqlValue<'_>> {
        self.values.iter().map(|value| value.as_ref() as SqlValue<'_>).collect()
    }

    fn add(&mut self, clause: &str, value: impl ToSql + Sync + Send + 'static) {
        self.values.push(Box::new(value));
        self.clauses.push(clause.replace('?', &format!("${}", self.values.len())));
    }
}

/// Takes the meaning from the characters that have one in a pattern.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
