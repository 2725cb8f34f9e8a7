//! What stands over the list for a while: help, a line that is typed, a rule that is chosen.

use std::path::PathBuf;

use portcullis_core::is_hidden;
use portcullis_store::AnswerScope;
use portcullis_store::audit::SuggestionEntry;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::queue_client::QuestionAnswer;

/// The longest line that can be typed, in characters.
const LONGEST: usize = 2_000;

/// What stands over the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScreenDialog {
    /// Which keys there are.
    Help,
    /// What questions must contain to be listed.
    Filter(TypedLine),
    /// What the agent of a question is told with a no.
    Message(String, TypedLine),
    /// Which paths of a run's changes land.
    Part(String, TypedLine),
    /// Which of the suggested rules is meant.
    Choose(RuleChoice),
    /// A rule of one's own for a question.
    Rule(String, AnswerScope, TypedLine),
}

/// What a key did to a dialog.
#[derive(Debug)]
pub(super) enum DialogOutcome {
    /// It goes on.
    Stays(ScreenDialog),
    /// It is over, and nothing is said.
    Leaves,
    /// It is over, and this is the answer to the question with this id.
    Answers(String, QuestionAnswer),
    /// It is over, and the changes of this run at these paths land.
    Keeps(String, Vec<PathBuf>),
}

impl ScreenDialog {
    /// Takes a key.
    pub(super) fn press(self, key: KeyEvent) -> DialogOutcome {
        if key.code == KeyCode::Esc {
            return DialogOutcome::Leaves;
        }
        match self {
            Self::Help => DialogOutcome::Leaves,
            Self::Filter(_) if key.code == KeyCode::Enter => DialogOutcome::Leaves,
            Self::Filter(mut typed) => {
                typed.press(key);
                DialogOutcome::Stays(Self::Filter(typed))
            }
            Self::Choose(chosen) => chosen.press(key),
            Self::Message(id, typed) if key.code == KeyCode::Enter => {
                let message = typed.text.trim();
                let message = (!message.is_empty()).then(|| message.to_owned());
                DialogOutcome::Answers(id, QuestionAnswer::deny(message))
            }
            Self::Part(id, typed) if key.code == KeyCode::Enter => {
                let paths: Vec<PathBuf> = typed.text.split_whitespace().map(PathBuf::from).collect();
                if paths.is_empty() {
                    return DialogOutcome::Stays(Self::Part(id, typed));
                }
                DialogOutcome::Keeps(id, paths)
            }
            Self::Part(id, mut typed) => {
                typed.press(key);
                DialogOutcome::Stays(Self::Part(id, typed))
            }
            Self::Message(id, mut typed) => {
                typed.press(key);
                DialogOutcome::Stays(Self::Message(id, typed))
            }
            Self::Rule(id, scope, typed) if key.code == KeyCode::Enter => {
                let rule = typed.text.trim();
                if rule.is_empty() {
                    return DialogOutcome::Stays(Self::Rule(id, scope, typed));
                }
                DialogOutcome::Answers(id, QuestionAnswer::allow(scope, Some(rule.to_owned())))
            }
            Self::Rule(id, scope, mut typed) => {
                typed.press(key);
                DialogOutcome::Stays(Self::Rule(id, scope, typed))
            }
        }
    }
}

/// The rules of which one is to be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleChoice {
    id: String,
    /// For how long the rule is to hold.
    pub(super) scope: AnswerScope,
    /// The rules.
    pub(super) rules: Vec<String>,
    /// Which of them the cursor is on.
    pub(super) at: usize,
}

impl RuleChoice {
    /// Offers the suggested rules that allow.
    pub(super) fn new(id: String, scope: AnswerScope, suggestions: &[SuggestionEntry]) -> Self {
        let fitting = suggestions.iter().filter(|one| one.behavior == "allow");
        Self { id, scope, rules: fitting.map(|one| one.rule.clone()).collect(), at: 0 }
    }

    /// Returns the dialog: where nothing is suggested, the rule is typed.
    pub(super) fn into_dialog(self) -> ScreenDialog {
        if self.rules.is_empty() {
            return ScreenDialog::Rule(self.id, self.scope, TypedLine::default());
        }
        ScreenDialog::Choose(self)
    }

    fn press(mut self, key: KeyEvent) -> DialogOutcome {
        let rule = self.rules.get(self.at).cloned().unwrap_or_default();
        match key.code {
            KeyCode::Enter => {
                return DialogOutcome::Answers(self.id, QuestionAnswer::allow(self.scope, Some(rule)));
            }
            KeyCode::Char('e') => {
                return DialogOutcome::Stays(ScreenDialog::Rule(self.id, self.scope, TypedLine::new(&rule)));
            }
            KeyCode::Down | KeyCode::Char('j') => {
                self.at = (self.at + 1).min(self.rules.len().saturating_sub(1));
            }
            KeyCode::Up | KeyCode::Char('k') => self.at = self.at.saturating_sub(1),
            _ => {}
        }
        DialogOutcome::Stays(ScreenDialog::Choose(self))
    }
}

/// A line that is being typed; the cursor is at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypedLine {
    /// What was typed.
    pub(super) text: String,
}

impl TypedLine {
    /// Begins with a text.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Backspace => _ = self.text.pop(),
            KeyCode::Char('u') if is_control => self.text.clear(),
            KeyCode::Char(character) if !is_control => self.insert(character.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// Adds text; what would not be seen is left out, and so is what is too long.
    pub(super) fn insert(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.text.chars().count());
        self.text.extend(text.chars().filter(|character| !is_hidden(*character)).take(room));
    }
}
