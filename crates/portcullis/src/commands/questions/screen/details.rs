//! Everything there is to know of a question, as lines that fit a width.
//!
//! INVARIANT: every text from outside has gone through `visible`, line by line, before it becomes part of a line here.

use std::ops::Range;

use portcullis_core::visible;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::palette::{BOLD, DECIDING, DIM, Palette};
use super::state::{AnswerStage, QuestionItem};
use crate::commands::questions::wire::QueuedQuestion;
use crate::commands::questions::{left_text, level_word};
use portcullis_output::calendar;

/// The lines of the details, so wide; `words` are byte ranges of the command that decided.
pub(super) fn lines(
    item: &QuestionItem,
    words: &[Range<usize>],
    width: usize,
    now_ms: u64,
    palette: Palette,
) -> Vec<Line<'static>> {
    let mut page = DetailsPage { lines: Vec::new(), width: width.max(8), palette };
    let queued = &item.queued;
    match &item.stage {
        AnswerStage::Open => {}
        AnswerStage::Sending => page.text(DIM, "the answer is on its way"),
        AnswerStage::Ended(how) => page.text(palette.warning(), how),
    }
    page.call(queued, words);
    page.text(Style::new(), &queued.question.reason);
    page.explanation(queued);
    page.block(
        "findings",
        queued.question.findings.iter().map(|finding| {
            let requested = if finding.requested { " (the user seems to have asked for it)" } else { "" };
            format!("{} {}{requested}", finding.code, finding.sentence)
        }),
    );
    let rules = queued.question.suggestions.iter();
    page.block("rules that would decide it", rules.map(|one| format!("{} {}", one.behavior, one.rule)));
    page.origin(queued, now_ms);
    page.block(
        "trace",
        queued.question.trace.iter().map(|line| {
            format!("{:<4}{:<12} {}", line.step, line.outcome, line.detail).trim_end().to_owned()
        }),
    );
    page.lines
}

/// Lines that are being written.
struct DetailsPage {
    lines: Vec<Line<'static>>,
    width: usize,
    palette: Palette,
}

impl DetailsPage {
    /// Writes a text from outside.
    fn text(&mut self, style: Style, text: &str) {
        self.indented(style, "", text);
    }

    /// Writes a text from outside, each line of it behind a margin.
    fn indented(&mut self, style: Style, margin: &str, text: &str) {
        self.marked(style, margin, &ShownLine { text: visible(text).into_owned(), marks: Vec::new() });
    }

    /// Writes a text that can be shown, the marked parts of it in the style of deciding words.
    fn marked(&mut self, style: Style, margin: &str, shown: &ShownLine) {
        let room = self.width.saturating_sub(margin.chars().count()).max(4);
        for line in wrap(&shown.text, room) {
            let mut spans = vec![Span::styled(margin.to_owned(), DIM)];
            for (text, is_marked) in shown.parts(line) {
                let style = if is_marked { DECIDING } else { style };
                spans.push(Span::styled(text.to_owned(), style));
            }
            self.lines.push(Line::from(spans));
        }
    }

    fn block(&mut self, title: &str, texts: impl Iterator<Item = String>) {
        let mut texts = texts.peekable();
        if texts.peek().is_none() {
            return;
        }
        self.title(title);
        for text in texts {
            self.indented(Style::new(), "  ", &text);
        }
    }

    fn title(&mut self, title: &str) {
        self.lines.push(Line::default());
        self.lines.push(Line::styled(title.to_owned(), DIM));
    }

    /// Writes the whole call: the command of a shell line by line, or every field of the input.
    fn call(&mut self, queued: &QueuedQuestion, words: &[Range<usize>]) {
        let question = &queued.question;
        self.text(BOLD, &question.tool);
        let input: Option<Value> = serde_json::from_str(&question.input).ok();
        if let Some(fields) = input.as_ref().and_then(Value::as_object) {
            for (name, value) in fields {
                match value.as_str().filter(|_| name == "command") {
                    Some(command) => self.command(command, words),
                    None => self.field(name, value, fields.len() == 1),
                }
            }
        } else {
            // What was cut is no JSON any more.
            self.indented(BOLD, "│ ", &question.input);
            self.text(self.palette.warning(), "the call is longer, and the rest of it was not kept");
        }
        self.lines.push(Line::default());
    }

    fn command(&mut self, command: &str, words: &[Range<usize>]) {
        let mut start = 0;
        for line in command.split('\n') {
            self.marked(BOLD, "│ ", &ShownLine::new(line, start, words));
            start += line.len() + 1;
        }
    }

