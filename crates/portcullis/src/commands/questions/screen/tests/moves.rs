//! What keys and news do.

use portcullis_store::{AnswerScope, ApprovalAnswer};
use pretty_assertions::assert_eq;

use super::super::super::held_run::RunAnswer;
use super::super::super::queue_client::QuestionAnswer;
use super::super::dialog::ScreenDialog;
use super::super::state::{AnswerStage, QueueLink};
use super::*;

fn three() -> Vec<QueuedQuestion> {
    vec![asked("id1", "git push"), asked("id2", "make install"), asked("id3", "npm publish")]
}

fn current(state: &ScreenState) -> &str {
    state.current().map_or("", |item| &item.queued.id)
}

fn answer(id: &str, answer: QuestionAnswer) -> ScreenAction {
    ScreenAction::Answer(id.into(), answer)
}

#[test]
fn keys_answer_the_question_below_the_cursor_by_its_id() {
    let once = QuestionAnswer::allow(AnswerScope::Once, None);
    let rule = |scope, rule: &str| QuestionAnswer::allow(scope, Some(rule.into()));
    let table = [
        ("a", Some(answer("id1", once.clone()))),
        ("d", Some(answer("id1", QuestionAnswer::deny(None)))),
        ("jja", Some(answer("id3", once.clone()))),
        ("Gka", Some(answer("id2", once.clone()))),
        ("Gga", Some(answer("id1", once))),
        ("ms⏎", Some(answer("id1", QuestionAnswer::deny(Some("s".into()))))),
        ("mno, wait⌫⌫⌫⌫⌫⌫!⏎", Some(answer("id1", QuestionAnswer::deny(Some("no!".into()))))),
        ("m ⏎", Some(answer("id1", QuestionAnswer::deny(None)))),
        ("s⏎", Some(answer("id1", rule(AnswerScope::Session, "Bash(git push *)")))),
        ("A↓↓↓⏎", Some(answer("id1", rule(AnswerScope::Always, "Bash(git *)")))),
        ("s↓↑⏎", Some(answer("id1", rule(AnswerScope::Session, "Bash(git push *)")))),
        ("se⌫⌫⌫)⏎", Some(answer("id1", rule(AnswerScope::Session, "Bash(git push)")))),
        ("s⎋", None),
        ("mx⎋", None),
        ("?a", None),
        ("x", None),
        ("q", Some(ScreenAction::Quit)),
    ];
    for (keys, expected) in table {
        assert_eq!(press(&mut screen(120, three()), keys), expected, "{keys}");
    }
}

/// The changes of a run are kept or dropped; no rule, no message and no session has a say there.
#[test]
fn keys_keep_and_drop_held_changes() {
    let keep = |paths: &[&str]| RunAnswer::Keep(paths.iter().map(std::path::PathBuf::from).collect());
    let said = |answer| Some(ScreenAction::AnswerRun("id1".into(), answer));
    let table = [
        ("a", said(keep(&[]))),
        ("d", said(RunAnswer::Drop)),
        ("psrc a.md⏎", said(keep(&["src", "a.md"]))),
        ("p ⏎", None),
        ("p⎋", None),
        ("s", None),
        ("A", None),
        ("m", None),
        ("jp", None),
    ];
    for (keys, expected) in table {
        let run = QueuedQuestion { is_held_run: true, ..asked("id1", "make") };
        let mut state = screen(120, vec![run, asked("id2", "make install")]);
        assert_eq!(press(&mut state, keys), expected, "{keys}");
    }
    // A run that somebody else answered is not looked up at the daemon, which knows nothing of it.
    let run = QueuedQuestion { is_held_run: true, ..asked("id1", "make") };
    let mut state = screen(120, vec![run]);
    assert_eq!(state.hear(QueueNews::Open(Vec::new())), None);
    assert!(matches!(state.current().unwrap().stage, AnswerStage::Ended(_)));
    assert_eq!(press(&mut state, "a"), None);
}

#[test]
fn a_question_without_suggestions_takes_a_rule_that_is_typed() {
    let mut asked = asked("id1", "make");
    asked.question.suggestions.clear();
    let mut state = screen(120, vec![asked]);
    assert_eq!(press(&mut state, "A⏎⏎"), None, "an empty rule is none");
    let rule = QuestionAnswer::allow(AnswerScope::Always, Some("Bash(make *)".into()));
    assert_eq!(press(&mut state, "Bash(make *)⏎"), Some(answer("id1", rule)));
}

