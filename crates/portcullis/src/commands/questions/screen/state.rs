//! What the full screen shows and does: keys and news come in, actions go out. Nothing here draws, waits or talks.
//!
//! INVARIANT: an answer goes by the id of a question that stood on the screen when the key was pressed. The cursor never
//! leaves a question by itself while the question is undecided for the person: one that somebody else answered stays below
//! the cursor until the person moves on. Where the cursor does move by itself, after an answer and to the first question of
//! an empty list, keys that answer count only after the person had a moment to see it.

use std::collections::BTreeMap;
use std::ops::Range;

use portcullis_store::audit::Entry;
use portcullis_store::{AnswerScope, ApprovalState};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::held_run::RunAnswer;
use super::super::outcome_text;
use super::super::queue_client::QuestionAnswer;
use super::super::wire::QueuedQuestion;
use super::dialog::{DialogOutcome, RuleChoice, ScreenDialog, TypedLine};

/// Below so many columns either the list or the details are shown.
pub(super) const NARROW: u16 = 80;

/// How long a question must have been on the screen to which the cursor moved by itself, in milliseconds.
const SETTLES_MS: u64 = 500;

/// How many lines of the details a key moves.
const PAGE: usize = 8;

/// Everything there is to show.
#[derive(Debug, Default)]
pub(super) struct ScreenState {
    items: Vec<QuestionItem>,
    /// Where the deciding words stand in the command of a question, by its id; nothing yet where they are looked for.
    words: BTreeMap<String, Vec<Range<usize>>>,
    selected: Option<String>,
    arrival: CursorArrival,
    /// Whether the details are shown where there is no room for both.
    pub(super) is_reading: bool,
    /// How many lines of the details are above the screen.
    pub(super) scroll: usize,
    /// What stands over the list, if anything does.
    pub(super) dialog: Option<ScreenDialog>,
    /// What a question must contain to be listed; empty for all.
    pub(super) filter: String,
    /// What was said last.
    pub(super) notice: String,
    /// Whether the daemon answers.
    pub(super) link: QueueLink,
    /// The time, in unix milliseconds.
    pub(super) now_ms: u64,
    width: u16,
}

/// A question in the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuestionItem {
    /// The question.
    pub(super) queued: QueuedQuestion,
    /// What is known of its answer.
    pub(super) stage: AnswerStage,
}

/// What is known of the answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerStage {
    /// It waits.
    Open,
    /// An answer is on its way.
    Sending,
    /// Somebody else answered, or its time is over.
    Ended(String),
}

/// Whether the daemon answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum QueueLink {
    /// Nothing was heard yet.
    #[default]
    Connecting,
    /// It answers.
    Connected,
    /// It does not, for this reason.
    Lost(String),
}

/// How the cursor came to where it is.
#[derive(Debug, Clone, Copy, Default)]
struct CursorArrival {
    is_by_person: bool,
    first_drawn_ms: Option<u64>,
}

/// Something that was heard from the daemon.
#[derive(Debug)]
pub(super) enum QueueNews {
    /// All that is open now, the oldest first.
    Open(Vec<QueuedQuestion>),
    /// One question, as it is now.
    One(Box<QueuedQuestion>),
    /// The daemon does not answer.
    Lost(String),
    /// Where the deciding words stand in the command of a question.
    Words(String, Vec<Range<usize>>),
    /// What came of an answer: a sentence, or why it does not count.
    Answered(String, Result<String, String>),
    /// The process is told to end.
    Stop,
    /// A thread that the screen needs is gone.
    Broken,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScreenAction {
    /// Answer a question.
    Answer(String, QuestionAnswer),
    /// Keep or drop what a run changed.
    AnswerRun(String, RunAnswer),
    /// Find out what became of a question.
    LookUp(String),
    /// Find the deciding words of a question.
    FindWords(String, Box<Entry>),
    /// End.
    Quit,
    /// End with a failure.
    Abort,
}

impl ScreenState {
    /// Returns the questions that fit the filter.
    pub(super) fn listed(&self) -> impl Iterator<Item = &QuestionItem> {
        let wanted = self.filter.to_lowercase();
        self.items.iter().filter(move |item| contains(&item.queued, &wanted))
    }

