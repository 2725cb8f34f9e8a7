//! Bar charts for terminals: a name, a bar, a figure.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use portcullis_core::visible;

use super::shorten::shorten;
use crate::terminal::{DIM, Painted};

/// The narrowest bars that are drawn.
const NARROWEST: usize = 8;

/// The widest names that are written in full.
const WIDEST_NAME: usize = 28;

/// How bars are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chart {
    /// How many columns a line may take.
    columns: usize,
    /// Whether bars are blocks, which are an eighth of a column exact; else they are number signs.
    has_blocks: bool,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// What is counted.
    pub name: String,
    /// How much.
    pub count: u64,
    /// What is written behind the bar.
    pub figure: String,
}

impl Chart {
    /// Returns the chart that fits the terminal, or plain signs and 80 columns where there is none.
    pub fn for_output() -> Self {
        let has_blocks = std::io::stdout().is_terminal();
        let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        Self { columns: if has_blocks { columns.clamp(40, 120) } else { 80 }, has_blocks }
    }

    /// Draws bars below each other; the longest takes the room there is.
    pub fn draw(&self, bars: &[Bar]) -> String {
        let names: Vec<String> =
            bars.iter().map(|bar| visible(&shorten(&bar.name, WIDEST_NAME)).into_owned()).collect();
        let width = |text: &str| text.chars().count();
        let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let figure_width = bars.iter().map(|bar| width(&bar.figure)).max().unwrap_or(0);
        let room = self.columns.saturating_sub(2 + name_width + 2 + 1 + figure_width).max(NARROWEST);
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        let mut out = String::new();
        for (bar, name) in bars.iter().zip(&names) {
            let padding = " ".repeat(name_width - width(name));
            let drawn = self.bar(bar.count, most, room);
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  {name}{padding}  {drawn} {}", Painted(DIM, &bar.figure));
        }
        out
    }

    /// Draws a bar, which is never empty if there is anything.
    fn bar(&self, count: u64, most: u64, room: usize) -> String {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let steps = if self.has_blocks { 8 } else { 1 };
        let whole = u128::try_from(room * steps).unwrap_or(0) * u128::from(count);
        let length = usize::try_from(whole.checked_div(u128::from(most)).unwrap_or(0)).unwrap_or(0);
        let length = if count > 0 { length.max(1) } else { length };
        if !self.has_blocks {
            return "#".repeat(length);
        }
        format!("{}{}", "█".repeat(length / 8), PARTS.get(length % 8).copied().unwrap_or_default())
    }
}

/// Writes a part of a whole in hundredths.
pub fn share(part: u64, whole: u64) -> String {
    let thousandths =
        (u128::from(part) * 1000 + u128::from(whole) / 2).checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn bar(name: &str, count: u64) -> Bar {
        Bar { name: name.to_owned(), count, figure: count.to_string() }
    }

    fn plain(chart: Chart, bars: &[Bar]) -> String {
        anstream::adapter::strip_str(&chart.draw(bars)).to_string()
    }

    #[test]
    fn the_longest_bar_takes_the_room_and_no_line_is_wider() {
        let bars = [bar("allow", 1_000), bar("ask", 500), bar("deny", 1), bar("x", 0)];
        for has_blocks in [true, false] {
            let text = plain(Chart { columns: 40, has_blocks }, &bars);
            let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
            assert_eq!(widths.first(), Some(&40));
            assert!(widths.iter().all(|width| *width <= 40), "{text}");
        }
        let text = plain(Chart { columns: 30, has_blocks: false }, &bars);
        assert_eq!(
            text,
            "  allow  ################ 1000\n  ask    ######## 500\n  deny   # 1\n  x       0\n"
        );
        let text = plain(Chart { columns: 23, has_blocks: true }, &[bar("a", 16), bar("b", 3)]);
        assert_eq!(text, "  a  ███████████████ 16\n  b  ██▊ 3\n");
    }

    #[test]
    fn hostile_names_are_shown_and_huge_counts_are_no_panic() {
        let bars = [bar("\u{1b}[2J", u64::MAX), bar(&"n".repeat(500), 1)];
        let text = plain(Chart { columns: 0, has_blocks: true }, &bars);
        assert!(text.contains("\\u{1b}[2J"), "{text}");
        assert_eq!(Chart { columns: 80, has_blocks: true }.draw(&[]), "");
    }

    #[test]
    fn shares_are_rounded_and_nothing_is_no_share() {
        assert_eq!(
            [share(1, 3), share(2, 3), share(0, 0), share(5, 5)],
            ["33.3 %", "66.7 %", "0.0 %", "100.0 %"]
        );
    }
}
