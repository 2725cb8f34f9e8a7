//! `portcullis run --call ID`: what a host starts in place of a command that was judged as contained.
//!
//! INVARIANT: nothing of the policy comes from the command line. The id leads to a record that this user alone can write,
//! for this command in this directory, and that is gone once it was looked at.

use std::ffi::OsString;

use portcullis_core::visible;
use portcullis_fence::{
    CallRecordStore, FenceOutcome, FencePolicy, FencedCommand, RunRecord, RunSelection, RunState, WriteMode,
    run_meanwhile,
};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_output::human::counted;
use portcullis_output::terminal::print_error;

use super::ending::{did_not_start, end_with, nothing_was_run, say_what_was_refused};
use super::{FenceHome, run_failure, tidy};
use crate::exit_code::ExitCode;

/// Runs a judged call, or nothing.
pub(super) fn run(id: &str, words: &[OsString]) -> Result<ExitCode, Failure> {
    let refused = |failure: &Failure| nothing_was_run(&failure.message, failure.hint.as_deref());
    let home = match FenceHome::find() {
        Ok(home) => home,
        Err(failure) => return Ok(refused(&failure)),
    };
    let directory = home.locations.cwd.clone();
    let calls = CallRecordStore::at(home.state.join("calls"));
    let policy = match calls.take(id, words, &directory, now_ms()) {
        Ok(policy) => policy,
        Err(error) => return Ok(nothing_was_run(&error.to_string(), None)),
    };
    let environment = std::env::vars_os().collect();
    let command = FencedCommand::new(policy, directory, words.to_vec(), environment);
    match command.policy.mode {
        WriteMode::Direct => Ok(run_directly(&command)),
        WriteMode::Observe(_) => run_observed(&home, command).or_else(|failure| Ok(refused(&failure))),
    }
}

fn run_directly(command: &FencedCommand) -> ExitCode {
    match portcullis_fence::run(command) {
        Ok(outcome) => finish(&command.policy, &outcome),
        Err(error) => did_not_start(&error),
    }
}

fn run_observed(home: &FenceHome, mut command: FencedCommand) -> Result<ExitCode, Failure> {
    let runs = home.runs();
    runs.recover().map_err(|error| run_failure(&error))?;
    let places: Vec<_> =
        std::iter::once(&command.policy.workspace).chain(&command.policy.writable).cloned().collect();
    let words: Vec<String> = command.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let open =
        runs.begin(&words, &command.directory, &places, now_ms()).map_err(|error| run_failure(&error))?;
    command.policy.mode = WriteMode::Observe(open.layers().to_vec());
    let outcome = match run_meanwhile(&command, move || tidy(&runs)) {
        Ok(outcome) => outcome,
        Err(error) => {
            open.abandon().map_err(|error| run_failure(&error))?;
            return Ok(did_not_start(&error));
        }
    };
    let record = match open.end(&outcome) {
        Ok(record) => record,
        Err(error) => {
            say_held(&format!("its changes could not be read: {error}"), "portcullis runs");
            return Ok(finish(&command.policy, &outcome));
        }
    };
    if record.state == RunState::Held {
        land_or_hold(home, &record, &command.policy);
    }
    Ok(finish(&command.policy, &outcome))
}

/// Brings the changes down if nothing speaks against any of them; else all of them wait for a person.
fn land_or_hold(home: &FenceHome, record: &RunRecord, policy: &FencePolicy) {
    let runs = home.runs();
    let show = format!("portcullis runs show {}", record.id);
    let held = match runs.held(record, &policy.protected) {
        Ok(held) => held,
        Err(error) => return say_held(&error.to_string(), &show),
    };
    let protected: Vec<_> = held.iter().filter(|held| held.is_protected).collect();
    if let Some(first) = protected.first() {
        let count = counted(protected.len(), "file");
        let first = first.change.path.display();
        return say_held(
            &format!("{count} that run later or steer tools were changed, first `{first}`"),
            &show,
        );
    }
    if let Err(error) = runs.commit(&record.id, &RunSelection::All, false) {
        say_held(&error.to_string(), &show);
    }
}

fn say_held(reason: &str, command: &str) {
    print_error(&format!(
        "portcullis: nothing it changed has landed, all of it is held for a person: {}. They answer with `{command}`.\n",
        visible(reason)
    ));
}

fn finish(policy: &FencePolicy, outcome: &FenceOutcome) -> ExitCode {
    say_what_was_refused(outcome, policy);
    end_with(outcome.exit.shell_code())
}
