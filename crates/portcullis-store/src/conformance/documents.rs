//! Sessions: denials, approvals, facts.

use std::collections::BTreeSet;

use super::CheckResult;
use super::sample::{START, asked, at_once, denial, several};
use crate::backend::{DocumentChange, DocumentKey};
use crate::{Store, StoreError};

pub(super) fn denials_of_many_at_once_are_all_counted(open: &dyn Fn() -> Store) -> CheckResult {
    let stores = several(open, 4);
    let ids = at_once(&stores, |number, store| {
        let session = store.session("one");
        (0..4)
            .map(|turn| session.record_denial(&denial(&format!("{number} {turn}")), START).map(|one| one.id))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let ids: BTreeSet<String> = ids.into_iter().flatten().collect();
    assert_eq!(ids.len(), 16, "an id was given twice");
    assert_eq!(open().session("one").denials()?.in_total, 16);
    open().session("one").record_allow()?;
    assert_eq!(open().session("one").denials()?.in_a_row, 0);
    Ok(())
}

pub(super) fn an_approval_is_taken_by_one_of_many(open: &dyn Fn() -> Store) -> CheckResult {
    let id = asked(&open(), "s/1", "make", START)?.id;
    open().session("s/1").approve(&id, START, 60_000)?;
    let taken = at_once(&several(open, 6), |_, store| {
        store.session("s/1").take_approval("Bash", &denial("make").input_json, "/code/app", START + 1)
    })?;
    assert_eq!(taken.iter().flatten().collect::<Vec<_>>(), [&id]);
    let other =
        open().session("s/2").take_approval("Bash", &denial("make").input_json, "/code/app", START + 1)?;
    assert_eq!(other, None);
    Ok(())
}

pub(super) fn an_answer_is_applied_to_a_call_that_the_session_forgot(
    open: &dyn Fn() -> Store,
) -> CheckResult {
    let store = open();
    let call = asked(&store, "one", "make", START)?;
    for number in 0..60 {
        store.session("one").record_denial(&denial(&format!("other {number}")), START + 1)?;
    }
    assert_eq!(store.session("one").denied(&call.id)?, None);
    store.session("one").approve_question(&call, START + 2, 60_000)?;
    let sought = ("Bash", denial("make").input_json, "/code/app");
    let taken = open().session("one").take_answer((sought.0, &sought.1, sought.2), true, START + 3)?;
    assert_eq!(taken.map(|taken| (taken.id, taken.is_answer)), Some((call.id.clone(), true)));
    let strange = store.session("two").approve_question(&call, START + 2, 60_000);
    assert!(matches!(strange, Err(StoreError::UnknownDenial { .. })), "{strange:?}");
    Ok(())
}

pub(super) fn an_answer_that_is_applied_again_gives_nothing_more(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    let call = asked(&store, "one", "make", START)?;
    let take =
        |now_ms| open().session("one").take_approval("Bash", &denial("make").input_json, "/code/app", now_ms);
    store.session("one").approve_question(&call, START + 2, 60_000)?;
    store.session("one").approve_question(&call, START + 2, 60_000)?;
    assert_eq!(take(START + 3)?, Some(call.id.clone()));
    open().session("one").approve_question(&call, START + 2, 60_000)?;
    assert_eq!(take(START + 4)?, None, "one answer let a call run twice");
    open().session("one").approve_question(&call, START + 5, 60_000)?;
    assert_eq!(take(START + 6)?, Some(call.id));
    Ok(())
}

pub(super) fn facts_of_many_at_once_are_all_kept(open: &dyn Fn() -> Store) -> CheckResult {
    at_once(&several(open, 4), |number, store| {
        (0..8).try_for_each(|turn| {
            let path = format!("/code/{number}/{turn}");
            store.session("one").update_facts(|facts| facts.write(&path), START)
        })
    })?;
    let facts = open().session("one").facts()?;
    assert_eq!((facts.written.len(), facts.is_partial), (32, false));
    assert_eq!(open().session("two").facts()?.written.len(), 0);
    Ok(())
}

pub(super) fn a_change_that_fails_changes_nothing(open: &dyn Fn() -> Store) -> CheckResult {
    let (store, key) = (open(), DocumentKey::Session("raw".to_owned()));
    let backend = store.backend();
    assert_eq!(backend.read(&key, 100)?, None);
    backend.change(&key, 100, &mut |before| {
        assert_eq!(before, None);
        Ok(DocumentChange::Write(b"first".to_vec()))
    })?;
    let refused = backend.change(&key, 100, &mut |_| Err(StoreError::Unsupported { what: "this" }));
    assert_eq!(refused, Err(StoreError::Unsupported { what: "this" }));
    backend.change(&key, 100, &mut |_| Ok(DocumentChange::Keep))?;
    assert_eq!(open().backend().read(&key, 100)?.as_deref(), Some(b"first".as_slice()));
    assert_eq!(backend.session_names()?, BTreeSet::from(["raw".to_owned()]));
    backend.change(&key, 100, &mut |_| Ok(DocumentChange::Remove))?;
    assert_eq!(open().backend().read(&key, 100)?, None);
    Ok(())
}

pub(super) fn a_document_that_is_too_long_is_an_error(open: &dyn Fn() -> Store) -> CheckResult {
    let (store, key) = (open(), DocumentKey::Grants);
    store.backend().change(&key, 100, &mut |_| Ok(DocumentChange::Write(vec![b'x'; 101])))?;
    assert!(store.backend().read(&key, 100).is_err());
    assert!(store.backend().change(&key, 100, &mut |_| Ok(DocumentChange::Keep)).is_err());
    assert!(store.backend().read(&key, 101)?.is_some());
    let unreadable = store.grants().list(START);
    assert!(matches!(unreadable, Err(StoreError::Broken { .. })), "{unreadable:?}");
    Ok(())
}

pub(super) fn what_was_denied_is_found_in_whichever_session(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    for (session, at_ms, command) in [("a", 1, "one"), ("b/c", 2, "two"), ("a", 3, "three")] {
        store.session(session).record_denial(&denial(command), START + at_ms)?;
    }
    let recent = open().recently_denied(2, 1)?;
    assert_eq!(recent.problems, []);
    let summaries: Vec<&str> = recent.calls.iter().map(|(_, call)| call.summary.as_str()).collect();
    assert_eq!(summaries, ["Bash: three", "Bash: two"]);
    let id = recent.calls.last().map(|(_, call)| call.id.clone()).unwrap_or_default();
    let found = open().find_denied(&id.to_ascii_uppercase())?;
    let name = found.map(|(name, call)| (name, call.summary));
    assert_eq!(name, Some((store.session("b/c").name().to_owned(), "Bash: two".to_owned())));
    Ok(())
}

pub(super) fn only_old_sessions_are_forgotten(open: &dyn Fn() -> Store) -> CheckResult {
    let store = open();
    store.session("old").record_denial(&denial("one"), START)?;
    store.session("old").update_facts(|facts| facts.write("/code/a"), START)?;
    store.session("half").record_denial(&denial("one"), START)?;
    store.session("half").update_facts(|facts| facts.write("/code/a"), START + 9_000)?;
    store.session("new").record_denial(&denial("one"), START + 9_000)?;
    let forgotten = open().forget_old_sessions(START + 10_000, 5_000)?;
    assert_eq!((forgotten.sessions, forgotten.problems), (1, vec![]));
    assert_eq!(store.backend().session_names()?, ["half", "new"].map(str::to_owned).into());
    assert_eq!(store.session("old").facts()?.written.len(), 0);
    assert_eq!(store.session("old").denials()?.in_total, 0);
    Ok(())
}
