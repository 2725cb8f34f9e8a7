//! Every parse of a case: of its command line, of what other tools bring along, of scripts.
//!
//! INVARIANT: the crate parses nowhere else, and a case keeps what it read, so that deciding again never parses again
//! (`tests::deciding_again_parses_nothing` in the module above).

use portcullis_analysis::command_effects::{Layout, effects, power_shell_layout};
use portcullis_analysis::script::Script;
use portcullis_analysis::tool_call;
use portcullis_analysis::{Surroundings, Survey, survey};

use super::subject::CallSubject;
use crate::call::ToolCall;

#[cfg(test)]
thread_local! {
    /// How many texts this thread has parsed.
    pub(super) static PARSES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn count() {
    #[cfg(test)]
    PARSES.with(|parses| parses.set(parses.get() + 1));
}

/// Surveys a command line.
pub(super) fn survey_command(command: &str, surroundings: Surroundings<'_>) -> Survey {
    count();
    survey(command, surroundings)
}

/// Works out what a call does that is no bash command line.
pub(super) fn read_call(subject: &CallSubject, call: &ToolCall, surroundings: Surroundings<'_>) -> Layout {
    match subject {
        CallSubject::Shell(_) | CallSubject::Malformed(_) => Layout::default(),
        CallSubject::PowerShell(command) => {
            count();
            power_shell_layout(command, surroundings)
        }
        CallSubject::Files | CallSubject::Fetch { .. } | CallSubject::Other => {
            count();
            tool_call::layout(call.tool(), &call.input().texts(), surroundings)
        }
    }
}

/// Works out what a script does; `None` if it is not understood.
pub(super) fn read_script(script: &Script, text: &str, surroundings: Surroundings<'_>) -> Option<Layout> {
    count();
    script.layout(text, surroundings)
}

/// Reads a command line that no shell would take as it was likely meant: with its quotes escaped once too often.
/// `None` if that is no other reading.
pub(super) fn read_as_meant(command: &str, surroundings: Surroundings<'_>) -> Option<Layout> {
    let meant = command.replace("\\\"", "\"");
    let meant = meant.trim_start_matches(['&', ' ']);
    if meant == command {
        return None;
    }
    let survey = survey_command(meant, surroundings);
    let effects = effects(&survey, surroundings);
    Some(Layout { effects, survey })
}
