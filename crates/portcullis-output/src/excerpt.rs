//! A command with its deciding words underlined.
//!
//! ```text
//! 3 │ git push --force origin main
//!   │ ^^^^^^^^
//! ```
//!
//! Only lines with something to underline are shown, or the first if there is none. What would not be seen as itself
//! is spelled out, and a long line is cut round its first mark.

use std::fmt::Write as _;
use std::ops::Range;

use portcullis_core::{is_hidden, visible};

use crate::terminal::{DIM, Painted};
use anstyle::Style;

/// The most columns of a command that are shown.
const WIDTH: usize = 96;
/// How many columns of context stay left of the first mark when a line is cut.
const LEAD: usize = 20;
/// The most lines that are shown.
const LINES: usize = 6;

/// Writes the relevant lines of `command` with `marks`, byte ranges of it, underlined in `style`.
pub(super) fn write_excerpt(out: &mut String, command: &str, marks: &[Range<usize>], style: Style) {
    let marks = &join_neighbours(command, marks);
    let lines = relevant_lines(command, marks);
    let numbered = command.trim_end().contains('\n');
    let gutter =
        if numbered { lines.iter().map(|line| digits(line.number)).max().unwrap_or(1) + 1 } else { 0 };
    for line in lines.iter().take(LINES) {
        let row = Row::new(line, marks);
        let number =
            if numbered { format!("{:>width$} ", line.number, width = gutter - 1) } else { String::new() };
        let _ = writeln!(out, "  {} {}", Painted(DIM, format_args!("{number}│")), row.text);
        if !row.carets.is_empty() {
            let blank = " ".repeat(gutter);
            let _ =
                writeln!(out, "  {} {}", Painted(DIM, format_args!("{blank}│")), Painted(style, row.carets));
        }
    }
    let hidden = lines.len().saturating_sub(LINES);
    if hidden > 0 {
        let _ = writeln!(out, "  {}", Painted(DIM, format_args!("… {hidden} more marked lines")));
    }
}

/// Makes one mark of those that only blanks lie between, in order.
pub fn join_neighbours(command: &str, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted = marks.to_vec();
    sorted.sort_by_key(|mark| (mark.start, mark.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for mark in sorted {
        match joined.last_mut() {
            Some(last) if is_blank(command, last.end..mark.start) => last.end = last.end.max(mark.end),
            _ => joined.push(mark),
        }
    }
    joined
}

fn is_blank(command: &str, gap: Range<usize>) -> bool {
    gap.start >= gap.end
        || command.get(gap).is_some_and(|text| text.chars().all(|blank| matches!(blank, ' ' | '\t')))
}

/// A line of the command.
struct Line<'a> {
    number: usize,
    start: usize,
    text: &'a str,
}

fn relevant_lines<'a>(command: &'a str, marks: &[Range<usize>]) -> Vec<Line<'a>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for (index, text) in command.split('\n').enumerate() {
        let line = Line { number: index + 1, start, text };
        start += text.len() + 1;
        if marks.iter().any(|mark| mark.start < start && mark.end > line.start) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        let text = command.split('\n').find(|line| !line.trim().is_empty()).unwrap_or_default();
        let start = command.find(text).unwrap_or(0);
        let number = command.get(..start).unwrap_or_default().matches('\n').count() + 1;
        lines.push(Line { number, start, text });
    }
    lines
}

/// A line as it is shown, and the carets below it.
#[derive(Default)]
struct Row {
    text: String,
    carets: String,
}

/// One character as it is shown.
struct Glyph {
    shown: String,
    columns: usize,
    marked: bool,
}

impl Row {
    fn new(line: &Line<'_>, marks: &[Range<usize>]) -> Self {
        let glyphs: Vec<Glyph> = line
            .text
            .char_indices()
            .map(|(at, character)| glyph(line.start + at, character, marks))
            .collect();
        let window = window(&glyphs);
        let mut row = Self::default();
        if window.start > 0 {
            row.push("…", 1, false);
        }
        for glyph in glyphs.get(window.clone()).unwrap_or_default() {
            row.push(&glyph.shown, glyph.columns, glyph.marked);
        }
        if window.end < glyphs.len() {
            row.push("…", 1, false);
        }
        row.carets.truncate(row.carets.trim_end().len());
        row
    }

