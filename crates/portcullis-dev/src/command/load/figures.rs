//! What a run came to, in words.

use super::driver::LoadRun;
use crate::output;

/// Prints the figures.
pub(super) fn print(run: &LoadRun) {
    let total: u64 = run.by_second.iter().sum();
    // The last second is not a whole one.
    let whole = run.by_second.split_last().map_or(&[][..], |(_, whole)| whole);
    let seconds = u64::try_from(whole.len()).unwrap_or_default().max(1);
    let mean = whole.iter().sum::<u64>() / seconds;
    let slowest = whole.iter().min().copied().unwrap_or_default();
    output::say(&format!("{total} decisions, {mean} a second, {slowest} in the slowest second"));
    let mut times = run.latencies.clone();
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 1000).min(times.len().saturating_sub(1)));
    let us = |part| at(part).copied().unwrap_or_default();
    output::say(&format!(
        "an answer took {} µs (half), {} µs (99 %), {} µs (99.9 %)",
        us(500),
        us(990),
        us(999)
    ));
    if let Some(time) = run.processor_time {
        let each = time.as_micros() / u128::from(total.max(1));
        output::say(&format!("the daemon used {each} µs of processor time for each"));
    }
    let mib = |kib: Option<&u64>| kib.copied().unwrap_or_default() / 1024;
    let (first, last) = (run.memory.get(run.memory.len() / 6), run.memory.last());
    output::say(&format!(
        "memory: {} MiB after a sixth of the time, {} MiB at the end, {} MiB at most",
        mib(first),
        mib(last),
        mib(run.memory.iter().max())
    ));
    if run.kills > 0 {
        output::say(&format!("killed {} times; {} requests got no answer", run.kills, run.unanswered));
    }
    if run.answered_questions > 0 {
        output::say(&format!(
            "{} questions were open all the time, and all were answered",
            run.answered_questions
        ));
    }
}
