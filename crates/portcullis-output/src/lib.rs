//! How decisions, records, rules and findings are shown: JSON shapes for programs, text for terminals.
//!
//! INVARIANT: every shape that leaves Portcullis as JSON, from a command or from the daemon, is made here or in
//! `portcullis-gate::record_json`, so that both say the same. Text from outside goes through `visible` first.

pub mod calendar;
pub mod chart;
pub mod difference;
pub mod excerpt;
pub mod exchange;
pub mod explanation;
pub mod finding_page;
pub mod findings;
pub mod grant;
pub mod held_run;
pub mod human;
pub mod json;
pub mod judged;
pub mod record;
pub mod rules;
pub mod settings_notes;
pub mod shell_quote;
pub mod shorten;
pub mod terminal;
pub mod totals;
pub mod trial;
