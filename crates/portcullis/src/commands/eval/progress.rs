//! One line on the terminal that says how far a run is.

use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

use portcullis_output::terminal::print_error;

/// The shortest time between two changes of the line.
const PAUSE: Duration = Duration::from_millis(100);
/// How many characters the bar has.
const BAR: usize = 24;
/// Wide enough to blank out the line.
const WIDTH: usize = 60;

/// The line, which is shown only to somebody who watches.
pub(crate) struct Progress {
    is_shown: bool,
    /// How many bytes there are to read, where that is known.
    size: Option<u64>,
    started: Instant,
    last: Instant,
    has_drawn: bool,
}

impl Progress {
    /// Makes the line; `is_json` says that the output is for a program.
    pub(crate) fn new(size: Option<u64>, is_json: bool) -> Self {
        let is_shown = stderr().is_terminal() && (!is_json || stdout().is_terminal());
        let now = Instant::now();
        Self { is_shown, size: size.filter(|size| *size > 0), started: now, last: now, has_drawn: false }
    }

    /// Shows how many bytes and lines were read, unless that was shown a moment ago.
    pub(super) fn show(&mut self, bytes: u64, lines: usize) {
        if self.last.elapsed() >= PAUSE {
            self.write(&draw(self.size, bytes, &format!("{lines} lines")));
        }
    }

    /// Shows how many bytes were read, how many calls were judged and how many a second, unless that was shown a moment
    /// ago.
    pub(crate) fn show_calls(&mut self, bytes: u64, calls: u64) {
        if self.last.elapsed() >= PAUSE {
            let millis = self.started.elapsed().as_millis().max(1);
            let rate = u128::from(calls) * 1_000 / millis;
            self.write(&draw(self.size, bytes, &format!("{calls} calls, {rate}/s")));
        }
    }

    /// Shows how many actions of a sample the model has judged.
    pub(crate) fn show_judged(&mut self, judged: usize, sample: usize) {
        self.write(&format!("asking the model: {judged} of {sample} actions"));
    }

    fn write(&mut self, text: &str) {
        if !self.is_shown {
            return;
        }
        self.last = Instant::now();
        self.has_drawn = true;
        print_error(&format!("\r{text:<WIDTH$}"));
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.has_drawn {
            print_error(&format!("\r{:<WIDTH$}\r", ""));
        }
    }
}

fn draw(size: Option<u64>, bytes: u64, done: &str) -> String {
    let Some(size) = size else { return done.to_owned() };
    let percent = (u128::from(bytes) * 100 / u128::from(size)).min(100);
    let percent = usize::try_from(percent).unwrap_or(100);
    let filled = percent * BAR / 100;
    format!("[{}{}] {percent:>3}%  {done}", "#".repeat(filled), ".".repeat(BAR - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up_and_never_past_its_end() {
        assert_eq!(draw(None, 5, "7 lines"), "7 lines");
        assert_eq!(draw(Some(200), 50, "7 lines"), "[######..................]  25%  7 lines");
        assert_eq!(draw(Some(u64::MAX), u64::MAX, "1 lines"), "[########################] 100%  1 lines");
        assert_eq!(draw(Some(1), 9, "1 lines"), "[########################] 100%  1 lines");
    }
}
