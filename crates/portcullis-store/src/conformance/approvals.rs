//! Approvals.

use std::collections::BTreeSet;

use super::CheckResult;
use super::sample::{START, answer, asked, at_once, entry, question, several};
use crate::approvals::{AnswerOutcome, ApprovalFilter, ApprovalState, ExplanationEntry, NewApprovalRequest};
use crate::audit::Entry;
use crate::{Store, StoreError};

const ALL: ApprovalFilter = ApprovalFilter { state: None, session: None, most: 1_000 };

fn open_ones() -> ApprovalFilter {
    ApprovalFilter { state: Some(ApprovalState::Open), ..ALL }
}

pub(super) fn a_question_is_put_once(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let new = question(&store, "q1", "s/1", "make", START)?;
    let put = store.backend().open_approval(&new)?;
    assert_eq!((put.state, put.is_applied, put.answer.as_ref()), (ApprovalState::Open, false, None));
    assert_eq!((put.session.as_str(), &put.denial), (store.session("s/1").name(), &new.call.id));
    assert_eq!(open().backend().open_approval(&new)?, put, "asking again is another question");
    let other_id = NewApprovalRequest { id: "q2".to_owned(), created_at_ms: START + 1, ..new.clone() };
    assert_eq!(open().backend().open_approval(&other_id)?, put, "a call waits twice");
    let taken = NewApprovalRequest { call: asked(&store, "s/1", "other", START)?, ..new.clone() };
    let refused = store.backend().open_approval(&taken);
    assert_eq!(refused, Err(StoreError::TakenId { id: "q1".to_owned() }));
    for wrong in ["", "../x", "a b", &"x".repeat(65)] {
        let wrong = NewApprovalRequest { id: wrong.to_owned(), ..new.clone() };
        assert!(store.backend().open_approval(&wrong).is_err(), "{}", wrong.id);
    }
    let at_same_time = at_once(&several(open, 6), |number, store| {
        let new = question(store, &format!("many-{number}"), "s/1", "many", START)?;
        store.backend().open_approval(&new).map(|put| put.id)
    })?;
    assert_eq!(at_same_time.into_iter().collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(store.backend().approvals(&ALL)?.len(), 2);
    assert_eq!(store.backend().approval("q1")?, Some(put));
    assert_eq!(store.backend().approval("nothing")?, None);
    Ok(())
}

pub(super) fn a_question_is_kept_without_secrets(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut new = question(&store, "q1", "one", "make", START)?;
    new.question = Entry { input: format!(r#"{{"command":"GITHUB_TOKEN={secret} make"}}"#), ..entry(0) };
    new.call.summary = format!("GITHUB_TOKEN={secret} make");
    let explanation = format!("it runs make with GITHUB_TOKEN={secret}");
    let [reasoning, risk, level] = ["", "", "LOW"].map(str::to_owned);
    new.explanation = Some(ExplanationEntry { explanation, reasoning, risk, level });
    store.backend().open_approval(&new)?;
    let kept = format!("{:?}", open().backend().approval("q1")?);
    assert!(kept.contains("it runs make") && !kept.contains(secret), "{kept}");
    Ok(())
}

pub(super) fn the_first_of_many_answers_counts(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let put = store.backend().open_approval(&question(&store, "q1", "one", "make", START)?)?;
    let answered = at_once(&several(open, 8), |number, store| {
        let said = answer(number % 2 == 0, &number.to_string(), START + 1);
        store.backend().answer_approval("q1", &said)
    })?;
    let mut first = Vec::new();
    for one in &answered {
        match one {
            AnswerOutcome::First(approval) => first.push(approval.clone()),
            AnswerOutcome::Late(approval) => assert!(approval.answer.is_some(), "it was late for nothing"),
            AnswerOutcome::Unknown => return Err("it is not known".into()),
        }
    }
    let [winner] = first.as_slice() else { return Err(format!("{} were first", first.len()).into()) };
    assert_eq!(open().backend().approval("q1")?.as_ref(), Some(winner.as_ref()));
    assert!(winner.sequence > put.sequence, "an answer is no change");
    let state = winner.answer.as_ref().map(|answer| answer.is_allowed);
    assert_eq!(state, Some(winner.state == ApprovalState::Allowed));
    for one in answered {
        if let AnswerOutcome::Late(seen) = one {
            assert_eq!(seen.answer, winner.answer, "somebody was told of another answer");
        }
    }
    assert_eq!(store.backend().answer_approval("q2", &answer(true, "a", START))?, AnswerOutcome::Unknown);
    Ok(())
}

pub(super) fn what_nobody_answered_in_time_is_over(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let backend = store.backend();
    for (number, command) in (0_u64..).zip(["a", "b", "c"]) {
        backend.open_approval(&question(&store, &format!("q{number}"), "one", command, START + number)?)?;
    }
    let late = backend.answer_approval("q0", &answer(true, "a", START + 60_000))?;
    let AnswerOutcome::Late(late) = late else { return Err("an answer came after the time".into()) };
    assert_eq!((late.state, late.answer), (ApprovalState::Expired, None));
    assert_eq!(backend.expire_approvals(START + 60_001)?, 1);
    assert_eq!(backend.expire_approvals(START + 60_001)?, 0);
    let states: Vec<_> = backend.approvals(&ALL)?.into_iter().map(|one| one.state).collect();
    assert_eq!(states, [ApprovalState::Open, ApprovalState::Expired, ApprovalState::Expired]);
    assert_eq!(backend.unapplied()?, []);
    let again = question(&store, "again", "one", "c", START + 60_002)?;
    assert_eq!(backend.open_approval(&again)?.id, "again", "one whose time is over still waits");
    assert_eq!(open().backend().approval("q2")?.map(|one| one.state), Some(ApprovalState::Expired));
    Ok(())
}

pub(super) fn an_answer_is_applied_once_however_late(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    for (id, command, is_allowed) in [("q1", "a", true), ("q2", "b", false), ("q3", "c", true)] {
        store.backend().open_approval(&question(&store, id, "one", command, START)?)?;
        store.backend().answer_approval(id, &answer(is_allowed, "a", START + 1))?;
    }
    drop(store);
    let store = open();
    let waiting: Vec<_> = store.backend().unapplied()?.into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, ["q1", "q2", "q3"]);
    store.backend().mark_applied("q2")?;
    let marked = store.backend().approval("q2")?.ok_or("it is gone")?;
    store.backend().mark_applied("q2")?;
    assert_eq!(store.backend().approval("q2")?, Some(marked.clone()), "it was done twice");
    assert!(marked.is_applied);
    let waiting: Vec<_> = open().backend().unapplied()?.into_iter().map(|one| one.id).collect();
    assert_eq!(waiting, ["q1", "q3"]);
    Ok(())
}

pub(super) fn approvals_are_listed_in_order(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    for number in 0..10_u64 {
        let session = if number % 2 == 0 { "s/1" } else { "s2" };
        let new =
            question(&store, &format!("q{number}"), session, &format!("make {number}"), START + number)?;
        store.backend().open_approval(&new)?;
    }
    store.backend().answer_approval("q3", &answer(true, "a", START + 20))?;
    let listed = |filter: ApprovalFilter| -> Result<Vec<String>, StoreError> {
        Ok(open().backend().approvals(&filter)?.into_iter().map(|one| one.id).collect())
    };
    assert_eq!(listed(ApprovalFilter { most: 4, ..open_ones() })?, ["q0", "q1", "q2", "q4"]);
    assert_eq!(open().backend().open_approval_ids(4)?, ["q0", "q1", "q2", "q4"]);
    assert_eq!(listed(ApprovalFilter { most: 2, ..ALL })?, ["q9", "q8"]);
    assert_eq!(listed(ApprovalFilter { state: Some(ApprovalState::Allowed), ..ALL })?, ["q3"]);
    let name = store.session("s/1").name().to_owned();
    for session in ["s/1".to_owned(), name] {
        let of_session = ApprovalFilter { session: Some(session), ..open_ones() };
        assert_eq!(listed(of_session)?, ["q0", "q2", "q4", "q6", "q8"]);
    }
    Ok(())
}

pub(super) fn every_change_has_a_number_of_its_own(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let backend = store.backend();
    let mut seen = Vec::new();
    for (id, command) in [("q1", "a"), ("q2", "b"), ("q3", "c")] {
        seen.push(backend.open_approval(&question(&store, id, "one", command, START)?)?.sequence);
    }
    backend.answer_approval("q1", &answer(true, "a", START + 1))?;
    seen.extend(backend.approval("q1")?.map(|one| one.sequence));
    backend.mark_applied("q1")?;
    seen.extend(backend.approval("q1")?.map(|one| one.sequence));
    let third = seen.get(2).copied().unwrap_or_default();
    let changed: Vec<_> = backend.approvals_after(third, 10)?.into_iter().map(|one| one.id).collect();
    assert_eq!(changed, ["q1"]);
    assert_eq!(backend.expire_approvals(START + 60_000)?, 2);
    let last = backend.approvals_after(0, 10)?;
    assert_eq!(last.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["q1", "q2", "q3"]);
    assert_eq!(backend.approvals_after(0, 1)?.len(), 1);
    seen.extend(last.iter().skip(1).map(|one| one.sequence));
    assert_eq!(backend.prune_approvals(START + 1_000_000)?, 3);
    let after = open();
    seen.push(after.backend().open_approval(&question(&store, "q4", "one", "d", START)?)?.sequence);
    assert!(seen.is_sorted_by(|left, right| left < right), "a number was used twice: {seen:?}");
    Ok(())
}

pub(super) fn only_what_has_ended_is_removed(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let backend = store.backend();
    for (id, command) in [("open", "a"), ("answered", "b"), ("done", "c"), ("late", "d")] {
        let mut new = question(&store, id, "one", command, START)?;
        new.expires_at_ms = if id == "late" { START + 10 } else { START + 1_000_000 };
        backend.open_approval(&new)?;
    }
    for id in ["answered", "done"] {
        backend.answer_approval(id, &answer(true, "a", START + 1))?;
    }
    backend.mark_applied("done")?;
    backend.expire_approvals(START + 10)?;
    assert_eq!(backend.prune_approvals(START + 1)?, 0);
    assert_eq!(backend.prune_approvals(START + 100)?, 2);
    let left: BTreeSet<_> = open().backend().approvals(&ALL)?.into_iter().map(|one| one.id).collect();
    assert_eq!(left, ["answered", "open"].map(str::to_owned).into());
    Ok(())
}
