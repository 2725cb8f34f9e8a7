//! How it looks, as text and as cells.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis` writes the snapshot anew; read its diff before committing.

use std::fmt::Write as _;
use std::path::Path;

use portcullis_core::is_hidden;
use pretty_assertions::assert_eq;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::super::palette::Palette;
use super::super::view::draw;
use super::*;

fn drawn(state: &mut ScreenState, (width, height): (u16, u16), is_coloured: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    state.now_ms = NOW;
    let mut most = 0;
    terminal
        .draw(|frame| {
            state.resize(frame.area().width);
            most = draw(frame, state, Palette { is_coloured });
        })
        .unwrap();
    state.drawn(NOW, most);
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let mut line = String::new();
        let mut covered = 0;
        for cell in row {
            // A wide character covers the cell after it.
            if covered > 0 {
                covered -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            covered = ratatui::text::Span::raw(cell.symbol()).width().saturating_sub(1);
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn questions() -> Vec<QueuedQuestion> {
    let mut low = asked("0b77", "cargo add serde");
    low.created_at_ms = NOW - 200_000;
    low.question.host = "codex".into();
    low.explanation = None;
    vec![asked("5e1f", "git push --force origin main"), low]
}

/// The name of a scene, the size of the screen, the questions and the keys.
type Scene = (&'static str, (u16, u16), Vec<QueuedQuestion>, &'static str);

fn scenes() -> Vec<Scene> {
    let mut hostile = asked("beef", "make \u{1b}[2J\u{9b}31m\u{202e}tfel\n\trm -rf /");
    hostile.question.host = "cl\u{7}aude".into();
    hostile.session = "s\u{1b}]0;x\u{7}1".into();
    hostile.question.cwd = "/x\u{200b}y".into();
    let mut write = asked("f00d", "");
    write.question.tool = "Write".into();
    write.question.summary = "Write: src/lib.rs".into();
    write.question.input = serde_json::json!({"file_path": "src/lib.rs", "content": "a\nb"}).to_string();
    let mut cut = asked("c0de", "");
    cut.question.summary = "Bash: echo lots…".into();
    cut.question.input = "{\"command\": \"echo lots…".into();
    let unicode = asked("1234", "echo '日本語のとても長い文字列です' > dätei && ls 🦀🦀🦀");
    let long = asked("aaaa", &format!("echo {} && rm -rf ~/x", "word ".repeat(60)));
    let many = (0..9).map(|at| asked(&format!("id{at}"), &format!("make target-{at}"))).collect();
    vec![
        ("wide", (100, 30), questions(), ""),
        ("narrow", (40, 12), questions(), ""),
        ("narrow details", (40, 12), questions(), "⏎"),
        ("narrow details, scrolled", (40, 12), questions(), "⏎⇟"),
        ("empty", (40, 6), Vec::new(), ""),
        ("nothing fits the filter", (60, 6), questions(), "/zebra"),
        ("a rule is chosen", (60, 12), questions(), "⏎A"),
        ("a message is typed", (40, 12), questions(), "mnot on a Friday, and not from this machine"),
        ("help", (60, 18), questions(), "?"),
        ("hostile", (100, 28), vec![hostile], ""),
        ("a file", (80, 12), vec![write], ""),
        ("cut", (80, 12), vec![cut], ""),
        ("unicode", (40, 12), vec![unicode], "⏎"),
        ("long", (80, 14), vec![long], ""),
        ("many, further down", (40, 10), many, "jjjjj"),
    ]
}

#[test]
fn the_screen_is_as_committed() {
    let mut all = String::new();
    for (name, size, questions, keys) in scenes() {
        let mut state = screen(size.0, questions);
        press(&mut state, keys);
        let _ = writeln!(all, "# {name}, {}×{}\n\n{}", size.0, size.1, text(&drawn(&mut state, size, false)));
    }
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/questions-screen.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&snapshot, &all).unwrap();
    }
    assert_eq!(all, std::fs::read_to_string(snapshot).unwrap());
}

#[test]
fn no_cell_holds_what_a_terminal_obeys() {
    for (name, size, questions, keys) in scenes() {
        let mut state = screen(size.0, questions);
        press(&mut state, keys);
        state.notice = "late\u{1b}[31m".into();
        for cell in &drawn(&mut state, size, true).content {
            assert!(!cell.symbol().chars().any(is_hidden), "{name}: {:?}", cell.symbol());
        }
    }
}

#[test]
fn it_draws_at_every_size() {
    for size in [(1, 1), (2, 3), (10, 2), (33, 4), (40, 12), (79, 24), (80, 24), (81, 5), (200, 60)] {
        for (name, _, questions, keys) in scenes() {
            let mut state = screen(size.0, questions);
            press(&mut state, keys);
            let buffer = drawn(&mut state, size, true);
            assert_eq!((buffer.area.width, buffer.area.height), size, "{name}");
        }
    }
    let mut state = screen(200, questions());
    let shown = text(&drawn(&mut state, (200, 60), false));
    for part in
        ["git push --force origin main", "PC007", "work of others", "A11", "/home/ada/app", "Bash(git *)"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn colours_tell_the_level_and_are_left_out_where_nobody_wants_them() {
    let has = |is_coloured: bool, colour: Color| {
        let buffer = drawn(&mut screen(120, questions()), (120, 30), is_coloured);
        buffer.content.iter().any(|cell| cell.fg == colour)
    };
    assert!(has(true, Color::Red), "HIGH is red");
    let plain = drawn(&mut screen(120, questions()), (120, 30), false);
    assert!(plain.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#[test]
fn a_lost_daemon_is_told() {
    let mut state = screen(60, questions());
    state.hear(QueueNews::Lost("it does not run".into()));
    assert!(text(&drawn(&mut state, (60, 12), false)).contains("reconnecting…"));
    let mut state = ScreenState::default();
    state.hear(QueueNews::Lost("it does not run".into()));
    assert!(text(&drawn(&mut state, (60, 12), false)).contains("no daemon answers: it does not run"));
}
