//! Facts of a session, and questions that nobody could be asked.
#![cfg(test)]

use std::fs;
use std::time::Duration;

use portcullis_store::audit::SuggestionEntry;
use portcullis_store::{DenialKind, NewDenial, SessionFactLog, Store, TakenApproval};
use pretty_assertions::assert_eq;

const INPUT: &str = r#"{"command":"make deploy"}"#;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("state")).with_patience(Duration::from_mins(10));
    (directory, store)
}

fn call(kind: DenialKind) -> NewDenial {
    NewDenial {
        tool: "Bash".to_owned(),
        input_json: INPUT.to_owned(),
        cwd: "/code/app".to_owned(),
        summary: "Bash: make deploy".to_owned(),
        reason: "it needs a person".to_owned(),
        kind,
        code: String::new(),
        retryable: true,
    }
}

fn say(sentence: &str) -> impl Fn(&mut SessionFactLog) -> bool {
    move |facts| {
        facts.boundaries.push(sentence.to_owned());
        true
    }
}

#[test]
fn what_changes_nothing_locks_and_writes_nothing() {
    let (_directory, store) = store();
    store.session("s").update_facts(|_| false, 1).unwrap();
    assert_eq!(store.session("s").facts().unwrap(), SessionFactLog::default());
    assert!(!store.root().exists());
}

#[test]
fn facts_of_a_session_outlive_a_process_and_are_its_own() {
    let (_directory, store) = store();
    store.session("s").update_facts(say("don't push"), 5).unwrap();
    let facts = store.session("s").facts().unwrap();
    assert_eq!((facts.boundaries, facts.changed_at_ms), (vec!["don't push".to_owned()], 5));
    assert_eq!(store.session("t").facts().unwrap(), SessionFactLog::default());
    let folder = store.root().join("sessions");
    fs::copy(folder.join("s.facts.json"), folder.join("t.facts.json")).unwrap();
    assert!(store.session("t").facts().unwrap_err().to_string().contains("another session"));
    fs::write(folder.join("s.facts.json"), "{").unwrap();
    assert!(store.session("s").facts().is_err(), "what the user forbade is not taken for nothing");
    assert!(store.session("s").update_facts(say("x"), 6).is_err());
}

#[test]
fn many_at_once_lose_nothing() {
    let (_directory, store) = store();
    std::thread::scope(|scope| {
        for number in 0..20 {
            let store = &store;
            scope.spawn(move || store.session("s").update_facts(say(&number.to_string()), 1).unwrap());
        }
    });
    assert_eq!(store.session("s").facts().unwrap().boundaries.len(), 20);
}

#[test]
fn written_files_are_kept_once_and_not_without_end() {
    let mut facts = SessionFactLog::default();
    assert!(facts.write("/a") && !facts.write("/a"));
    for number in 1..200 {
        facts.write(&format!("/{number}"));
    }
    assert!(!facts.is_partial, "all of them are there");
    // An agent that writes one more must not have its first taken for the project's.
    assert!(facts.write("/200") && facts.is_partial);
    assert_eq!((facts.written.len(), facts.written[199].as_str()), (200, "/200"));

    let (mut facts, long) = (SessionFactLog::default(), "x".repeat(2_000));
    assert!(facts.write(&long) && facts.is_partial && facts.written.is_empty());
    assert!(!facts.write(&long), "that is known already");
}

#[test]
fn old_facts_are_forgotten_with_their_session() {
    let (_directory, store) = store();
    store.session("old").update_facts(say("don't push"), 1_000).unwrap();
    store.session("new").update_facts(say("don't push"), 5_000).unwrap();
    store.session("both").record_denial(&call(DenialKind::Classifier), 1_000).unwrap();
    store.session("both").update_facts(say("don't push"), 5_000).unwrap();
    assert_eq!(store.forget_old_sessions(6_000, 3_000).unwrap().sessions, 1);
    assert_eq!(store.session("old").facts().unwrap(), SessionFactLog::default());
    assert_eq!(store.session("new").facts().unwrap().boundaries.len(), 1);
    assert_eq!(store.session("both").denials().unwrap().in_total, 1);
}

#[test]
fn a_question_counts_as_no_denial_and_is_kept_once() {
    let (_directory, store) = store();
    let session = store.session("s");
    let rules = [SuggestionEntry { behavior: "allow".to_owned(), rule: "Bash(make *)".to_owned() }];
    let id = session.record_question(&call(DenialKind::Asked), &rules, 1).unwrap();
    assert_eq!(session.record_question(&call(DenialKind::Asked), &rules, 2).unwrap(), id);
    assert_eq!(session.denials().unwrap().in_total, 0);
    let recent = store.recently_denied(10, 1).unwrap().calls;
    assert_eq!(recent.len(), 1);
    assert_eq!((recent[0].1.at_ms, recent[0].1.suggestions.as_slice()), (2, rules.as_slice()));
}

#[test]
fn an_answer_is_taken_once_and_a_lifted_judgement_is_no_answer() {
    let (_directory, store) = store();
    let session = store.session("s");
    let take = |needs_answer| session.take_answer(("Bash", INPUT, "/code/app"), needs_answer, 20).unwrap();
    let judged = session.record_denial(&call(DenialKind::Classifier), 1).unwrap().id;
    session.approve(&judged, 10, 100).unwrap();
    assert_eq!(take(true), None, "it lifts no question");
    let asked = session.record_question(&call(DenialKind::Asked), &[], 2).unwrap();
    session.approve(&asked, 10, 100).unwrap();
    assert_eq!(take(true), Some(TakenApproval { id: asked, is_answer: true }));
    assert_eq!(take(true), None);
    assert_eq!(take(false), Some(TakenApproval { id: judged, is_answer: false }));
}
