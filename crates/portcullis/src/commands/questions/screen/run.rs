//! The full screen in a terminal: reads keys, draws, and lets threads talk to the daemon.
//!
//! ```text
//! keys ─────────────► ScreenState ─► frame
//! feed thread ─ QueueNews ─►  │
//! answer thread ◄─ ScreenAction ─┘   one at a time, in order
//! ```

use std::collections::BTreeMap;
use std::io::stdout;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind};
use ratatui::crossterm::execute;

use super::super::held_run::RunAnswer;
use super::super::queue_client::QueueClient;
use super::super::wire::QueuedQuestion;
use super::super::{held_run, outcome_text, wire};
use super::palette::Palette;
use super::state::{QueueNews, ScreenAction, ScreenState};
use super::view::draw;
use crate::commands::answer::person::require_presence;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::clock::now_ms;
use portcullis_gate::daemon_client::Role;
use portcullis_store::audit::{Entry, SpanEntry};

/// How long to wait for a key before news are looked at.
const TICK: Duration = Duration::from_millis(100);

/// How often the daemon is asked what waits.
const POLL: Duration = Duration::from_millis(500);

/// Held changes are looked for at every so many polls.
const RUN_LOOKS: usize = 4;

/// So many questions make the daemon be asked half as often, because all of them are told every time.
const MANY: usize = 250;

/// The most questions that are listed.
const MOST: u64 = 1_000;

/// Runs the full screen until the person ends it.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    // Whoever has no daemon is told so in plain text, not on a screen that goes away.
    drop(QueueClient::open(Role::Person)?);
    let (to_screen, news) = channel();
    let (to_answers, actions) = channel();
    stop_on_signal(to_screen.clone())?;
    let feed = to_screen.clone();
    start("questions-feed", move || follow(&ThreadReporter(feed)))?;
    start("questions-answers", move || serve(&actions, &ThreadReporter(to_screen)))?;
    let is_coloured = AutoStream::choice(&stdout()) != ColorChoice::Never;
    let mut screen = QuestionScreen::open()?;
    screen.show(&news, &to_answers, Palette { is_coloured })?;
    Ok(ExitCode::Success)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(|error| Failure::internal(format!("a thread could not be started: {error}")))
}

/// Tells the screen what a thread has to say, and that the thread is gone should it panic.
struct ThreadReporter(Sender<QueueNews>);

impl ThreadReporter {
    /// Tells something; false if nobody listens any more.
    fn tell(&self, news: QueueNews) -> bool {
        self.0.send(news).is_ok()
    }
}

impl Drop for ThreadReporter {
    fn drop(&mut self) {
        if thread::panicking() {
            self.tell(QueueNews::Broken);
        }
    }
}

/// The terminal, which is given back as it was however this ends.
struct QuestionScreen {
    terminal: DefaultTerminal,
}

impl QuestionScreen {
    fn open() -> Result<Self, Failure> {
        let opened = ratatui::try_init();
        let terminal = opened.map_err(|error| {
            ratatui::restore();
            unusable(&error)
        })?;
        let screen = Self { terminal };
        // Pasted text must not count as keys that answer.
        execute!(stdout(), EnableBracketedPaste).map_err(|error| unusable(&error))?;
        Ok(screen)
    }

    fn show(
        &mut self,
        news: &Receiver<QueueNews>,
        queue: &Sender<ScreenAction>,
        palette: Palette,
    ) -> Result<(), Failure> {
        let mut state = ScreenState::default();
        loop {
            let heard: Vec<QueueNews> = news.try_iter().collect();
            let mut actions: Vec<ScreenAction> =
                heard.into_iter().filter_map(|news| state.hear(news)).collect();
            actions.extend(state.unread());
            state.now_ms = now_ms();
            let mut most_scroll = 0;
            let drawn = self.terminal.draw(|frame| {
                state.resize(frame.area().width);
                most_scroll = draw(frame, &state, palette);
            });
            drawn.map_err(|error| unusable(&error))?;
            state.drawn(now_ms(), most_scroll);
            // One key a frame: what it answers was on the screen when it is taken.
            if event::poll(TICK).map_err(|error| unusable(&error))? {
                match event::read().map_err(|error| unusable(&error))? {
                    Event::Key(key) if key.kind == KeyEventKind::Press => {
                        state.now_ms = now_ms();
                        actions.extend(state.press(key));
                    }
                    Event::Paste(text) => state.paste(&text),
                    _ => {}
                }
            }
            for action in actions {
                match action {
                    ScreenAction::Quit => return Ok(()),
                    ScreenAction::Abort => return Err(broken()),
                    action => queue.send(action).map_err(|_| broken())?,
                }
            }
        }
    }
}

