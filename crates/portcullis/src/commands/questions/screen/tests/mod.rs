//! What keys and news do, and how it looks.

mod looks;
mod moves;

use portcullis_store::audit::{Entry, FindingEntry, SuggestionEntry, TraceEntry};
use portcullis_store::{ApprovalState, ExplanationEntry};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::state::{QueueNews, ScreenAction, ScreenState};
use crate::commands::questions::wire::QueuedQuestion;

/// The time of every test.
const NOW: u64 = 1_800_000_000_000;

/// A question with everything there can be.
fn asked(id: &str, summary: &str) -> QueuedQuestion {
    let suggestion =
        |behavior: &str, rule: &str| SuggestionEntry { behavior: behavior.into(), rule: rule.into() };
    let trace = |step: &str, outcome: &str, detail: &str| TraceEntry {
        step: step.into(),
        outcome: outcome.into(),
        detail: detail.into(),
    };
    let question = Entry {
        at_ms: NOW - 12_000,
        host: "claude".into(),
        event: "PreToolUse".into(),
        session: "c1".into(),
        agent: None,
        call_id: None,
        cwd: "/home/ada/app".into(),
        mode: "default".into(),
        headless: true,
        tool: "Bash".into(),
        summary: format!("Bash: {summary}"),
        input: serde_json::json!({"command": summary}).to_string(),
        decision: "deny".into(),
        said: "deny".into(),
        step: "A11".into(),
        kind: "headless".into(),
        reason: "no rule covers it".into(),
        rule: None,
        code: None,
        denial: Some("d0f631-1".into()),
        findings: vec![FindingEntry {
            code: "PC007".into(),
            sentence: "it overwrites what others pushed".into(),
            requested: false,
            ..FindingEntry::default()
        }],
        trace: vec![trace("A1", "pass", ""), trace("A11", "settle-deny", "nobody can be asked")],
        suggestions: vec![
            suggestion("allow", "Bash(git push *)"),
            suggestion("allow", "Bash(git *)"),
            suggestion("deny", "Bash(git push *)"),
        ],
        models: Vec::new(),
        micros: 900,
        ..Entry::default()
    };
    QueuedQuestion {
        id: id.into(),
        sequence: 1,
        created_at_ms: NOW - 12_000,
        expires_at_ms: NOW + 3_000_000,
        session: "c1".into(),
        question,
        explanation: Some(ExplanationEntry {
            explanation: "Pushes the branch by force.".into(),
            reasoning: "It replaces what is there.".into(),
            risk: "work of others may be lost".into(),
            level: "HIGH".into(),
        }),
        state: ApprovalState::Open,
        answer: None,
        is_held_run: false,
    }
}

/// A screen of a width on which these questions have been drawn for a while.
fn screen(width: u16, questions: Vec<QueuedQuestion>) -> ScreenState {
    let mut state = ScreenState::default();
    state.resize(width);
    state.hear(QueueNews::Open(questions));
    state.drawn(NOW, 100);
    state.drawn(NOW + 1_000, 100);
    state
}

/// Presses keys one after the other, each on its own frame, and returns what is to be done at last.
fn press(state: &mut ScreenState, keys: &str) -> Option<ScreenAction> {
    let mut action = None;
    for key in keys.chars() {
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '↑' => KeyCode::Up,
            '⌫' => KeyCode::Backspace,
            '⇟' => KeyCode::PageDown,
            plain => KeyCode::Char(plain),
        };
        action = state.press(KeyEvent::new(code, KeyModifiers::NONE));
        state.drawn(state.now_ms, 100);
    }
    action
}
