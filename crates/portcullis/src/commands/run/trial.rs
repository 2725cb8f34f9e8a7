//! `portcullis run -- COMMAND`: a person tries a command, sees what it changed, and keeps or drops that.

use std::io::IsTerminal as _;

use portcullis_core::visible;
use portcullis_fence::{
    FenceOutcome, FencedCommand, OpenRun, RunError, RunRecord, RunSelection, RunState, RunStore, WriteMode,
    forget_typed_input, run_meanwhile,
};
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::containment::run_failure;
use portcullis_output::terminal::{confirm, print, print_error};

use super::ending::{FenceAdvice, did_not_start, end_with, nothing_was_run, say_what_was_refused};
use super::{FenceHome, RunArgs, require_keeper, tidy};
use crate::commands::runs::picture::{changes_text, run_json};
use crate::exit_code::ExitCode;

pub(super) fn run(arguments: &RunArgs) -> Result<ExitCode, Failure> {
    if arguments.keep {
        require_keeper()?;
    }
    let (home, command) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(failure) => return Ok(refused(&failure)),
    };
    if arguments.direct {
        // What a killed commit left in the workspace is nothing that a command should find there.
        if let Err(error) = home.runs().recover() {
            return Ok(refused(&run_failure(&error)));
        }
        return Ok(match portcullis_fence::run(&command) {
            Ok(outcome) => {
                say_refused(&command, &outcome);
                end_with(outcome.exit.shell_code())
            }
            Err(error) => did_not_start(&error),
        });
    }
    observe(arguments, &home, command)
}

/// Says that nothing was run because of a failure.
fn refused(failure: &Failure) -> ExitCode {
    nothing_was_run(&failure.message, failure.hint.as_deref())
}

/// Makes the command with its policy, or says why it cannot be run.
fn prepare(arguments: &RunArgs) -> Result<(FenceHome, FencedCommand), Failure> {
    let home = FenceHome::find()?;
    let mut policy = home.usual_policy();
    if home.state.starts_with(&policy.workspace) {
        let place = policy.workspace.display();
        return Err(Failure::usage(format!("`{place}` holds your settings, and is too wide to be written"))
            .with_hint("go to the folder of a project"));
    }
    if arguments.direct {
        // Nothing is looked at before it lands, and what lies in a cache is built into other projects.
        policy.writable.clear();
    }
    policy.environment.clone_from(&arguments.variables);
    policy.session = arguments.session.as_ref().map(|name| home.state.join("sessions").join(name));
    policy.network = home.network(arguments, &policy.workspace);
    let directory = home.locations.cwd.clone();
    let environment = std::env::vars_os().collect();
    let command = FencedCommand::new(policy, directory, arguments.words.clone(), environment);
    Ok((home, command))
}

fn begin(runs: &RunStore, command: &FencedCommand) -> Result<OpenRun, RunError> {
    runs.recover()?;
    let places: Vec<_> =
        std::iter::once(&command.policy.workspace).chain(&command.policy.writable).cloned().collect();
    let words: Vec<String> = command.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    runs.begin(&words, &command.directory, &places, now_ms())
}

fn observe(arguments: &RunArgs, home: &FenceHome, mut command: FencedCommand) -> Result<ExitCode, Failure> {
    let runs = home.runs();
    let open = match begin(&runs, &command) {
        Ok(open) => open,
        Err(error) => return Ok(refused(&run_failure(&error))),
    };
    command.policy.mode = WriteMode::Observe(open.layers().to_vec());
    let outcome = match run_meanwhile(&command, move || tidy(&runs)) {
        Ok(outcome) => outcome,
        Err(error) => {
            // What is left of it is removed by a later run.
            let _ = open.abandon();
            return Ok(did_not_start(&error));
        }
    };
    if arguments.trial {
        open.abandon().map_err(|error| run_failure(&error))?;
        end_with(outcome.exit.shell_code());
    }
    let record = open.end(&outcome).map_err(|error| run_failure(&error))?;
    say_refused(&command, &outcome);
    let record = settle(arguments, home, &command, record)?;
    if arguments.json {
        print(&format!("{}\n", run_json(home, &record)?))?;
    }
    end_with(outcome.exit.shell_code())
}

fn say_refused(command: &FencedCommand, outcome: &FenceOutcome) {
    let refused = "If it needs that, list the host with `--allow-host`, or run it without the fence.";
    let stopped = "If that stopped it, run it without the fence.";
    say_what_was_refused(outcome, command, &FenceAdvice { refused, stopped });
}

/// Shows the changes and does with them what the flags or the person say.
fn settle(
    arguments: &RunArgs,
    home: &FenceHome,
    command: &FencedCommand,
    record: RunRecord,
) -> Result<RunRecord, Failure> {
    if record.state != RunState::Held {
        if !arguments.json {
            print_error("portcullis: it changed nothing\n");
        }
        return Ok(record);
    }
    let runs = home.runs();
    let held = runs.held(&record, &command.policy.protected).map_err(|error| run_failure(&error))?;
    if !arguments.json {
        print_error(&changes_text(&record, &held));
    }
    let discard = || runs.discard(&record.id).map_err(|error| run_failure(&error));
    let keep = || runs.commit(&record.id, &RunSelection::All, false).map_err(|error| run_failure(&error));
    if arguments.drop {
        return discard();
    }
    if arguments.keep || !arguments.json && is_answered_yes()? {
        return keep();
    }
    if !arguments.json {
        let id = &record.id;
        print_error(&format!(
            "held: `portcullis runs diff {id}` shows it, `portcullis runs commit {id}` keeps it, \
             `portcullis runs drop {id}` throws it away\n"
        ));
    }
    Ok(record)
}

/// Asks the person whether the changes are kept. Whoever must not keep them is not asked, and what was typed before the
/// question answers another one: the command may have printed a question of its own.
fn is_answered_yes() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    if let Err(failure) = require_keeper() {
        let hint = failure.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        print_error(&format!("portcullis: {}{}\n", visible(&failure.message), visible(&hint)));
        return Ok(false);
    }
    forget_typed_input()
        .map_err(|error| Failure::internal(format!("the terminal could not be read: {error}")))?;
    confirm("keep these changes?")
}