    fn push(&mut self, shown: &str, columns: usize, marked: bool) {
        self.text.push_str(shown);
        let caret = if marked { '^' } else { ' ' };
        self.carets.extend(std::iter::repeat_n(caret, columns));
    }
}

fn glyph(at: usize, character: char, marks: &[Range<usize>]) -> Glyph {
    let marked = marks.iter().any(|mark| mark.contains(&at));
    if character == '\t' {
        return Glyph { shown: " ".to_owned(), columns: 1, marked };
    }
    let mut buffer = [0; 4];
    let text = character.encode_utf8(&mut buffer);
    let shown = visible(text).into_owned();
    let columns = if is_hidden(character) { shown.len() } else { columns(character) };
    Glyph { shown, columns, marked }
}

/// Returns which glyphs fit, with the first mark among them.
fn window(glyphs: &[Glyph]) -> Range<usize> {
    let total: usize = glyphs.iter().map(|glyph| glyph.columns).sum();
    if total <= WIDTH {
        return 0..glyphs.len();
    }
    let first = glyphs.iter().position(|glyph| glyph.marked).unwrap_or(0);
    let before: usize = glyphs.iter().take(first).map(|glyph| glyph.columns).sum();
    let start = if before < WIDTH / 2 { 0 } else { first.saturating_sub(LEAD) };
    let mut columns = 0;
    let shown = glyphs.iter().skip(start).take_while(|glyph| {
        columns += glyph.columns;
        columns <= WIDTH
    });
    start..start + shown.count()
}

/// Returns how many columns a terminal gives a character.
fn columns(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' => 0,
        '\u{1100}'..='\u{115e}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

fn digits(number: usize) -> usize {
    number.to_string().len()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Shows `text` with everything between `⟦` and `⟧` marked.
    fn shown(text: &str) -> String {
        let mut command = String::new();
        let mut marks = Vec::new();
        let mut start = 0;
        for character in text.chars() {
            match character {
                '⟦' => start = command.len(),
                '⟧' => marks.push(start..command.len()),
                _ => command.push(character),
            }
        }
        let mut out = String::new();
        write_excerpt(&mut out, &command, &marks, Style::new());
        anstream::adapter::strip_str(&out).to_string()
    }

    #[test]
    fn marks_stand_below_what_they_mark() {
        let table = [
            ("ls", "  │ ls\n"),
            ("⟦git push⟧ --force", "  │ git push --force\n  │ ^^^^^^^^\n"),
            ("⟦git⟧ ⟦push⟧ x", "  │ git push x\n  │ ^^^^^^^^\n"),
            ("a ⟦b⟧ c ⟦d⟧", "  │ a b c d\n  │   ^   ^\n"),
            ("echo 日本 ⟦rm⟧", "  │ echo 日本 rm\n  │           ^^\n"),
            ("a\tb ⟦c⟧", "  │ a b c\n  │     ^\n"),
            ("x\u{1b}[2J ⟦rm⟧", "  │ x\\u{1b}[2J rm\n  │            ^^\n"),
            ("⟦\u{202e}⟧", "  │ \\u{202e}\n  │ ^^^^^^^^\n"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn of_several_lines_the_marked_ones_are_shown_with_their_numbers() {
        assert_eq!(shown("a\nb ⟦c⟧\nd"), "  2 │ b c\n    │   ^\n");
        assert_eq!(shown("\n  a\nb"), "  2 │   a\n");
        let many = "⟦x⟧\n".repeat(12);
        assert_eq!(shown(&many).lines().count(), 2 * LINES + 1);
        assert!(shown(&many).ends_with("  … 6 more marked lines\n"));
    }

    #[test]
    fn a_mark_over_two_lines_is_shown_on_both() {
        assert_eq!(shown("a ⟦b\nc⟧ d"), "  1 │ a b\n    │   ^\n  2 │ c d\n    │ ^\n");
    }

    #[test]
    fn long_lines_are_cut_round_the_first_mark() {
        let text = format!("{}⟦rm -rf⟧ {}", "a".repeat(5_000), "b".repeat(5_000));
        let shown = shown(&text);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], format!("  │ …{}rm -rf {}…", "a".repeat(LEAD), "b".repeat(WIDTH - LEAD - 7)));
        assert_eq!(lines[1], format!("  │ {}^^^^^^", " ".repeat(LEAD + 1)));
    }
}
