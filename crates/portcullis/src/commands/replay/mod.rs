//! `portcullis replay`: past sessions through today's policy.
//!
//! ```text
//! places ──► files ──► pool: lines ──► happenings ──► judge ──► a tally for each file ──► their sum, in order
//!                                                                                            │
//!                                                       text, JSON, HTML ◄── sections, cover ◄┘
//! ```
//!
//! Nothing that is read is run, and no model is asked. Memory does not grow with the files: lines, histories, groups
//! and examples are bounded. The report depends on the files and the flags, not on the number of workers.

mod arguments;
mod cover;
mod file;
mod history;
mod html;
mod json;
mod judge;
mod lines;
mod places;
mod pool;
mod preview;
mod section;
mod tally;
mod text;

pub(crate) use arguments::ReplayArgs;
pub(crate) use preview::preview;

use std::fs;

use portcullis_core::visible;

use self::judge::{Place, Policies, usual_place};
use self::places::{Found, find};
use self::tally::Tally;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::settings_notes;
use portcullis_output::terminal::{print, printable};

/// Runs the command.
pub(crate) fn run(arguments: &ReplayArgs) -> Result<ExitCode, Failure> {
    let usual = usual_place(arguments)?;
    try_settings(arguments, &usual)?;
    let found = find(arguments)?;
    if let Some(page) = arguments.html.as_deref() {
        refuse_session(page, &found)?;
    }
    let mut tally = Tally { has_lost_named: found.has_lost_named, ..Tally::default() };
    for problem in &found.problems {
        tally.failed += 1;
        tally.complain(visible(problem).into_owned());
    }
    tally.merge(pool::replay(arguments, &found, &usual)?);
    let has_other = arguments.compare.is_some();
    let limit = usize::from(arguments.limit);
    if let Some(page) = arguments.html.as_deref() {
        let report = html::report(&section::sections(&tally, limit, has_other));
        fs::write(page, report)
            .map_err(|error| Failure::internal(format!("`{page}` could not be written: {error}")))?;
    }
    if arguments.json {
        print(&printable(&json::report(&tally, limit, has_other)))?;
    } else {
        print(&text::report(&section::sections(&tally, limit, has_other)))?;
    }
    Ok(if tally.has_lost_named { ExitCode::Usage } else { ExitCode::Success })
}

/// Loads the settings once, so that wrong flags are told before any work is done.
fn try_settings(arguments: &ReplayArgs, usual: &str) -> Result<(), Failure> {
    let place = Place { cwd: usual.to_owned(), project: usual.to_owned() };
    let today = Policies::new(arguments.session.clone(), arguments.neutral).open(&place)?;
    settings_notes::warn(&today.session);
    if let Some(other) = arguments.compared() {
        let opened = Policies::new(other, arguments.neutral).open(&place);
        opened.map_err(|failure| Failure {
            message: failure.message.replacen("--settings", "--compare", 1),
            ..failure
        })?;
    }
    Ok(())
}

/// A page must not take the place of a session, whatever name that goes by.
fn refuse_session(page: &str, found: &Found) -> Result<(), Failure> {
    if fs::metadata(page).is_ok_and(|metadata| found.holds(&metadata)) {
        let message = format!("--html `{page}` is one of the files that are read");
        return Err(Failure::usage(message).with_hint("name another file for the page"));
    }
    Ok(())
}
