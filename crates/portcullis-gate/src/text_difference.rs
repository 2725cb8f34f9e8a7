//! The difference of two texts, in the unified form that people know from their tools.
//!
//! INVARIANT: every text in a line has gone through `visible`.

use std::ops::Range;

use portcullis_core::visible;

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;

/// The most cells of the table that finds the longest common part; beyond, everything in between counts as replaced.
const MOST_CELLS: usize = 4_000_000;

/// How much of a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferenceLimit {
    /// So many lines.
    pub lines: usize,
    /// So many characters of each.
    pub columns: usize,
}

impl DifferenceLimit {
    /// All of it.
    pub const NONE: Self = Self { lines: usize::MAX, columns: usize::MAX };
}

/// One line of a difference, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferenceLine {
    /// What it says.
    pub kind: DifferenceKind,
    /// The line with its sign.
    pub text: String,
}

/// What a line of a difference says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Which file it is about.
    File,
    /// Where in the file the next lines stand.
    Place,
    /// A line that both have.
    Same,
    /// A line that is gone.
    Removed,
    /// A line that is new.
    Added,
    /// Something that no lines show.
    Note,
}

impl DifferenceLine {
    /// Makes a line of text that can be shown as it is.
    pub(crate) fn new(kind: DifferenceKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// One line of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Returns the difference of a file that may be new.
pub fn unified_difference(name: &str, before: Option<&str>, after: &str) -> Vec<DifferenceLine> {
    let name = visible(name);
    let old_name = if before.is_some() { &name } else { "/dev/null" };
    let mut out = vec![
        DifferenceLine::new(DifferenceKind::File, format!("--- {old_name}")),
        DifferenceLine::new(DifferenceKind::File, format!("+++ {name}")),
    ];
    let before = before.unwrap_or_default();
    let lines = compare(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    for hunk in hunks(&lines) {
        write_hunk(&mut out, &lines, hunk);
    }
    if before.lines().eq(after.lines()) && before != after {
        out.push(DifferenceLine::new(DifferenceKind::Note, "(line ends differ)"));
    }
    out
}

fn write_hunk(out: &mut Vec<DifferenceLine>, lines: &[Line<'_>], hunk: Range<usize>) {
    let earlier = lines.get(..hunk.start).unwrap_or_default();
    let shown = lines.get(hunk).unwrap_or_default();
    let old = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Added(_))).count();
    let new = |lines: &[Line<'_>]| lines.iter().filter(|line| !matches!(line, Line::Removed(_))).count();
    let range = |start: usize, length: usize| format!("{},{length}", start + usize::from(length > 0));
    let head = format!("@@ -{} +{} @@", range(old(earlier), old(shown)), range(new(earlier), new(shown)));
    out.push(DifferenceLine::new(DifferenceKind::Place, head));
    out.extend(shown.iter().map(|line| {
        let (kind, sign, text) = match line {
            Line::Same(text) => (DifferenceKind::Same, ' ', text),
            Line::Removed(text) => (DifferenceKind::Removed, '-', text),
            Line::Added(text) => (DifferenceKind::Added, '+', text),
        };
        DifferenceLine::new(kind, format!("{sign}{}", visible(text)))
    }));
}

/// Returns the stretches that have changes, with what stands around them; close ones are one.
fn hunks(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if matches!(line, Line::Same(_)) {
            continue;
        }
        let (start, end) = (index.saturating_sub(CONTEXT), (index + CONTEXT + 1).min(lines.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let rest = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(left, right)| left == right).count();
    let middle = |lines: &[&'a str]| lines.get(head..lines.len() - tail).unwrap_or_default().to_vec();
    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    lines.extend(compare_middle(&middle(old), &middle(new)));
    lines.extend(old.iter().skip(old.len() - tail).map(|line| Line::Same(line)));
    lines
}

/// Compares what lies between the common ends by the longest common part.
fn compare_middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let replaced = || {
        let removed = old.iter().map(|line| Line::Removed(line));
        removed.chain(new.iter().map(|line| Line::Added(line))).collect()
    };
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > MOST_CELLS {
        return replaced();
    }
    let width = new.len() + 1;
    // The cell of a row and a column has the length of the longest common part of what follows both.
    let mut table = vec![0_usize; (old.len() + 1) * width];
    let at = |table: &[usize], row: usize, column: usize| {
        table.get(row * width + column).copied().unwrap_or_default()
    };
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            let longest = if old.get(row) == new.get(column) {
                at(&table, row + 1, column + 1) + 1
            } else {
                at(&table, row + 1, column).max(at(&table, row, column + 1))
            };
            if let Some(cell) = table.get_mut(row * width + column) {
                *cell = longest;
            }
        }
    }
    let (mut lines, mut row, mut column) = (Vec::new(), 0, 0);
    loop {
        match (old.get(row), new.get(column)) {
            (Some(left), Some(right)) if left == right => {
                lines.push(Line::Same(left));
                (row, column) = (row + 1, column + 1);
            }
            (Some(left), right)
                if right.is_none() || at(&table, row + 1, column) >= at(&table, row, column + 1) =>
            {
                lines.push(Line::Removed(left));
                row += 1;
            }
            (_, Some(right)) => {
                lines.push(Line::Added(right));
                column += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn plain(before: Option<&str>, after: &str) -> String {
        let lines = unified_difference("/f", before, after);
        lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }

    #[test]
    fn a_new_file_is_all_added() {
        assert_eq!(plain(None, "a\nb\n"), "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    }

    #[test]
    fn changes_that_lie_apart_are_told_apart() {
        let lines: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let before = format!("{}\n", lines.join("\n"));
        let after = before.replace("\n2\n", "\ntwo\n").replace("\n17\n", "\n");
        let expected = "--- /f\n+++ /f\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -15,6 +15,5 @@\n 14\n 15\n 16\n-17\n 18\n 19\n";
        assert_eq!(plain(Some(&before), &after), expected);
    }

    #[test]
    fn what_was_inserted_between_equal_lines_is_all_that_is_shown() {
        let expected = "--- /f\n+++ /f\n@@ -1,4 +1,5 @@\n {\n   a\n-  b\n+  c\n+  d\n }\n";
        assert_eq!(plain(Some("{\n  a\n  b\n}\n"), "{\n  a\n  c\n  d\n}\n"), expected);
    }

    #[test]
    fn hostile_text_is_shown_visibly() {
        assert!(plain(Some("\u{1b}[2J\n"), "x\n").contains("-\\u{1b}[2J"));
    }
}
