//! What is counted elsewhere in the daemon, looked up when somebody wants to know.

use std::fmt;

use super::family::{Family, Sample, Value};

/// What was seen at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// How many questions are open.
    pub(super) open_approvals: usize,
    /// How many callers wait for an answer.
    pub(super) waiting: usize,
    /// How often the settings of a call were at hand.
    pub(super) settings_kept: u64,
    /// How often they were loaded.
    pub(super) settings_loaded: u64,
}

/// Looks.
pub(super) struct Watch(pub(super) Box<dyn Fn() -> Option<Seen> + Send + Sync>);

impl fmt::Debug for Watch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Watch")
    }
}

impl Watch {
    /// Returns what is seen now; `None` if there is nothing left to look at.
    pub(super) fn look(&self) -> Option<Seen> {
        (self.0)()
    }
}

impl Seen {
    /// Returns it as families.
    pub(super) fn families(&self) -> Vec<Family> {
        let number = |count: usize| Value::Count(u64::try_from(count).unwrap_or(u64::MAX));
        let lookup = |result: &str, count| Sample::count(vec![("result", result.to_owned())], count);
        vec![
            Family::gauge(
                "portcullis_approvals_open",
                "Questions that wait for a person.",
                number(self.open_approvals),
            ),
            Family::gauge(
                "portcullis_approvals_waiting",
                "Callers that wait for the answer of a person.",
                number(self.waiting),
            ),
            Family::counter(
                "portcullis_settings_lookups_total",
                "Settings that a decision went by: those at hand, or loaded anew.",
                vec![lookup("hit", self.settings_kept), lookup("miss", self.settings_loaded)],
            ),
        ]
    }
}
