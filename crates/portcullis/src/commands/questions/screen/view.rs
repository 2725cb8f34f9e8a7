//! How the full screen looks: a state becomes a frame.
//!
//! ```text
//! portcullis questions   2 open                  connected
//! ▸ HIGH    12 s  claude  c1 │ Bash
//!   git push --force         │ │ git push --force origin main
//!   LOW     3 min codex  r7  │
//!   cargo add serde          │ it overwrites what others pushed
//! a allow  s session  A always  d deny  m message  ? help
//! ```

use portcullis_core::visible;
use portcullis_store::AnswerScope;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

use super::details::{self, columns_of, fit, wrapped};
use super::dialog::{RuleChoice, ScreenDialog};
use super::palette::{BOLD, CURSOR, DIM, Palette};
use super::state::{AnswerStage, QuestionItem, QueueLink, ScreenState};
use crate::commands::questions::level_word;
use portcullis_output::human::age;

/// The lines of an item of the list.
const ITEM_LINES: u16 = 2;

/// The keys, as help tells them.
const HELP: [(&str, &str); 14] = [
    ("↑ ↓ j k", "the question above or below"),
    ("g G", "the first or the last"),
    ("Enter", "details, or back to the list"),
    ("PgUp PgDn", "scroll the details"),
    ("a", "allow this very call once"),
    ("s", "allow by a rule, in this session"),
    ("A", "allow by a rule, from now on"),
    ("d", "deny"),
    ("a p d", "held changes: all, a part, drop"),
    ("m", "deny, and tell the agent why"),
    ("/", "list only what contains a text"),
    ("Esc", "back, or list everything"),
    ("?", "this help"),
    ("q", "end; questions go on waiting"),
];

