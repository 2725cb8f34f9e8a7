//! What a mode would have said to the user's own sessions of late, in a few lines.

use std::fmt::Write as _;

use portcullis_core::{Mode, visible};

use super::arguments::ReplayArgs;
use super::tally::{Answer, Example, Tally};
use super::{judge, places, pool};
use portcullis_gate::clock::now_ms;
use portcullis_output::human::counted;

/// How far back is looked, in milliseconds: thirty days.
const RECENT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// The most bytes of sessions that are gone through unasked.
const MOST_BYTES: u64 = 300 << 20;
/// The most dangerous calls that are shown.
const MOST_SHOWN: usize = 3;

/// Goes through the user's sessions of the last thirty days; `None` if there are none, too many, or nothing to tell.
pub(crate) fn preview(mode: Mode) -> Option<String> {
    let arguments = ReplayArgs::of_preview(mode, now_ms().saturating_sub(RECENT_MS));
    let found = places::find(&arguments).ok().filter(|found| found.bytes <= MOST_BYTES)?;
    let usual = judge::usual_place(&arguments).ok()?;
    let tally = pool::replay(&arguments, &found, &usual).ok()?;
    (tally.total.all() > 0).then(|| report(&tally, mode))
}

fn report(tally: &Tally, mode: Mode) -> String {
    let of = |answer| tally.total.of(answer);
    let (calls, asked, denied) = (tally.total.all(), of(Answer::Ask) + of(Answer::Model), of(Answer::Deny));
    let mut out = format!(
        "\nYour last 30 days: {}. In {} mode {} would have run without a question; {asked} would have asked you, and \
         {denied} would have been stopped.\n",
        counted(calls, "call"),
        mode.as_str(),
        of(Answer::Allow),
    );
    let dangerous = tally.denied.by_danger();
    let examples: Vec<&Example> =
        dangerous.iter().flat_map(|(_, group)| &group.examples).take(MOST_SHOWN).collect();
    for example in &examples {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  stopped: {} ({})", visible(&example.title), visible(&example.reason));
    }
    let others = denied.saturating_sub(examples.len());
    if others > 0 && !examples.is_empty() {
        let _ = writeln!(out, "  and {others} more were stopped");
    }
    let _ = writeln!(out, "More: `portcullis replay --mode {}`", mode.as_str());
    out
}