    /// Returns the question below the cursor.
    pub(super) fn current(&self) -> Option<&QuestionItem> {
        let selected = self.selected.as_deref()?;
        self.listed().find(|item| item.queued.id == selected)
    }

    /// Says whether a question is below the cursor.
    pub(super) fn is_current(&self, item: &QuestionItem) -> bool {
        self.selected.as_deref() == Some(item.queued.id.as_str())
    }

    /// Returns how many questions wait.
    pub(super) fn open_count(&self) -> usize {
        self.items.iter().filter(|item| !matches!(item.stage, AnswerStage::Ended(_))).count()
    }

    /// Says whether only the list or only the details fit on the screen.
    pub(super) fn is_narrow(&self) -> bool {
        self.width < NARROW
    }

    /// Notes how wide the screen is.
    pub(super) fn resize(&mut self, width: u16) {
        self.width = width;
    }

    /// Notes that everything was drawn, and how far the details can be scrolled.
    pub(super) fn drawn(&mut self, now_ms: u64, most_scroll: usize) {
        self.now_ms = now_ms;
        self.scroll = self.scroll.min(most_scroll);
        if self.current().is_some() && self.arrival.first_drawn_ms.is_none() {
            self.arrival.first_drawn_ms = Some(now_ms);
        }
    }

    /// Returns what is still to be found out about the question below the cursor, once.
    pub(super) fn unread(&mut self) -> Option<ScreenAction> {
        let queued = &self.current()?.queued;
        if self.words.contains_key(&queued.id) {
            return None;
        }
        let (id, question) = (queued.id.clone(), queued.question.clone());
        self.words.insert(id.clone(), Vec::new());
        Some(ScreenAction::FindWords(id, Box::new(question)))
    }

    /// Returns where the deciding words of a question stand in its command, as far as that is known.
    pub(super) fn words(&self, item: &QuestionItem) -> &[Range<usize>] {
        self.words.get(&item.queued.id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Takes news in.
    pub(super) fn hear(&mut self, news: QueueNews) -> Option<ScreenAction> {
        match news {
            QueueNews::Open(open) => return self.hear_open(open),
            QueueNews::One(queued) => self.hear_one(&queued),
            QueueNews::Words(id, words) => _ = self.words.insert(id, words),
            QueueNews::Lost(why) => self.link = QueueLink::Lost(why),
            QueueNews::Answered(id, result) => self.hear_answered(&id, result),
            QueueNews::Stop => return Some(ScreenAction::Quit),
            QueueNews::Broken => return Some(ScreenAction::Abort),
        }
        None
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Option<ScreenAction> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(ScreenAction::Quit);
        }
        match self.dialog.take() {
            None => self.press_in_list(key),
            Some(dialog) => self.press_in_dialog(dialog, key),
        }
    }

    /// Takes text that was pasted: into a line that is being typed, and nowhere else.
    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.dialog {
            Some(
                ScreenDialog::Message(_, typed)
                | ScreenDialog::Part(_, typed)
                | ScreenDialog::Rule(_, _, typed),
            ) => typed.insert(text),
            Some(ScreenDialog::Filter(typed)) => {
                typed.insert(text);
                self.filter = typed.text.clone();
                self.land_on_something();
            }
            _ => {}
        }
    }

    fn hear_open(&mut self, open: Vec<QueuedQuestion>) -> Option<ScreenAction> {
        self.link = QueueLink::Connected;
        let mut lookup = None;
        let mut items: Vec<QuestionItem> = open.into_iter().map(|queued| self.item(queued)).collect();
        let kept = self.items.iter().position(|item| self.is_current(item));
        if let Some((at, item)) = kept.and_then(|at| Some((at, self.items.get(at)?))) {
            let is_gone = items.iter().all(|other| other.queued.id != item.queued.id);
            if is_gone {
                let mut item = item.clone();
                if item.stage == AnswerStage::Open {
                    item.stage = AnswerStage::Ended("it is not open any more".to_owned());
                    let id = item.queued.id.clone();
                    lookup = (!item.queued.is_held_run).then_some(ScreenAction::LookUp(id));
                }
                items.insert(at.min(items.len()), item);
            }
        }
        self.items = items;
        let items = &self.items;
        self.words.retain(|id, _| items.iter().any(|item| item.queued.id == *id));
        self.land_on_something();
        lookup
    }