    fn field(&mut self, name: &str, value: &Value, is_only: bool) {
        if !is_only {
            self.text(DIM, name);
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for line in text.split('\n') {
            self.indented(Style::new(), "│ ", line);
        }
    }

    fn explanation(&mut self, queued: &QueuedQuestion) {
        let Some(explained) = &queued.explanation else { return };
        let level = level_word(Some(explained));
        let parts = [("what it does", &explained.explanation), ("why it matters", &explained.reasoning)];
        for (title, text) in parts {
            self.block(title, (!text.is_empty()).then(|| text.clone()).into_iter());
        }
        self.title("risk");
        self.indented(self.palette.level(level), "  ", &format!("{level}: {}", explained.risk));
    }

    fn origin(&mut self, queued: &QueuedQuestion, now_ms: u64) {
        let question = &queued.question;
        let agent = question.agent.as_ref().map(|agent| format!(", {agent}")).unwrap_or_default();
        let lines = [
            format!("id      {}", queued.id),
            format!("host    {}{agent}", question.host),
            format!("session {}", queued.session),
            format!("where   {}", question.cwd),
            format!("mode    {}", question.mode),
            format!("step    {} ({})", question.step, question.kind),
            format!("asked   {} UTC", calendar::time(queued.created_at_ms)),
            format!("left    {}", left_text(queued, now_ms)),
        ];
        self.block("where it comes from", lines.into_iter());
    }
}

/// A line as it is shown, and which bytes of it are marked.
struct ShownLine {
    text: String,
    marks: Vec<Range<usize>>,
}

impl ShownLine {
    /// Spells out a line that begins at a byte of a command, of which some ranges are marked.
    fn new(line: &str, start: usize, words: &[Range<usize>]) -> Self {
        let mut shown = Self { text: String::with_capacity(line.len()), marks: Vec::new() };
        for (at, character) in line.char_indices() {
            let from = shown.text.len();
            shown.text.push_str(&visible(character.encode_utf8(&mut [0; 4])));
            if words.iter().any(|word| word.contains(&(start + at))) {
                shown.mark(from..shown.text.len());
            }
        }
        shown
    }

    /// Marks what comes next.
    fn mark(&mut self, range: Range<usize>) {
        match self.marks.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.marks.push(range),
        }
    }

    /// Cuts a part of the line where marks begin and end.
    fn parts(&self, part: Range<usize>) -> Vec<(&str, bool)> {
        let mut parts = Vec::new();
        let mut at = part.start;
        for mark in &self.marks {
            let (from, to) = (mark.start.clamp(at, part.end), mark.end.clamp(at, part.end));
            parts.extend([(at..from, false), (from..to, true)]);
            at = to;
        }
        parts.push((at..part.end, false));
        let text = |(range, is_marked)| Some((self.text.get::<Range<usize>>(range)?, is_marked));
        parts.into_iter().filter_map(text).filter(|(text, _)| !text.is_empty()).collect()
    }
}

/// Breaks a line after words where that is possible, so that no part is wider than `width` columns. Returns which bytes
/// stand on each line.
fn wrap(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut at, mut columns) = (0, 0, 0);
    for word in text.split_inclusive(' ') {
        if columns > 0 && columns + columns_of(word.trim_end()) > width {
            lines.push(start..at);
            (start, columns) = (at, 0);
        }
        for character in word.chars() {
            let wide = columns_of(character.encode_utf8(&mut [0; 4]));
            let end = at + character.len_utf8();
            if columns + wide > width {
                lines.push(start..at);
                // A blank at the end of a line stands for the break itself.
                (start, columns) = if character == ' ' { (end, 0) } else { (at, wide) };
            } else {
                columns += wide;
            }
            at = end;
        }
    }
    if start < at || lines.is_empty() {
        lines.push(start..at);
    }
    lines
}

/// Breaks a text as [`wrap`] does, and returns the lines.
pub(super) fn wrapped(text: &str, width: usize) -> impl Iterator<Item = &str> {
    wrap(text, width).into_iter().filter_map(|line| text.get(line))
}

/// Returns how many columns a text takes.
pub(super) fn columns_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// Cuts a text to so many columns, and shows that it was cut.
pub(super) fn fit(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut columns = 1;
    let is_inside = |character: &char| {
        columns += columns_of(character.encode_utf8(&mut [0; 4]));
        columns <= width
    };
    let mut cut: String = text.chars().take_while(is_inside).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_line_is_broken_after_words_and_within_long_ones() {
        let table: [(&str, usize, &[&str]); 7] = [
            ("", 5, &[""]),
            ("one two three", 7, &["one two", "three"]),
            ("one two three", 8, &["one two ", "three"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("a bcdefghij", 4, &["a ", "bcde", "fghi", "j"]),
            ("日本語です", 4, &["日本", "語で", "す"]),
            ("  indented", 20, &["  indented"]),
        ];
        for (text, width, expected) in table {
            assert_eq!(wrapped(text, width).collect::<Vec<_>>(), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn a_text_is_cut_to_its_columns() {
        assert_eq!(fit("make", 4), "make");
        assert_eq!(fit("make it", 5), "make…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
    }

    #[test]
    fn deciding_words_are_marked_wherever_lines_break() {
        let page = |command: &str, words: &[(usize, usize)], width: usize| {
            let mut page = DetailsPage { lines: Vec::new(), width, palette: Palette { is_coloured: false } };
            let words: Vec<Range<usize>> = words.iter().map(|(from, to)| *from..*to).collect();
            page.command(command, &words);
            let part = |span: &Span<'static>| {
                let is_marked = span.style == DECIDING;
                if is_marked { format!("<{}>", span.content) } else { span.content.to_string() }
            };
            let line = |line: &Line<'static>| line.spans.iter().map(part).collect::<String>();
            page.lines.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(page("git push -f", &[(0, 8)], 40), ["│ <git push> -f"]);
        assert_eq!(page("git push -f", &[(0, 8), (9, 11)], 40), ["│ <git push> <-f>"]);
        assert_eq!(page("git push -f", &[(0, 8)], 8), ["│ <git >", "│ <push> ", "│ -f"]);
        assert_eq!(page("ls\nrm -rf x", &[(3, 9)], 40), ["│ ls", "│ <rm -rf> x"]);
        assert_eq!(page("é\u{1b}x rm", &[(5, 7)], 40), ["│ é\\u{1b}x <rm>"]);
        assert_eq!(page("rm", &[(0, 99), (1, 1)], 40), ["│ <rm>"]);
    }
}