#[test]
fn nothing_is_answered_that_was_not_on_the_screen() {
    let mut state = ScreenState::default();
    state.resize(120);
    state.hear(QueueNews::Open(three()));
    let key = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
    assert_eq!(state.press(key), None, "no frame was drawn");
    state.drawn(NOW, 0);
    assert_eq!(state.press(key), None, "nobody reads that fast");
    assert!(state.notice.contains("look at it"), "{}", state.notice);
    state.drawn(NOW + 499, 0);
    assert_eq!(state.press(key), None);
    state.drawn(NOW + 500, 0);
    assert!(state.press(key).is_some());
    // A person who moved knows where to; one frame is enough.
    let mut state = screen(120, three());
    let down = KeyEvent::new(KeyCode::Down, KeyModifiers::NONE);
    assert_eq!((state.press(down), state.press(key)), (None, None), "it was not drawn yet");
    state.drawn(NOW + 1_000, 0);
    assert!(state.press(key).is_some());
}

#[test]
fn items_move_and_the_cursor_stays_on_its_question() {
    let mut state = screen(120, three());
    press(&mut state, "j");
    state.hear(QueueNews::Open(vec![asked("id0", "new"), asked("id2", "make install")]));
    assert_eq!(current(&state), "id2");
    assert_eq!(press(&mut state, "a"), Some(answer("id2", QuestionAnswer::allow(AnswerScope::Once, None))));
}

#[test]
fn a_question_that_somebody_else_answered_stays_below_the_cursor_and_takes_no_answer() {
    let mut state = screen(120, three());
    press(&mut state, "j");
    let left = vec![asked("id1", "git push"), asked("id3", "npm publish")];
    assert_eq!(state.hear(QueueNews::Open(left.clone())), Some(ScreenAction::LookUp("id2".into())));
    assert_eq!(state.hear(QueueNews::Open(left.clone())), None, "it is looked up once");
    assert_eq!(current(&state), "id2");
    assert_eq!(state.open_count(), 2);
    assert_eq!(press(&mut state, "a"), None);
    let mut ended = asked("id2", "make install");
    ended.state = ApprovalState::Denied;
    ended.answer = Some(ApprovalAnswer {
        is_allowed: false,
        scope: AnswerScope::Once,
        rule: None,
        message: Some("not\u{1b}[2J now".into()),
        by: "bob".into(),
        via: "web".into(),
        at_ms: NOW,
    });
    state.hear(QueueNews::One(Box::new(ended)));
    let how = state.current().map(|item| item.stage.clone());
    assert_eq!(how, Some(AnswerStage::Ended("denied by bob (web), once: not\\u{1b}[2J now".into())));
    press(&mut state, "j");
    assert_eq!(current(&state), "id3");
    state.hear(QueueNews::Open(left));
    assert_eq!(state.listed().count(), 2, "whoever moved on has seen it");
}

#[test]
fn an_answer_is_sent_once_and_the_cursor_goes_on_to_the_next() {
    let mut state = screen(120, three());
    assert!(press(&mut state, "a").is_some());
    assert_eq!(press(&mut state, "a"), None, "it is on its way");
    state.hear(QueueNews::Open(three()));
    assert_eq!(press(&mut state, "d"), None, "it still is");
    state.hear(QueueNews::Answered("id1".into(), Ok("allowed".into())));
    assert_eq!((current(&state), state.notice.as_str()), ("id2", "allowed"));
    assert_eq!(press(&mut state, "a"), None, "a second press is not meant for the next question");
    assert_eq!(state.open_count(), 2);
    press(&mut state, "G");
    state.hear(QueueNews::Answered("id3".into(), Ok("allowed".into())));
    assert_eq!(current(&state), "id2", "after the last comes the one before it");
    state.hear(QueueNews::Answered("id2".into(), Ok("allowed".into())));
    assert_eq!(current(&state), "");
    assert_eq!(press(&mut state, "a"), None);
}

#[test]
fn an_answer_that_failed_can_be_given_again() {
    let mut state = screen(120, three());
    press(&mut state, "a");
    state.hear(QueueNews::Answered("id1".into(), Err("somebody was faster".into())));
    assert_eq!(state.notice, "somebody was faster");
    assert!(press(&mut state, "a").is_some());
}