    /// Makes the item of an open question; an answer that is on its way stays so.
    fn item(&self, queued: QueuedQuestion) -> QuestionItem {
        let known = self.items.iter().find(|item| item.queued.id == queued.id);
        let is_sending = known.is_some_and(|item| item.stage == AnswerStage::Sending);
        QuestionItem { queued, stage: if is_sending { AnswerStage::Sending } else { AnswerStage::Open } }
    }

    fn hear_one(&mut self, queued: &QueuedQuestion) {
        let Some(item) = self.items.iter_mut().find(|item| item.queued.id == queued.id) else { return };
        if queued.state != ApprovalState::Open {
            item.stage = AnswerStage::Ended(outcome_text(queued));
        }
    }

    fn hear_answered(&mut self, id: &str, result: Result<String, String>) {
        let is_current = self.selected.as_deref() == Some(id);
        let Some(at) = self.items.iter().position(|item| item.queued.id == id) else {
            self.notice = result.unwrap_or_else(|why| why);
            return;
        };
        match result {
            Ok(said) => {
                self.notice = said;
                let next = self.neighbour(id);
                self.items.remove(at);
                if is_current {
                    self.select(next, CursorArrival::default());
                    self.is_reading = false;
                }
            }
            Err(why) => {
                if let Some(item) = self.items.get_mut(at) {
                    item.stage = AnswerStage::Open;
                }
                self.notice = why;
            }
        }
    }

    fn press_in_list(&mut self, key: KeyEvent) -> Option<ScreenAction> {
        self.notice.clear();
        match key.code {
            KeyCode::Char('q') => return Some(ScreenAction::Quit),
            KeyCode::Esc if self.is_reading => self.is_reading = false,
            KeyCode::Esc => {
                self.filter.clear();
                self.land_on_something();
            }
            KeyCode::Char('?') => self.dialog = Some(ScreenDialog::Help),
            KeyCode::Char('/') => self.dialog = Some(ScreenDialog::Filter(TypedLine::new(&self.filter))),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll = self.scroll.saturating_add(PAGE),
            KeyCode::PageUp | KeyCode::Char('b') => self.scroll = self.scroll.saturating_sub(PAGE),
            KeyCode::Enter => self.is_reading = !self.is_reading && self.current().is_some(),
            KeyCode::Char(character) => return self.press_to_answer(character),
            _ => {}
        }
        None
    }

    /// Takes a key that answers the question below the cursor.
    fn press_to_answer(&mut self, key: char) -> Option<ScreenAction> {
        if !matches!(key, 'a' | 's' | 'A' | 'd' | 'm' | 'p') {
            return None;
        }
        let item = self.current()?;
        let is_held_run = item.queued.is_held_run;
        if is_held_run != (key == 'p') && !matches!(key, 'a' | 'd') {
            let keys =
                if is_held_run { "a keeps all of it, p a part, d drops it" } else { "p is for held changes" };
            keys.clone_into(&mut self.notice);
            return None;
        }
        let id = item.queued.id.clone();
        if item.stage != AnswerStage::Open {
            "this question is answered: move on with the arrow keys".clone_into(&mut self.notice);
            return None;
        }
        if !self.was_seen() {
            "another question came here: look at it, then press the key again".clone_into(&mut self.notice);
            return None;
        }
        if self.is_narrow() && !self.is_reading && matches!(key, 'a' | 's' | 'A' | 'p') {
            self.is_reading = true;
            "read it, then press the key again".clone_into(&mut self.notice);
            return None;
        }
        match key {
            'a' if is_held_run => self.send_run(&id, RunAnswer::Keep(Vec::new())),
            'd' if is_held_run => self.send_run(&id, RunAnswer::Drop),
            'p' => {
                self.dialog = Some(ScreenDialog::Part(id, TypedLine::default()));
                None
            }
            'a' => self.send(&id, QuestionAnswer::allow(AnswerScope::Once, None)),
            'd' => self.send(&id, QuestionAnswer::deny(None)),
            'm' => {
                self.dialog = Some(ScreenDialog::Message(id, TypedLine::default()));
                None
            }
            _ => {
                let scope = if key == 's' { AnswerScope::Session } else { AnswerScope::Always };
                let chosen = RuleChoice::new(id, scope, &item.queued.question.suggestions);
                self.dialog = Some(chosen.into_dialog());
                None
            }
        }
    }