/// Draws everything and returns how many lines the details can be scrolled.
pub(super) fn draw(frame: &mut Frame<'_>, state: &ScreenState, palette: Palette) -> usize {
    let rows = [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    let [head, body, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(heading(state, head.width, palette), head);
    let most_scroll = draw_body(frame, state, body, palette);
    frame.render_widget(footer(state, foot.width), foot);
    match &state.dialog {
        Some(ScreenDialog::Help) => draw_help(frame, body),
        Some(ScreenDialog::Choose(chosen)) => draw_choice(frame, body, chosen),
        _ => {}
    }
    most_scroll
}

fn heading(state: &ScreenState, width: u16, palette: Palette) -> Line<'static> {
    let title = format!("portcullis questions  {} open", state.open_count());
    let (link, style) = match &state.link {
        QueueLink::Connecting => ("connecting…", DIM),
        QueueLink::Connected => ("connected", DIM),
        QueueLink::Lost(_) => ("reconnecting…", palette.warning()),
    };
    let width = usize::from(width);
    let title = fit(&title, width.saturating_sub(columns_of(link) + 1));
    let gap = width.saturating_sub(columns_of(&title) + columns_of(link));
    Line::from(vec![Span::styled(title, BOLD), Span::raw(" ".repeat(gap)), Span::styled(link, style)])
}

fn draw_body(frame: &mut Frame<'_>, state: &ScreenState, area: Rect, palette: Palette) -> usize {
    let Some(item) = state.current() else {
        frame.render_widget(Paragraph::new(nothing(state)).style(DIM), area);
        return 0;
    };
    if state.is_narrow() {
        if state.is_reading {
            return draw_details(frame, state, item, area, palette);
        }
        draw_list(frame, state, area, palette);
        return 0;
    }
    let list = (area.width * 2 / 5).clamp(34, 64);
    let columns = [Constraint::Length(list), Constraint::Length(2), Constraint::Min(1)];
    let [left, gap, right] = Layout::horizontal(columns).areas(area);
    draw_list(frame, state, left, palette);
    frame.render_widget(Block::new().borders(Borders::LEFT).border_style(DIM), gap);
    draw_details(frame, state, item, right, palette)
}

fn nothing(state: &ScreenState) -> String {
    match &state.link {
        QueueLink::Connecting => String::new(),
        QueueLink::Lost(why) => format!("no daemon answers: {}", visible(why)),
        QueueLink::Connected if state.filter.is_empty() => "no question waits".to_owned(),
        QueueLink::Connected => format!("no question contains `{}`", visible(&state.filter)),
    }
}

fn draw_list(frame: &mut Frame<'_>, state: &ScreenState, area: Rect, palette: Palette) {
    let items: Vec<&QuestionItem> = state.listed().collect();
    let at = items.iter().position(|item| state.is_current(item)).unwrap_or(0);
    let room = usize::from((area.height / ITEM_LINES).max(1));
    // The window moves by whole pages, so that items stand still while the cursor moves.
    let first = at / room * room;
    let mut lines = Vec::new();
    for item in items.iter().skip(first).take(room) {
        lines.extend(item_lines(state, item, usize::from(area.width), palette));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn item_lines(
    state: &ScreenState,
    item: &QuestionItem,
    width: usize,
    palette: Palette,
) -> [Line<'static>; 2] {
    let queued = &item.queued;
    let is_current = state.is_current(item);
    let mark = if is_current { "▸ " } else { "  " };
    let level = level_word(queued.explanation.as_ref());
    let state_word = match item.stage {
        AnswerStage::Open => "",
        AnswerStage::Sending => "sending  ",
        AnswerStage::Ended(_) => "ended  ",
    };
    let about = format!(
        " {state_word}{:<6}  {}  {}",
        age(state.now_ms.saturating_sub(queued.created_at_ms)),
        visible(&queued.question.host),
        visible(&queued.session),
    );
    let summary = format!("  {}", visible(&queued.question.summary));
    let style = if is_current { CURSOR } else { Style::new() };
    let level_width = 7;
    let about = fit(&about, width.saturating_sub(columns_of(mark) + level_width));
    [
        Line::from(vec![
            Span::styled(mark, BOLD),
            Span::styled(format!("{level:<level_width$}"), palette.level(level)),
            Span::styled(about, DIM),
        ]),
        Line::styled(fit(&summary, width), style),
    ]
}

fn draw_details(
    frame: &mut Frame<'_>,
    state: &ScreenState,
    item: &QuestionItem,
    area: Rect,
    palette: Palette,
) -> usize {
    let lines = details::lines(item, state.words(item), usize::from(area.width), state.now_ms, palette);
    let height = usize::from(area.height);
    let most = lines.len().saturating_sub(height);
    let from = state.scroll.min(most);
    let below = lines.len().saturating_sub(from + height);
    let mut shown: Vec<Line<'static>> = lines.into_iter().skip(from).take(height).collect();
    if below > 0
        && let Some(last) = shown.last_mut()
    {
        *last = Line::styled(format!("▼ {} more lines: PgDn", below + 1), BOLD);
    }
    frame.render_widget(Paragraph::new(shown), area);
    most
}

fn footer(state: &ScreenState, width: u16) -> Line<'static> {
    let width = usize::from(width);
    let typed = |title: &str, text: &str| {
        // What was typed last is what must be seen.
        let room = width.saturating_sub(columns_of(title) + 2);
        let text = visible(text);
        let skipped = text.chars().count().saturating_sub(room);
        let end: String = text.chars().skip(skipped).collect();
        Line::from(vec![Span::styled(format!("{title} "), BOLD), Span::raw(end), Span::raw("▏")])
    };
    match &state.dialog {
        Some(ScreenDialog::Filter(text)) => typed("containing:", &text.text),
        Some(ScreenDialog::Message(_, text)) => typed("deny, because:", &text.text),
        Some(ScreenDialog::Part(_, text)) => typed("keep only these paths:", &text.text),
        Some(ScreenDialog::Rule(_, scope, text)) => {
            typed(&format!("allow {}:", scope_words(*scope)), &text.text)
        }
        Some(ScreenDialog::Choose(_)) => Line::raw(fit("Enter allow  e edit  Esc back", width)),
        Some(ScreenDialog::Help) => Line::raw(fit("any key: back", width)),
        None if !state.notice.is_empty() => Line::styled(fit(&visible(&state.notice), width), BOLD),
        None => Line::styled(fit(keys(state), width), DIM),
    }
}

fn keys(state: &ScreenState) -> &'static str {
    if state.current().is_none() {
        return "? help  q quit";
    }
    if state.current().is_some_and(|item| item.queued.is_held_run) {
        return "a keep all  p keep a part  d drop  Enter read  / filter  ? help  q quit";
    }
    if state.is_narrow() {
        return "a allow  d deny  Enter read  ? help";
    }
    "a allow once  s session  A always  d deny  m deny with message  / filter  ? help  q quit"
}

/// Says for how long a rule is to hold.
fn scope_words(scope: AnswerScope) -> &'static str {
    match scope {
        AnswerScope::Once => "once",
        AnswerScope::Session => "in this session",
        AnswerScope::Always => "from now on",
    }
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    let lines =
        HELP.map(|(key, text)| Line::from(vec![Span::styled(format!("{key:<10}"), BOLD), Span::raw(text)]));
    draw_box(frame, area, "keys", lines.to_vec());
}

fn draw_choice(frame: &mut Frame<'_>, area: Rect, chosen: &RuleChoice) {
    let room = usize::from(area.width).saturating_sub(6).max(4);
    let mut lines = Vec::new();
    for (at, rule) in chosen.rules.iter().enumerate() {
        let is_current = at == chosen.at;
        let style = if is_current { CURSOR } else { Style::new() };
        // A rule is read whole before it is granted.
        for (part, text) in wrapped(&visible(rule), room).enumerate() {
            let mark = if is_current && part == 0 { "▸ " } else { "  " };
            lines.push(Line::styled(format!("{mark}{text}"), style));
        }
    }
    draw_box(frame, area, &format!("allow {}", scope_words(chosen.scope)), lines);
}

/// Draws lines in a box over the middle of an area.
fn draw_box(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'static>>) {
    let widest = lines.iter().map(Line::width).max().unwrap_or(0).max(columns_of(title) + 2);
    let width = u16::try_from(widest + 4).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let place = area.centered(Constraint::Length(width), Constraint::Length(height));
    frame.render_widget(Clear, place);
    let block = Block::bordered().title(format!(" {title} "));
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
