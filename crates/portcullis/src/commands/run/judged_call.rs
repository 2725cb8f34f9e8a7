//! `portcullis run --call ID`: what a host starts in place of a command that was judged as contained.
//!
//! INVARIANT: nothing of the policy comes from the command line. The id leads to a record that this user alone can write,
//! for this command in this directory, and that is gone once it was looked at.

use std::ffi::OsString;
use std::path::Path;

use portcullis_core::visible;
use portcullis_fence::{
    CallRecordStore, FenceOutcome, FencePolicy, FencedCommand, HoldNote, RunError, RunRecord, RunSelection,
    RunState, WriteMode, run_meanwhile,
};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::containment::{ContainedState, ContainmentLedger, run_failure};
use portcullis_output::terminal::print_error;

use super::ending::{
    FenceAdvice, did_not_start, end_with, nothing_was_run, say_what_was_refused, was_refused,
};
use super::landing::objection;
use super::{FenceHome, tidy};
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
    let call = CallProof::begin(&home.state, id, words);
    let environment = std::env::vars_os().collect();
    let command = FencedCommand::new(policy, directory, words.to_vec(), environment);
    match command.policy.mode {
        WriteMode::Direct => Ok(run_directly(&command, &call)),
        WriteMode::Observe(_) => run_observed(&home, command, &call).or_else(|failure| {
            call.note(ContainedState::Failed);
            Ok(refused(&failure))
        }),
    }
}

fn run_directly(command: &FencedCommand, call: &CallProof<'_>) -> ExitCode {
    match portcullis_fence::run(command) {
        Ok(outcome) => finish(command, &outcome, call, Landing::Whole),
        Err(error) => {
            call.note(ContainedState::Failed);
            did_not_start(&error)
        }
    }
}

fn run_observed(
    home: &FenceHome,
    mut command: FencedCommand,
    call: &CallProof<'_>,
) -> Result<ExitCode, Failure> {
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
            call.note(ContainedState::Failed);
            open.abandon().map_err(|error| run_failure(&error))?;
            return Ok(did_not_start(&error));
        }
    };
    let record = match open.end(&outcome) {
        Ok(record) => record,
        Err(error) => {
            say_held(&format!("its changes could not be read: {error}"), "portcullis runs");
            return Ok(finish(&command, &outcome, call, Landing::Held));
        }
    };
    let landing = match record.state {
        RunState::Held => land_or_hold(home, &record, &command.policy, call),
        _ => Landing::Whole,
    };
    Ok(finish(&command, &outcome, call, landing))
}

/// What became of the changes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Landing {
    /// They landed, or there were none.
    Whole,
    /// They wait for a person.
    Held,
}

/// The proof that a call ran inside, for whoever told the host to run it so.
struct CallProof<'a> {
    ledger: ContainmentLedger,
    id: &'a str,
    words: &'a [OsString],
}

impl<'a> CallProof<'a> {
    /// Notes that the call is about to run inside.
    fn begin(state: &Path, id: &'a str, words: &'a [OsString]) -> Self {
        let call = Self { ledger: ContainmentLedger::below(state), id, words };
        call.note(ContainedState::Ran);
        call
    }

    /// Notes what came of it. Where that cannot be written, the host's after-event finds no proof, which is the safe side.
    fn note(&self, state: ContainedState) {
        let _ = self.ledger.note(self.id, self.words, state);
    }

    /// Notes that what it changed waits for a person.
    fn note_held(&self, run: &str) {
        let _ = self.ledger.note_held(self.id, self.words, run);
    }

    /// Returns the session of the call; empty if nobody knows.
    fn session(&self) -> String {
        self.ledger.find(self.id, self.words).map(|call| call.session).unwrap_or_default()
    }

    /// Makes the note of why its changes wait.
    fn hold_note(&self, reason: String) -> HoldNote {
        let call = self.ledger.find(self.id, self.words);
        let (host, session) = call.map(|call| (call.host, call.session)).unwrap_or_default();
        HoldNote { reason, host, session }
    }

    /// Returns how an agent comes to a run outside the fence.
    fn way_out(&self) -> &'static str {
        match self.ledger.find(self.id, self.words) {
            Some(call) if call.asks_next => {
                "If it must run outside the fence, run the very same command again: a person is asked about it then."
            }
            _ => "If it must run outside the fence, stop and tell the user.",
        }
    }
}

/// Brings the changes down if nothing speaks against any of them; else all of them wait for a person.
fn land_or_hold(home: &FenceHome, record: &RunRecord, policy: &FencePolicy, call: &CallProof<'_>) -> Landing {
    let runs = home.runs();
    let show = format!("portcullis runs show {}", record.id);
    let objection = match runs.held(record, &policy.protected) {
        Ok(held) => objection(record, &call.session(), &held),
        Err(error) => Some(error.to_string()),
    };
    let objection = match objection {
        Some(objection) => {
            say_held(&objection, &show);
            objection
        }
        None => match runs.commit(&record.id, &RunSelection::All, false) {
            Ok(_) => return Landing::Whole,
            Err(error) => {
                say_stopped(&error, &show);
                error.to_string()
            }
        },
    };
    call.note_held(&record.id);
    // Without the note the changes wait all the same, and nobody is told why.
    let _ = runs.note_hold(&record.id, call.hold_note(objection));
    Landing::Held
}

fn say_held(reason: &str, command: &str) {
    print_error(&format!(
        "portcullis: nothing it changed has landed, all of it is held for a person: {}. They answer with `{command}`.\n",
        visible(reason)
    ));
}

/// Says why changes that nothing spoke against did not land.
fn say_stopped(error: &RunError, command: &str) {
    let reason = error.to_string();
    if matches!(error, RunError::Stopped { .. }) {
        print_error(&format!("portcullis: {}. A person answers with `{command}`.\n", visible(&reason)));
    } else {
        say_held(&reason, command);
    }
}

fn finish(
    command: &FencedCommand,
    outcome: &FenceOutcome,
    call: &CallProof<'_>,
    landing: Landing,
) -> ExitCode {
    if was_refused(outcome) || landing == Landing::Held {
        call.note(ContainedState::Refused);
    }
    let stopped = "If that stopped it, tell the user, who can run it outside.";
    say_what_was_refused(outcome, command, &FenceAdvice { refused: call.way_out(), stopped });
    end_with(outcome.exit.shell_code())
}
