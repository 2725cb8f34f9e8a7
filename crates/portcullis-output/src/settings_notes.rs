//! What is wrong with settings and which of them are not used, said on standard error; never fatal.

use portcullis_gate::SessionSettings;
use portcullis_settings::ProblemSeverity;

use crate::terminal::{DIM, Painted, print_error};

/// Says what is wrong with the settings and that some are not used.
pub fn warn(session: &SessionSettings) {
    warn_from(session, ProblemSeverity::Warning);
    warn_of_unused(session);
}

/// Says that some settings are not used.
pub fn warn_of_unused(session: &SessionSettings) {
    let ignored = &session.loaded.ignored;
    let Some(first) = ignored.first() else { return };
    let is_only_reason = ignored.iter().all(|entry| entry.reason == first.reason);
    let why = if is_only_reason { format!(", because {}", first.reason.as_str()) } else { String::new() };
    let text = format!("note: settings not used: {}{why}; see `portcullis settings show`", ignored.len());
    print_error(&format!("{}\n\n", Painted(DIM, text)));
}

/// Says what is wrong with the settings and at least that grave.
pub fn warn_from(session: &SessionSettings, least: ProblemSeverity) {
    for problem in session.loaded.problems.iter().filter(|problem| problem.severity >= least) {
        print_error(&format!("{problem}\n\n"));
    }
}
