//! The words of a command that decided, found again.
//!
//! The queue does not keep where they stand. So the call is judged once more by the settings and files of now, and only if
//! the same step comes to the same reason are its words the ones that count.

use std::ops::Range;

use portcullis_core::{Mode, Person, ToolCall, Verdict};
use portcullis_hosts::json::parse_input;
use portcullis_store::audit::Entry;
use portcullis_world::World;

use portcullis_gate::judge::prepare;
use portcullis_gate::{SessionSettings, SettingsFlags};

/// Returns where the deciding words stand in the command, as byte ranges; none if that cannot be said.
pub(super) fn deciding_words(entry: &Entry) -> Vec<Range<usize>> {
    let Some(verdict) = judge_again(entry) else { return Vec::new() };
    let is_same = verdict.step.as_str() == entry.step
        && verdict.reason.kind() == entry.kind
        && verdict.reason.message() == entry.reason;
    if is_same { verdict.highlights.iter().map(|span| span.range()).collect() } else { Vec::new() }
}

fn judge_again(entry: &Entry) -> Option<Verdict> {
    let call = ToolCall::new(&entry.tool, parse_input(entry.input.as_bytes()).ok()?);
    let arguments = SettingsFlags::default();
    let session = SessionSettings::open_for_session(&arguments, &entry.cwd, None, &entry.session).ok()?;
    let person = if entry.headless { Person::Absent } else { Person::Present };
    let context = session.context(Mode::find(&entry.mode), person, &[]);
    let case = prepare(session.policy(), call, context, &mut World::default());
    Some(case.decide(session.policy()).ok()?.into_verdict())
}
