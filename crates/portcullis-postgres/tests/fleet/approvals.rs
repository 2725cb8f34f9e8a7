//! Approvals that several daemons see and answer.

use std::thread;

use portcullis_store::{AnswerOutcome, AnswerScope, ApprovalAnswer, ApprovalState, StoreBackend as _};
use pretty_assertions::assert_eq;

use crate::sample::{START, connect, database, question, store};

fn answer(by: &str, is_allowed: bool) -> ApprovalAnswer {
    ApprovalAnswer {
        is_allowed,
        scope: AnswerScope::Once,
        rule: None,
        message: Some("nul \0 is no problem".to_owned()),
        by: by.to_owned(),
        via: "web".to_owned(),
        at_ms: START + 1_000,
    }
}

#[test]
fn of_two_daemons_that_answer_at_once_one_is_first() {
    let (_, url) = database();
    let (_directory, store) = store(&url);
    let fleets = [connect(&url), connect(&url)];
    for round in 0..20 {
        let id = format!("q{round}");
        store.backend().open_approval(&question(&store, "a-session", &id)).unwrap();
        let answers: Vec<AnswerOutcome> = thread::scope(|scope| {
            let ask = |(number, fleet)| {
                let id = &id;
                scope.spawn(move || fleet_answer(fleet, id, number))
            };
            let threads: Vec<_> = fleets.iter().chain(&fleets).enumerate().map(ask).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let first: Vec<_> =
            answers.iter().filter(|answer| matches!(answer, AnswerOutcome::First(_))).collect();
        assert_eq!(first.len(), 1, "{answers:?}");
        let [AnswerOutcome::First(winner)] = first.as_slice() else { panic!() };
        let kept = store.backend().approval(&id).unwrap().unwrap();
        assert_eq!(&kept, winner.as_ref());
        for late in answers.iter().filter(|answer| !matches!(answer, AnswerOutcome::First(_))) {
            assert_eq!(late, &AnswerOutcome::Late(winner.clone()));
        }
    }
}

fn fleet_answer(fleet: &portcullis_postgres::PostgresStore, id: &str, number: usize) -> AnswerOutcome {
    fleet.answer_approval(id, &answer(&format!("person-{number}"), number.is_multiple_of(2))).unwrap()
}

#[test]
fn a_daemon_that_asks_for_changes_misses_none() {
    let (_, url) = database();
    let (_directory, store) = store(&url);
    let questions: Vec<_> =
        (0..40).map(|number| question(&store, &format!("s{number}"), &format!("q{number}"))).collect();
    let fleets = [connect(&url), connect(&url)];
    let reader = connect(&url);
    let seen = thread::scope(|scope| {
        for (place, fleet) in fleets.iter().enumerate() {
            let questions = &questions;
            scope.spawn(move || {
                for new in questions.iter().skip(place).step_by(2) {
                    fleet.open_approval(new).unwrap();
                    fleet.answer_approval(&new.id, &answer("me", true)).unwrap();
                    fleet.mark_applied(&new.id).unwrap();
                }
            });
        }
        let mut sequence = 0;
        let mut seen = Vec::new();
        while seen.iter().filter(|(_, is_applied)| *is_applied).count() < 40 {
            for changed in reader.approvals_after(sequence, 5).unwrap() {
                assert!(changed.sequence > sequence);
                sequence = changed.sequence;
                seen.push((changed.id, changed.is_applied));
            }
        }
        seen
    });
    for new in &questions {
        assert!(seen.contains(&(new.id.clone(), true)), "{}", new.id);
    }
    assert_eq!(reader.unapplied().unwrap(), []);
}

#[test]
fn what_is_late_ends_and_what_is_not_done_stays() {
    let (_, url) = database();
    let (_directory, store) = store(&url);
    let backend = store.backend();
    for number in 0..5 {
        backend.open_approval(&question(&store, "s", &format!("q{number}"))).unwrap();
    }
    backend.answer_approval("q0", &answer("me", true)).unwrap();
    assert_eq!(backend.expire_approvals(START + 59_999).unwrap(), 0);
    assert_eq!(backend.expire_approvals(START + 60_000).unwrap(), 4);
    assert_eq!(backend.expire_approvals(START + 60_000).unwrap(), 0);
    let changed = backend.approvals_after(6, 100).unwrap();
    let numbers: Vec<u64> = changed.iter().map(|approval| approval.sequence).collect();
    assert_eq!(numbers, [7, 8, 9, 10]);
    assert!(changed.iter().all(|approval| approval.state == ApprovalState::Expired));
    let AnswerOutcome::Late(late) = backend.answer_approval("q1", &answer("me", true)).unwrap() else {
        panic!()
    };
    assert_eq!((late.state, late.answer), (ApprovalState::Expired, None));
    assert_eq!(backend.answer_approval("never\0", &answer("me", true)).unwrap(), AnswerOutcome::Unknown);
    assert_eq!(backend.unapplied().unwrap().len(), 1);
    assert_eq!(backend.prune_approvals(START + 1_000_000).unwrap(), 4);
    backend.mark_applied("q0").unwrap();
    assert_eq!(backend.prune_approvals(START + 1_000_000).unwrap(), 1);
}
