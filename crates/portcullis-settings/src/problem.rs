//! What is wrong with a settings file, told so that a person can fix it.
//!
//! ```text
//! warning: no closing parenthesis in `Bash(ls`
//!   --> /home/me/.claude/settings.json:4:7
//!    |
//!  4 |       "Bash(ls",
//!    |       ^^^^^^^^^
//! hint: write `Bash(ls)`
//! ```
//!
//! A problem never carries authority: what it is about is skipped or, where skipping would widen, taken strictly.

use std::fmt;
use std::sync::Arc;

use crate::json::TextPosition;
use portcullis_core::{is_hidden, visible};

/// How much a problem takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemSeverity {
    /// Everything is in force; something is worth knowing.
    Note,
    /// One entry is skipped or taken strictly; the rest of the file is in force.
    Warning,
    /// A whole file is not in force.
    Error,
}

impl ProblemSeverity {
    /// Returns the word a report begins with.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One problem, with the place it is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// How much it takes away.
    pub severity: ProblemSeverity,
    /// What is wrong: lower case, no final period.
    pub message: String,
    /// The file, or the option the text was given with.
    pub file: Option<Arc<str>>,
    /// Where in the file, if it is about one place.
    pub place: Option<ProblemPlace>,
    /// How to fix it.
    pub hint: Option<String>,
}

/// A place in a file and the line that stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemPlace {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// How many characters are meant.
    pub length: u32,
    /// The line as it is written; absent where showing it would give away a file that is not settings.
    pub excerpt: Option<String>,
}

/// How many characters of a long line are shown.
const EXCERPT_WIDTH: usize = 100;

impl SettingsProblem {
    /// Makes a problem that is about nothing in particular yet.
    pub fn new(severity: ProblemSeverity, message: impl Into<String>) -> Self {
        Self { severity, message: message.into(), file: None, place: None, hint: None }
    }

    /// Adds the file.
    #[must_use]
    pub fn in_file(mut self, file: &Arc<str>) -> Self {
        self.file = Some(Arc::clone(file));
        self
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn at(mut self, text: &str, position: TextPosition) -> Self {
        let index = usize::try_from(position.line).unwrap_or(usize::MAX).saturating_sub(1);
        let line = text.split('\n').nth(index).unwrap_or_default();
        self.place = Some(ProblemPlace {
            line: position.line,
            column: position.column,
            length: position.length,
            excerpt: Some(window(line.strip_suffix('\r').unwrap_or(line), position)),
        });
        self
    }

    pub(crate) fn without_excerpt(mut self) -> Self {
        if let Some(place) = &mut self.place {
            place.excerpt = None;
        }
        self
    }
}

/// Keeps a line up to a little behind the place: a file may be one line of megabytes.
fn window(line: &str, position: TextPosition) -> String {
    let column = usize::try_from(position.column).unwrap_or(usize::MAX);
    line.chars().take(column.saturating_add(EXCERPT_WIDTH)).collect()
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.severity.as_str(), visible(&self.message))?;
        match (&self.file, &self.place) {
            (Some(file), Some(place)) => {
                write!(formatter, "\n  --> {}:{}:{}", visible(file), place.line, place.column)?;
                write_excerpt(formatter, place)?;
            }
            (Some(file), None) => write!(formatter, "\n  --> {}", visible(file))?,
            (None, Some(place)) => write_excerpt(formatter, place)?,
            (None, None) => {}
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {}", visible(hint)),
            None => Ok(()),
        }
    }
}

fn write_excerpt(formatter: &mut fmt::Formatter<'_>, place: &ProblemPlace) -> fmt::Result {
    let Some(excerpt) = &place.excerpt else { return Ok(()) };
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let line = ExcerptLine::new(excerpt, place);
    write!(formatter, "\n {gutter} |\n {}", format!("{number} | {}", line.shown).trim_end())?;
    write!(formatter, "\n {gutter} | {}{}", " ".repeat(line.before), "^".repeat(line.marked.max(1)))
}

/// A line made visible, and where in it the carets go.
struct ExcerptLine {
    shown: String,
    before: usize,
    marked: usize,
}

impl ExcerptLine {
    fn new(excerpt: &str, place: &ProblemPlace) -> Self {
        let first = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
        let last = first.saturating_add(usize::try_from(place.length).unwrap_or(1));
        // A place far to the right moves the window: what is left of it is cut and marked with `…`.
        let from = if first > EXCERPT_WIDTH - 20 { first - 20 } else { 0 };
        let mut line = Self { shown: String::new(), before: 0, marked: 0 };
        if from > 0 {
            line.shown.push('…');
            line.before = 1;
        }
        for (index, character) in excerpt.chars().enumerate().skip(from) {
            if index >= from + EXCERPT_WIDTH {
                line.shown.push('…');
                break;
            }
            let width = line.push(character);
            if index < first {
                line.before += width;
            } else if index < last {
                line.marked += width;
            }
        }
        line
    }

    /// Adds a character and returns how wide it is shown.
    fn push(&mut self, character: char) -> usize {
        if character == '\t' {
            self.shown.push(' ');
            return 1;
        }
        if !is_hidden(character) {
            self.shown.push(character);
            return 1;
        }
        let mut buffer = [0; 4];
        let escaped = visible(character.encode_utf8(&mut buffer)).into_owned();
        self.shown.push_str(&escaped);
        escaped.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(text: &str, line: u32, column: u32, length: u32) -> String {
        SettingsProblem::new(ProblemSeverity::Warning, "something is off")
            .in_file(&Arc::from("/home/me/settings.json"))
            .at(text, TextPosition { line, column, length })
            .with_hint("do better")
            .to_string()
    }

    #[test]
    fn a_problem_shows_file_line_caret_and_hint() {
        assert_eq!(
            shown("{\r\n\t\"é\": 1\r\n}", 2, 2, 3),
            "warning: something is off\n  --> /home/me/settings.json:2:2\n   |\n 2 |  \"é\": 1\n   |  ^^^\nhint: do better"
        );
    }

    #[test]
    fn carets_follow_characters_that_are_spelled_out() {
        assert_eq!(
            shown("[\"\u{202e}a\", 12]", 1, 8, 2),
            "warning: something is off\n  --> /home/me/settings.json:1:8\n   |\n 1 | [\"\\u{202e}a\", 12]\n   |               ^^\nhint: do better"
        );
    }

    #[test]
    fn long_lines_are_cut_on_both_sides_of_the_place() {
        let text = format!("{}HERE{}", "a".repeat(500), "b".repeat(5_000));
        let report = shown(&text, 1, 501, 4);
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines[3], format!(" 1 | …{}HERE{}…", "a".repeat(20), "b".repeat(76)));
        assert_eq!(lines[4], format!("   | {}^^^^", " ".repeat(21)));
    }

    #[test]
    fn nothing_a_file_contains_reaches_the_terminal_raw() {
        let report = SettingsProblem::new(ProblemSeverity::Error, "bad `\u{1b}[31m`")
            .in_file(&Arc::from("/tmp/\u{1b}]0;x\u{7}/settings.json"))
            .at("\u{1b}[2J\u{9b}x", TextPosition { line: 1, column: 1, length: 99 })
            .with_hint("not \u{202e}that")
            .to_string();
        assert!(report.chars().all(|character| character == '\n' || !is_hidden(character)), "{report}");
    }
}