    fn press_in_dialog(&mut self, dialog: ScreenDialog, key: KeyEvent) -> Option<ScreenAction> {
        let is_filter = matches!(dialog, ScreenDialog::Filter(_));
        let outcome = dialog.press(key);
        if is_filter {
            self.filter = match &outcome {
                DialogOutcome::Stays(ScreenDialog::Filter(typed)) => typed.text.clone(),
                _ if key.code == KeyCode::Esc => String::new(),
                _ => std::mem::take(&mut self.filter),
            };
            self.land_on_something();
        }
        match outcome {
            DialogOutcome::Stays(dialog) => self.dialog = Some(dialog),
            DialogOutcome::Leaves => {}
            DialogOutcome::Answers(id, answer) => return self.send(&id, answer),
            DialogOutcome::Keeps(id, paths) => return self.send_run(&id, RunAnswer::Keep(paths)),
        }
        None
    }

    /// Says whether the person had time to see what is below the cursor.
    fn was_seen(&self) -> bool {
        let settles = if self.arrival.is_by_person { 0 } else { SETTLES_MS };
        self.arrival.first_drawn_ms.is_some_and(|at| self.now_ms >= at.saturating_add(settles))
    }

    fn send(&mut self, id: &str, answer: QuestionAnswer) -> Option<ScreenAction> {
        self.begin_sending(id).map(|()| ScreenAction::Answer(id.to_owned(), answer))
    }

    fn send_run(&mut self, id: &str, answer: RunAnswer) -> Option<ScreenAction> {
        self.begin_sending(id).map(|()| ScreenAction::AnswerRun(id.to_owned(), answer))
    }

    /// Marks an open question as one whose answer is on its way.
    fn begin_sending(&mut self, id: &str) -> Option<()> {
        let mut items = self.items.iter_mut();
        let item = items.find(|item| item.queued.id == id && item.stage == AnswerStage::Open)?;
        item.stage = AnswerStage::Sending;
        Some(())
    }

    /// Moves the cursor as a person wants it.
    fn step(&mut self, by: isize) {
        let ids: Vec<String> = self.listed().map(|item| item.queued.id.clone()).collect();
        let Some(last) = ids.len().checked_sub(1) else { return };
        let at = ids.iter().position(|id| self.selected.as_ref() == Some(id)).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(last);
        if to == at {
            return;
        }
        self.select(ids.get(to).cloned(), CursorArrival { is_by_person: true, first_drawn_ms: None });
        self.items.retain(|item| !matches!(item.stage, AnswerStage::Ended(_)));
    }

    /// Puts the cursor on the first question if it is on none.
    fn land_on_something(&mut self) {
        if self.current().is_some() {
            return;
        }
        let first = self.listed().next().map(|item| item.queued.id.clone());
        self.select(first, CursorArrival::default());
        self.is_reading = false;
    }

    fn select(&mut self, id: Option<String>, arrival: CursorArrival) {
        self.selected = id;
        self.arrival = arrival;
        self.scroll = 0;
    }

    /// Returns what stands below a question in the list, or else above it.
    fn neighbour(&self, id: &str) -> Option<String> {
        let ids: Vec<&str> = self.listed().map(|item| item.queued.id.as_str()).collect();
        let at = ids.iter().position(|other| *other == id)?;
        let next = ids.get(at + 1).or_else(|| ids.get(at.checked_sub(1)?));
        next.map(|id| (*id).to_owned())
    }
}

fn contains(queued: &QueuedQuestion, wanted: &str) -> bool {
    let question = &queued.question;
    let texts = [&question.summary, &question.host, &question.cwd, &question.reason, &queued.session];
    wanted.is_empty() || texts.into_iter().any(|text| text.to_lowercase().contains(wanted))
}