#[test]
fn a_message_reaches_the_question_it_was_begun_for() {
    let mut state = screen(120, three());
    press(&mut state, "mno");
    state.hear(QueueNews::Answered("id1".into(), Err("x".into())));
    state.hear(QueueNews::Open(vec![asked("id9", "other")]));
    assert_eq!(press(&mut state, "⏎"), None, "its question is gone");
    let mut state = screen(120, three());
    press(&mut state, "mno");
    state.hear(QueueNews::Open(vec![asked("id0", "new"), asked("id1", "git push")]));
    assert_eq!(press(&mut state, "⏎"), Some(answer("id1", QuestionAnswer::deny(Some("no".into())))));
}

#[test]
fn on_a_narrow_screen_a_question_is_read_before_it_is_allowed() {
    for key in ["a", "s", "A"] {
        let mut state = screen(40, three());
        assert_eq!(press(&mut state, key), None);
        assert!(state.is_reading && state.dialog.is_none(), "{key}");
        press(&mut state, key);
        let is_allowed = state.current().is_some_and(|item| item.stage == AnswerStage::Sending);
        assert!(is_allowed || state.dialog.is_some(), "{key}");
    }
    assert_eq!(press(&mut screen(40, three()), "d"), Some(answer("id1", QuestionAnswer::deny(None))));
    let mut state = screen(40, three());
    press(&mut state, "⏎");
    assert!(state.is_reading);
    press(&mut state, "⎋");
    assert!(!state.is_reading);
}

#[test]
fn a_filter_lists_what_contains_it() {
    let mut state = screen(120, three());
    press(&mut state, "/NPM");
    assert_eq!((state.listed().count(), current(&state)), (1, "id3"));
    press(&mut state, "⏎");
    assert_eq!((state.filter.as_str(), state.dialog.as_ref()), ("NPM", None));
    state.hear(QueueNews::Open(three()));
    assert_eq!(state.listed().count(), 1);
    press(&mut state, "⎋");
    assert_eq!(state.listed().count(), 3);
    press(&mut state, "/zzz");
    assert_eq!(current(&state), "");
    press(&mut state, "⎋");
    assert_eq!((state.listed().count(), current(&state)), (3, "id1"));
}

#[test]
fn what_is_pasted_answers_nothing() {
    let mut state = screen(120, three());
    state.paste("a");
    assert!(state.items_are_open());
    press(&mut state, "m");
    state.paste("line one\nand \u{1b}]0;two");
    let Some(ScreenDialog::Message(_, typed)) = &state.dialog else { panic!("{:?}", state.dialog) };
    assert_eq!(typed.text, "line oneand ]0;two");
    state.paste(&"x".repeat(5_000));
    let Some(ScreenDialog::Message(_, typed)) = &state.dialog else { panic!("{:?}", state.dialog) };
    assert_eq!(typed.text.chars().count(), 2_000);
}

#[test]
fn a_daemon_that_went_away_takes_nothing_off_the_screen() {
    let mut state = screen(120, three());
    state.hear(QueueNews::Lost("it does not run".into()));
    assert_eq!(state.link, QueueLink::Lost("it does not run".into()));
    assert_eq!(state.open_count(), 3);
    state.hear(QueueNews::Open(three()));
    assert_eq!(state.link, QueueLink::Connected);
    assert_eq!(state.hear(QueueNews::Stop), Some(ScreenAction::Quit));
    assert_eq!(state.hear(QueueNews::Broken), Some(ScreenAction::Abort));
}

#[test]
fn the_deciding_words_of_a_question_are_looked_for_once() {
    let mut state = screen(120, three());
    let Some(ScreenAction::FindWords(id, question)) = state.unread() else { panic!("nothing is looked for") };
    assert_eq!((id.as_str(), question.summary.as_str()), ("id1", "Bash: git push"));
    assert_eq!(state.unread(), None);
    state.hear(QueueNews::Words(id, vec![0..3, 4..8]));
    assert_eq!(state.current().map(|item| state.words(item).len()), Some(2));
    press(&mut state, "j");
    assert!(state.unread().is_some(), "another question, other words");
    state.hear(QueueNews::Open(vec![asked("id2", "make install")]));
    press(&mut state, "k");
    assert_eq!(state.current().map(|item| state.words(item).len()), Some(0));
}

#[test]
fn control_c_ends_it_everywhere() {
    let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for keys in ["", "m", "s", "/", "?"] {
        let mut state = screen(120, three());
        press(&mut state, keys);
        assert_eq!(state.press(key), Some(ScreenAction::Quit), "{keys}");
    }
}

impl ScreenState {
    fn items_are_open(&self) -> bool {
        self.listed().all(|item| item.stage == AnswerStage::Open)
    }
}