impl Drop for QuestionScreen {
    fn drop(&mut self) {
        // There is nowhere left to say that it failed.
        let _ = execute!(stdout(), DisableBracketedPaste);
        ratatui::restore();
    }
}

fn broken() -> Failure {
    Failure::internal("a part of the full screen failed").with_hint("questions go on waiting: open it again")
}

fn unusable(error: &std::io::Error) -> Failure {
    Failure::internal(format!("the terminal could not be used: {error}"))
        .with_hint("`portcullis questions list` and `allow` work without a full screen")
}

/// Tells the screen what waits, again and again. A daemon that went away is looked for until it is back.
fn follow(screen: &ThreadReporter) {
    let mut runs = RunFeed::default();
    loop {
        let heard = QueueClient::open(Role::Read).and_then(|queue| queue.list("open", MOST));
        let (news, pause) = match heard {
            Ok(listed) => {
                let mut open = wire::parse_questions(&listed);
                let slower = u32::try_from(open.len() / MANY).unwrap_or(0);
                open.extend(runs.look());
                (QueueNews::Open(open), POLL * slower.saturating_add(1))
            }
            Err(failure) => (QueueNews::Lost(failure.message), POLL),
        };
        if !screen.tell(news) {
            return;
        }
        thread::sleep(pause);
    }
}

/// What fenced commands changed and nobody has answered, as questions.
#[derive(Default)]
struct RunFeed {
    /// The questions, by the id of the run and how many of its changes wait.
    known: BTreeMap<(String, usize), QueuedQuestion>,
    looks: usize,
}

impl RunFeed {
    /// Looks what waits, and not every time: the disk is read for it.
    fn look(&mut self) -> Vec<QueuedQuestion> {
        let is_due = self.looks.is_multiple_of(RUN_LOOKS);
        self.looks = self.looks.wrapping_add(1);
        if is_due && let Ok(runs) = held_run::held_runs().and_then(|runs| runs.list()) {
            let mut known = BTreeMap::new();
            for run in &runs {
                let key = (run.id.clone(), run.changes.len());
                let question = self.known.remove(&key).map_or_else(|| held_run::question(run), Ok);
                known.extend(question.ok().map(|question| (key, question)));
            }
            self.known = known;
        }
        self.known.values().cloned().collect()
    }
}

/// Does what the screen wants of the daemon, and of the runs on this machine.
fn serve(actions: &Receiver<ScreenAction>, screen: &ThreadReporter) {
    for action in actions {
        let news = match action {
            ScreenAction::Answer(id, answer) => {
                let answered = QueueClient::open(Role::Person).and_then(|queue| queue.answer(&id, &answer));
                let said = answered.map_err(|failure| failure.message).map(|value| {
                    wire::parse_question(&value)
                        .map_or_else(|| "answered".to_owned(), |one| outcome_text(&one))
                });
                QueueNews::Answered(id, said)
            }
            ScreenAction::AnswerRun(id, answer) => {
                let present = if answer == RunAnswer::Drop { Ok(()) } else { require_presence() };
                let said = present.and_then(|()| held_run::answer(&id, &answer));
                QueueNews::Answered(id, said.map_err(|failure| failure.message))
            }
            ScreenAction::LookUp(id) => {
                let found = QueueClient::open(Role::Read).and_then(|queue| queue.get(&id));
                let Some(queued) = found.ok().flatten().as_ref().and_then(wire::parse_question) else {
                    continue;
                };
                QueueNews::One(Box::new(queued))
            }
            ScreenAction::FindWords(id, question) => QueueNews::Words(id, deciding_words(&question)),
            ScreenAction::Quit | ScreenAction::Abort => return,
        };
        if !screen.tell(news) {
            return;
        }
    }
}

/// Ends the screen in order where the process is told to end.
fn stop_on_signal(screen: Sender<QueueNews>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::internal(format!("signals cannot be waited for: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    start("questions-signals", move || {
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut ends), Ok(mut hangs_up)) =
                (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
            else {
                return;
            };
            tokio::select! {
                _ = ends.recv() => {}
                _ = hangs_up.recv() => {}
            }
            let _ = screen.send(QueueNews::Stop);
        });
    })
}

/// Returns where the words stand in the command that decided, as byte ranges that were recorded with the question; none
/// if that was not recorded.
fn deciding_words(entry: &Entry) -> Vec<Range<usize>> {
    let range = |SpanEntry(start, end): &SpanEntry| *start as usize..*end as usize;
    entry.spans.iter().map(range).collect()
}
