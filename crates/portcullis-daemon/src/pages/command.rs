//! A call with its deciding words underlined, as lines of a page.

use std::ops::Range;

use portcullis_web::VisibleText;
use portcullis_web::views::{CommandLine, CommandPart};

use portcullis_output::excerpt::join_neighbours;

/// How many lines are shown, and how long each may be, in bytes.
const MOST_LINES: usize = 400;
const LONGEST_LINE: usize = 8 * 1024;

/// Makes the lines of a text with marks, byte ranges of it.
pub(super) fn lines(text: &str, marks: &[Range<usize>]) -> Vec<CommandLine> {
    let marks = join_neighbours(text, marks);
    let mut start = 0;
    let mut lines = Vec::new();
    for (index, line) in text.trim_end_matches('\n').split('\n').enumerate() {
        if lines.len() >= MOST_LINES {
            let cut = CommandPart { text: VisibleText::from("…"), is_marked: false };
            lines.push(CommandLine { number: index + 1, parts: vec![cut] });
            break;
        }
        lines.push(CommandLine { number: index + 1, parts: parts(line, start, &marks) });
        start += line.len() + 1;
    }
    lines
}

/// Cuts a line where marks begin and end. A mark that does not fall between characters is none.
fn parts(line: &str, start: usize, marks: &[Range<usize>]) -> Vec<CommandPart> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut add = |range: Range<usize>, is_marked: bool| {
        if let Some(text) = line.get(range).filter(|text| !text.is_empty()) {
            let text = VisibleText::cut(text, LONGEST_LINE);
            parts.push(CommandPart { text, is_marked });
        }
    };
    for mark in marks {
        let from = mark.start.saturating_sub(start).min(line.len()).max(at);
        let to = mark.end.saturating_sub(start).min(line.len());
        if from >= to || line.get(from..to).is_none() {
            continue;
        }
        add(at..from, false);
        add(from..to, true);
        at = to;
    }
    add(at..line.len(), false);
    parts
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Shows lines with marked parts between brackets.
    fn shown(text: &str, marks: &[(usize, usize)]) -> String {
        let marks: Vec<Range<usize>> = marks.iter().map(|(start, end)| *start..*end).collect();
        let part = |part: &CommandPart| {
            if part.is_marked { format!("[{}]", part.text) } else { part.text.to_string() }
        };
        let line = |line: &CommandLine| line.parts.iter().map(part).collect::<String>();
        lines(text, &marks).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn marks_stand_where_they_were() {
        assert_eq!(shown("git push --force", &[(0, 3), (4, 8)]), "[git push] --force");
        assert_eq!(shown("a\nb c\nd", &[(4, 5)]), "a\nb [c]\nd");
        assert_eq!(shown("ab\ncd", &[(1, 4)]), "a[b]\n[c]d");
        assert_eq!(shown("ls", &[]), "ls");
    }

    #[test]
    fn marks_that_cannot_be_are_left_out() {
        assert_eq!(shown("日本", &[(1, 2)]), "日本");
        assert_eq!(shown("ab", &[(5, 9), (1, 200)]), "a[b]");
        assert_eq!(shown("a\u{202e}b", &[(0, 1)]), "[a]\\u{202e}b");
    }
}
